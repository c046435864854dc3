"""Breadth-first search with a cache of fixed size in place of the table of visited states.

G. Della Penna, B. Intrigila, I. Melatti, E. Tronci, M. Venturini Zilli, "Exploiting transition locality in automatic
verification of finite-state concurrent systems" (2004), section 4 (CBFS). ``bfs`` is Fig. 4, with T the cache and Q the
queue.

The cache T forgets: a state that was overwritten and is met again counts as new and is visited again. As most
transitions lead to states of nearby levels, it is mostly enough to remember the recent ones. When the search ends,
every reachable state has been visited: *holds* is exact, or with signatures as good as their omission bound, which the
paper shows to be that of a table. It need not end. So it is given up, as *unknown*, once the collision rate, the share
of insertions that overwrote a state, passes a limit: nearly everything is being forgotten.

Replacement ``random`` is the published one. ``idle`` is ours: what is overwritten is drawn from the entries that were
not met lately. It keeps the recent levels nearly whole, and old states that transitions keep leading back to.

The queue is the arena, as in ``compact``: a file without a name, of which memory holds what is being read and written.
All states stay in it, in the order of their discovery, and traces are rebuilt from it.

Costs less than the packed state, or the signature, for each state that is remembered (see native/cache.c), and on disk
the packed state for each visit.
"""

from __future__ import annotations

from functools import partial

from outcrop.explorer.arena import Arena
from outcrop.explorer.budget import state_budget
from outcrop.explorer.cache_table import CacheTable
from outcrop.explorer.context import DEFAULT_CONTEXT, Context
from outcrop.explorer.explorer import Explorer
from outcrop.explorer.file_arena import queue_on_disk
from outcrop.kernels import Native
from outcrop.options import CheckOptions, Keep
from outcrop.outcome import Outcome, Stop
from outcrop.strategies import CachedOptions

#: Size of a signature in RAM, in bits, as in the paper.
_BITS = 40
#: The share of the disk that the queue may take where there are other files: all states will be in a checkpoint too, or
#: in the log of another strategy.
DISK_SHARE = 3 / 8


def search(native: Native, options: CheckOptions, context: Context = DEFAULT_CONTEXT) -> Outcome:
    bits = (options.bits or _BITS) if options.keep is Keep.SIGNATURES else None
    has_checkpoints = options.checkpoint is not None or options.resume is not None
    share = DISK_SHARE if has_checkpoints else 1.0
    with queue_on_disk(native, options, context, share, first_lines=1) as explorer:
        Q = Arena(explorer)
        with CacheTable(explorer, bits, state_budget(options), options.of(CachedOptions).collision_limit) as T:
            return explorer.run(partial(bfs, explorer, Q, T))


def bfs(explorer: Explorer, Q: Arena, T: CacheTable) -> Stop:
    """Fig. 4. A block of states takes the place of a state, and levels that of a single queue: ``expand`` dequeues all
    states of the newest level and enqueues those of the next, which native/cached.c inserts into T."""
    explorer.frontier, explorer.visited = Q, T
    explorer.begin()  # foreach s in init_states: Enqueue(Q, s), Insert(T, s)
    while (stop := explorer.next_stop()) is None:  # Q is not empty
        Q.expand()  # foreach s' in next(Dequeue(Q)): if s' is not in T: Insert(T, s'), Enqueue(Q, s')
        if T.gives_up:  # collision_rate > limit: in the middle of a level, which is no place to continue from
            return Stop.COLLISIONS
        explorer.level_is_complete()
    return stop

"""Breadth-first search with a cache of fixed size instead of a table of all visited states.

G. Della Penna, B. Intrigila, I. Melatti, E. Tronci, M. Venturini Zilli, "Exploiting transition locality in automatic
verification of finite-state concurrent systems" (2004), section 4 (CBFS). ``bfs`` is Fig. 4, with T the cache and Q the
queue.

The cache T evicts states: a state that was evicted and is met again counts as new and is expanded again. Most
transitions lead to states of nearby levels, so remembering the recent states is mostly enough. When the search ends,
every reachable state has been visited. *Holds* is then exact, or with signatures has their omission bound, which the
paper shows to be that of a full table. The search need not end. It gives up, with *unknown*, when the collision rate
passes a limit. The collision rate is the fraction of insertions that evicted a state.

The replacement policy ``random`` is the published one. ``idle`` is ours: it evicts an entry that was not met recently.
It keeps the recent levels nearly complete, and also old states that transitions keep leading back to.

The queue is the arena, as in ``compact``: an unnamed file, of which only the parts being read and written are in
memory. It holds all states in the order of their discovery, and traces are rebuilt from it.

Costs less than the packed state, or the signature, for each cached state (see native/cache.c), and the packed state
on disk for each visit.
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

#: Default size of a signature, in bits, as in the paper.
_BITS = 40
#: Fraction of the disk budget for the queue where other files hold the states too: a checkpoint, or the log of another
#: strategy.
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
    """Runs Fig. 4 over blocks of states and levels instead of single states and one queue. ``expand`` dequeues the
    newest level and enqueues the next one, whose states native/cached.c inserts into T."""
    explorer.frontier, explorer.visited = Q, T
    explorer.begin()  # foreach s in init_states: Enqueue(Q, s), Insert(T, s)
    while (stop := explorer.next_stop()) is None:  # Q is not empty
        Q.expand()  # foreach s' in next(Dequeue(Q)): if s' is not in T: Insert(T, s'), Enqueue(Q, s')
        if T.gives_up:  # collision_rate > limit; a search cannot be continued from the middle of a level
            return Stop.COLLISIONS
        explorer.level_is_complete()
    return stop

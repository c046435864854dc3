"""``cached`` up to a collision rate, then ``locality``, with all work handed over.

G. Della Penna, B. Intrigila, I. Melatti, E. Tronci, M. Venturini Zilli, "Integrating RAM and disk based verification
within the Murphi verifier" (2003).

The search starts with a cache. When the collision rate reaches a threshold, the disk search takes over: the queue
becomes its checked queue, and M starts empty. The threshold is low, so that few states have been visited twice. In the
paper the switch goes through three files (queue, visited states, administration), and file D starts with the content
of the cache. Here the queue is a file already, and holds all states from the first on. The log of the disk search,
which contains its queue, starts as a copy of it, and D is made from the log. D is therefore complete, while the cache
has forgotten about a tenth by then. It is also in the order of discovery, on which the disk cloud relies.

The handover is in place and not a Snapshot. A snapshot ends with a complete level, and the cache gives up in the middle
of one: 0.1 to 3.2% of all expansions would be repeated (mcslock2, n_peterson, german with 40% of their signatures in
RAM). In place the Explorer, with its levels, counters and findings, is the administrative file of the paper.

Guarantee and costs are those of the two parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial

from outcrop.explorer.arena import Arena
from outcrop.explorer.blocks import WORKER_BYTES, BlockFrontier
from outcrop.explorer.budget import state_budget
from outcrop.explorer.cache_table import CacheTable
from outcrop.explorer.context import DEFAULT_CONTEXT, Context
from outcrop.explorer.disk_table import signature_bits
from outcrop.explorer.explorer import Explorer
from outcrop.explorer.file_arena import queue_on_disk
from outcrop.kernels import Native, States
from outcrop.options import CheckOptions
from outcrop.outcome import Outcome, Stop
from outcrop.search.cached import DISK_SHARE
from outcrop.search.locality import Locality
from outcrop.store.workdir import WorkDirectory
from outcrop.strategies import SerialOptions


def search(native: Native, options: CheckOptions, context: Context = DEFAULT_CONTEXT) -> Outcome:
    with ExitStack() as resources, queue_on_disk(native, options, context, DISK_SHARE, first_lines=1) as explorer:
        memory = state_budget(options, WORKER_BYTES)  # the disk search needs buffers for each worker
        # Several ranks switch together, between levels.
        threshold = options.of(SerialOptions).threshold if explorer.exchange.holds_all_states else 1.0
        T = resources.enter_context(CacheTable(explorer, signature_bits(options), memory, threshold))
        return explorer.run(partial(integrated, explorer, T, memory, resources))


def integrated(explorer: Explorer, T: CacheTable, memory: int, resources: ExitStack) -> Stop:
    """Searches with the cache, and from the threshold on with the disk search."""
    Q = explorer.frontier = Arena(explorer)
    explorer.visited = T
    explorer.begin()
    while (stop := explorer.next_stop()) is None:
        Q.expand()
        has_forgotten_much = T.gives_up or T.collision_rate > explorer.options.of(SerialOptions).threshold
        if explorer.exchange.any(has_forgotten_much):
            return switched(explorer, T, memory, resources)
        explorer.level_is_complete()
    return stop


def switched(explorer: Explorer, T: CacheTable, memory: int, resources: ExitStack) -> Stop:
    """Hands the queue over to the disk search, which continues mid-level if the cache gave up there."""
    unexpanded = explorer.search.standing().unexpanded
    opened: list[Locality] = []
    explorer.exchange.agree_to_go_on(
        explorer.stopped_by(lambda: opened.append(hand_over(explorer, T, memory, resources)))
    )
    (locality,) = opened
    if unexpanded < explorer.levels.ends[-2]:
        explorer.take_level_back()
        locality.expand_level(unexpanded)
    explorer.level_is_complete()
    return locality.search_loop()


def hand_over(explorer: Explorer, T: CacheTable, memory: int, resources: ExitStack) -> Locality:
    """Copies the queue to the log of a disk search, and builds file D from it."""
    directory = resources.enter_context(WorkDirectory(explorer.options.workdir, explorer.disk))
    locality = Locality(
        explorer, BlockFrontier(explorer, directory, memory), T.bits, has_cloud=True, revisits=T.revisits
    )
    try:
        locality.Q_ck.take_visited(states_of(explorer, locality.Q_ck.log.block_rows))
    except BaseException:
        locality.close()  # frees disk space for a last checkpoint
        raise
    resources.callback(locality.close)
    T.close()
    explorer.search.empty_arena()
    explorer.disk.limit = explorer.options.disk
    explorer.visited, explorer.frontier = locality, locality.Q_ck
    return locality


def states_of(explorer: Explorer, rows: int) -> Iterator[States]:
    """Yields all states of the arena, block by block."""
    end = explorer.levels.states
    for begin in range(0, end, rows):
        yield explorer.search.read_block(begin, min(end, begin + rows))

"""The default strategy: breadth-first search in RAM, then on disk. Exact.

The search starts as ``ram``. When the memory budget is used up, visited states are compressed, and the search continues
in RAM (explorer/compressing.py). If that is impossible, or not enough, states are squeezed to the bits that change, if
that pays (explorer/squeezing.py). When RAM is full again, the search hands over to disk in the middle of its level: the
states go to a log, and the arena becomes a cache of the most recent states. From then on duplicate detection is
delayed: candidates are compared, in batches, with sorted runs of states on disk (explorer/sorted_runs.py).

Counts, verdicts and traces equal those of ``ram``. Models that fit in memory cost nothing extra. After the handover,
the disk holds each state twice, and three times while runs are merged.
"""

from __future__ import annotations

from outcrop.explorer.compressing import check_starts_plain
from outcrop.explorer.context import DEFAULT_CONTEXT, Context
from outcrop.explorer.explorer import Explorer
from outcrop.explorer.ram_then_disk import RamThenDisk, search_ram_first
from outcrop.explorer.sorted_runs import SortedRuns
from outcrop.kernels import Native
from outcrop.options import CheckOptions
from outcrop.outcome import Outcome, Stop


def search(native: Native, options: CheckOptions, context: Context = DEFAULT_CONTEXT) -> Outcome:
    check_starts_plain(options)
    return search_ram_first(native, options, context, SortedRuns, explore)


def explore(explorer: Explorer, frontier: RamThenDisk[SortedRuns]) -> Stop:
    """Expands level after level. The frontier moves from the arena to disk when the memory budget is used up."""
    explorer.begin()
    while (stop := explorer.next_stop()) is None:
        frontier.expand()
        explorer.level_is_complete()
    return stop

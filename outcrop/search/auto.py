"""The default: in RAM while that lasts, then on disk, exact.

Starts as ``ram``. When memory ends, states are squeezed to the bits that change where that pays, and the search goes on
in RAM (explorer/squeezing.py). When that is full too, all that was done is handed over to disk: the states go to a log,
the arena becomes a cache of the states met last, and the search goes on in the middle of the level in which it was.
From there on new states are told from old ones by comparing them, many at a time, with sorted runs of states on disk
(explorer/sorted_runs.py).

Exact; counts, verdicts and traces are those of ``ram``. Models that fit into memory cost nothing extra. Past it, disk
for each state twice and, while runs are merged, three times.
"""

from __future__ import annotations

from outcrop.explorer.context import DEFAULT_CONTEXT, Context
from outcrop.explorer.explorer import Explorer
from outcrop.explorer.ram_then_disk import RamThenDisk, search_ram_first
from outcrop.explorer.sorted_runs import SortedRuns
from outcrop.kernels import Native
from outcrop.options import CheckOptions
from outcrop.outcome import Outcome, Stop


def search(native: Native, options: CheckOptions, context: Context = DEFAULT_CONTEXT) -> Outcome:
    return search_ram_first(native, options, context, SortedRuns, explore)


def explore(explorer: Explorer, frontier: RamThenDisk[SortedRuns]) -> Stop:
    """Expands level after level; the frontier goes from the arena to disk when memory ends."""
    explorer.begin()
    while (stop := explorer.next_stop()) is None:
        frontier.expand()
        explorer.level_is_complete()
    return stop

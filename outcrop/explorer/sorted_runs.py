"""Levels past RAM over sorted runs: breadth-first search with delayed duplicate detection. Exact.

P. Lamborn and E. A. Hansen, "Layered duplicate detection in external-memory model checking" (2008), keep recent layers
in RAM, and at the end of a layer compare the other candidates with sorted layers on disk. We do the same, but all
visited states are on disk and are compared, so no duplicate is missed.

The states of every level go to the state log, in which a level is a range. The log is the queue, and traces are rebuilt
from it. The arena holds the most recent states. A successor that is not in the arena is a candidate. At the end of the
level, the candidates are compared with the sorted runs; those found in none are new. When the arena is full, its older
part is dropped, after the states that no sorted run has were written to a new one. Candidates in that part are compared
first. If there is much to compare them with, they wait on disk for the end of the level instead (see delayed).

Invariant: each visited state is in the log once, and in the arena or in exactly one sorted run, or both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from outcrop.errors import DamagedFile
from outcrop.explorer.candidates import CandidateArena
from outcrop.explorer.delayed import WaitingCandidates, bytes_to_sort
from outcrop.explorer.frontier import ExpandPart
from outcrop.explorer.log import log_block_rows, open_log
from outcrop.explorer.paths import Look, look_in_blocks
from outcrop.kernels import States
from outcrop.kernels.layers import LayerKernels
from outcrop.kernels.spill import SLICES, RunDamaged
from outcrop.options import CheckOptions
from outcrop.store.runs import Runs
from outcrop.store.workdir import WorkDirectory

if TYPE_CHECKING:
    from outcrop.explorer.explorer import Explorer

#: Memory that each worker needs for reading and writing sorted runs, in bytes: a minimum, and a fraction of the budget,
#: because more states make longer sorted runs.
_BYTES_A_WORKER = 15 << 19
_MEMORY_PART_A_WORKER = 16


def worker_bytes(options: CheckOptions) -> int:
    """Returns the memory of a worker besides the states, in bytes."""
    return max(_BYTES_A_WORKER, (options.memory or 0) // _MEMORY_PART_A_WORKER)


class SortedRuns:
    """The levels of a search past RAM, with its visited set: sorted runs on disk."""

    medium = "sorted runs"
    bits = collision_rate = None
    keys = ""
    revisits = counts_deeper = False
    drops_revisited = True

    def __init__(self, explorer: Explorer, directory: WorkDirectory) -> None:
        width = explorer.native.state_bytes
        self._explorer = explorer
        self._arena = CandidateArena(explorer)
        self.log = open_log(explorer, directory)
        self._still_to_come = 0  #: number of states in the log that have not been restored yet
        self._runs = Runs(directory, self._arena.spill, width, explorer.search.workers, explorer.parallel)
        self._kernels = LayerKernels(explorer.search)
        self._waiting = WaitingCandidates(explorer, directory, self._kernels, self._runs.files)
        #: Largest number of candidates that may wait. A slice of them is sorted in a quarter of the worker's memory,
        #: because the sorted runs that it is compared with are mapped at the same time.
        bytes_each = explorer.tuning.candidate_bytes or bytes_to_sort(width)
        self._most_waiting = SLICES * worker_bytes(explorer.options) // 4 // bytes_each

    @property
    def store(self) -> SortedRuns:
        return self

    def take_over(self) -> None:
        """Writes the arena, whose states are all visited, to the log, except for those that a checkpoint put there."""
        used = self._arena.spill.resume()
        self._still_to_come = max(0, len(self.log) - used)
        search = self._explorer.search
        for begin in range(len(self.log), used, self.log.block_rows):
            self.log.append(search.read_block(begin, min(used, begin + self.log.block_rows)))
        self._arena.first = used
        self._arena.spill.defer()

    # --- Levels ------------------------------------------------------------------------------------------------

    @property
    def states(self) -> int:
        return len(self.log) - self._still_to_come

    @property
    def expanded(self) -> int:
        return self._arena.expanded

    def parts(self, begin: int, end: int) -> tuple[ExpandPart, int]:
        pieces = 1 + (end - begin) // log_block_rows(self._explorer.native.state_bytes)
        return self._arena.parts(begin, self.log.blocks(begin, end)), pieces

    def make_room(self) -> None:
        self._arena.make_room(self._forget_some)

    def _forget_some(self) -> None:
        """Drops the older part of the arena. Candidates in it are resolved first, or wait on disk for the end of the
        level."""
        arena, tuning = self._arena, self._explorer.tuning
        used = arena.resume()
        dropped = int(used * tuning.forgotten_part) // 8 * 8
        if arena.first < dropped and self._runs.entries <= tuning.much * (used - arena.first):
            self.resolve()
        self._runs.write(min(arena.first, dropped))
        if arena.first < dropped:
            self._waiting.add(arena.first, dropped)
            if len(self._waiting) > self._most_waiting:
                self._resolve_waiting()
        arena.drop(used, dropped)

    def resolve(self) -> None:
        """Compares all candidates with the sorted runs. The new ones go to the log."""
        arena = self._arena
        used = arena.resume()
        first, arena.first = arena.first, used
        if self._waiting:
            if used > first:
                self._waiting.add(first, used)
            self._resolve_waiting()
            self._kernels.set_known(first, used)
            return
        try:
            arena.resolve(first, used, self._runs.layouts, self._enqueue)
        except RunDamaged:
            raise self._unreadable() from None

    def _resolve_waiting(self) -> None:
        """Compares all candidates on disk with the sorted runs, and makes a sorted run of the new ones."""
        try:
            self._runs.add(self._waiting.resolve(self._runs.layouts, self._arena.checked(self._enqueue)))
        except RunDamaged:
            raise self._unreadable() from None

    def _enqueue(self, fresh: States) -> None:
        known = min(self._still_to_come, len(fresh))
        self._still_to_come -= known
        self.log.append(fresh[known:])

    def omission_bound(self, levels: list[int]) -> float:
        return 0.0

    def report(self) -> None:
        return None

    # --- Files -------------------------------------------------------------------------------------------------

    def read_level(self, level: int) -> Iterator[States]:
        ends = self._explorer.levels.ends
        return self.log.blocks(ends[level], ends[level + 1])

    def look(self) -> Look:
        return look_in_blocks(self._explorer.search, self.read_level, self._explorer.parallel)

    def check_files(self) -> None:
        self._runs.check()

    def keep_only_levels(self) -> None:
        self._runs.clear()
        self._waiting.clear()

    def close(self) -> None:
        self._runs.close()
        if self._explorer.checkpoints is None:
            self.log.file.delete()

    def _unreadable(self) -> DamagedFile:
        return DamagedFile(self.log.file.path.parent, "a sorted run cannot be read")

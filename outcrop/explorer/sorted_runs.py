"""Levels past RAM over sorted runs: breadth-first search with delayed duplicate detection, exact.

P. Lamborn and E. A. Hansen, "Layered duplicate detection in external-memory model checking" (2008), keep recent layers
in RAM and compare what is not found there with sorted layers on disk when a layer ends. So do we, except that nothing
is ever missed: all states visited are on disk, and the comparison is with all of them.

The states of every level go to a log, in which a level is a range: it is the queue, and what traces are rebuilt from.
The arena holds the states met last; a successor that is not in it is a candidate. When the level ends, the candidates
are compared with the runs, and those found in none are new. When the arena is full, its older part is dropped; those of
its states that no run has become a new run. Candidates in that part are compared before; or, where there is much to
compare them with, they wait on disk for the end of the level (see delayed).

Invariant: each visited state is in the log once, and in the arena or in exactly one run, or both.
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

#: Bytes that each worker needs for reading and writing runs: a least number, and more where there are more states and
#: therefore longer runs.
_BYTES_A_WORKER = 15 << 19
_MEMORY_PART_A_WORKER = 16


def bytes_beside(options: CheckOptions) -> int:
    """Returns the bytes that a worker may take beside the states."""
    return max(_BYTES_A_WORKER, (options.memory or 0) // _MEMORY_PART_A_WORKER)


class SortedRuns:
    """The levels of a search that has run out of memory, and what it remembers of them."""

    medium = "runs"
    bits = collision_rate = None
    keys = ""
    revisits = counts_deeper = False
    drops_revisited = True

    def __init__(self, explorer: Explorer, directory: WorkDirectory) -> None:
        width = explorer.native.state_bytes
        self._explorer = explorer
        self._arena = CandidateArena(explorer)
        self.log = open_log(explorer, directory)
        self._still_to_come = 0  #: states of the log that are only now being restored
        self._runs = Runs(directory, self._arena.spill, width, explorer.search.workers, explorer.parallel)
        self._kernels = LayerKernels(explorer.search)
        self._waiting = WaitingCandidates(explorer, directory, self._kernels, self._runs.files)
        #: Candidates that may wait. A slice of them is sorted in RAM, in a quarter of what there is for such things:
        #: the runs that it is compared with are mapped meanwhile.
        bytes_each = explorer.tuning.candidate_bytes or bytes_to_sort(width)
        self._most_waiting = SLICES * bytes_beside(explorer.options) // 4 // bytes_each

    @property
    def store(self) -> SortedRuns:
        return self

    def take_over(self) -> None:
        """Writes the arena, all of whose states are visited, to the log, unless that has them from a checkpoint."""
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
        """Forgets the older part of the arena. If that has candidates, they are resolved before, or wait on disk for
        the end of the level."""
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
        """Compares all candidates with the runs; the new ones go to the log."""
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
        """Compares all candidates on disk with the runs, and makes a run of those that are new."""
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
        return DamagedFile(self.log.file.path.parent, "a run cannot be read")

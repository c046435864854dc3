"""Levels past RAM: breadth-first search with delayed duplicate detection, exact.

P. Lamborn and E. A. Hansen, "Layered duplicate detection in external-memory model checking" (2008), keep recent layers
in RAM and compare what is not found there with sorted layers on disk when a layer ends. So do we, except that nothing
is ever missed: all states visited are on disk, and the comparison is with all of them.

The states of every level go to a log, in which a level is a range: it is the queue, and what traces are rebuilt from.
The arena holds the states met last. A successor that is not in it is a candidate. When the level ends, the candidates
are compared with the runs, and those found in none are new. When the arena is full, its older part is dropped; those of
its states that no run has become a new run. Candidates in that part are compared before; or, where there is much to
compare them with, they wait on disk for the end of the level (see delayed).

Invariant: each visited state is in the log once, and in the arena or in exactly one run, or both.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

from outcrop.errors import DamagedFile
from outcrop.kernels import States, StopReason
from outcrop.kernels_layers import LayerKernels
from outcrop.kernels_spill import SLICES, RunDamaged, RunLayout, Spill
from outcrop.options import CheckOptions
from outcrop.search.delayed import WaitingCandidates, bytes_to_sort
from outcrop.search.driver import Exploration
from outcrop.search.squeezing import PackedLog
from outcrop.store.frontier import RowFile
from outcrop.store.runs import Runs, share_slices
from outcrop.store.workdir import WorkDirectory

#: The part of the arena that is forgotten when it is full. With less, candidates must be compared more often; with
#: more, more of them are old states that it no longer knew.
_FORGOTTEN_PART = 3 / 4
#: If there are so many times more states on disk than candidates in RAM, these wait on disk for the end of the level.
_MUCH = 12
#: So many candidates are compared one by one, without a sweep over the table.
_FEW = 4096
#: Pieces of work that comparing candidates is shared out in, for each worker.
_PARTS_A_WORKER = 4
#: Bytes of candidates of which the new ones are written at a time.
_PART_BYTES = 1 << 19
#: Bytes of states that are expanded as one piece of work.
_BLOCK_BYTES = 1 << 17
#: What each worker needs for reading and writing runs: so much at the least, and more where there are more states and
#: therefore longer runs.
_BYTES_A_WORKER = 15 << 19
_MEMORY_PART_A_WORKER = 16


def bytes_beside(options: CheckOptions) -> int:
    """What a worker may take beside the states."""
    return max(_BYTES_A_WORKER, (options.memory or 0) // _MEMORY_PART_A_WORKER)


class PastRam:
    """What every way of going on past RAM has in common: the arena is a cache, and candidates are dealt with later."""

    def __init__(self, run: Exploration) -> None:
        self._run = run
        self._search = run.search
        self._spill = Spill(run.search)
        self._guard = threading.Lock()
        self._first = 0  #: of the candidates, in the arena
        self.expanded = 0  #: states, from the first of all on

    # --- What differs ------------------------------------------------------------------------------------------

    def take_over(self) -> None:
        """Takes what the arena holds, all of it visited."""
        raise NotImplementedError

    def resolve(self) -> int:
        """Finds out which candidates are new. Gives how many states the arena has."""
        raise NotImplementedError

    def _forget_some(self) -> None:
        """Drops part of the arena, having seen to it that nothing is lost."""
        raise NotImplementedError

    def check_files(self) -> None:
        """Raises DamagedFile if what was read here and there is not what was written."""
        raise NotImplementedError

    def _layouts(self) -> list[RunLayout]:
        """What candidates are compared with."""
        raise NotImplementedError

    def _blocks(self, begin: int, end: int) -> Iterator[States]:
        """States to be expanded, counted from the first of all."""
        raise NotImplementedError

    def _enqueue(self, fresh: States) -> None:
        """Takes states that are new. One thread at a time calls it."""
        raise NotImplementedError

    def read_level(self, level: int) -> Iterator[States]:
        raise NotImplementedError

    def keep_only_levels(self) -> None:
        """Nothing will be looked up any more, but levels that are complete will be read."""
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    @property
    def states(self) -> int:
        """Visited so far."""
        raise NotImplementedError

    # --- Levels ------------------------------------------------------------------------------------------------

    def expand(self, begin: int, end: int) -> None:
        """Expands states, counted from the first of all, and enqueues those successors that are new."""
        expand_some = self.parts(begin, end)

        def work(worker: int) -> None:
            while not self._search.is_stopping() and expand_some(worker):
                pass

        pieces = 1 + (end - begin) // log_block_rows(self._search.native.state_bytes)
        while self._until_full(work, pieces):
            self.make_room()
        self.resolve()

    def parts(self, begin: int, end: int) -> Callable[[int], bool]:
        """What has a worker expand some of these states, as far as there is room, and says whether there may be
        more."""
        self.expanded = begin
        blocks = self._blocks(begin, end)
        unfinished: list[States] = []

        def expand_some(worker: int) -> bool:
            with self._guard:
                states = unfinished.pop() if unfinished else next(blocks, None)
            if states is None:
                return False
            expanded = self._spill.expand(worker, states)
            with self._guard:
                self.expanded += expanded
                if expanded < len(states):
                    unfinished.append(states[expanded:])
            return True

        return expand_some

    def _until_full(self, work: Callable[[int], None], pieces: int) -> bool:
        """Lets workers work until the work is done, or, which it says, the arena is full."""
        self._share(work, pieces)
        if self._search.standing().stop is StopReason.MEMORY:
            return True
        self._run.check_stop()
        return False

    def make_room(self) -> None:
        """Forgets part of the arena, and adds what the workers carry."""
        left = 1
        while left:
            self._forget_some()
            left = sum(
                self._run.together(
                    *(partial(self._spill.add_carried, worker) for worker in range(self._search.workers))
                )
            )

    def _drop(self, used: int, dropped: int) -> None:
        """Drops the first states of the arena, a multiple of 8."""
        self._spill.forget(dropped)
        left = used - dropped
        cuts = [left * number // self._search.workers for number in range(self._search.workers + 1)]
        self._run.together(*(partial(self._spill.enter, *pair) for pair in pairwise(cuts)))

    def _resolve_in_ram(self, first: int, used: int) -> None:
        """Compares candidates with runs, and enqueues those that are new."""
        if used > first:
            few = used - first <= _FEW
            self._compare(first, 1 if few else _PARTS_A_WORKER * self._search.workers, few)
            self._add_new(first, used)

    def _compare(self, first: int, parts: int, few: bool) -> None:
        layouts = self._layouts()

        def part(worker: int, slices: tuple[int, int]) -> None:
            self._spill.resolve(worker, first, slices, few, layouts)

        share_slices(self._run.together, self._search.workers, parts, part)

    def _add_new(self, first: int, used: int) -> None:
        part = max(256, _PART_BYTES // self._search.native.state_bytes)
        begins = iter(range(first, used, part))

        def work(worker: int) -> None:
            for begin in begins:
                fresh = self._spill.take_new(worker, begin, min(used, begin + part))
                with self._guard:
                    self._enqueue(fresh)

        self._share(work, len(range(first, used, part)))

    def _take_new(self, worker: int, fresh: States) -> None:
        """Checks and enqueues states that are new."""
        self._search.check_block(worker, fresh)
        with self._guard:
            self._enqueue(fresh)

    def _share(self, work: Callable[[int], None], pieces: int) -> None:
        """No more workers than pieces of work: in thin levels most of the time goes into waking them."""
        workers = min(self._search.workers, pieces)
        self._run.together(*(partial(work, worker) for worker in range(workers)))


class DiskLevels(PastRam):
    """The levels of an exploration that has run out of memory, and what it remembers of them."""

    def __init__(self, run: Exploration, directory: WorkDirectory) -> None:
        super().__init__(run)
        width = run.native.state_bytes
        self.log = open_log(run, directory)
        self._still_to_come = 0  #: states of the log that are only now being restored
        self._runs = Runs(directory, self._spill, width, run.search.workers, run.together)
        self._kernels = LayerKernels(run.search)
        self._waiting = WaitingCandidates(run, directory, self._kernels, self._runs.files)
        #: Candidates that may wait. A slice of them is sorted in RAM, in a quarter of what there is for such things:
        #: the runs that it is compared with are mapped meanwhile.
        self._most_waiting = SLICES * bytes_beside(run.options) // 4 // bytes_to_sort(width)

    def take_over(self) -> None:
        """Writes the arena, all of whose states are visited, to the log, unless that has them from a checkpoint."""
        used = self._spill.resume()
        self._still_to_come = max(0, len(self.log) - used)
        for begin in range(len(self.log), used, self.log.block_rows):
            self.log.append(self._search.read_block(begin, min(used, begin + self.log.block_rows)))
        self._first = used
        self._spill.defer()

    def read_level(self, level: int) -> Iterator[States]:
        ends = self._run.levels.ends
        return self.log.blocks(ends[level], ends[level + 1])

    def check_files(self) -> None:
        self._runs.check()

    def keep_only_levels(self) -> None:
        self._runs.clear()
        self._waiting.clear()

    def close(self) -> None:
        self._runs.close()
        if self._run.checkpoints is None:
            self.log.file.delete()

    @property
    def states(self) -> int:
        return len(self.log) - self._still_to_come

    def _blocks(self, begin: int, end: int) -> Iterator[States]:
        return self.log.blocks(begin, end)

    def _enqueue(self, fresh: States) -> None:
        known = min(self._still_to_come, len(fresh))
        self._still_to_come -= known
        self.log.append(fresh[known:])

    def _layouts(self) -> list[RunLayout]:
        return self._runs.layouts

    def _forget_some(self) -> None:
        """Forgets the older part of the arena. If that has candidates, they are resolved before, or wait on disk for
        the end of the level."""
        used = self._spill.resume()
        self._run.check_stop()
        dropped = int(used * _FORGOTTEN_PART) // 8 * 8
        if self._first < dropped and self._runs.entries <= _MUCH * (used - self._first):
            self.resolve()
        self._runs.write(min(self._first, dropped))
        if self._first < dropped:
            self._waiting.add(self._first, dropped)
            if len(self._waiting) > self._most_waiting:
                self._resolve_waiting()
        self._drop(used, dropped)
        self._first = max(0, self._first - dropped)

    def resolve(self) -> int:
        """Compares all candidates with the runs; the new ones go to the log."""
        used = self._spill.resume()
        self._run.check_stop()
        first, self._first = self._first, used
        if self._waiting:
            if used > first:
                self._waiting.add(first, used)
            self._resolve_waiting()
            self._kernels.set_known(first, used)
            return used
        try:
            self._resolve_in_ram(first, used)
        except RunDamaged:
            raise self._unreadable() from None
        return used

    def _resolve_waiting(self) -> None:
        """Compares all candidates on disk with the runs, and makes a run of those that are new."""
        try:
            self._runs.add(self._waiting.resolve(self._runs.layouts, self._take_new))
        except RunDamaged:
            raise self._unreadable() from None

    def _unreadable(self) -> DamagedFile:
        return DamagedFile(self.log.file.path.parent, "a run cannot be read")


def open_log(run: Exploration, directory: WorkDirectory) -> RowFile | PackedLog:
    """The log of a search, for states as it keeps them."""
    width = run.native.state_bytes
    log = run.open_log(directory, log_block_rows(width))
    return log if log.width == width else PackedLog(log, run.search)


def log_block_rows(width: int) -> int:
    """States of a block of the log."""
    return max(256, _BLOCK_BYTES // width)

"""The skeleton of a search past RAM: levels on disk, expanded block by block.

Workers expand the blocks of a level. What a strategy makes of the successors there, and what it leaves to the main
thread, to which they come back in order, is its own affair: if it is all, then what a search finds depends on its seed
and not on the number of workers. Levels that are small enough need not go through the log to be expanded: a strategy
may expand them where they are.

New states are checked and appended to the state log, of which each level is a range. It is the queue, with its ends in
RAM and its middle on disk, and traces are rebuilt from it. A strategy is how it remembers what was visited.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Protocol, TypeVar

import numpy as np

from outcrop.errors import UsageError
from outcrop.kernels import Counts, Found, Native, Settings, States
from outcrop.kernels_tables import hash_block
from outcrop.machine import take_core
from outcrop.options import CheckOptions
from outcrop.search.driver import (
    DEADLOCK_RULES,
    Exploration,
    ShowProgress,
    TakePut,
    most_found,
    state_budget,
    worker_count,
)
from outcrop.search.outcome import Outcome, Progress, Stop, Stopped
from outcrop.search.paths import Look, look_in_blocks
from outcrop.search.sharing import Sharing
from outcrop.store.frontier import RowFile
from outcrop.store.workdir import DiskFull, WorkDirectory

_Result = TypeVar("_Result")

#: States that are expanded at a time, and between which numbers memory decides: enough that Python's share is small.
MOST_BLOCK_STATES = 8192
FEWEST_BLOCK_STATES = 64
#: A level, or a few new states, that the main thread is done with before a worker would have begun.
_FEW_STATES = 512
#: Levels in memory that one call may expand.
_LEVELS_A_CALL = 256
#: Pieces that a level is expanded in, at the least, unless they would be smaller than that.
_PIECES_A_LEVEL = 4
#: ... and few enough that their successors take a few megabytes.
_MOST_BLOCK_BYTES = 1 << 18
#: The share of memory for states that the two ends of a queue may take.
_QUEUE_SHARE = 1 / 32
#: What kernels keep for start states and the like, whatever the strategy.
_KERNEL_BYTES = 64 << 20
_SECONDS_BETWEEN_LOOKS = 0.1


class Visited(Protocol):
    """How a strategy remembers what was visited. ``bits``: of signatures, None if it keeps states."""

    bits: int | None

    @property
    def window(self) -> int:
        """States of a level up to which ``expand_levels`` does what otherwise ``expand`` does."""

    @property
    def revisits(self) -> bool:
        """Whether states may have been visited more than once."""

    def expand(self, worker: int, block: States) -> Callable[[], None]:
        """Expands states. Gives what the main thread is to do with the successors, in the order of the blocks. Sooner
        or later the new ones are given to ``enqueue``."""

    def expand_levels(self, states: States | None, most_states: int, most_levels: int) -> NewLevels:
        """Expands a level, the one that was found last if None, and those that follow until one has more than
        ``window`` states or there are so many of both."""

    def insert(self, states: States, hashes: Counts) -> None:
        """Takes the successors that come from elsewhere, which it may overwrite, as it does its own."""

    def restore(self, states: States, hashes: Counts) -> None:
        """Takes states that were visited before, in the order in which they were. It may overwrite them."""

    def end_level(self) -> None:
        """All successors of the level have been inserted. All new ones must be enqueued."""

    def omission_bound(self, levels: list[int]) -> float: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class NewLevels:
    """What was found in memory."""

    sizes: list[int]
    generated: list[int]  #: successors, in all levels up to each
    states: list[States]  #: that are new, checked, one level after the other
    stays: bool  #: the last level is still in memory


class BlockExploration(Exploration):
    """One run of a search past RAM. ``remember`` makes the strategy."""

    def __init__(
        self,
        native: Native,
        options: CheckOptions,
        progress: ShowProgress | None,
        put: TakePut | None,
        remember: Callable[[BlockExploration], Visited],
    ) -> None:
        if native.liveness_count:
            raise UsageError(f"the strategy {options.strategy} does not check liveness; ram and compact do")
        with ExitStack() as resources:
            self.threads = worker_count(options)
            settings = Settings(
                workers=self.threads + 1,  # the last one is the main thread's
                spare=1,
                seed=options.seed,
                deadlock=DEADLOCK_RULES[options.deadlock],
                budget=_KERNEL_BYTES,
                most_found=most_found(options),
                first_lines=1,
            )
            search = resources.enter_context(native.search(settings))
            super().__init__(search, options, progress, put)
            if self.checkpoints is not None:
                resources.enter_context(self.checkpoints)
            self.directory = resources.enter_context(WorkDirectory(options.workdir, self.disk))
            self.memory = state_budget(options)
            self.log = self.open_log(self.directory, self._block_rows())
            self._level_begin = 0  #: of the level being expanded, in the log
            self._is_in_memory = False  #: it is the last level in the arena too
            self._expanded = 0
            self._free_workers: SimpleQueue[int] = SimpleQueue()
            for worker in range(self.threads):
                self._free_workers.put(worker)
            self._pool = resources.enter_context(ThreadPoolExecutor(self.threads)) if self.threads > 1 else None
            self._checks: deque[Future[None]] = deque()  #: of new states, that workers have not done yet
            self.visited = remember(self)
            self._resources = resources.pop_all()

    def run(self) -> Outcome:
        with self._resources:
            try:
                return super().run()
            finally:
                self.visited.close()

    # --- For strategies ----------------------------------------------------------------------------------------

    def queue(self, name: str) -> RowFile:
        """A queue of states whose ends take a small share of the memory for states."""
        return RowFile(self.directory, name, self.native.state_bytes, self._block_rows())

    def piece_rows(self, states: int) -> int:
        """States of a level that are expanded at a time: so many that Python's share is small, so few that all workers
        have something to do. It must not depend on the number of workers."""
        fitting = max(FEWEST_BLOCK_STATES, min(MOST_BLOCK_STATES, _MOST_BLOCK_BYTES // self.native.state_bytes))
        return self.options.block_states or max(_FEW_STATES, min(fitting, -(-states // _PIECES_A_LEVEL)))

    def _block_rows(self) -> int:
        fitting = min(int(self.memory * _QUEUE_SHARE) // 2, _MOST_BLOCK_BYTES) // self.native.state_bytes
        return self.options.block_states or max(FEWEST_BLOCK_STATES, min(MOST_BLOCK_STATES, fitting))

    def table_memory(self, beside: int) -> int:
        """What is left of the memory for states when the log has its two ends there, and a strategy something else."""
        ends = 2 * self.log.block_rows * self.log.width
        return max(self.memory // 2, self.memory - ends - beside)

    def enqueue(self, states: States, *, is_checked: bool = False) -> None:
        """Takes states that are new: they are part of the next level."""
        if not len(states):
            return
        if self.levels and not is_checked:  # start states were checked when they were made
            self._check(states)
        self.log.append(states)

    def _check(self, states: States) -> None:
        """Has a worker check new states, by the end of the level."""
        if self._pool is None or len(states) < _FEW_STATES:
            self.search.check_block(self.threads, states)
            return
        self._finish_checks(2 * self.threads)
        self._checks.append(
            self._pool.submit(self._with_worker, lambda worker: self.search.check_block(worker, states))
        )

    def _finish_checks(self, most_left: int) -> None:
        while len(self._checks) > most_left:
            self._result(self._checks.popleft())

    def in_order(self, tasks: Iterable[Callable[[int], _Result]], are_small: bool = False) -> Iterator[_Result]:
        """Runs tasks, each with the number of a worker, a few ahead of whoever takes their results."""
        if self._pool is None or are_small:
            worker = 0 if self._pool is None else self.threads
            for task in tasks:
                self.poll()
                yield task(worker)
            return
        waiting: deque[Future[_Result]] = deque()
        try:
            for task in tasks:
                waiting.append(self._pool.submit(self._with_worker, task))
                if len(waiting) > self.threads + 1:
                    yield self._result(waiting.popleft())
            while waiting:
                yield self._result(waiting.popleft())
        finally:
            wait(waiting)

    def _with_worker(self, task: Callable[[int], _Result]) -> _Result:
        worker = self._free_workers.get()
        try:
            take_core(worker, self.threads)
            return task(worker)
        finally:
            self._free_workers.put(worker)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Meanwhile no worker is at work."""
        workers = [self._free_workers.get() for _ in range(self.threads)]
        try:
            yield
        finally:
            for worker in workers:
                self._free_workers.put(worker)

    def _result(self, future: Future[_Result]) -> _Result:
        self.poll()
        while not future.done():
            with suppress(TimeoutError):
                return future.result(_SECONDS_BETWEEN_LOOKS)
            self.poll()
        return future.result()

    # --- Levels ------------------------------------------------------------------------------------------------

    def create_start_states(self) -> None:
        self.start()
        states = self.search.read_block(0, self.search.finish_level())

        def insert() -> None:
            self.visited.insert(states, hash_block(self.search, states))

        self._insert_level(insert)

    def expand(self) -> None:
        begin, end = self._level_begin, len(self.log)
        if end - begin <= self.visited.window and self.sharing is None:
            self._expand_in_memory(begin, end)
            return
        self._is_in_memory = False
        self._level_begin = end

        def insert() -> None:
            if self.sharing is not None:
                self._insert_shared(self.sharing, begin, end)
                return
            for take in self.in_order(self._expansions(begin, end), end - begin < _FEW_STATES):
                take()

        self._insert_level(insert)

    def _expand_in_memory(self, begin: int, end: int) -> None:
        """Expands the last level, and perhaps some more."""
        options = self.options
        most_levels = _LEVELS_A_CALL if self.checkpoints is None else 1
        if options.depth is not None:
            most_levels = min(most_levels, options.depth + 1 - len(self.levels))
        most_states = self.visited.window
        if options.states is not None:
            most_states = min(most_states, options.states - begin)
        states = None if self._is_in_memory else np.concatenate(list(self.log.blocks(begin, end)))
        before = self.search.standing().generated
        new = self.visited.expand_levels(states, most_states, most_levels)
        self._is_in_memory = new.stays
        self._expanded = self._level_begin = end + sum(new.sizes[:-1])
        stop: Stop | None = None
        sizes = new.sizes
        try:
            for each in new.states:
                self.enqueue(each, is_checked=True)
            self.visited.end_level()
        except Stopped as stopped:
            stop = stopped.stop
        except DiskFull as full:
            self.tell(f"disk: {full}")
            stop = Stop.DISK
            sizes = _first_of(new.sizes, len(self.log) - end)
            for kind in Found:  # in states that are not in the log
                self.search.take_found(kind)
        self.level_done(sizes, np.diff(new.generated[: len(sizes)], prepend=before).tolist(), stop)

    def _insert_shared(self, sharing: Sharing, begin: int, end: int) -> None:
        """The same with several ranks: inserts the successors that this one owns, whoever makes them."""
        with sharing.round() as round:
            for take in self.in_order(self._expansions(begin, end, round.send)):
                take()
                for arrived in sharing.arrived(round, self.poll):
                    self.visited.insert(arrived, hash_block(self.search, arrived))
            for arrived in sharing.rest(round, self.poll):
                self.visited.insert(arrived, hash_block(self.search, arrived))

    def restore_level(self, blocks: Iterator[States]) -> None:
        # The levels stand in the log already, unless it is a new one.
        is_new_log = len(self.log) == self._level_begin + sum(self.levels[-1:])
        self._expanded = self._level_begin = self._level_begin + sum(self.levels[-1:])
        size = 0
        for states in blocks:
            if is_new_log:
                self.log.append(states)
            self.visited.restore(states, hash_block(self.search, states))
            size += len(states)
            self.poll()
        self.levels.append(size)

    def _expansions(
        self, begin: int, end: int, send: Callable[[int], None] = lambda worker: None
    ) -> Iterator[Callable[[int], Callable[[], None]]]:
        """``send`` takes what a worker has made for others."""
        for block in in_pieces(self.log.blocks(begin, end), self.piece_rows(end - begin)):
            self._expanded += len(block)

            def expand(worker: int, block: States = block) -> Callable[[], None]:
                take = self.visited.expand(worker, block)
                send(worker)
                return take

            yield expand

    def _insert_level(self, insert: Callable[[], None]) -> None:
        def fill() -> None:
            insert()
            self.visited.end_level()
            self._finish_checks(0)

        self.fill_level(fill, lambda: len(self.log) - self._level_begin)

    def read_level(self, level: int) -> Iterator[States]:
        begin = sum(self.levels[:level])
        return self.log.blocks(begin, begin + self.levels[level])

    # --- What the skeleton asks --------------------------------------------------------------------------------

    def look(self) -> Look:
        return look_in_blocks(self.search, self.read_level, self.together)

    drops_revisited = False
    knows_levels = False

    @property
    def revisits(self) -> bool:
        return self.before.revisits or self.visited.revisits

    @property
    def owner_bits(self) -> int:  # type: ignore[override]
        return self.visited.bits or 64

    def bytes_in_memory(self) -> int:
        return min(self.memory, len(self.log) * (self.native.state_bytes + 8))

    @property
    def collision_rate(self) -> float | None:
        return getattr(self.visited, "collision_rate", None)

    @property
    def keys(self) -> str:  # type: ignore[override]
        bits = self.visited.bits
        return "" if bits is None else f"{self.options.strategy}, {bits} bits, seed {self.options.seed}"

    def omission_bound(self, levels: list[int]) -> float:
        return self.visited.omission_bound(levels)

    def snapshot(self) -> Progress:
        return self.progress_at(len(self.levels) - 1, len(self.log), self._expanded)


def _first_of(sizes: list[int], states: int) -> list[int]:
    """Sizes of the levels that the first few states belong to."""
    first = []
    for size in sizes:
        first.append(min(size, states))
        states -= first[-1]
        if not states:
            break
    return first


def in_pieces(blocks: Iterable[States], rows: int) -> Iterator[States]:
    """The same rows in pieces of so many, but for the last one."""
    gathered: list[States] = []
    missing = rows
    for block in blocks:
        while len(block) >= missing:
            yield np.concatenate([*gathered, block[:missing]]) if gathered else block[:missing]
            gathered, block, missing = [], block[missing:], rows
        if len(block):
            gathered.append(block)
            missing -= len(block)
    if gathered:
        yield np.concatenate(gathered) if len(gathered) > 1 else gathered[0]

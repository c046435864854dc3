"""Levels past RAM: they lie in a log on disk and are expanded block by block.

Workers expand the blocks of a level. What a strategy makes of the successors there, and what it leaves to the main
thread, to which they come back in order, is its own affair: if it is all, then what a search finds depends on its seed
and not on the number of workers.

New states are checked and appended to the state log, of which each level is a range. It is the queue, with its ends in
RAM and its middle on disk, and traces are rebuilt from it. A strategy is how it remembers what was visited.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from functools import partial
from queue import SimpleQueue
from typing import Protocol, TypeVar

import numpy as np

from outcrop.errors import UsageError
from outcrop.kernels import Counts, Native, Settings, States
from outcrop.kernels_tables import hash_block
from outcrop.machine import take_core
from outcrop.options import CheckOptions
from outcrop.search.budget import state_budget, worker_count
from outcrop.search.driver import DEADLOCK_RULES, Exploration, ShowProgress, TakePut, most_found
from outcrop.search.outcome import Outcome, Progress
from outcrop.search.paths import Look, look_in_blocks
from outcrop.search.sharing import Sharing
from outcrop.store.frontier import RowFile
from outcrop.store.workdir import WorkDirectory

_Result = TypeVar("_Result")

#: States that are expanded at a time, and between which numbers memory decides: enough that Python's share is small.
MOST_BLOCK_STATES = 8192
FEWEST_BLOCK_STATES = 64
_FEWEST_TO_EXPAND = 8
#: A level, or a few new states, that the main thread is done with before a worker would have begun.
_FEW_STATES = 512
_FEW_SUCCESSORS = 4096
#: Pieces that a level is expanded in, at the least, unless they would be smaller than that.
_PIECES_A_LEVEL = 4
#: ... and few enough that they take no more than that, and their successors probably no more than half of that.
_MOST_BLOCK_BYTES = 1 << 18
_MOST_SUCCESSOR_BYTES = 1 << 20
#: What each worker may take beside the states, mostly for successors that are on their way.
BYTES_BESIDE = 8 << 20
#: The share of memory for states that the two ends of a queue may take.
_QUEUE_SHARE = 1 / 8
#: What kernels keep for start states and the like, whatever the strategy.
_KERNEL_BYTES = 64 << 20
_SECONDS_BETWEEN_LOOKS = 0.1


def refuse_liveness(native: Native, options: CheckOptions) -> None:
    if native.liveness_count:
        raise UsageError(f"the strategy {options.strategy} does not check liveness; auto, ram, compact and layered do")


class Visited(Protocol):
    """How a strategy remembers what was visited. ``bits``: of signatures, None if it keeps states."""

    bits: int | None

    @property
    def revisits(self) -> bool:
        """Whether states may have been visited more than once."""

    def expand(self, worker: int, block: States, most: int) -> tuple[Callable[[], None], int]:
        """Expands states, until they have so many successors. Gives what the main thread is to do with these, in the
        order of the blocks, and how many states it expanded. Sooner or later the new ones are given to ``enqueue``."""

    def insert(self, states: States, hashes: Counts) -> None:
        """Takes the successors that come from elsewhere, which it may overwrite, as it does its own."""

    def restore(self, states: States, hashes: Counts) -> None:
        """Takes states that were visited before, in the order in which they were. It may overwrite them."""

    def end_level(self) -> None:
        """All successors of the level have been inserted. All new ones must be enqueued."""

    def omission_bound(self, levels: list[int]) -> float: ...

    def close(self) -> None: ...


class BlockLevels:
    """The levels of an exploration, or those that it has yet to find. ``remember`` makes the strategy."""

    def __init__(
        self, run: Exploration, directory: WorkDirectory, memory: int, remember: Callable[[BlockLevels], Visited]
    ) -> None:
        self._run = run
        self.search = run.search
        self.native = run.native
        self.options = run.options
        self.directory = directory
        self.memory = memory
        self.threads = worker_count(run.options)
        self.log = run.open_log(directory, self._block_rows())
        self.expanded = 0
        self._free_workers: SimpleQueue[int] = SimpleQueue()
        for worker in range(self.threads):
            self._free_workers.put(worker)
        self._pool = None
        if self.threads > 1:
            numbers = iter(range(self.threads))
            self._pool = ThreadPoolExecutor(
                self.threads, initializer=lambda: take_core(next(numbers), self.threads, stays=True)
            )
        self._checks: deque[Future[None]] = deque()  #: of new states, that workers have not done yet
        self._successors_each = 1.0  #: of a state, by what was expanded last
        self.visited = remember(self)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()
        self.visited.close()

    # --- For strategies ----------------------------------------------------------------------------------------

    def queue(self, name: str) -> RowFile:
        """A queue of states whose ends take a small share of the memory for states."""
        return RowFile(self.directory, name, self.native.state_bytes, self._block_rows())

    def piece_rows(self, states: int) -> int:
        """Of so many states, those that are dealt with at a time: so many that Python's share is small, so few that all
        workers have something to do."""
        fitting = min(MOST_BLOCK_STATES, _MOST_BLOCK_BYTES // self.native.state_bytes)
        wanted = max(_FEW_STATES, -(-states // _PIECES_A_LEVEL))
        return self.options.block_states or max(FEWEST_BLOCK_STATES, min(fitting, wanted))

    def _rows_to_expand(self, states: int) -> int:
        """The same for states that are expanded: so few that their successors fit, too."""
        fitting = int(self._most_successors / 2 / self._successors_each)
        return self.options.block_states or max(_FEWEST_TO_EXPAND, min(fitting, self.piece_rows(states)))

    def _are_few(self, states: int) -> bool:
        """Whether the main thread would have expanded them before a worker had begun."""
        return states * self._successors_each < _FEW_SUCCESSORS

    @property
    def _most_successors(self) -> int:
        """Of states that are expanded as one piece of work."""
        return max(1, _MOST_SUCCESSOR_BYTES // self.native.state_bytes)

    def has_expanded(self, states: int, successors: int) -> None:
        """Some states had so many successors."""
        self._successors_each = max(1.0, successors / states)

    def _block_rows(self) -> int:
        fitting = min(int(self.memory * _QUEUE_SHARE) // 2, _MOST_BLOCK_BYTES) // self.native.state_bytes
        return self.options.block_states or max(FEWEST_BLOCK_STATES, min(MOST_BLOCK_STATES, fitting))

    def table_memory(self, beside: int) -> int:
        """What is left of the memory for states when the log has its two ends there, and a strategy something else."""
        ends = 2 * self.log.block_rows * self.log.width
        return max(self.memory // 2, self.memory - ends - beside)

    def enqueue(self, states: States) -> None:
        """Takes states that are new: they are part of the next level."""
        if not len(states):
            return
        if self._run.levels:  # start states were checked when they were made
            self._check(states)
        self.log.append(states)

    def _check(self, states: States) -> None:
        """Has a worker check new states, by the end of the level."""
        if self._pool is None or len(states) < _FEW_STATES:
            self._with_worker(lambda worker: self.search.check_block(worker, states))
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
            for task in tasks:
                self._run.poll()
                yield self._with_worker(task)
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
            return task(worker)
        finally:
            self._free_workers.put(worker)

    def _result(self, future: Future[_Result]) -> _Result:
        self._run.poll()
        while not future.done():
            with suppress(TimeoutError):
                return future.result(_SECONDS_BETWEEN_LOOKS)
            self._run.poll()
        return future.result()

    # --- Levels ------------------------------------------------------------------------------------------------

    def add_start_states(self, states: States) -> None:
        self._insert_level(lambda: self.visited.insert(states, hash_block(self.search, states)))

    def expand(self, begin: int) -> None:
        """Expands the last level, from state ``begin`` of all on."""
        run, end = self._run, self._run.levels.states
        self.expanded = begin

        def insert() -> None:
            if run.sharing is not None:
                self._insert_shared(run.sharing, begin, end)
                return
            for take in self._expansions(begin, end):
                take()

        self._insert_level(insert)

    def _insert_shared(self, sharing: Sharing, begin: int, end: int) -> None:
        """The same with several ranks: inserts the successors that this one owns, whoever makes them."""
        with sharing.round() as round:
            for take in self._expansions(begin, end, round.send):
                take()
                for arrived in sharing.arrived(round, self._run.poll):
                    self.visited.insert(arrived, hash_block(self.search, arrived))
            for arrived in sharing.rest(round, self._run.poll):
                self.visited.insert(arrived, hash_block(self.search, arrived))

    def restore(self, blocks: Iterable[States]) -> int:
        """Takes states that were visited before, and checked, from a checkpoint or another strategy. They follow those
        that were restored before. Gives how many there were."""
        first = self.expanded
        for states in blocks:
            self.expanded += len(states)
            # They stand in the log already, unless it is a new one.
            missing = max(0, self.expanded - len(self.log))
            self.log.append(states[len(states) - missing :])
            self.visited.restore(states, hash_block(self.search, states))
            self._run.poll()
        return self.expanded - first

    def _expansions(
        self, begin: int, end: int, send: Callable[[int], None] = lambda worker: None
    ) -> Iterator[Callable[[], None]]:
        """Expands states, and gives what is to be done with their successors. ``send`` takes what a worker has made for
        others. Where a block has more successors than expected, those of the rest are made when the first are gone."""

        def expand(block: States, worker: int) -> tuple[Callable[[], None], States]:
            take, expanded = self.visited.expand(worker, block, self._most_successors)
            send(worker)
            return take, block[expanded:]

        def blocks() -> Iterator[States]:
            for block in self.log.blocks(begin, end):
                self.expanded += len(block)
                yield block

        def takes(blocks: Iterable[States], count: int) -> Iterator[tuple[Callable[[], None], States]]:
            pieces = in_pieces(blocks, lambda: self._rows_to_expand(count))
            return self.in_order((partial(expand, piece) for piece in pieces), self._are_few(count))

        for take, rest in takes(blocks(), end - begin):
            yield take
            for take_some, left in takes([rest], len(rest)):
                yield take_some
                while len(left):
                    take_some, left = self._with_worker(partial(expand, left))
                    yield take_some

    def _insert_level(self, insert: Callable[[], None]) -> None:
        begin = self._run.levels.states

        def fill() -> None:
            insert()
            self.visited.end_level()
            self._finish_checks(0)

        self._run.fill_level(fill, lambda: len(self.log) - begin)

    def read_level(self, level: int) -> Iterator[States]:
        ends = self._run.levels.ends
        return self.log.blocks(ends[level], ends[level + 1])

    def look(self) -> Look:
        return look_in_blocks(self.search, self.read_level, self._run.together)

    def snapshot(self) -> Progress:
        return self._run.progress_at(len(self._run.levels) - 1, len(self.log), self.expanded)


class BlockExploration(Exploration):
    """One run of a search that keeps its levels on disk from the beginning."""

    drops_revisited = False
    knows_levels = False

    def __init__(
        self,
        native: Native,
        options: CheckOptions,
        progress: ShowProgress | None,
        put: TakePut | None,
        remember: Callable[[BlockLevels], Visited],
    ) -> None:
        refuse_liveness(native, options)
        with ExitStack() as resources:
            settings = Settings(
                workers=worker_count(options),
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
            directory = resources.enter_context(WorkDirectory(options.workdir, self.disk))
            self.blocks = BlockLevels(self, directory, state_budget(options, BYTES_BESIDE), remember)
            resources.callback(self.blocks.close)
            self._resources = resources.pop_all()

    def run(self) -> Outcome:
        with self._resources:
            return super().run()

    def create_start_states(self) -> None:
        self.start()
        self.blocks.add_start_states(self.search.read_block(0, self.search.finish_level()))

    def expand(self) -> None:
        self.blocks.expand(self.levels.ends[-2])

    def restore_level(self, blocks: Iterator[States]) -> None:
        self.levels.append(self.blocks.restore(blocks))

    def look(self) -> Look:
        return self.blocks.look()

    @property
    def revisits(self) -> bool:
        return self.before.revisits or self.blocks.visited.revisits

    @property
    def owner_bits(self) -> int:  # type: ignore[override]
        return self.blocks.visited.bits or 64

    @property
    def keys(self) -> str:  # type: ignore[override]
        bits = self.blocks.visited.bits
        return "" if bits is None else f"{self.options.strategy}, {bits} bits, seed {self.options.seed}"

    def bytes_in_memory(self) -> int:
        return min(self.blocks.memory, len(self.blocks.log) * (self.native.state_bytes + 8))

    def omission_bound(self, levels: list[int]) -> float:
        return self.blocks.visited.omission_bound(levels)

    def snapshot(self) -> Progress:
        return self.blocks.snapshot()


def in_pieces(blocks: Iterable[States], rows: Callable[[], int]) -> Iterator[States]:
    """The same rows in pieces of so many, as is said anew for each, but for the last one."""
    gathered: list[States] = []
    missing = rows()
    for block in blocks:
        while len(block) >= missing:
            yield np.concatenate([*gathered, block[:missing]]) if gathered else block[:missing]
            gathered, block, missing = [], block[missing:], rows()
        if len(block):
            gathered.append(block)
            missing -= len(block)
    if gathered:
        yield np.concatenate(gathered) if len(gathered) > 1 else gathered[0]

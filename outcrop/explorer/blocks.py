"""Levels in a log on disk, expanded block by block: the frontier of searches that begin on disk.

Workers expand the blocks of a level, and their successors come back to the main thread in the order of the blocks. So
what a search finds depends on its seed and not on the number of workers. New states are checked and appended to the
log, of which each level is a range. It is the queue, with its ends in RAM and its middle on disk, and traces are
rebuilt from it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property, partial
from queue import SimpleQueue
from typing import Protocol, TypeVar

import numpy as np

from outcrop.explorer.arena import Arena
from outcrop.explorer.budget import kernel_settings, state_budget
from outcrop.explorer.context import Context
from outcrop.explorer.explorer import Explorer
from outcrop.explorer.frontier import ExpandPart, Position
from outcrop.explorer.paths import Look, look_in_blocks
from outcrop.kernels import Counts, Native, States
from outcrop.kernels.tables import hash_block
from outcrop.options import CheckOptions
from outcrop.store.frontier import RowFile
from outcrop.store.workdir import WorkDirectory
from outcrop.strategies import LocalityOptions

_Result = TypeVar("_Result")

#: States that are expanded at a time, and between which numbers memory decides: enough that Python's share is small.
_MOST_BLOCK_STATES = 8192
_FEWEST_BLOCK_STATES = 64
#: A level, or a few new states, that the main thread is done with before a worker would have begun.
_FEW_STATES = 512
#: Pieces that a level is expanded in, at the least, unless they would be smaller than that.
_PIECES_A_LEVEL = 4
#: Bytes of a block of states, at the most.
_MOST_BLOCK_BYTES = 1 << 18
#: Bytes that each worker may take beside the states, mostly for successors that are on their way.
BYTES_BESIDE = 8 << 20
#: The share of memory for states that the two ends of a queue may take.
_QUEUE_SHARE = 1 / 8

#: Bytes that kernels keep for start states and the like, whatever the strategy.
_KERNEL_BYTES = 64 << 20

#: Takes successors, with their hashes.
Insert = Callable[[States, Counts], None]


class BlockVisited(Protocol):
    """A visited set that takes successors block by block."""

    def Insert(self, states: States, hashes: Counts) -> None:
        """Takes successors, which it may overwrite. Sooner or later the new ones are enqueued."""

    def Checktable(self) -> None:
        """Enqueues all successors that are new, at the end of a level."""

    def remember(self, states: States, hashes: Counts) -> None:
        """Takes states that were visited before, in the order in which they were. It may overwrite them."""


@contextmanager
def levels_on_disk(native: Native, options: CheckOptions, context: Context) -> Iterator[tuple[Explorer, BlockFrontier]]:
    """Opens a search that keeps its levels on disk from the beginning."""
    settings = kernel_settings(
        options, context.tuning, seed=options.seed, budget=_KERNEL_BYTES, most_states=None, first_lines=1
    )
    with ExitStack() as resources:
        explorer = Explorer(resources.enter_context(native.search(settings)), options, context)
        if explorer.checkpoints is not None:
            resources.enter_context(explorer.checkpoints)
        directory = resources.enter_context(WorkDirectory(options.workdir, explorer.disk))
        yield explorer, BlockFrontier(explorer, directory, state_budget(options, BYTES_BESIDE))


class BlockPool:
    """Workers that do short tasks on blocks, and hand their results back in order."""

    def __init__(self, explorer: Explorer) -> None:
        self._explorer = explorer
        self._workers = explorer.watch.workers
        self.threads = explorer.search.workers
        self._free: SimpleQueue[int] = SimpleQueue()
        for worker in range(self.threads):
            self._free.put(worker)
        if self.threads > 1:
            self._workers.grow(self.threads, stays=True)

    def in_order(self, tasks: Iterable[Callable[[int], _Result]], are_small: bool = False) -> Iterator[_Result]:
        """Runs tasks, each with the number of a worker, a few ahead of whoever takes their results."""
        if self.threads == 1 or are_small:
            for task in tasks:
                self._explorer.watch.poll()
                yield self.with_worker(task)
            return
        waiting: deque[Future[_Result]] = deque()
        try:
            for task in tasks:
                waiting.append(self.submit(task))
                if len(waiting) > self.threads + 1:
                    yield self.result(waiting.popleft())
            while waiting:
                yield self.result(waiting.popleft())
        finally:
            wait(waiting)

    def submit(self, task: Callable[[int], _Result]) -> Future[_Result]:
        return self._workers.submit(partial(self.with_worker, task))

    def with_worker(self, task: Callable[[int], _Result]) -> _Result:
        """Runs a task here, with the number of a worker that is free."""
        worker = self._free.get()
        try:
            return task(worker)
        finally:
            self._free.put(worker)

    def result(self, future: Future[_Result]) -> _Result:
        """Waits for a task, and watches the clock meanwhile."""
        watch = self._explorer.watch
        watch.poll()
        while not future.done():
            with suppress(TimeoutError):
                return future.result(self._explorer.tuning.seconds_between_looks or 0.001)
            watch.poll()
        return future.result()


class BlockFrontier:
    """Levels in a log. ``memory``: bytes that tables and queues may take."""

    is_arena = False

    def __init__(self, explorer: Explorer, directory: WorkDirectory, memory: int) -> None:
        self._explorer = explorer
        self.width = explorer.native.state_bytes
        self._memory = memory
        self._block_states = explorer.options.of(LocalityOptions).block_states  #: None: as many as is fast
        self.directory = directory
        self.pool = BlockPool(explorer)
        self.expanded = 0
        self._checks: deque[Future[None]] = deque()  #: of new states, that workers have not done yet
        self._successors_each = 1.0  #: of a state, by what was expanded last
        self.visited: BlockVisited  #: which the strategy sets

    @cached_property
    def log(self) -> RowFile:
        return self._explorer.open_log(self.directory, self._block_rows)

    # --- Blocks ------------------------------------------------------------------------------------------------

    def queue(self, name: str) -> RowFile:
        """Opens a queue of states whose ends take a small share of the memory for states."""
        return RowFile(self.directory, name, self.width, self._block_rows)

    @property
    def _block_rows(self) -> int:
        fitting = min(int(self._memory * _QUEUE_SHARE) // 2, _MOST_BLOCK_BYTES) // self.width
        usual = max(_FEWEST_BLOCK_STATES, min(_MOST_BLOCK_STATES, fitting))
        return self._block_states or usual

    def table_memory(self, beside: int) -> int:
        """Returns what is left of the memory for states when the log has its two ends there, and a strategy something
        else."""
        ends = 2 * self._block_rows * self._explorer.native.model_bytes
        return max(self._memory // 2, self._memory - ends - beside)

    def piece_rows(self, states: int) -> int:
        """Returns how many of so many states are dealt with at a time: so many that Python's share is small, so few
        that all workers have something to do."""
        fitting = min(_MOST_BLOCK_STATES, _MOST_BLOCK_BYTES // self.width)
        wanted = max(_FEW_STATES, -(-states // _PIECES_A_LEVEL))
        return self._block_states or max(_FEWEST_BLOCK_STATES, min(fitting, wanted))

    def _rows_to_expand(self, states: int) -> int:
        """Returns the same for states that are expanded: so few that their successors fit, too."""
        fitting = int(self._most_successors / 2 / self._successors_each)
        fewest = self._explorer.tuning.fewest_to_expand
        return self._block_states or max(fewest, min(fitting, self.piece_rows(states)))

    @property
    def _most_successors(self) -> int:
        """Successors of states that are expanded as one piece of work."""
        return max(1, self._explorer.tuning.most_successor_bytes // self.width)

    # --- Levels ------------------------------------------------------------------------------------------------

    def fill_level(self, fill: Callable[[], None]) -> None:
        """Makes a new level of what ``fill`` enqueues."""
        explorer, begin = self._explorer, self._explorer.levels.states

        def fill_and_check() -> None:
            fill()
            self._finish_checks(0)

        explorer.fill_level(fill_and_check, lambda: len(self.log) - begin)

    def start(self) -> None:
        arena = Arena(self._explorer)
        self._explorer.exchange.fill_level(arena.create_start_states)
        search = self._explorer.search
        states = search.read_block(0, search.finish_level())

        def fill() -> None:
            self._insert(states)
            self.visited.Checktable()

        self.fill_level(fill)

    def insert_successors(self, begin: int) -> None:
        """Expands the states of the log from number ``begin`` on, and has their successors inserted in the order in
        which they were made; with several ranks those that this one owns, whoever made them."""
        self.expanded = begin
        expansions = partial(self._expansions, begin, self._explorer.levels.states, self.visited.Insert)
        self._explorer.exchange.route_successors(expansions, self._insert)

    def _insert(self, states: States) -> None:
        self.visited.Insert(states, hash_block(self._explorer.search, states))

    def _expansions(
        self, begin: int, end: int, insert: Insert, send: Callable[[int], None]
    ) -> Iterator[Callable[[], None]]:
        """Expands states, and yields what inserts their successors. ``send`` takes what a worker has made for others.
        Where a block has more successors than expected, those of the rest are made when the first are gone."""

        def expand(block: States, worker: int) -> tuple[Callable[[], None], States]:
            states, hashes, expanded = self._explorer.search.expand_some(worker, block, self._most_successors)
            self._successors_each = max(1.0, len(states) / max(1, expanded))
            send(worker)
            return partial(insert, states, hashes), block[expanded:]

        def blocks() -> Iterator[States]:
            for block in self.log.blocks(begin, end):
                self.expanded += len(block)
                yield block

        def takes(blocks: Iterable[States], count: int) -> Iterator[tuple[Callable[[], None], States]]:
            pieces = in_pieces(blocks, lambda: self._rows_to_expand(count))
            are_few = count * self._successors_each < self._explorer.tuning.few_successors
            return self.pool.in_order((partial(expand, piece) for piece in pieces), are_few)

        for take, rest in takes(blocks(), end - begin):
            yield take
            for take_some, left in takes([rest], len(rest)):
                yield take_some
                while len(left):
                    take_some, left = self.pool.with_worker(partial(expand, left))
                    yield take_some

    def enqueue(self, states: States) -> None:
        """Takes states that are new: they are checked, and part of the next level."""
        if not len(states):
            return
        if self._explorer.levels:  # start states were checked when they were made
            self._check(states)
        self.log.append(states)

    def _check(self, states: States) -> None:
        """Has a worker check new states, by the end of the level."""

        def check(worker: int) -> None:
            self._explorer.search.check_block(worker, states)

        if self.pool.threads == 1 or len(states) < _FEW_STATES:
            self.pool.with_worker(check)
            return
        self._finish_checks(2 * self.pool.threads)
        self._checks.append(self.pool.submit(check))

    def _finish_checks(self, most_left: int) -> None:
        while len(self._checks) > most_left:
            self.pool.result(self._checks.popleft())

    def restore(self, blocks: Iterator[States]) -> None:
        self._explorer.levels.append(self.take_visited(blocks))

    def take_visited(self, blocks: Iterable[States]) -> int:
        """Takes states that were visited before, and checked, from a snapshot or another strategy. They follow those
        that were taken before. Returns how many there were."""
        first = self.expanded
        for states in blocks:
            self.expanded += len(states)
            # They stand in the log already, unless it is a new one.
            missing = max(0, self.expanded - len(self.log))
            self.log.append(states[len(states) - missing :])
            self.visited.remember(states, hash_block(self._explorer.search, states))
            self._explorer.watch.poll()
        return self.expanded - first

    # --- What the explorer asks --------------------------------------------------------------------------------

    def look(self) -> Look:
        explorer = self._explorer

        def read_level(level: int) -> Iterator[States]:
            ends = explorer.levels.ends
            return self.log.blocks(ends[level], ends[level + 1])

        return look_in_blocks(explorer.search, read_level, explorer.parallel)

    def position(self) -> Position:
        return Position(len(self._explorer.levels) - 1, len(self.log), self.expanded)

    def memory(self) -> int:
        return min(self._memory, len(self.log) * (self.width + 8))

    def go_past_memory(self, expand: ExpandPart) -> ExpandPart | None:
        return None


def in_pieces(blocks: Iterable[States], rows: Callable[[], int]) -> Iterator[States]:
    """Yields the same rows in pieces of as many as ``rows`` says for each, but for the last one."""
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

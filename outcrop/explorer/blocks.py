"""Levels in a state log on disk, expanded block by block: the frontier of searches that start on disk.

Workers expand the blocks of a level. Their successors come back to the main thread in the order of the blocks, so
results depend on the seed and not on the number of workers. New states are checked and appended to the log, of which
each level is a range. The log is the queue, with its two ends in RAM and the rest on disk. Traces are rebuilt from it.
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

#: Bounds on the states expanded in one block; memory decides between them. Large blocks keep the share of Python small.
_MOST_BLOCK_STATES = 8192
_FEWEST_BLOCK_STATES = 64
#: Number of states below which the main thread works faster alone than with a worker.
_FEW_STATES = 512
#: Smallest number of blocks that a level is divided into, unless they would have fewer than _FEW_STATES states.
_PIECES_A_LEVEL = 4
#: Largest block of states, in bytes.
_MOST_BLOCK_BYTES = 1 << 18
#: Memory of each worker besides the states, in bytes, mostly for successors in transit.
WORKER_BYTES = 8 << 20
#: Fraction of the state memory for the two ends of a queue.
_QUEUE_SHARE = 1 / 8

#: Memory that kernels keep for start states and counters, in bytes, with every strategy.
_KERNEL_BYTES = 64 << 20

#: Takes successors and their hashes.
Insert = Callable[[States, Counts], None]


class BlockVisited(Protocol):
    """A visited set that takes successors block by block."""

    def Insert(self, states: States, hashes: Counts) -> None:
        """Takes successors, and may overwrite the arrays. Enqueues the new ones, now or later."""

    def Checktable(self) -> None:
        """Enqueues all new successors, at the end of a level."""

    def remember(self, states: States, hashes: Counts) -> None:
        """Takes states that an earlier search visited, in the order of their discovery. May overwrite the arrays."""


@contextmanager
def levels_on_disk(native: Native, options: CheckOptions, context: Context) -> Iterator[tuple[Explorer, BlockFrontier]]:
    """Opens a search that keeps its levels on disk from the start."""
    settings = kernel_settings(
        options, context.tuning, seed=options.seed, budget=_KERNEL_BYTES, most_states=None, first_lines=1
    )
    with ExitStack() as resources:
        explorer = Explorer(resources.enter_context(native.search(settings)), options, context)
        if explorer.checkpoints is not None:
            resources.enter_context(explorer.checkpoints)
        directory = resources.enter_context(WorkDirectory(options.workdir, explorer.disk))
        yield explorer, BlockFrontier(explorer, directory, state_budget(options, WORKER_BYTES))


class BlockPool:
    """A pool of workers for short tasks on blocks. Results come back in the order of the tasks."""

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
        """Runs tasks a few ahead of the consumer of their results. Each task gets the number of a worker."""
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
        """Queues a task for the next free worker."""
        return self._workers.submit(partial(self.with_worker, task))

    def with_worker(self, task: Callable[[int], _Result]) -> _Result:
        """Runs a task in this thread, with the number of a free worker."""
        worker = self._free.get()
        try:
            return task(worker)
        finally:
            self._free.put(worker)

    def result(self, future: Future[_Result]) -> _Result:
        """Waits for a task, and polls the clock meanwhile."""
        watch = self._explorer.watch
        watch.poll()
        while not future.done():
            with suppress(TimeoutError):
                return future.result(self._explorer.tuning.seconds_between_looks or 0.001)
            watch.poll()
        return future.result()


class BlockFrontier:
    """The levels of a search in a state log. ``memory``: budget for tables and queues, in bytes."""

    is_arena = False

    def __init__(self, explorer: Explorer, directory: WorkDirectory, memory: int) -> None:
        self._explorer = explorer
        self.width = explorer.native.state_bytes
        self._memory = memory
        self._block_states = explorer.options.of(LocalityOptions).block_states  #: None: chosen for speed
        self.directory = directory
        self.pool = BlockPool(explorer)
        self.expanded = 0
        self._checks: deque[Future[None]] = deque()  #: property checks of new states that workers have not finished
        self._successors_each = 1.0  #: mean number of successors of a state in the block expanded last
        self.visited: BlockVisited  #: set by the strategy

    @cached_property
    def log(self) -> RowFile:
        return self._explorer.open_log(self.directory, self._block_rows)

    # --- Blocks ------------------------------------------------------------------------------------------------

    def queue(self, name: str) -> RowFile:
        """Opens a queue of states whose ends take a small fraction of the state memory."""
        return RowFile(self.directory, name, self.width, self._block_rows)

    @property
    def _block_rows(self) -> int:
        fitting = min(int(self._memory * _QUEUE_SHARE) // 2, _MOST_BLOCK_BYTES) // self.width
        usual = max(_FEWEST_BLOCK_STATES, min(_MOST_BLOCK_STATES, fitting))
        return self._block_states or usual

    def table_memory(self, other_bytes: int) -> int:
        """Returns the state memory that is left for a table, in bytes, after the ends of the log and
        ``other_bytes`` other bytes."""
        ends = 2 * self._block_rows * self._explorer.native.model_bytes
        return max(self._memory // 2, self._memory - ends - other_bytes)

    def piece_rows(self, states: int) -> int:
        """Returns the size of the blocks into which ``states`` states are divided. Blocks are large enough to keep the
        share of Python small, and small enough to keep all workers busy."""
        fitting = min(_MOST_BLOCK_STATES, _MOST_BLOCK_BYTES // self.width)
        wanted = max(_FEW_STATES, -(-states // _PIECES_A_LEVEL))
        return self._block_states or max(_FEWEST_BLOCK_STATES, min(fitting, wanted))

    def _rows_to_expand(self, states: int) -> int:
        """Returns the size of blocks to be expanded, which is smaller where states have many successors."""
        fitting = int(self._most_successors / 2 / self._successors_each)
        fewest = self._explorer.tuning.fewest_to_expand
        return self._block_states or max(fewest, min(fitting, self.piece_rows(states)))

    @property
    def _most_successors(self) -> int:
        """Largest number of successors of one block."""
        return max(1, self._explorer.tuning.most_successor_bytes // self.width)

    # --- Levels ------------------------------------------------------------------------------------------------

    def fill_level(self, fill: Callable[[], None]) -> None:
        """Makes a new level of the states that ``fill`` enqueues."""
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
        """Expands the states of the log from number ``begin`` on. Inserts their successors in the order of generation.
        With several ranks, inserts the successors that this rank owns, whichever rank generated them."""
        self.expanded = begin
        expansions = partial(self._expansions, begin, self._explorer.levels.states, self.visited.Insert)
        self._explorer.exchange.route_successors(expansions, self._insert)

    def _insert(self, states: States) -> None:
        self.visited.Insert(states, hash_block(self._explorer.search, states))

    def _expansions(
        self, begin: int, end: int, insert: Insert, send: Callable[[int], None]
    ) -> Iterator[Callable[[], None]]:
        """Expands states, and yields functions that insert their successors. ``send`` sends what a worker has generated
        for other ranks. If a block has more successors than expected, the rest of it is expanded after the first ones
        are inserted."""

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
        """Takes new states: they are checked, and belong to the next level."""
        if not len(states):
            return
        if self._explorer.levels:  # start states are checked when they are created
            self._check(states)
        self.log.append(states)

    def _check(self, states: States) -> None:
        """Checks new states in a worker, before the level ends."""

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
        """Takes states that a snapshot or another strategy has visited and checked. They follow the states taken
        before. Returns their number."""
        first = self.expanded
        for states in blocks:
            self.expanded += len(states)
            # A resumed log has these states already; a new one has not.
            missing = max(0, self.expanded - len(self.log))
            self.log.append(states[len(states) - missing :])
            self.visited.remember(states, hash_block(self._explorer.search, states))
            self._explorer.watch.poll()
        return self.expanded - first

    # --- Frontier ----------------------------------------------------------------------------------------------

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
    """Yields the same rows in blocks of other sizes. ``rows`` gives the size of each block; the last may be smaller."""
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

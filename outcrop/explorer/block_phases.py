"""Phases of an algorithm over blocks of states on disk, in all workers and ranks.

A phase starts with some seed states, does its work on each state, and continues with the states that follow. Those wait
in a queue on disk. The phase ends when the queue is empty.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial

from outcrop.explorer.explorer import Explorer
from outcrop.kernels import States
from outcrop.kernels.route import Message
from outcrop.outcome import Event, EventKind, Stop
from outcrop.store.frontier import RowFile
from outcrop.store.workdir import DiskFull, WorkDirectory

#: Largest block that a worker takes at a time, in states, and in bytes for large states. The successors of a whole
#: block may be in transit.
_BLOCK_STATES = 4096
_MOST_BYTES = 1 << 18
#: Largest number of following states that a worker handles itself instead of queuing them.
_FEW_STATES = 16384

#: Returns an iterator over blocks of states, each time it is called.
Blocks = Callable[[], Iterator[States]]
#: Does the work of a phase on a block of states. Returns the states that follow.
OnStates = Callable[[int, States], States]
#: Does the work of a phase on states that another rank sent. Returns the states that follow.
OnMessage = Callable[[int, Message], States]


class BlockPhases:
    """The runner of phases. ``queue``: the states of the current phase, in order. The last ones are still to do."""

    def __init__(self, explorer: Explorer, directory: WorkDirectory) -> None:
        self._explorer = explorer
        self._directory = directory
        self._lock = threading.Lock()
        fitting = max(1, _MOST_BYTES // explorer.native.state_bytes)
        self._block_rows = min(_BLOCK_STATES, fitting)
        #: Following states that a worker handles at once. With several ranks, 0: they must be sent to their owners.
        self.few = 0 if explorer.exchange.sends_states else min(_FEW_STATES, fitting)
        self.queue = self.open_file("queue")

    def open_file(self, name: str) -> RowFile:
        return RowFile(self._directory, name, self._explorer.native.state_bytes, self._block_rows)

    def run(self, seeds: Blocks, begin: OnStates, follow: OnStates, take: OnMessage) -> None:
        """Runs a phase to its end: ``begin`` on the seeds, then ``follow``, or ``take``, on the states that follow."""
        self.share(seeds(), begin, self.queue)
        explorer, done = self._explorer, 0

        def next_block() -> States | None:
            nonlocal done
            block = next(self.queue.blocks(done, len(self.queue)), None)
            done += 0 if block is None else len(block)
            return block

        expand = partial(self._expand, next_block, follow)
        explorer.exchange.work_rounds(expand, partial(self._add, take), lambda: done < len(self.queue))
        self.queue.clear()

    def spread(self, begin: int, end: int, follow: OnStates, take: OnMessage) -> None:
        """Runs ``follow`` on one range of the queue. The owners of the states that follow queue them."""
        blocks = self.queue.blocks(begin, end)
        expand = partial(self._expand, lambda: next(blocks, None), follow)
        self._explorer.exchange.work_round(expand, partial(self._add, take))

    def share(self, blocks: Iterator[States], work: OnStates, into: RowFile) -> None:
        """Runs ``work`` on all blocks, in all workers, and appends its results to a file. Nothing is sent."""

        def work_off(worker: int) -> None:
            while self._explorer.watch.asked is None and self._do(lambda: next(blocks, None), work, into, worker):
                pass

        workers = range(self._explorer.search.workers)
        self._explorer.parallel(*(partial(work_off, worker) for worker in workers))
        self._explorer.exchange.agree_to_go_on()

    def _expand(self, next_block: Callable[[], States | None], work: OnStates, worker: int) -> bool:
        return self._do(next_block, work, self.queue, worker)

    def _do(self, next_block: Callable[[], States | None], work: OnStates, into: RowFile, worker: int) -> bool:
        """Does the work on one block. Returns whether there was one."""
        try:
            with self._lock:
                block = next_block()
            if block is not None:
                results = work(worker, block)
                with self._lock:
                    into.append(results)
            return block is not None
        except DiskFull as full:
            self.disk_is_full(full)
            return False

    def _add(self, take: OnMessage, worker: int, message: Message) -> None:
        try:
            results = take(worker, message)
            with self._lock:
                self.queue.append(results)
        except DiskFull as full:
            self.disk_is_full(full)

    def disk_is_full(self, full: DiskFull) -> None:
        """Asks the search to stop. All ranks stop when they reach the same point."""
        self._explorer.watch.tell(Event(EventKind.DISK_FULL, f"disk: {full}"))
        self._explorer.watch.ask_to_stop(Stop.DISK)


def rows_of(file: RowFile) -> Iterator[States]:
    """Returns all blocks of a file."""
    return file.blocks(0, len(file))

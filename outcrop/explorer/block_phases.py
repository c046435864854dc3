"""Phases of a search that go over states block by block, from files, in all workers and ranks.

A phase begins with some states, does something to each, and goes on with the states that follow, which are queued on
disk, until none follow any more.
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

#: States that a worker takes at a time; and, where states are large, what these may take in bytes: as many successors
#: as they have may be on their way.
_BLOCK_STATES = 4096
_MOST_BYTES = 1 << 18
#: States that follow which a worker deals with itself, instead of queuing them.
_FEW_STATES = 16384

#: Returns states, as often as it is asked.
Blocks = Callable[[], Iterator[States]]
#: Does to some states what a phase does. Returns the states that follow.
OnStates = Callable[[int, States], States]
#: Does the same to states that another rank sends.
OnMessage = Callable[[int, Message], States]


class BlockPhases:
    """Runs phases. ``queue``: states that are still to be dealt with, and those that were, in order."""

    def __init__(self, explorer: Explorer, directory: WorkDirectory) -> None:
        self._explorer = explorer
        self._directory = directory
        self._lock = threading.Lock()
        fitting = max(1, _MOST_BYTES // explorer.native.state_bytes)
        self._block_rows = min(_BLOCK_STATES, fitting)
        #: States that follow which a worker deals with at once. With several ranks they must first be sent.
        self.few = 0 if explorer.exchange.sends_states else min(_FEW_STATES, fitting)
        self.queue = self.open_file("queue")

    def open_file(self, name: str) -> RowFile:
        return RowFile(self._directory, name, self._explorer.native.state_bytes, self._block_rows)

    def run(self, seeds: Blocks, begin: OnStates, follow: OnStates, take: OnMessage) -> None:
        """Runs a phase to its end: ``begin`` with the seeds, then ``follow``, or ``take``, with all that follow."""
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
        """Does ``follow`` to a range of the queue, and only to that; what follows is queued by its owners."""
        blocks = self.queue.blocks(begin, end)
        expand = partial(self._expand, lambda: next(blocks, None), follow)
        self._explorer.exchange.work_round(expand, partial(self._add, take))

    def share(self, blocks: Iterator[States], work: OnStates, into: RowFile) -> None:
        """Has the workers do something to blocks, and appends what that gives to a file. Nothing is sent."""

        def work_off(worker: int) -> None:
            while self._explorer.watch.asked is None and self._do(lambda: next(blocks, None), work, into, worker):
                pass

        workers = range(self._explorer.search.workers)
        self._explorer.parallel(*(partial(work_off, worker) for worker in workers))
        self._explorer.exchange.agree_to_go_on()

    def _expand(self, next_block: Callable[[], States | None], work: OnStates, worker: int) -> bool:
        return self._do(next_block, work, self.queue, worker)

    def _do(self, next_block: Callable[[], States | None], work: OnStates, into: RowFile, worker: int) -> bool:
        """Deals with one block. Returns whether there was one."""
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
        """Stops the search, on all ranks, when all have come to the same point."""
        self._explorer.watch.tell(Event(EventKind.DISK_FULL, f"disk: {full}"))
        self._explorer.watch.ask_to_stop(Stop.DISK)


def rows_of(file: RowFile) -> Iterator[States]:
    return file.blocks(0, len(file))

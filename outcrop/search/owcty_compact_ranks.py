"""OWCTY with hash compaction, when states are shared out among several ranks.

Each rank has the queues and the signatures of the states that it owns. A phase sends successors to their owners, all
of them, since edges are counted, and ends when no rank has anything left to do. All ranks agree on the size of S; and
in VERIFICATION on the state to which a way back is looked for, as section 3.1 of the paper asks: each proposes the next
of its own that nothing has led to yet, and the least is taken. So which cycle is reported depends on the number of
ranks, as it does on that of workers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from outcrop.kernels import States
from outcrop.kernels_route import Message
from outcrop.store.workdir import DiskFull

if TYPE_CHECKING:
    from outcrop.search.owcty_compact import CompactedOwcty
    from outcrop.search.sharing import Sharing

#: Deals with states, or with a message of them; gives those that follow.
Deal = Callable[[int, States], States]
Take = Callable[[int, Message], States]


class SharedPhases:
    def __init__(self, run: CompactedOwcty, sharing: Sharing) -> None:
        self._run = run
        self._sharing = sharing

    def work_off(self, deal: Deal, take: Take) -> None:
        """Deals with what is in the queue, and with all that follows, here and elsewhere."""
        queue, lock = self._run.queue, threading.Lock()
        done = 0

        def next_block() -> States | None:
            nonlocal done
            with lock:
                block = next(queue.blocks(done, len(queue)), None)
                done += 0 if block is None else len(block)
                return block

        self._sharing.work_off(
            partial(self._expand, next_block, deal, lock), partial(self._add, take, lock), lambda: done < len(queue)
        )

    def spread(self, blocks: Iterator[States], deal: Deal, take: Take) -> None:
        """Deals with some states, wherever they lie, and only with these; what follows is queued by its owners."""
        lock = threading.Lock()

        def next_block() -> States | None:
            with lock:
                return next(blocks, None)

        self._sharing.work_round(partial(self._expand, next_block, deal, lock), partial(self._add, take, lock))

    def _expand(self, next_block: Callable[[], States | None], deal: Deal, lock: threading.Lock, worker: int) -> bool:
        try:
            block = next_block()
            if block is not None:
                follow = deal(worker, block)
                with lock:
                    self._run.queue.append(follow)
            return block is not None
        except DiskFull as full:
            self._run.disk_is_full(full)
            return False

    def _add(self, take: Take, lock: threading.Lock, worker: int, message: Message) -> None:
        try:
            follow = take(worker, message)
            with lock:
                self._run.queue.append(follow)
        except DiskFull as full:
            self._run.disk_is_full(full)

    def candidates(self, own: Iterator[States]) -> Iterator[tuple[States, bool]]:
        """States that nothing has led to, one after the other, the same for all ranks; and whether it is an own one.
        ``own``: those of this rank."""
        run = self._run
        state = next(own, None)
        while True:
            while state is not None and len(run.cycles.in_s(state)):
                state = next(own, None)
            proposed = None if state is None else state.tobytes()
            everyone = self._sharing.exchange.gather(proposed, run.look_at_clock)
            least = min((each for each in everyone if each is not None), default=None)
            if least is None:
                return
            yield np.frombuffer(least, dtype=np.uint8).reshape(1, -1), least == proposed

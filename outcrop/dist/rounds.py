"""One level's exchange: successors leave for their owners while others are still being made, and what arrives is added.

Each rank ends its part with a message to every other one, behind all its states; who has all of these has everything.
A rank that must stop early says so in that message, and the others stop too. So every rank sends every other one exactly
one such message a level, whatever happens, and nobody waits for something that will not come.

Sending never waits. A rank that is too far ahead of who it sends to makes nothing more until that has changed; what it
receives it adds all the same, so that the others can go on.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from outcrop.dist.pauses import Pauses
from outcrop.kernels import States
from outcrop.kernels_route import Route, rows_with_spare_bytes

if TYPE_CHECKING:
    from outcrop.dist.mpi import MpiExchange

_STATES, _END = 1, 2
#: What a message of states is made of, unless the level ends; less where there are many to send to.
_MESSAGE_BYTES = 1 << 18
_ALL_MESSAGES_BYTES = 1 << 25
#: Messages on their way to one rank: one that it takes and one that follows.
_MOST_UNDER_WAY = 2
#: Messages that have arrived and wait to be added.
_MOST_WAITING = 4


class Traffic:
    """What one rank has sent."""

    def __init__(self) -> None:
        self.states = 0
        self.bytes = 0
        self.messages = 0
        self.seconds_idle = 0.0  #: of workers, while a level was going on

    def add(self, other: Traffic) -> None:
        self.states += other.states
        self.bytes += other.bytes
        self.messages += other.messages
        self.seconds_idle += other.seconds_idle


class Round:
    """``stop``: not 0 when some rank must stop, and why."""

    def __init__(self, exchange: MpiExchange, mpi: Any, comm: Any, route: Route, workers: int, width: int) -> None:
        self._exchange = exchange
        self._mpi = mpi
        self._comm = comm
        self._route = route
        self._workers = workers
        self._width = width
        room = min(_MESSAGE_BYTES, max(4096, _ALL_MESSAGES_BYTES // (exchange.size * workers)))
        self._batch = max(1, room // width)
        self._guard = threading.Lock()
        self._arrived: deque[States] = deque()
        self._under_way: list[tuple[Any, int, NDArray[Any]]] = []  #: request, to whom, what
        self._to_each = np.zeros(exchange.size, dtype=np.int64)  #: messages under way
        self._done: set[int] = set()  #: workers that have made all they can
        self._has_ended = False
        self._ends = 0  #: of others
        self.stop = 0
        self.traffic = Traffic()

    # --- Workers -----------------------------------------------------------------------------------------------

    def work(
        self,
        worker: int,
        expand: Callable[[int], bool],
        add: Callable[[int, States], None],
        must_leave: Callable[[], bool],
    ) -> None:
        """One worker's part, until the level is complete or it must leave; it may come again. ``expand`` makes some
        successors and says whether there may be more."""
        self._done.discard(worker)
        pauses = Pauses()
        while not self.stop and not must_leave():
            states = self.take()
            if states is not None:
                add(worker, states)
            elif self._has_ended or worker in self._done or self.is_ahead:
                if self.is_over:
                    return
                self.traffic.seconds_idle += pauses.pause() / self._workers
                continue
            elif expand(worker):
                self.send(worker)
            else:
                self.send(worker, everything=True)
                self._done.add(worker)
                self._end_if_done()
            pauses = Pauses()

    def _end_if_done(self) -> None:
        with self._guard:
            if len(self._done) == self._workers:
                self._end(0)

    # --- Sending -----------------------------------------------------------------------------------------------

    @property
    def is_ahead(self) -> bool:
        return int(self._to_each.max()) >= _MOST_UNDER_WAY

    def send(self, worker: int, everything: bool = False) -> None:
        """Sends what a worker has for others, as far as it fills a message."""
        counts = self._route.outgoing(worker)
        for rank in np.flatnonzero(counts >= (1 if everything else self._batch)).tolist():
            states = self._route.take(worker, rank, int(counts[rank]))
            self.send_states(rank, states)

    def send_states(self, rank: int, states: States) -> None:
        with self._guard:
            request = self._comm.Issend([states, self._mpi.BYTE], rank, _STATES)
            self._under_way.append((request, rank, states))
            self._to_each[rank] += 1
            self.traffic.states += len(states)
            self.traffic.bytes += states.nbytes
            self.traffic.messages += 1

    def _end(self, stop: int) -> None:
        if self._has_ended:
            return
        self._has_ended = True
        word = np.array([stop], dtype=np.int64)
        for rank in range(self._exchange.size):
            if rank != self._exchange.rank:
                self._under_way.append((self._comm.Isend([word, self._mpi.INT64_T], rank, _END), rank, word))
                self.traffic.bytes += word.nbytes
                self.traffic.messages += 1

    # --- Receiving ---------------------------------------------------------------------------------------------

    @property
    def is_over(self) -> bool:
        """Whether all that was sent to this rank has been taken."""
        return self._has_ended and self._ends == self._exchange.size - 1 and not self._arrived

    def take(self) -> States | None:
        """States that have arrived, to be added."""
        if self._guard.acquire(blocking=False):
            try:
                self._poll()
            finally:
                self._guard.release()
        try:
            return self._arrived.popleft()
        except IndexError:
            return None

    def _poll(self) -> None:
        status = self._mpi.Status()
        while len(self._arrived) < _MOST_WAITING:
            message = self._comm.Improbe(self._mpi.ANY_SOURCE, self._mpi.ANY_TAG, status)
            if message is None:
                break
            if status.Get_tag() == _END:
                word = np.zeros(1, dtype=np.int64)
                message.Recv([word, self._mpi.INT64_T])
                self.stop = self.stop or int(word[0])
                self._ends += 1
                continue
            states = rows_with_spare_bytes(status.Get_count(self._mpi.BYTE) // self._width, self._width)
            message.Recv([states, self._mpi.BYTE])
            self._arrived.append(states)
        left = []
        for each in self._under_way:
            if not each[0].Test():
                left.append(each)
            elif each[2].ndim == 2:
                self._to_each[each[1]] -= 1
        self._under_way = left

    # --- The end -----------------------------------------------------------------------------------------------

    def end_part(self) -> None:
        """Sends what is left. This rank has nothing more to send."""
        for worker in range(self._workers):
            self.send(worker, everything=True)
        with self._guard:
            self._end(0)

    def finish(self, stop: int, idle: Callable[[], None]) -> None:
        """Waits until all ranks have ended the round. What arrives after a stop is dropped."""
        with self._guard:
            self._end(stop)
        pauses = Pauses()
        while not self.is_over or self._under_way:
            self._arrived.clear()
            self.take()
            self.traffic.seconds_idle += pauses.pause()
            idle()

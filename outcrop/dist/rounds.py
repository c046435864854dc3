"""One level's exchange: successors leave for their owners while others are still being made, and arrivals are added.

Each rank ends its part with a last message to every other one, behind all its states; who has all of these has
everything. A rank that must stop early says so in that message, and the others stop too. So every rank sends every
other one exactly one such message a level, whatever happens, and nobody waits for something that will not come.

Sending never waits. A rank that is too far ahead of who it sends to makes nothing more until that has changed; what it
receives it adds all the same, so that the others can go on. Otherwise a few messages may wait until it has made its own
successors. It will find nearly all of those states itself, and what it finds itself it puts beside states that are much
alike, which takes less time to expand: branches are foretold better.
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
from outcrop.kernels.route import Message, Route

if TYPE_CHECKING:
    from outcrop.dist.mpi import MpiTransport

_STATES, _LAST = 1, 2
#: In front of a message: why to stop, in the last one.
_STOP_BYTES = 8
#: Messages on their way to one rank before no more are made for it; and those that have arrived and wait to be added.
_MOST_UNDER_WAY = 8
_MOST_WAITING = 8
#: Messages whose room is kept for others.
_MOST_FREE = 16


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


class Buffers:
    """Room for messages, used again and again: to get it from the system takes longer than to fill it."""

    def __init__(self) -> None:
        self._free: list[NDArray[np.uint8]] = []

    def take(self, needed: int) -> NDArray[np.uint8]:
        room = self._free.pop() if self._free else None
        return room if room is not None and len(room) >= needed else np.empty(needed + needed // 4, dtype=np.uint8)

    def give_back(self, room: NDArray[np.uint8]) -> None:
        if len(self._free) < _MOST_FREE:
            self._free.append(room)


class Round:
    """``stop``: not 0 when some rank must stop, and why."""

    def __init__(self, transport: MpiTransport, mpi: Any, comm: Any, route: Route, workers: int) -> None:
        self._transport = transport
        self._mpi = mpi
        self._comm = comm
        self._route = route
        self._workers = workers
        self._buffers = transport.buffers
        self._guard = threading.Lock()
        self._status = mpi.Status()
        self._arrived: deque[NDArray[np.uint8]] = deque()
        self._under_way: list[tuple[Any, int, NDArray[np.uint8]]] = []  #: request, to whom, what
        self._to_each = [0] * transport.size  #: messages under way
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
        add: Callable[[int, Message], None],
        must_leave: Callable[[], bool],
    ) -> None:
        """One worker's part, until the level is complete or it must leave; it may come again. ``expand`` makes some
        successors and says whether there may be more."""
        self._done.discard(worker)
        pauses = Pauses(self._transport.has_own_cores)
        while not self.stop and not must_leave():
            self._receive()
            has_ended = self._has_ended or worker in self._done
            if not has_ended and len(self._arrived) < _MOST_WAITING and not self.is_ahead:
                if expand(worker):
                    self.send(worker)
                else:
                    self._end_worker(worker)
            elif (arrived := self._first()) is not None:
                add(worker, arrived[_STOP_BYTES:])
                self._buffers.give_back(arrived)
            elif self.is_over:
                return
            else:
                self.traffic.seconds_idle += pauses.pause() / self._workers
                continue
            pauses = Pauses(self._transport.has_own_cores)

    def _end_worker(self, worker: int) -> None:
        """The last one sends what it has left with the last messages; all others before they count as done, so that
        nothing of theirs comes behind these."""
        with self._guard:
            if len(self._done) == self._workers - 1:
                self._end(0, worker)
                return
        self.send(worker, everything=True)
        with self._guard:
            self._done.add(worker)
            if len(self._done) == self._workers:
                self._end(0, worker)

    # --- Sending -----------------------------------------------------------------------------------------------

    @property
    def is_ahead(self) -> bool:
        return len(self._under_way) >= _MOST_UNDER_WAY and max(self._to_each) >= _MOST_UNDER_WAY

    def send(self, worker: int, everything: bool = False) -> None:
        """Sends what a worker has for others, as far as it fills a message."""
        least = 1 if everything else self._route.batch
        for rank, count in enumerate(self._route.outgoing(worker).tolist()):
            if count < least:
                continue
            room = self._room(count)
            length = self._route.take(worker, rank, room[_STOP_BYTES:])
            with self._guard:
                self._send(rank, _STATES, room, length, count)

    def send_states(self, rank: int, states: States) -> None:
        room = self._room(len(states))
        length = self._route.write(states, room[_STOP_BYTES:])
        with self._guard:
            self._send(rank, _STATES, room, length, len(states))

    def _room(self, count: int) -> NDArray[np.uint8]:
        return self._buffers.take(_STOP_BYTES + self._route.most_bytes(count))

    def _send(self, rank: int, tag: int, room: NDArray[np.uint8], length: int, count: int) -> None:
        # How many are under way says how far the receiver is, except that the last ones are taken in any case.
        send = self._comm.Issend if tag == _STATES else self._comm.Isend
        self._under_way.append((send([room, _STOP_BYTES + length, self._mpi.BYTE], rank, tag), rank, room))
        self._to_each[rank] += 1
        self.traffic.states += count
        self.traffic.bytes += _STOP_BYTES + length
        self.traffic.messages += 1

    def _end(self, stop: int, worker: int) -> None:
        """Sends the last messages, with what a worker has left."""
        if self._has_ended:
            return
        self._has_ended = True
        for rank, count in enumerate(self._route.outgoing(worker).tolist()):
            if rank != self._transport.rank:
                room = self._room(count)
                room[:_STOP_BYTES].view(np.int64)[0] = stop
                self._send(rank, _LAST, room, self._route.take(worker, rank, room[_STOP_BYTES:]), count)

    # --- Receiving ---------------------------------------------------------------------------------------------

    @property
    def is_over(self) -> bool:
        """Whether all that was sent to this rank has been taken."""
        return self._has_ended and self._ends == self._transport.size - 1 and not self._arrived

    def take(self) -> States | None:
        """States that have arrived, to be added."""
        arrived = self._take()
        if arrived is None:
            return None
        states = self._route.read(arrived[_STOP_BYTES:])
        self._buffers.give_back(arrived)
        return states

    def _take(self) -> NDArray[np.uint8] | None:
        self._receive()
        return self._first()

    def _receive(self) -> None:
        """Unless another worker is at it."""
        if self._guard.acquire(blocking=False):
            try:
                self._poll()
            finally:
                self._guard.release()

    def _first(self) -> NDArray[np.uint8] | None:
        try:
            return self._arrived.popleft()
        except IndexError:
            return None

    def _poll(self) -> None:
        status = self._status
        while len(self._arrived) < _MOST_WAITING:
            message = self._comm.Improbe(self._mpi.ANY_SOURCE, self._mpi.ANY_TAG, status)
            if message is None:
                break
            length = status.Get_count(self._mpi.BYTE)
            room = self._buffers.take(length + self._route.most_bytes(0))
            message.Recv([room, length, self._mpi.BYTE])
            stop, count = room[: 2 * _STOP_BYTES].view(np.int64).tolist()
            if count:
                self._arrived.append(room)  # before the end is noted: other workers look
            else:
                self._buffers.give_back(room)
            if status.Get_tag() == _LAST:
                self.stop = self.stop or stop
                self._ends += 1
        left = []
        for each in self._under_way:
            if each[0].Test():
                self._to_each[each[1]] -= 1
                self._buffers.give_back(each[2])
            else:
                left.append(each)
        self._under_way = left

    # --- The end -----------------------------------------------------------------------------------------------

    def end_part(self) -> None:
        """Sends what is left. This rank has nothing more to send."""
        for worker in range(1, self._workers):
            self.send(worker, everything=True)
        with self._guard:
            self._end(0, 0)

    def finish(self, stop: int, idle: Callable[[], None]) -> None:
        """Waits until all ranks have ended the round. What arrives after a stop is dropped."""
        with self._guard:
            self._end(stop, 0)
        pauses = Pauses(self._transport.has_own_cores)
        while not self.is_over or self._under_way:
            self._arrived.clear()
            self._take()
            self.traffic.seconds_idle += pauses.pause()
            idle()

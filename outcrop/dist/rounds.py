"""The exchange of one level: successors are sent to their owners while others are generated, and arrivals are added.

Each rank ends its part with a last message to every other rank, after all of its states. A rank that has received all
last messages has received everything. A rank that must stop early says so in its last message, and the others stop too.
So every rank sends every other rank exactly one last message a level, whatever happens, and none waits in vain.

Sending never blocks. A rank that is too far ahead of a receiver pauses its expansion until the receiver has caught up.
It still adds what it receives, so that the others can continue. Otherwise up to _MOST_WAITING messages wait until the
rank has generated its own successors. It will find nearly all of those states itself, and stores them next to similar
states, which are faster to expand because branches are predicted better.
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
#: Bytes in front of a message: the reason to stop, in the last one.
_STOP_BYTES = 8
#: Largest number of messages in transit to one rank, and of arrived messages that wait to be added.
_MOST_UNDER_WAY = 8
_MOST_WAITING = 8
#: Largest number of free message buffers that are kept.
_MOST_FREE = 16


class Traffic:
    """Counts of what one rank has sent."""

    def __init__(self) -> None:
        self.states = 0
        self.bytes = 0
        self.messages = 0
        self.seconds_idle = 0.0  #: idle time of workers during a level

    def add(self, other: Traffic) -> None:
        self.states += other.states
        self.bytes += other.bytes
        self.messages += other.messages
        self.seconds_idle += other.seconds_idle


class Buffers:
    """A pool of message buffers, because allocating one takes longer than filling it."""

    def __init__(self) -> None:
        self._free: list[NDArray[np.uint8]] = []

    def take(self, needed: int) -> NDArray[np.uint8]:
        room = self._free.pop() if self._free else None
        return room if room is not None and len(room) >= needed else np.empty(needed + needed // 4, dtype=np.uint8)

    def give_back(self, room: NDArray[np.uint8]) -> None:
        if len(self._free) < _MOST_FREE:
            self._free.append(room)


class Round:
    """The exchange of one level. ``stop``: 0, or the reason for which some rank must stop."""

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
        self._under_way: list[tuple[Any, int, NDArray[np.uint8]]] = []  #: request, receiver, buffer
        self._to_each = [0] * transport.size  #: number of messages in transit to each rank
        self._done: set[int] = set()  #: workers that have generated all they can
        self._has_ended = False
        self._ends = 0  #: number of last messages received
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
        """Runs one worker until the level is complete or the worker must leave, after which it may be called again.
        ``expand`` generates some successors, and returns whether there may be more."""
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
        """Ends the part of a worker. The last worker sends its remaining states in the last messages. The others send
        theirs before they count as done, so that none of their states follows a last message."""
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
        """Sends the states that a worker has for other ranks, as far as they fill a message."""
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
        # An unfinished synchronous send shows how far the receiver is. Last messages are always received.
        send = self._comm.Issend if tag == _STATES else self._comm.Isend
        self._under_way.append((send([room, _STOP_BYTES + length, self._mpi.BYTE], rank, tag), rank, room))
        self._to_each[rank] += 1
        self.traffic.states += count
        self.traffic.bytes += _STOP_BYTES + length
        self.traffic.messages += 1

    def _end(self, stop: int, worker: int) -> None:
        """Sends the last messages, with the remaining states of a worker."""
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
        """Whether everything that was sent to this rank has arrived and been taken."""
        return self._has_ended and self._ends == self._transport.size - 1 and not self._arrived

    def take(self) -> States | None:
        """Returns states that have arrived, or None."""
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
        """Receives messages, unless another worker is doing so."""
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
                self._arrived.append(room)  # before the end is recorded, because other workers look at both
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

    # --- End of the round --------------------------------------------------------------------------------------

    def end_part(self) -> None:
        """Sends the remaining states. This rank sends no more in this round."""
        for worker in range(1, self._workers):
            self.send(worker, everything=True)
        with self._guard:
            self._end(0, 0)

    def finish(self, stop: int, idle: Callable[[], None]) -> None:
        """Waits until all ranks have ended the round. Messages that arrive after a stop are dropped."""
        with self._guard:
            self._end(stop, 0)
        pauses = Pauses(self._transport.has_own_cores)
        while not self.is_over or self._under_way:
            self._arrived.clear()
            self._take()
            self.traffic.seconds_idle += pauses.pause()
            idle()

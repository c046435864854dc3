"""The Transport over MPI, with mpi4py.

No call here blocks inside MPI. MPI libraries wait by spinning, which takes cores from the other ranks if there are more
ranks than cores. Every wait is therefore a loop of tests with growing pauses, which also polls the clock.
"""

from __future__ import annotations

import os
import pickle
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np

from outcrop.dist.launch import BIND, INSTALL, started_ranks
from outcrop.dist.pauses import Pauses
from outcrop.dist.rounds import Buffers, Round
from outcrop.dist.transport import Idle, Numbers, Transport
from outcrop.errors import UsageError
from outcrop.kernels.route import Route
from outcrop.machine import available_cores

_Value = TypeVar("_Value")

#: Time that failing ranks wait for the others to fail too, so that the reason is printed once, in seconds.
_SECONDS_TO_AGREE = 2.0
_MESSAGE_BYTES = 4096
#: Time between a message and the end of all ranks, in seconds, because launchers drop pending output at the end.
_SECONDS_TO_BE_HEARD = 0.3


def open_world() -> MpiTransport:
    """Returns the transport of all processes that were started together."""
    started = started_ranks()
    try:
        from mpi4py import MPI  # an optional dependency
    except ImportError as error:
        raise UsageError(
            f"this is one of {started} processes, which need mpi4py to communicate; install it with {INSTALL}"
        ) from error
    except RuntimeError as error:  # mpi4py without an MPI library
        raise UsageError(f"mpi4py finds no MPI library; install one with {INSTALL}\n{error}") from error
    world = MPI.COMM_WORLD
    if world.size != started:
        raise UsageError(
            f"{started} processes were started, but MPI counts {world.size}: mpiexec or srun belongs to another MPI "
            f"than mpi4py; use the launcher of {MPI.Get_library_version().splitlines()[0].strip()}"
        )
    return MpiTransport(MPI, world)


class MpiTransport(Transport):
    """One of several ranks that communicate over MPI."""

    def __init__(self, mpi: Any, world: Any) -> None:
        self._mpi = mpi
        self._world = world
        self._calls = world.Dup()  #: for collective calls
        self._states = world.Dup()  #: for messages from one rank to another
        self._failures = world.Dup()
        self.rank = world.rank
        self.size = world.size
        self.host = socket.gethostname()
        self._machine = world.Split_type(mpi.COMM_TYPE_SHARED)
        self.neighbours = self._machine.size
        self.seconds_waiting = 0.0
        self.buffers = Buffers()
        cores = available_cores()
        self._cores = max(1, cores // self.neighbours)
        self.has_own_cores = self.neighbours <= cores
        if self.has_own_cores and os.environ.get(BIND) != "0":
            self._keep_to_own_cores()

    @property
    def cores(self) -> int:
        return self._cores

    @property
    def part_name(self) -> str:
        return f"{self.rank}-of-{self.size}"

    def _keep_to_own_cores(self) -> None:
        """Pins each rank of a machine to its share of the cores, unless the launcher has pinned them already."""
        if not hasattr(os, "sched_setaffinity"):
            return
        allowed = sorted(os.sched_getaffinity(0))
        share = len(allowed) // self.neighbours
        if share and all(each == allowed for each in self._machine.allgather(allowed)):
            first = self._machine.rank * share
            with suppress(OSError):  # some containers forbid it
                os.sched_setaffinity(0, allowed[first : first + share])

    # --- Collective calls --------------------------------------------------------------------------------------

    def gather_numbers(self, numbers: list[int], idle: Idle | None = None) -> Numbers:
        own = np.array(numbers, dtype=np.int64)
        table = np.empty((self.size, len(own)), dtype=np.int64)
        self._wait(self._calls.Iallgather(own, table), idle)
        return table

    def gather(self, value: _Value, idle: Idle | None = None) -> list[_Value]:
        own = np.frombuffer(pickle.dumps(value), dtype=np.uint8)
        counts = self.gather_numbers([len(own)], idle)[:, 0]
        ends = np.cumsum(counts)
        everything = np.empty(int(ends[-1]), dtype=np.uint8)
        receive = [everything, counts.tolist(), (ends - counts).tolist(), self._mpi.BYTE]
        self._wait(self._calls.Iallgatherv([own, self._mpi.BYTE], receive), idle)
        return [pickle.loads(everything[end - count : end].tobytes()) for end, count in zip(ends, counts, strict=True)]

    def first_of_each_machine(self, work: Callable[[], _Value]) -> _Value:
        result = work() if self._machine.rank == 0 else None
        self._wait(self._machine.Ibarrier(), None)
        return work() if result is None else result

    def _wait(self, request: Any, idle: Idle | None) -> None:
        pauses = Pauses(self.has_own_cores)
        while not request.Test():
            self.seconds_waiting += pauses.pause()
            if idle is not None:
                idle()

    def open_round(self, route: Route, workers: int) -> Round:
        return Round(self, self._mpi, self._states, route, workers)

    # --- Failure -----------------------------------------------------------------------------------------------

    def fail(self, message: str, code: int) -> None:
        """Reports a failure. If all ranks fail, the first one prints the reason for all. Otherwise each failing rank
        prints its own, and all ranks are ended."""
        own = np.zeros(_MESSAGE_BYTES, dtype=np.uint8)
        text = message.encode()[: _MESSAGE_BYTES - 1]
        own[: len(text)] = np.frombuffer(text, dtype=np.uint8)
        others = np.empty((self.size, _MESSAGE_BYTES), dtype=np.uint8)
        request = self._failures.Iallgather(own, others)
        begun = time.monotonic()
        while not request.Test():
            if time.monotonic() - begun > _SECONDS_TO_AGREE:
                print(
                    f"outcrop: rank {self.rank} of {self.size}, on {self.host}: {message}", file=sys.stderr, flush=True
                )
                time.sleep(_SECONDS_TO_BE_HEARD)
                self._world.Abort(code)
                os._exit(code)  # some MPI libraries do not end the calling process
            time.sleep(1e-3)
        if self.rank == 0:
            messages = [bytes(row).rstrip(b"\0").decode(errors="replace") for row in others]
            for text_of_rank in dict.fromkeys(messages):
                ranks = ", ".join(str(rank) for rank, each in enumerate(messages) if each == text_of_rank)
                where = "" if len(set(messages)) == 1 else f"rank {ranks}: "
                print(f"outcrop: {where}{text_of_rank}", file=sys.stderr, flush=True)

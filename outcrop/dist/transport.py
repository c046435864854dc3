"""The Transport: communication among the processes of one search, its ranks.

A single process communicates with nobody: it gathers its own values. MpiTransport, for several ranks, is in mpi.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from outcrop.dist.launch import started_ranks
from outcrop.errors import UsageError
from outcrop.machine import available_cores

if TYPE_CHECKING:
    from outcrop.dist.rounds import Round
    from outcrop.kernels.route import Route

_Value = TypeVar("_Value")
Numbers = NDArray[np.int64]
#: Called at intervals while a rank waits for others.
Idle = Callable[[], None]


class Transport:
    """The transport of a single process, and the interface of all transports."""

    rank = 0
    size = 1
    host = ""
    neighbours = 1  #: number of ranks on this machine, including this one
    has_own_cores = False  #: whether no other rank uses the cores of this one
    seconds_waiting = 0.0

    @property
    def cores(self) -> int:
        """Number of cores that this rank may use."""
        return available_cores()

    @property
    def part_name(self) -> str:
        """Name of this rank's part of files that all ranks write; empty for a single process."""
        return ""

    def gather(self, value: _Value, idle: Idle | None = None) -> list[_Value]:
        """Returns the values of all ranks, as the same list on each."""
        return [value]

    def gather_numbers(self, numbers: list[int], idle: Idle | None = None) -> Numbers:
        """Returns a row of numbers for each rank. Faster than ``gather``."""
        return np.array([numbers], dtype=np.int64)

    def first_of_each_machine(self, work: Callable[[], _Value]) -> _Value:
        """Does work whose result stays on the machine: first on one rank of it, so that the others find it done."""
        return work()

    def open_round(self, route: Route, workers: int) -> Round:
        """Opens the exchange of one level."""
        raise NotImplementedError

    def fail(self, message: str, code: int) -> None:
        """Ends all ranks, because this one cannot continue. Returns if there are no others to end."""


_ALONE = Transport()


def transport_of(ranks: int | None) -> Transport:
    """Returns the transport of a search over ``ranks`` processes, including this one. None or 1: a single process."""
    if ranks is None or ranks == 1:
        return _ALONE
    transport = _world()
    if transport.size != ranks:
        raise UsageError(
            f"the search needs {ranks} ranks, but {transport.size} {'was' if transport.size == 1 else 'were'} started; "
            f"use outcrop check --ranks {ranks}, or mpiexec -n {ranks} outcrop check"
        )
    return transport


@cache
def _world() -> Transport:
    if started_ranks() <= 1:
        return _ALONE
    from outcrop.dist.mpi import open_world  # which imports this module

    return open_world()

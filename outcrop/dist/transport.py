"""The Transport: how the processes of one search, its ranks, talk to each other.

A process alone has nobody to talk to: what it gathers is its own. Over MPI see mpi.py.
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
#: What is done now and then while waiting for others.
Idle = Callable[[], None]


class Transport:
    """One process, alone."""

    rank = 0
    size = 1
    host = ""
    neighbours = 1  #: ranks on this machine, this one included
    has_own_cores = False  #: no other rank works on the cores of this one
    seconds_waiting = 0.0

    @property
    def cores(self) -> int:
        """What this rank may use of the machine's."""
        return available_cores()

    @property
    def part_name(self) -> str:
        """Name of this rank's part of something that all ranks write; empty for a process alone."""
        return ""

    def gather(self, value: _Value, idle: Idle | None = None) -> list[_Value]:
        """What each rank gives, the same list for all."""
        return [value]

    def gather_numbers(self, numbers: list[int], idle: Idle | None = None) -> Numbers:
        """The same for a few numbers, faster: a row for each rank."""
        return np.array([numbers], dtype=np.int64)

    def first_of_each_machine(self, work: Callable[[], _Value]) -> _Value:
        """Does work whose result is left on the machine, by one rank of it first: the others find it done."""
        return work()

    def round(self, route: Route, workers: int) -> Round:
        raise NotImplementedError

    def fail(self, message: str, code: int) -> None:
        """Ends all ranks, because this one cannot go on. Comes back if no others are left to end."""


_ALONE = Transport()


def transport_of(ranks: int | None) -> Transport:
    """The transport of a search over so many processes, of which this is one. None or 1: it is alone."""
    if ranks is None or ranks == 1:
        return _ALONE
    transport = _world()
    if transport.size != ranks:
        raise UsageError(
            f"{ranks} ranks are wanted, and {transport.size} {'was' if transport.size == 1 else 'were'} started; "
            f"mpiexec -n {ranks} outcrop check ... starts them, or outcrop check --ranks {ranks}"
        )
    return transport


@cache
def _world() -> Transport:
    if started_ranks() <= 1:
        return _ALONE
    from outcrop.dist.mpi import open_world  # which imports this module

    return open_world()

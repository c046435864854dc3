"""The kernel that measures transition locality, for Python."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from outcrop.kernels import Counts, Search
from outcrop.kernels.abi import structure

_FUNCTIONS = ("outcrop_measure_distances",)

#: The sums of parts are in units of this, as native/distances.c has it.
UNIT = 2**62


class Distances:
    """What a worker has measured, added up. Row 0 is that of transitions to the next level; each further one leads one
    level further back."""

    def __init__(self, levels: int) -> None:
        self._rows = (structure("Distance") * (levels + 1))()
        self._measured = structure("Measured")()

    def measure(self, search: Search, worker: int, begin: int, end: int, ends: Counts, with_loops: bool) -> None:
        """Adds the states of a range of the arena, whose levels end where ``ends`` says."""
        complete = search.native.library_with(_FUNCTIONS).outcrop_measure_distances(
            search.handle,
            worker,
            begin,
            end,
            ends.ctypes.data,
            len(ends),
            with_loops,
            self._rows,
            ctypes.byref(self._measured),
        )
        if not complete:
            raise MemoryError("no memory to measure locality with")

    @property
    def loops(self) -> int:
        """Transitions from a state to itself."""
        return int(self._measured.loops)

    @property
    def stuck(self) -> int:
        """States without any transition that counts."""
        return int(self._measured.stuck)

    def row(self, number: int) -> tuple[int, int, int]:
        """Of a distance: the transitions that have it, the sum over all states of the part of their transitions that
        do, and that of the squares of these parts; sums in units of 1 / UNIT."""
        row = self._rows[number]
        return int(row.transitions), _wide(row.part), _wide(row.square)


def _wide(halves: Sequence[int]) -> int:
    return halves[0] + (halves[1] << 64)

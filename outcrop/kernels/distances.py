"""The kernel that measures transition locality, as a Python object."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from outcrop.kernels import Counts, Search
from outcrop.kernels.abi import structure

_FUNCTIONS = ("outcrop_measure_distances",)

#: Unit of the sums of fractions, as in native/distances.c.
UNIT = 2**62


class Distances:
    """Sums of the distances that one worker has measured. Row 0 is for transitions to the next level, and each further
    row for one level further back."""

    def __init__(self, levels: int) -> None:
        self._rows = (structure("Distance") * (levels + 1))()
        self._measured = structure("Measured")()

    def measure(self, search: Search, worker: int, begin: int, end: int, ends: Counts, with_loops: bool) -> None:
        """Adds the states of a range of the arena. ``ends``: the end of each level."""
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
            raise MemoryError("no memory for measuring locality")

    @property
    def loops(self) -> int:
        """Number of transitions from a state to itself."""
        return int(self._measured.loops)

    @property
    def stuck(self) -> int:
        """Number of states without a transition that counts."""
        return int(self._measured.stuck)

    def row(self, number: int) -> tuple[int, int, int]:
        """Returns the sums for a distance, in units of 1 / UNIT: the transitions that have it, the fractions of each
        state's transitions that have it, and the squares of these fractions."""
        row = self._rows[number]
        return int(row.transitions), _wide(row.part), _wide(row.square)


def _wide(halves: Sequence[int]) -> int:
    return halves[0] + (halves[1] << 64)

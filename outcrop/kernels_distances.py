"""The kernel that measures transition locality, for Python: like outcrop/kernels.py, of which this is a part."""

from __future__ import annotations

import ctypes

import numpy as np

from outcrop.kernels import Counts, Search
from outcrop.kernels_abi import NUMBER, POINTER, Signature

_SIGNATURES: dict[str, Signature] = {
    "outcrop_measure_distances": (
        ctypes.c_int,
        (POINTER, NUMBER, NUMBER, NUMBER, POINTER, NUMBER, NUMBER, POINTER, POINTER),
    ),
}

#: The sums of parts are in units of this, as native/distances.c has it.
UNIT = 2**62


class Distances:
    """What a worker has measured, added up. Row 0 is that of transitions to the next level; each further one leads one
    level further back."""

    def __init__(self, levels: int) -> None:
        self._rows = np.zeros((levels + 1, 5), dtype=np.uint64)
        self._counts = np.zeros(3, dtype=np.uint64)

    def measure(self, search: Search, worker: int, begin: int, end: int, ends: Counts, with_loops: bool) -> None:
        """Adds the states of a range of the arena, whose levels end where ``ends`` says."""
        complete = search.native.library_with(_SIGNATURES).outcrop_measure_distances(
            search.handle,
            worker,
            begin,
            end,
            ends.ctypes.data,
            len(ends),
            with_loops,
            self._rows.ctypes.data,
            self._counts.ctypes.data,
        )
        if not complete:
            raise MemoryError("no memory to measure locality with")

    @property
    def loops(self) -> int:
        """Transitions from a state to itself."""
        return int(self._counts[1])

    @property
    def stuck(self) -> int:
        """States without any transition that counts."""
        return int(self._counts[2])

    def row(self, number: int) -> tuple[int, int, int]:
        """Of a distance: the transitions that have it, the sum over all states of the part of their transitions that
        do, and that of the squares of these parts; sums in units of 1 / UNIT."""
        transitions, low, high, square_low, square_high = map(int, self._rows[number])
        return transitions, low + (high << 64), square_low + (square_high << 64)

"""The kernels that check liveness, as Python objects."""

from __future__ import annotations

from outcrop.kernels import Marks, Search

_FUNCTIONS = (
    "outcrop_mark_satisfied",
    "outcrop_mark_predecessors",
    "outcrop_least_unmarked",
)


class Liveness:
    """The marks on the states of a search; see native/liveness.c."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._library = search.native.library_with(_FUNCTIONS)

    def mark_satisfied(self, worker: int, begin: int, end: int, first: int, marks: Marks) -> None:
        """Sets bit i of the marks of each state in a range of the arena that satisfies liveness instance first + i."""
        self._library.outcrop_mark_satisfied(self._search.handle, worker, begin, end, first, marks.ctypes.data)

    def mark_predecessors(self, worker: int, begin: int, end: int, wanted: int, marks: Marks) -> int:
        """Propagates marks to predecessors, from ``end`` down to ``begin``, skipping states that have all ``wanted``
        marks. Returns the number of marks that changed."""
        return int(
            self._library.outcrop_mark_predecessors(self._search.handle, worker, begin, end, wanted, marks.ctypes.data)
        )

    def least_unmarked(self, begin: int, end: int, bit: int, marks: Marks) -> bytes | None:
        """Returns the least state in a range of the arena that lacks the mark ``bit``; None if there is none."""
        least = self._search.native.packed_states(1)
        if not self._library.outcrop_least_unmarked(
            self._search.handle, begin, end, bit, marks.ctypes.data, least.ctypes.data
        ):
            return None
        return least.tobytes()

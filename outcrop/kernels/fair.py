"""The kernels that search for fair cycles, as Python objects; see native/fair.c."""

from __future__ import annotations

import numpy as np

from outcrop.kernels import Search
from outcrop.kernels.cycles import Indexes, Places

_NONE = 2**64 - 1

_FUNCTIONS = (
    "outcrop_fair_open",
    "outcrop_fair_close",
    "outcrop_fair_note",
    "outcrop_fair_lay_out",
    "outcrop_fair_find",
    "outcrop_fair_least",
    "outcrop_fair_cycle",
    "outcrop_fair_take",
)


class FairGraph(Places):
    """The graph of the first states of a product, which have been expanded. ``only_accepting``: leave out all other
    states, because no cycle mixes them. Close it."""

    def __init__(self, search: Search, states: int, only_accepting: bool) -> None:
        super().__init__(search)
        self._kernels = search.native.library_with(_FUNCTIONS)
        self._handle = self._kernels.outcrop_fair_open(search.handle, states, only_accepting)
        if self._handle is None:
            raise MemoryError("no memory for the states of a graph")

    def close(self) -> None:
        self._kernels.outcrop_fair_close(self._handle)

    def note(self, worker: int, begin: int, end: int) -> None:
        """Counts the edges of some states; after ``lay_out``, stores their targets."""
        self._kernels.outcrop_fair_note(self.search.handle, self._handle, worker, begin, end)

    def lay_out(self) -> None:
        """Allocates the edges, after all of them were counted."""
        if not self._kernels.outcrop_fair_lay_out(self.search.handle, self._handle):
            raise MemoryError("no memory for the edges of a graph")

    def has_fair_components(self) -> bool:
        return bool(self._kernels.outcrop_fair_find(self.search.handle, self._handle))

    def least_accepting(self, begin: int, end: int) -> int | None:
        """Returns the least accepting state of fair components in a range of the arena."""
        index = self._kernels.outcrop_fair_least(self.search.handle, self._handle, begin, end)
        return None if index == _NONE else int(index)

    def cycle(self, start: int) -> Indexes:
        """Returns a cycle through an accepting state of a fair component, with a step of each set that has one."""
        count = self._kernels.outcrop_fair_cycle(self.search.handle, self._handle, start)
        if count == _NONE:
            raise MemoryError("no memory for a cycle")
        cycle = np.empty(count + 1, dtype=np.uint32)
        cycle[0] = start
        self._kernels.outcrop_fair_take(self._handle, cycle[1:].ctypes.data)
        return cycle

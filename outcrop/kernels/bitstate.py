"""The bit array of native/bitstate.c, as a Python object."""

from __future__ import annotations

from outcrop.kernels import Search

_FUNCTIONS = ("outcrop_bitstate_open", "outcrop_bitstate_close", "outcrop_bitstate_count")


class BitSet:
    """The bit array, which replaces the visited set of a search: ``functions`` bits for each state, in ``size``
    bytes of memory. Close it."""

    def __init__(self, search: Search, size: int, functions: int) -> None:
        self._library = search.native.library_with(_FUNCTIONS)
        self._handle: int | None = search.handle
        self.bits = size // 64 * 512
        if not self._library.outcrop_bitstate_open(search.handle, size, functions):
            raise MemoryError("no memory for the bit array of visited states")

    @property
    def count(self) -> int:
        """Number of bits that are set."""
        return int(self._library.outcrop_bitstate_count(self._handle))

    def close(self) -> None:
        if self._handle is not None:
            self._library.outcrop_bitstate_close(self._handle)
            self._handle = None

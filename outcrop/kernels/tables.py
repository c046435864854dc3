"""The tables of searches past RAM, as Python objects.

Table M takes the states of a block with their hashes, and moves the new ones to the front of the block.
"""

from __future__ import annotations

import ctypes
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from outcrop.kernels import Counts, Native, Search, States, with_spare_bytes
from outcrop.kernels.abi import structure

_FUNCTIONS = (
    "outcrop_cache_open",
    "outcrop_cache_close",
    "outcrop_cache_standing",
    "outcrop_memory_table_open",
    "outcrop_memory_table_close",
    "outcrop_memory_table_clear",
    "outcrop_memory_table_insert",
    "outcrop_memory_table_remove",
    "outcrop_memory_table_remove_blocks",
    "outcrop_memory_table_keep",
    "outcrop_memory_table_limit",
)


#: Functions that a product with an automaton has too, although it has no tables past RAM.
_HASHING = ("outcrop_hash_block",)


def key_bytes(native: Native, bits: int | None) -> int:
    """Returns the size of a key, in bytes: a signature of ``bits`` bits, or a whole state if that is None."""
    return native.state_bytes if bits is None else -(-bits // 8)


def hash_block(search: Search, states: States) -> Counts:
    """Returns the hash of each state, as expand_block returns it for successors."""
    hashes = np.empty(len(states), dtype=np.uint64)
    library = search.native.library_with(_HASHING)
    library.outcrop_hash_block(search.handle, states.ctypes.data, len(states), hashes.ctypes.data)
    return hashes


class _Table:
    """A table in memory that Python does not manage. Close it, or use it in a ``with``."""

    def __init__(self, native: Native, close: str) -> None:
        self._library = native.library_with(_FUNCTIONS)
        self._close = close
        self._handle: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        if self._handle is not None:
            getattr(self._library, self._close)(self._handle)
            self._handle = None

    def _opened(self, handle: int | None) -> None:
        if handle is None:
            raise MemoryError("no memory for a table of visited states")
        self._handle = handle


class Cache(_Table):
    """The cache of visited states, which replaces the visited set of a search.

    ``bits``: size of a signature; None keeps whole states. The cache starts with ``size`` bytes and grows up to
    ``most_bytes``. ``idle``: evict entries that were not met recently, instead of any. If the collision rate passes
    ``most_collisions``, the search gives up and expands no more states."""

    def __init__(
        self,
        search: Search,
        size: int,
        bits: int | None,
        chain: int,
        idle: bool,
        seed: int = 0,
        *,
        most_bytes: int | None = None,
        most_collisions: float = 1.0,
    ) -> None:
        super().__init__(search.native, "outcrop_cache_close")
        most = size if most_bytes is None else most_bytes
        is_open = self._library.outcrop_cache_open(
            search.handle, size, most, bits or 0, chain, idle, seed % 2**64, most_collisions
        )
        self._opened(search.handle if is_open else None)

    @property
    def slots(self) -> int:
        standing = self._standing()
        return int(standing.buckets * standing.chain)

    @property
    def bytes(self) -> int:
        return int(self._standing().bytes)

    @property
    def is_packed(self) -> bool:
        return bool(self._standing().packed)

    @property
    def insertions(self) -> int:
        return int(self._standing().insertions)

    @property
    def collisions(self) -> int:
        """Number of insertions that evicted an entry."""
        return int(self._standing().collisions)

    @property
    def collision_rate(self) -> float:
        """Evictions divided by insertions, since the cache has its present size."""
        standing = self._standing()
        return float(standing.collisions / max(1, standing.insertions))

    @property
    def gives_up(self) -> bool:
        return bool(self._standing().gives_up)

    @property
    def has_forgotten(self) -> bool:
        standing = self._standing()
        return bool(standing.collisions + standing.lost)

    def _standing(self) -> ctypes.Structure:
        standing = structure("CacheStanding")()
        self._library.outcrop_cache_standing(self._handle, ctypes.byref(standing))
        return standing


class MemoryTable(_Table):
    """Table M: a set of at most ``limit`` states, or signatures of ``bits`` bits, in ``size`` bytes. ``keep`` returns
    its keys: states, or signatures in as few bytes as possible."""

    def __init__(self, search: Search, size: int, bits: int | None) -> None:
        super().__init__(search.native, "outcrop_memory_table_close")
        self.key_bytes = key_bytes(search.native, bits)
        self._opened(self._library.outcrop_memory_table_open(search.handle, size, bits or 0))
        self.limit = int(self._library.outcrop_memory_table_limit(self._handle))

    def insert(self, states: States, hashes: Counts) -> tuple[States, int]:
        """Inserts states until the table is full. Returns the new ones, which are the first rows of ``states``, and the
        number of states that were handled."""
        fresh = ctypes.c_uint64()
        dealt = self._library.outcrop_memory_table_insert(
            self._handle, states.ctypes.data, hashes.ctypes.data, len(states), ctypes.byref(fresh)
        )
        return states[: fresh.value], int(dealt)

    def remove(self, keys: States) -> int:
        """Removes keys. Returns how many were in the table. Several threads may call it at the same time. Nothing may
        be inserted until ``clear``."""
        rows = with_spare_bytes(keys) if self.key_bytes < 8 else keys
        return int(self._library.outcrop_memory_table_remove(self._handle, rows.ctypes.data, len(rows)))

    def remove_blocks(self, file: int, places: NDArray[np.uint64]) -> tuple[int, int]:
        """Removes the keys in blocks of a file. ``places``: rows of numbers, offsets and lengths. Returns how many keys
        were in the table, and the number of blocks read, which stops at a damaged block."""
        numbers, starts, lengths = (row.ctypes.data for row in places)
        read = ctypes.c_uint64()
        removed = self._library.outcrop_memory_table_remove_blocks(
            self._handle, file, numbers, starts, lengths, places.shape[1], ctypes.byref(read)
        )
        return int(removed), read.value

    def keep(self, states: States) -> tuple[States, States]:
        """Returns the states that are still in the table, which are the first rows of ``states``, and their keys."""
        keys = np.empty((len(states), self.key_bytes), dtype=np.uint8)
        count = self._library.outcrop_memory_table_keep(self._handle, states.ctypes.data, len(states), keys.ctypes.data)
        return states[:count], keys[:count]

    def clear(self) -> None:
        self._library.outcrop_memory_table_clear(self._handle)

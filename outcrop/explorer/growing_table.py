"""Table M of a search on disk. It grows on demand, because clearing a large table takes time for all of it."""

from __future__ import annotations

from collections.abc import Iterable

from outcrop.explorer.explorer import Explorer
from outcrop.kernels import Counts, States
from outcrop.kernels.tables import MemoryTable, hash_block


class GrowingTable:
    """A MemoryTable that is replaced by a larger one when it is full. ``bytes``: its present size."""

    def __init__(self, explorer: Explorer, bits: int | None, most_bytes: int) -> None:
        self._explorer = explorer
        self._bits = bits
        self._most_bytes = most_bytes
        self._open(min(explorer.tuning.first_table_bytes, most_bytes))

    def _open(self, size: int) -> None:
        self.bytes = size
        self.table = MemoryTable(self._explorer.search, size, self._bits)

    def grow(self, blocks: Iterable[States]) -> bool:
        """Replaces the table by a larger one. ``blocks`` are all states that it held. Returns False if the table has
        reached its largest size."""
        if self.bytes == self._most_bytes:
            return False
        self.table.close()
        self._open(min(self._explorer.tuning.table_growth * self.bytes, self._most_bytes))
        for block in blocks:
            self.table.insert(block, hash_block(self._explorer.search, block))
        return True

    def insert(self, states: States, hashes: Counts) -> tuple[States, int]:
        return self.table.insert(states, hashes)

    def keep(self, states: States) -> tuple[States, States]:
        return self.table.keep(states)

    def clear(self) -> None:
        self.table.clear()

    def close(self) -> None:
        self.table.close()

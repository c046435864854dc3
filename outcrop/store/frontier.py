"""Rows of one width, first in, first out, of which RAM holds the ends and the disk the middle.

G. Della Penna et al., "Exploiting transition locality in automatic verification of finite-state concurrent systems"
(2004), Fig. 5: a queue with a head and a tail in RAM. There two files take turns, because a queue forgets what was
taken from it. Ours need not forget: the states of all levels, one after the other, are the log from which traces are
rebuilt, so the queue is a range of one file that only grows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from outcrop.kernels import SPARE_BYTES
from outcrop.store.blockfile import BlockFile
from outcrop.store.workdir import WorkDirectory

Rows = NDArray[np.uint8]


class RowFile:
    """``block_rows`` rows make a block of the file; as many at the most are in RAM waiting to be written."""

    def __init__(self, directory: WorkDirectory, name: str, width: int, block_rows: int) -> None:
        self.width = width
        self.block_rows = block_rows
        self.file = BlockFile(directory, name)
        room = np.empty(block_rows * width + SPARE_BYTES, dtype=np.uint8)
        self._tail = room[: block_rows * width].reshape(block_rows, width)
        self._in_tail = 0

    def __len__(self) -> int:
        return len(self.file) * self.block_rows + self._in_tail

    @property
    def block_count(self) -> int:
        """The last block may be the tail, which is in RAM and not full."""
        return len(self.file) + (self._in_tail > 0)

    def append(self, rows: Rows) -> None:
        at = 0
        while at < len(rows):
            taken = min(len(rows) - at, self.block_rows - self._in_tail)
            if taken == self.block_rows:
                self.file.append(rows[at : at + taken])
            else:
                self._tail[self._in_tail : self._in_tail + taken] = rows[at : at + taken]
                self._in_tail += taken
                if self._in_tail == self.block_rows:
                    self._in_tail = 0
                    self.file.append(self._tail)
            at += taken

    def block(self, number: int) -> Rows:
        """A block. That of the tail is a view, good until the next row is added."""
        if number == len(self.file):
            return self._tail[: self._in_tail]
        return self.file.read(number).reshape(-1, self.width)

    def blocks(self, begin: int, end: int) -> Iterator[Rows]:
        """Rows ``begin`` to ``end``, block by block. Rows may be added meanwhile."""
        for number in range(begin // self.block_rows, -(-end // self.block_rows)):
            first = number * self.block_rows
            rows = self.block(number)[max(0, begin - first) : end - first]
            # The tail will be written over while its rows are still in use.
            yield rows.copy() if number == len(self.file) else rows

    def clear(self) -> None:
        self.file.clear()
        self._in_tail = 0

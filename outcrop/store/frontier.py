"""A queue of rows of one width. RAM holds its two ends, and the disk the rest.

G. Della Penna et al., "Exploiting transition locality in automatic verification of finite-state concurrent systems"
(2004), Fig. 5: a queue with head and tail in RAM. There two files alternate, because rows are deleted when they are
dequeued. Here all levels stay in one file that only grows: the state log, from which traces are rebuilt. The queue is a
range of it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from outcrop.errors import DamagedFile
from outcrop.kernels import SPARE_BYTES
from outcrop.store.blockfile import BlockFile
from outcrop.store.workdir import Directory

Rows = NDArray[np.uint8]


class RowFile:
    """A file of rows. ``block_rows`` rows form a block, or fewer if it is flushed; up to as many wait in RAM to be
    written. A reopened file may have blocks of other sizes."""

    def __init__(
        self,
        directory: Directory,
        name: str,
        width: int,
        block_rows: int,
        *,
        reopen: bool = False,
        length: int | None = None,
    ) -> None:
        self.width = width
        self.block_rows = block_rows
        self.file = BlockFile(directory, name, reopen=reopen, length=length)
        self._ends = array("Q")  #: number of rows up to the end of each block
        for number in range(len(self.file)):
            rows, rest = divmod(self.file.length(number), width)
            if rest or not rows:
                self.file.close()
                raise DamagedFile(self.file.path, f"block {number} is not made of rows of {width} bytes")
            self._ends.append(self._in_file + rows)
        room = np.empty(block_rows * width + SPARE_BYTES, dtype=np.uint8)
        self._tail = room[: block_rows * width].reshape(block_rows, width)
        self._in_tail = 0

    def __len__(self) -> int:
        return self._in_file + self._in_tail

    @property
    def _in_file(self) -> int:
        return self._ends[-1] if self._ends else 0

    @property
    def block_count(self) -> int:
        """Number of blocks. The last one may be the tail, which is in RAM and not full."""
        return len(self.file) + (self._in_tail > 0)

    def append(self, rows: Rows) -> None:
        at = 0
        while at < len(rows):
            taken = min(len(rows) - at, self.block_rows - self._in_tail)
            if taken == self.block_rows:
                self._write(rows[at : at + taken])
            else:
                self._tail[self._in_tail : self._in_tail + taken] = rows[at : at + taken]
                self._in_tail += taken
                if self._in_tail == self.block_rows:
                    self.flush()
            at += taken

    def flush(self) -> None:
        """Writes the rows that wait in RAM, as a block."""
        if self._in_tail:
            self._write(self._tail[: self._in_tail])
            self._in_tail = 0

    def block(self, number: int) -> Rows:
        """Returns a block. That of the tail is a view, valid until the next row is appended."""
        if number == len(self.file):
            return self._tail[: self._in_tail]
        return self.file.read(number).reshape(-1, self.width)

    def blocks(self, begin: int, end: int) -> Iterator[Rows]:
        """Yields rows ``begin`` to ``end``, in blocks of at most ``block_rows``. Rows may be appended meanwhile."""
        number = bisect_right(self._ends, begin)
        while begin < end:
            first = self._ends[number - 1] if number else 0
            rows = self.block(number)[begin - first : end - first]
            # The tail will be overwritten while its rows are still in use.
            if number == len(self.file):
                rows = rows.copy()
            for at in range(0, len(rows), self.block_rows):
                yield rows[at : at + self.block_rows]
            begin += len(rows)
            number += 1

    def cut(self, count: int) -> None:
        """Removes all rows but the first ``count``."""
        number = bisect_right(self._ends, count)
        first = self._ends[number - 1] if number else 0
        kept = self.block(number)[: count - first].copy()
        self.file.cut(number)
        del self._ends[number:]
        self._in_tail = 0
        self.append(kept)

    def clear(self) -> None:
        self.cut(0)

    def close(self) -> None:
        """Closes the file, which is kept without the rows that wait in RAM."""
        self.file.close()

    def _write(self, rows: Rows) -> None:
        self.file.append(rows)
        self._ends.append(self._in_file + len(rows))

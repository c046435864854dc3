"""An append-only file of blocks, each with a header that has its number, length and checksum.

Data on a disk can be truncated or flipped. A reader of a block gets what was written, or DamagedFile with the name of
the file, the block and the damage.

Reads and writes are large and sequential, directly from and to arrays. The checksum runs at the speed of memory: words
form a table, and the sums of its columns are added with weights. A flipped bit changes a sum. So do exchanged pages,
because a row is not as long as a page. outcrop/native/block_file.c reads blocks too.
"""

from __future__ import annotations

import os
import struct
import zlib
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outcrop.errors import DamagedFile
from outcrop.kernels import SPARE_BYTES
from outcrop.store.workdir import Directory, disk_errors

#: The header of a block: magic, checksum, number of the block, bytes of its payload.
_HEADER = struct.Struct("<4sIQQ")
_MAGIC = b"OCB2"
#: Number of words in a row of the checksum's table.
_ROW_WORDS = 509
#: Weights of the column sums. They are odd, so that no changed bit of a sum is lost.
_WEIGHTS = np.arange(1, _ROW_WORDS + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) | np.uint64(1)

Array = NDArray[Any]
Bytes = NDArray[np.uint8]


def checksum(data: Bytes) -> int:
    """Returns 32 bits that change when the bytes do."""
    whole = len(data) // (8 * _ROW_WORDS) * (8 * _ROW_WORDS)
    sums = np.add.reduce(data[:whole].view(np.uint64).reshape(-1, _ROW_WORDS), axis=0)
    rest = np.zeros(-(-(len(data) - whole) // 8), dtype=np.uint64)
    rest.view(np.uint8)[: len(data) - whole] = data[whole:]
    sums[: len(rest)] += rest
    return int(np.dot(sums, _WEIGHTS)) >> 32


class BlockFile:
    """A new file in ``directory``. With ``reopen``, the existing file, or its first ``length`` bytes."""

    def __init__(self, directory: Directory, name: str, *, reopen: bool = False, length: int | None = None) -> None:
        self.path = directory.path / name
        self.bytes = 0  #: size on disk, including headers
        self._directory = directory
        self._starts = array("Q")  #: offset of each block
        self._digests = array("L")  #: digest of all headers up to each block
        self._file = directory.open_file(name, 0 if reopen else os.O_CREAT | os.O_EXCL)
        if reopen:
            try:
                self._find_blocks(length)
            except BaseException:
                self.close()
                raise

    def __len__(self) -> int:
        """Returns the number of blocks."""
        return len(self._starts)

    @property
    def digest(self) -> int:
        """32 bits that change when a block or the order of blocks does."""
        return self._digests[-1] if self._digests else 0

    def length(self, number: int) -> int:
        """Returns the size of a block, in bytes."""
        return self._end(number) - self._starts[number] - _HEADER.size

    def append(self, *parts: Array) -> int:
        """Writes the bytes of some arrays as one block. Returns its number."""
        pieces = [np.ascontiguousarray(part).reshape(-1).view(np.uint8) for part in parts]
        data = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        number = len(self._starts)
        header = _HEADER.pack(_MAGIC, checksum(data), number, len(data))
        self._directory.claim(len(header) + len(data))
        try:
            self._write([memoryview(header), data.data])
        except BaseException:
            self._directory.release(len(header) + len(data))
            raise
        self._note(header, len(data))
        return number

    def read(self, number: int) -> Bytes:
        """Returns the bytes of a block. Spare bytes follow them in memory, as kernels require."""
        header = bytearray(_HEADER.size)
        data = np.empty(self.length(number) + SPARE_BYTES, dtype=np.uint8)[:-SPARE_BYTES]
        at, pieces = self._starts[number], [memoryview(header), data.data]
        while pieces:
            with disk_errors(self.path):
                read = os.preadv(self._file, pieces, at)
            if not read:
                raise DamagedFile(self.path, f"block {number} is truncated")
            at += read
            pieces = _after(pieces, read)
        self._verify(number, header, data)
        return data

    def places(self, numbers: Sequence[int]) -> tuple[int, NDArray[np.uint64]]:
        """Returns the positions of blocks for kernels, which verify blocks as ``read`` does: the file descriptor, and
        rows of numbers, offsets and lengths. Leaves out blocks that are not in the file."""
        known = [number for number in numbers if number < len(self)]
        rows = (known, [self._starts[number] for number in known], [self.length(number) for number in known])
        return self._file, np.array(rows, dtype=np.uint64)

    def _verify(self, number: int, header: bytearray, data: Bytes) -> None:
        magic, expected, its_number, length = _HEADER.unpack(header)
        if magic != _MAGIC or its_number != number or length != len(data):
            raise DamagedFile(self.path, f"block {number} has a wrong header")
        if checksum(data) != expected:
            raise DamagedFile(self.path, f"block {number} has a wrong checksum")

    def clear(self) -> None:
        """Removes all blocks."""
        self.cut(0)

    def cut(self, count: int) -> None:
        """Removes all blocks but the first ``count``, and whatever follows them."""
        end = self._starts[count] if count < len(self._starts) else self.bytes
        with disk_errors(self.path):
            os.ftruncate(self._file, end)
        self._directory.release(self.bytes - end)
        self.bytes = end
        del self._starts[count:], self._digests[count:]

    def sync(self) -> None:
        """Waits until everything is on the disk."""
        with disk_errors(self.path):
            os.fsync(self._file)

    def close(self) -> None:
        """Closes the file, which is kept."""
        self._directory.close_file(self._file)

    def delete(self) -> None:
        self.close()
        with disk_errors():
            self.path.unlink(missing_ok=True)
        self._directory.release(self.bytes)

    def _write(self, pieces: list[memoryview]) -> None:
        at = self.bytes
        with disk_errors(self.path):
            while pieces:
                written = os.pwritev(self._file, pieces, at)
                at += written
                pieces = _after(pieces, written)

    def _end(self, number: int) -> int:
        return self._starts[number + 1] if number + 1 < len(self._starts) else self.bytes

    def _note(self, header: bytes, length: int) -> None:
        """Records a block that was appended."""
        self._starts.append(self.bytes)
        self._digests.append(zlib.crc32(header, self.digest))
        self.bytes += len(header) + length

    def _find_blocks(self, length: int | None) -> None:
        """Reads the headers of an existing file. Raises DamagedFile if they are inconsistent."""
        with disk_errors(self.path):
            size = os.fstat(self._file).st_size
        end = size if length is None else length
        while self.bytes < end:
            number = len(self._starts)
            with disk_errors(self.path):
                header = os.pread(self._file, _HEADER.size, self.bytes)
            if len(header) < _HEADER.size:
                raise DamagedFile(self.path, f"block {number} is truncated")
            magic, _, its_number, its_length = _HEADER.unpack(header)
            if magic != _MAGIC or its_number != number:
                raise DamagedFile(self.path, f"block {number} has a wrong header")
            if self.bytes + _HEADER.size + its_length > size:
                raise DamagedFile(self.path, f"block {number} is truncated")
            self._note(header, its_length)
        if self.bytes != end:
            raise DamagedFile(self.path, f"block {len(self._starts) - 1} does not end where it should")
        self._directory.claim(end)


def _after(pieces: list[memoryview], count: int) -> list[memoryview]:
    """Returns the rest of the buffers after ``count`` bytes, because a system call may transfer less than asked."""
    left = []
    for piece in pieces:
        if count < len(piece):
            left.append(piece[count:])
        count = max(0, count - len(piece))
    return left

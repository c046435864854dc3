"""The visited states in the memory of the device: blocks of equal size, in the order of discovery.

A state has a position, and a level is a range of positions. Kernels find blocks through a table of their addresses.
Blocks are allocated when they are about to be filled, so growing never copies states.

A search by signatures needs the states of two levels only. When memory is full, expanded levels are dropped: a trace
that needs them repeats the search. Blocks that are not expanded yet may wait in host memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outcrop.gpu.device import Array, Device, OutOfDeviceMemory

#: Number of entries in the table of block addresses.
_MOST_BLOCKS = 1 << 16


@dataclass
class Budget:
    """A memory budget for arrays, in bytes, of the device or of the host."""

    limit: int
    used: int = 0
    peak: int = 0

    @property
    def left(self) -> int:
        return self.limit - self.used

    def take(self, size: int, *, even_if_too_much: bool = False) -> None:
        if size > self.left and not even_if_too_much:
            raise OutOfDeviceMemory
        self.used += size
        self.peak = max(self.peak, self.used)

    def give_back(self, size: int) -> None:
        self.used -= size


def pinned_words(device: Device, host: Budget, count: int) -> NDArray[np.uint64]:
    """Allocates host memory that the device can access. Raises MemoryError."""
    if 8 * count > host.left:
        raise MemoryError
    words = device.pinned(count)
    host.take(8 * count)
    return words


@dataclass(frozen=True)
class Piece:
    """Consecutive states of one block, in the memory of the device."""

    begin: int
    end: int
    states: Array  #: words

    def __len__(self) -> int:
        return self.end - self.begin


class Blocks:
    """All blocks of a search."""

    def __init__(self, device: Device, words: int, shift: int, budget: Budget, host: Budget) -> None:
        self._device = device
        self._words = words
        self._budget = budget
        self._blocks: list[Array | None] = []  #: in device memory; None if dropped or in host memory
        self._waiting: dict[int, NDArray[np.uint64]] = {}  #: blocks in host memory
        self._spare: list[NDArray[np.uint64]] = []  #: unused host memory
        self._host = host
        self._stage: tuple[int, Array] | None = None  #: the block that was brought back last, with its number
        self._first = 0  #: number of the first block that was not dropped
        self.block_states = 1 << shift
        self._block_bytes = self.block_states * words * 8
        self.addresses = device.zeros(_MOST_BLOCKS)
        self._host_addresses = np.zeros(_MOST_BLOCKS, dtype=np.uint64)

    @property
    def capacity(self) -> int:
        """Number of positions in all blocks."""
        return len(self._blocks) * self.block_states

    @property
    def has_all(self) -> bool:
        """Whether every state is in the memory of the device."""
        return not self._first and not self._waiting

    @property
    def host_bytes(self) -> int:
        return len(self._waiting) * self._block_bytes

    def first_kept(self) -> int:
        """Returns the position from which on no state has been dropped."""
        return self._first * self.block_states

    # --- Allocation --------------------------------------------------------------------------------------------

    def reserve(self, positions: int) -> None:
        """Allocates blocks for ``positions`` positions in all. Raises OutOfDeviceMemory."""
        before = len(self._blocks)
        try:
            while self.capacity < positions:
                self._add_block()
        finally:
            if before < len(self._blocks):
                self._tell_addresses()

    def _add_block(self) -> None:
        if len(self._blocks) == _MOST_BLOCKS:
            raise OutOfDeviceMemory("the table of block addresses is full")
        self._budget.take(self._block_bytes)
        try:
            block = self._device.empty(self.block_states * self._words)
        except OutOfDeviceMemory:
            self._budget.give_back(self._block_bytes)
            raise
        self._host_addresses[len(self._blocks)] = self._device.address(block)
        self._blocks.append(block)

    def _tell_addresses(self) -> None:
        self._device.copy(self.addresses[: len(self._blocks)], self._host_addresses[: len(self._blocks)])

    def drop(self, end: int) -> bool:
        """Drops the blocks whose states all come before ``end``. Returns whether there were any."""
        dropped = False
        until = min(len(self._blocks), end // self.block_states)
        for number in range(self._first, until):
            if self._blocks[number] is not None:
                self._release(number)
                dropped = True
            if number in self._waiting:
                self._spare.append(self._waiting.pop(number))
        self._first = max(self._first, until)
        return dropped

    def clear(self) -> None:
        """Drops all states. Host memory is kept for the next ones."""
        self.drop(self.capacity)
        if self._stage is not None:
            self._stage = None
            self._budget.give_back(self._block_bytes)
        self._blocks = []
        self._first = 0

    def send_away(self, begin: int, end: int) -> bool:
        """Moves one block, whose states all lie in the range, to host memory: the last one, which will be needed
        latest. Returns whether there was one, and host memory for it."""
        first = -(-begin // self.block_states)
        for number in range(end // self.block_states - 1, first - 1, -1):
            block = self._blocks[number]
            if block is None:
                continue
            room = self._host_room()
            if room is None:
                return False
            self._device.copy(room, block)
            self._waiting[number] = room
            if self._stage is None:  # reserves device memory to bring blocks back
                self._stage = number, block
                self._budget.take(self._block_bytes, even_if_too_much=True)
            self._release(number)
            return True
        return False

    def _host_room(self) -> NDArray[np.uint64] | None:
        if self._spare:
            return self._spare.pop()
        try:
            return pinned_words(self._device, self._host, self.block_states * self._words)
        except MemoryError:
            return None

    def _release(self, number: int) -> None:
        self._blocks[number] = None
        self._host_addresses[number] = 0
        self._budget.give_back(self._block_bytes)

    # --- States ------------------------------------------------------------------------------------------------

    def pieces(self, begin: int, end: int, most: int) -> Iterator[Piece]:
        """Yields the states of a range, piece by piece. A piece is valid until the next but one is taken."""
        while begin < end:
            number, first = divmod(begin, self.block_states)
            until = min(end, begin + most, (number + 1) * self.block_states)
            block = self._block(number)
            yield Piece(begin, until, block[first * self._words : (first + until - begin) * self._words])
            begin = until

    def _block(self, number: int) -> Array:
        block = self._blocks[number]
        if block is not None:
            return block
        assert self._stage is not None
        held, stage = self._stage
        if held != number:
            self._device.copy(stage, self._waiting[number])
            self._device.wait(self._device.mark(), aside=True)  # either stream may expand it
            self._stage = number, stage
        return stage

    def append(self, position: int, states: NDArray[np.uint64]) -> None:
        """Writes states, one a row, from a position on. Its blocks must have been allocated."""
        while len(states):
            number, first = divmod(position, self.block_states)
            count = min(len(states), self.block_states - first)
            block = self._blocks[number]
            assert block is not None
            part = np.ascontiguousarray(states[:count]).reshape(-1)
            self._device.copy(block[first * self._words : (first + count) * self._words], part)
            position, states = position + count, states[count:]

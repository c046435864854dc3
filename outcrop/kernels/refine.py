"""Partition refinement of labelled graphs, in native code. Models must be compiled with instances."""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from outcrop.kernels.abi import structure
from outcrop.kernels.native import Native

_FUNCTIONS = ("outcrop_sign_states", "outcrop_group_states", "outcrop_move_states", "outcrop_is_stable")

#: Answer of a kernel that has no memory.
_NO_MEMORY = 2**64 - 1

Numbers = NDArray[np.uint32]


class Refinement:
    """The blocks of a labelled graph. ``blocks``: those to begin with."""

    def __init__(
        self,
        native: Native,
        offsets: NDArray[np.int64],
        labels: Numbers,
        targets: Numbers,
        blocks: Numbers,
        threads: int,
    ) -> None:
        self._library = native.library_with(_FUNCTIONS)
        self._arrays = offsets.astype(np.uint64), np.ascontiguousarray(labels), np.ascontiguousarray(targets)
        pointers = (each.ctypes.data for each in self._arrays)
        largest = int(np.diff(offsets).max(initial=0))
        self._graph = structure("LabelledGraph")(*pointers, largest)
        self._states = len(offsets) - 1
        eighths = -(-self._states // 8)
        self._cuts = [min(self._states, 8 * (eighths * number // threads)) for number in range(threads + 1)]
        self.blocks: Numbers = blocks.astype(np.uint32)
        self._count = int(blocks.max(initial=0)) + 1
        self._hashes = np.zeros(self._states, dtype=np.uint64)
        self._groups, self._sizes, self._origins = (np.zeros(self._states, dtype=np.uint32) for _ in range(3))
        self._moved = np.zeros(eighths, dtype=np.uint8)
        self._is_first = True

    def refine(self, salt: int) -> int:
        """Splits blocks by the signatures of their states, and returns the number of blocks."""
        hashes, blocks, moved = self._hashes.ctypes.data, self.blocks.ctypes.data, self._moved.ctypes.data

        def sign(begin: int, end: int) -> int:
            graph, known = ctypes.byref(self._graph), None if self._is_first else moved
            return int(self._library.outcrop_sign_states(graph, blocks, known, begin, end, salt, hashes))

        made = self._parallel(sign)
        if _NO_MEMORY in made:
            raise MemoryError("no memory for comparing graphs")
        self._is_first = False
        numbers = self._numbers_of_groups(self._group(sum(made)))

        def move(begin: int, end: int) -> int:
            groups = self._groups.ctypes.data
            self._library.outcrop_move_states(hashes, begin, end, groups, numbers.ctypes.data, blocks, moved)
            return 1

        self._parallel(move)
        return self._count

    def _group(self, signed: int) -> tuple[int, NDArray[np.uint8]]:
        """Gathers the signed states into groups. Returns their number, and the blocks that have other states too."""
        slot_count = 1 << max(4, (2 * signed).bit_length())
        slots = np.zeros(2 * slot_count, dtype=np.uint64)
        stays = np.zeros(self._count, dtype=np.uint8)
        arrays = (self._groups, self._sizes, self._origins, stays)
        groups = self._library.outcrop_group_states(
            *(self._hashes.ctypes.data, self._states, self.blocks.ctypes.data, slots.ctypes.data, slot_count - 1),
            *(each.ctypes.data for each in arrays),
        )
        return int(groups), stays

    def _numbers_of_groups(self, grouped: tuple[int, NDArray[np.uint8]]) -> Numbers:
        """Returns the block of each group. The largest group of a block keeps its number, unless other states do."""
        groups, stays = grouped
        sizes, origins = self._sizes[:groups], self._origins[:groups]
        largest = np.zeros(self._count, dtype=np.uint32)
        np.maximum.at(largest, origins, sizes)
        candidates = np.flatnonzero(sizes == largest[origins])[::-1]
        largest[origins[candidates]] = candidates  # the first of them is stored last
        keeps = largest[origins] == np.arange(groups)
        keeps &= stays[origins] == 0
        numbers = origins.copy()
        fresh = int(groups - keeps.sum())
        numbers[~keeps] = np.arange(self._count, self._count + fresh, dtype=np.uint32)
        self._count += fresh
        return numbers

    def is_stable(self) -> bool:
        """Returns whether all states of each block have the same signature. No hash decides that."""
        representatives = np.zeros(int(self.blocks.max(initial=0)) + 1, dtype=np.uint32)
        representatives[self.blocks] = np.arange(self._states, dtype=np.uint32)

        def verify(begin: int, end: int) -> int:
            graph, blocks = ctypes.byref(self._graph), self.blocks.ctypes.data
            return int(self._library.outcrop_is_stable(graph, blocks, representatives.ctypes.data, begin, end))

        answers = self._parallel(verify)
        if 2 in answers:
            raise MemoryError("no memory for comparing graphs")
        return all(answers)

    def _parallel(self, work: object) -> list[int]:
        assert callable(work)
        ranges = list(zip(self._cuts[:-1], self._cuts[1:], strict=True))
        with ThreadPoolExecutor(len(ranges)) as pool:
            return list(pool.map(lambda cut: work(*cut), ranges))

"""Partition refinement of two labelled graphs, in native code. Models must be compiled with instances."""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outcrop.kernels.abi import structure
from outcrop.kernels.native import Native

_FUNCTIONS = (
    *("outcrop_sign_states", "outcrop_group_states", "outcrop_move_states", "outcrop_is_stable", "outcrop_pair_states"),
)

#: Answer of a kernel that has no memory, or too few slots.
_NO_ROOM = 2**64 - 1

#: The state that stands for none.
_NONE = 2**32 - 1

Numbers = NDArray[np.uint32]
Offsets = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Part:
    """One of two graphs. ``labels``: of each instance."""

    offsets: Offsets  #: first edge of each state, and the number of edges
    instances: Numbers  #: of each edge
    targets: Numbers  #: of each edge
    labels: Numbers

    @property
    def states(self) -> int:
        return len(self.offsets) - 1


class Refinement:
    """The blocks of two graphs, the states of the second numbered after those of the first. ``blocks``: those to begin
    with."""

    def __init__(self, native: Native, parts: tuple[Part, Part], blocks: Numbers, threads: int) -> None:
        self._library = native.library_with(_FUNCTIONS)
        self._parts = parts
        self._graph = structure("LabelledGraph")()
        for part, raw, first in zip(parts, self._graph.parts, (0, parts[0].states), strict=True):
            raw.first, raw.offsets, raw.labels = first, part.offsets.ctypes.data, part.labels.ctypes.data
            raw.instances, raw.targets = part.instances.ctypes.data, part.targets.ctypes.data
        self._graph.largest = max(int(np.diff(part.offsets).max(initial=0)) for part in parts)
        self._states = parts[0].states + parts[1].states
        eighths = -(-self._states // 8)
        self._cuts = [min(self._states, 8 * (eighths * number // threads)) for number in range(threads + 1)]
        self.blocks: Numbers = blocks.astype(np.uint32)
        self._count = int(blocks.max(initial=0)) + 1
        self._hashes = np.zeros(self._states, dtype=np.uint64)
        self._groups, self._sizes, self._origins = (np.zeros(self._states, dtype=np.uint32) for _ in range(3))
        self._moved = np.zeros(eighths, dtype=np.uint8)
        self._slots = 1 << 12
        self._is_first = True

    def refine(self, salt: int) -> int:
        """Splits blocks by the signatures of their states, and returns the number of blocks."""
        hashes, blocks, moved = self._hashes.ctypes.data, self.blocks.ctypes.data, self._moved.ctypes.data

        def sign(begin: int, end: int) -> int:
            graph, known = ctypes.byref(self._graph), None if self._is_first else moved
            return int(self._library.outcrop_sign_states(graph, blocks, known, begin, end, salt, hashes))

        if _NO_ROOM in self._parallel(sign):
            raise _no_memory()
        self._is_first = False
        numbers = self._numbers_of_groups(self._group())

        def move(begin: int, end: int) -> int:
            groups = self._groups.ctypes.data
            self._library.outcrop_move_states(hashes, begin, end, groups, numbers.ctypes.data, blocks, moved)
            return 1

        self._parallel(move)
        return self._count

    def _group(self) -> tuple[int, NDArray[np.uint8]]:
        """Gathers the signed states into groups. Returns their number, and the blocks that have other states too."""
        stays = np.zeros(self._count, dtype=np.uint8)
        arrays = (self._groups, self._sizes, self._origins, stays)
        while True:
            slots = np.zeros(2 * self._slots, dtype=np.uint64)
            groups = self._library.outcrop_group_states(
                *(self._hashes.ctypes.data, self._states, self.blocks.ctypes.data),
                *(slots.ctypes.data, self._slots - 1),
                *(each.ctypes.data for each in arrays),
            )
            if groups != _NO_ROOM:
                return int(groups), stays
            self._slots *= 8

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
            raise _no_memory()
        return all(answers)

    def pair(self, starts: int) -> bool:
        """Sets the blocks to pairs: each state of the second graph with those of the first that correspond to it, if
        the first ``starts`` states of both do, and steps of one label do in the order of their instances. Returns False
        if that leads to nothing; the blocks are a guess, which ``is_stable`` verifies."""
        first, second = self._parts[0].states, self._parts[1].states
        partners = np.full(first, _NONE, dtype=np.uint32)
        partners[:starts] = np.arange(starts, dtype=np.uint32)
        answer = self._library.outcrop_pair_states(ctypes.byref(self._graph), partners.ctypes.data)
        if answer == 2:
            raise _no_memory()
        self.blocks[:first], self.blocks[first:] = partners, np.arange(second, dtype=np.uint32)
        return bool(answer)

    def _parallel(self, work: Any) -> list[int]:
        ranges = list(zip(self._cuts[:-1], self._cuts[1:], strict=True))
        with ThreadPoolExecutor(len(ranges)) as pool:
            return list(pool.map(lambda cut: work(*cut), ranges))


def _no_memory() -> MemoryError:
    return MemoryError("no memory for comparing graphs")

"""Partition refinement of labelled graphs, in native code. Models must be compiled with instances."""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from outcrop.kernels.abi import structure
from outcrop.kernels.native import Native

_FUNCTIONS = ("outcrop_sign_states", "outcrop_number_blocks", "outcrop_is_stable")

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
        self._cuts = [self._states * number // threads for number in range(threads + 1)]
        self.blocks: Numbers = blocks.astype(np.uint32)
        self._hashes = np.zeros(self._states, dtype=np.uint64)
        self._slot_count = 1 << max(4, (2 * self._states).bit_length())
        self._numbers = np.zeros(self._slot_count, dtype=np.uint32)

    def refine(self, salt: int) -> int:
        """Splits blocks by the signatures of their states, and returns the number of blocks."""

        def sign(begin: int, end: int) -> int:
            graph, blocks, hashes = ctypes.byref(self._graph), self.blocks.ctypes.data, self._hashes.ctypes.data
            return int(self._library.outcrop_sign_states(graph, blocks, begin, end, salt, hashes))

        if not all(self._parallel(sign)):
            raise MemoryError("no memory for comparing graphs")
        slots = np.zeros(self._slot_count, dtype=np.uint64)
        return int(
            self._library.outcrop_number_blocks(
                *(self._hashes.ctypes.data, self._states, slots.ctypes.data, self._numbers.ctypes.data),
                *(self._slot_count - 1, self.blocks.ctypes.data),
            )
        )

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

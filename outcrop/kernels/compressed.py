"""Searches with the compressed visited set of native/compressed.c, as Python objects."""

from __future__ import annotations

import ctypes
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from outcrop.errors import InternalError
from outcrop.kernels import FIRST_LINES, SPARE_BYTES, Native, Search, Settings, States, with_spare_bytes
from outcrop.kernels.abi import structure
from outcrop.kernels.tree_shape import TreeShape, pairs_shape

_FUNCTIONS = (
    "outcrop_compressed_open",
    "outcrop_compressed_forget",
    "outcrop_compressed_close",
    "outcrop_compressed_standing",
)
_FOLDING = ("outcrop_fold_block", "outcrop_find_roots", "outcrop_unfold_block")

#: Widest state whose bits are the key of a quotient table, in bytes.
WIDEST_KEY = 16
#: Narrowest state that is folded into a tree, in bytes: that of a root.
ROOT_BYTES = 8


@dataclass(frozen=True)
class CompressedMemory:
    """The memory of a compressed search by its parts, in bytes."""

    nodes: int  #: number of inner nodes
    node_bytes: int
    index_bytes: int  #: size of the table that finds nodes
    root_bytes: int  #: size of the quotient tables
    queue_bytes: int  #: size of the part of the queue that is in RAM

    @property
    def total(self) -> int:
        return self.node_bytes + self.index_bytes + self.root_bytes + self.queue_bytes


def sum_memory(parts: list[CompressedMemory]) -> CompressedMemory:
    """Returns the memory of several searches."""
    return CompressedMemory(*(sum(column) for column in zip(*map(astuple, parts), strict=True)))


class CompressedSearch(Search):
    """An exact search that keeps remainders of states, or of the roots of trees. ``native`` is compiled for it.
    ``indexed``: roots are found by their hash, and have indexes in the arena, as searches for cycles need."""

    def __init__(
        self, native: Native, settings: Settings, shape: TreeShape | None = None, *, indexed: bool = False
    ) -> None:
        super().__init__(native, settings)
        self._compressed = native.library_with(_FUNCTIONS)
        self.is_tree = native.is_tree
        self._folding = native.library_with(_FOLDING) if self.is_tree else None
        self.shape = shape or pairs_shape(native.model_bytes)
        self._is_open = bool(
            self._compressed.outcrop_compressed_open(
                self.handle,
                settings.seed % 2**64,
                settings.weak_hash,
                indexed,
                min(settings.first_lines, FIRST_LINES),
                *_pointers(self.shape),
            )
        )
        if not self._is_open:
            self.close()
            raise MemoryError("no memory for a table of visited states")

    def close(self) -> None:
        if self._is_open and not self.is_abandoned:
            self._compressed.outcrop_compressed_close(self.handle)
            self._is_open = False
        super().close()

    def forget(self) -> None:
        """Frees the memory of the visited set. States of the arena can still be read."""
        self._compressed.outcrop_compressed_forget(self.handle)

    def memory(self) -> CompressedMemory:
        raw = structure("CompressedStanding")()
        self._compressed.outcrop_compressed_standing(self.handle, ctypes.byref(raw))
        return CompressedMemory(raw.nodes, raw.node_bytes, raw.index_bytes, raw.root_bytes, raw.queue_bytes)

    # --- The two forms of a state ------------------------------------------------------------------------------

    def insert_packed(self, worker: int, states: States) -> NDArray[np.bool_]:
        if self._folding is None:
            return self.insert_block(worker, states)
        rows, roots = with_spare_bytes(states), self._roots(len(states))
        folded = self._folding.outcrop_fold_block(self.handle, worker, rows.ctypes.data, len(rows), roots.ctypes.data)
        return self.insert_block(worker, roots[:folded])

    def folded(self, states: States) -> States:
        if self._folding is None:
            return states
        rows, roots = with_spare_bytes(states), self._roots(len(states))
        if self._folding.outcrop_fold_block(self.handle, 0, rows.ctypes.data, len(rows), roots.ctypes.data) < len(rows):
            raise MemoryError("no memory for the tree of a state")
        return roots

    def kept_form(self, states: States) -> States:
        if self._folding is None:
            return states
        rows, roots = with_spare_bytes(states), self._roots(len(states))
        found = self._folding.outcrop_find_roots(self.handle, rows.ctypes.data, len(rows), roots.ctypes.data)
        if found < len(rows):
            raise InternalError("a state that was visited has no tree")
        return roots

    def packed_form(self, states: States) -> States:
        if self._folding is None:
            return states
        rows = self._rows(states)
        room = np.empty(len(rows) * self.native.model_bytes + SPARE_BYTES, dtype=np.uint8)
        self._folding.outcrop_unfold_block(self.handle, rows.ctypes.data, len(rows), room.ctypes.data)
        return room[:-SPARE_BYTES].reshape(len(rows), self.native.model_bytes)

    def _roots(self, count: int) -> States:
        room = np.empty(count * ROOT_BYTES + SPARE_BYTES, dtype=np.uint8)
        return room[:-SPARE_BYTES].reshape(count, ROOT_BYTES)


def _pointers(shape: TreeShape) -> tuple[int, int, int, int, int]:
    """Returns what outcrop_compressed_open takes of a shape."""
    leaves, left, right = shape.leaf_bytes, shape.left, shape.right
    return leaves.ctypes.data, len(leaves), left.ctypes.data, right.ctypes.data, shape.nodes

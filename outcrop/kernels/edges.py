"""Edges of the state graph of a complete search. Models must be compiled with instances."""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray

from outcrop.kernels.search import Search

_FUNCTIONS = ("outcrop_gather_edges",)

#: Edges of one call.
_ROOM = 1 << 22

Numbers = NDArray[np.uint32]


def edges_between(search: Search, worker: int, begin: int, end: int) -> tuple[Numbers, Numbers, Numbers]:
    """Returns the edges of a range of the arena: the degree of each state, and for each edge, ordered by its source,
    the rule instance and the number of its target."""
    gather = search.native.library_with(_FUNCTIONS).outcrop_gather_edges
    degrees = np.zeros(end - begin, dtype=np.uint32)
    pieces: list[tuple[Numbers, Numbers]] = []
    room, at = _ROOM, begin
    while at < end:
        instances, targets = np.empty(room, dtype=np.uint32), np.empty(room, dtype=np.uint32)
        made = ctypes.c_uint64()
        rest = degrees[at - begin :]
        after = int(
            gather(
                *(search.handle, worker, at, end),
                *(rest.ctypes.data, instances.ctypes.data, targets.ctypes.data, room, ctypes.byref(made)),
            )
        )
        pieces.append((instances[: made.value].copy(), targets[: made.value].copy()))
        if search.is_stopping():
            break
        room = 2 * room if after == at else room
        at = after
    if not pieces:
        return degrees, np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.uint32)
    return degrees, np.concatenate([one for one, _ in pieces]), np.concatenate([other for _, other in pieces])

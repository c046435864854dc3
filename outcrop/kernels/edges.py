"""Edges of the state graph of a complete search. Models must be compiled with instances."""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray

from outcrop.kernels.search import Search

_FUNCTIONS = ("outcrop_gather_edges",)

Numbers = NDArray[np.uint32]


def edges_between(search: Search, worker: int, begin: int, end: int, room: int) -> tuple[Numbers, Numbers, Numbers]:
    """Returns the edges of a range of the arena: the degree of each state, and for each edge, ordered by its source,
    the rule instance and the number of its target. ``room``: how many there will be, or less."""
    gather = search.native.library_with(_FUNCTIONS).outcrop_gather_edges
    degrees = np.zeros(end - begin, dtype=np.uint32)
    pieces: list[tuple[Numbers, Numbers]] = []
    at = begin
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
        pieces.append((instances[: made.value], targets[: made.value]))
        if search.is_stopping():
            break
        room = 2 * room if after == at else room
        at = after
    instances, targets = (joined([piece[number] for piece in pieces]) for number in range(2))
    return degrees, instances, targets


def joined(pieces: list[Numbers]) -> Numbers:
    """Returns arrays one after the other; a single one is not copied, since it may be large."""
    return pieces[0] if len(pieces) == 1 else np.concatenate([np.empty(0, dtype=np.uint32), *pieces])

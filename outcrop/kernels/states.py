"""Packed states as numpy arrays: the types that all kernels share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

States = NDArray[np.uint8]  #: packed states, one in each row
Counts = NDArray[np.uint64]
Marks = NDArray[np.uint8]

#: Number of bytes after packed states that kernels may access.
SPARE_BYTES = 8


def with_spare_bytes(rows: States) -> States:
    """Returns the same rows, copied if necessary, in a larger array: kernels may access bytes after the last row."""
    if rows.flags.c_contiguous and isinstance(rows.base, np.ndarray) and rows.base.flags.c_contiguous:
        end = rows.ctypes.data + rows.nbytes
        if end + SPARE_BYTES <= rows.base.ctypes.data + rows.base.nbytes:
            return rows
    padded = np.zeros(rows.size + SPARE_BYTES, dtype=np.uint8)
    padded[: rows.size] = rows.reshape(-1)
    return padded[: rows.size].reshape(rows.shape)

"""The kernels of a compiled model, as Python objects. No other package touches pointers.

A Native is a loaded library. A Search is the state of one search inside it: arena, visited set, workers. Packed states
go in and out as two-dimensional arrays of bytes, one row a state. The other modules bind kernels that few searches
need.
"""

from outcrop.kernels.native import Native
from outcrop.kernels.search import (
    FIRST_LINES,
    DeadlockRule,
    Found,
    Search,
    Settings,
    Standing,
    StopReason,
)
from outcrop.kernels.states import SPARE_BYTES, Counts, Marks, States, with_spare_bytes

__all__ = [
    "FIRST_LINES",
    "SPARE_BYTES",
    "Counts",
    "DeadlockRule",
    "Found",
    "Marks",
    "Native",
    "Search",
    "Settings",
    "Standing",
    "States",
    "StopReason",
    "with_spare_bytes",
]

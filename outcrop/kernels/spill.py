"""The kernels of a search past RAM, as Python objects.

The arena of the search holds the most recent states, and sorted runs on disk hold the dropped ones. States that are not
in the arena are candidates, until they have been compared with the sorted runs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from outcrop.kernels import SPARE_BYTES, Counts, Search, States
from outcrop.kernels.abi import structure

#: Number of slices of a sorted run, selected by the first byte of the hash.
SLICES = 256
#: Smallest and largest number of bits of a bucket's number in a sorted run.
LEAST_BITS = 16
MOST_BITS = 27
#: Number of bytes after a sorted run that kernels may read.
SPARE_RUN_BYTES = 64

_NONE = 2**64 - 1

_FUNCTIONS = (
    "outcrop_defer",
    "outcrop_resume",
    "outcrop_expand_states",
    "outcrop_add_carried",
    "outcrop_take_new",
    "outcrop_resolve",
    "outcrop_take_fresh",
    "outcrop_count_unknown",
    "outcrop_write_run",
    "outcrop_check_run",
    "outcrop_merge_runs",
    "outcrop_forget",
    "outcrop_enter",
    "outcrop_run_starved",
    "outcrop_run_full",
)


@dataclass(frozen=True)
class RunLayout:
    """The layout of a sorted run. ``starts`` and ``counts`` have the offset and the number of entries of each slice."""

    file: int  #: descriptor
    bits: int  #: number of bits of a bucket's number
    starts: Counts
    counts: Counts
    data: NDArray[np.uint8]  #: the file, mapped
    stride: int  #: bytes of an entry besides its tag

    # Layers: see native/runs.c.
    level: int = 0
    newest: int = 0
    ends: Counts = field(default_factory=lambda: np.zeros(0, dtype=np.uint64))
    fetch: int | None = None  #: address of the callback for tails of a packed run
    number: int = 0
    sums: Counts = field(default_factory=lambda: np.zeros(SLICES, dtype=np.uint64))  #: checksums of the slices


class RunDamaged(Exception):
    """Raised when a sorted run could not be read or written, or is not what was written."""


class RunFull(RunDamaged):
    """Raised when the disk has no space for a sorted run."""


def run_failure(search: Search) -> Exception:
    """Returns the exception for a kernel that could not read or write sorted runs."""
    library = search.native.with_all_kernels.library_with(_FUNCTIONS)
    if library.outcrop_run_starved():
        return MemoryError("no memory to compare states with the sorted runs on disk")
    return RunFull() if library.outcrop_run_full() else RunDamaged()


#: Size of an entry's tag, in bytes.
TAG_BYTES = 4
#: Size of the hash in the rest of an entry, and of its level if that is kept, in bytes.
HASH_REST_BYTES = 3
LEVEL_BYTES = 2


def tail_bytes(state_bytes: int) -> int:
    """Returns the size of a state's tail, which its hash does not determine, in bytes."""
    return max(0, state_bytes - 8)


def rest_bytes(state_bytes: int) -> int:
    """Returns the size of a state in a sorted run besides its tag, in bytes."""
    return HASH_REST_BYTES + tail_bytes(state_bytes)


def index_bytes(bits: int) -> int:
    """Returns the size of a sorted run besides its entries, in bytes."""
    return SLICES * ((1 << bits) // SLICES + 1) * 4


class Spill:
    """The kernels of a search past RAM. The search must have been opened with ``spills``."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._library = search.native.with_all_kernels.library_with(_FUNCTIONS)

    def defer(self) -> None:
        """Makes states that are not in the arena candidates from now on."""
        if not self._library.outcrop_defer(self._handle):
            raise MemoryError("no memory to continue past RAM")

    def resume(self) -> int:
        """Lets a search that ran out of memory continue. No worker may be running. Returns the number of states in the
        arena."""
        used = int(self._library.outcrop_resume(self._handle))
        if used == _NONE:
            raise MemoryError("no memory for the successors of a block")
        return used

    def expand(self, worker: int, states: States) -> int:
        """Expands states, in order, until the arena is full. The last successors are then carried. Returns the number
        of expanded states."""
        rows = self._search._rows(states)
        return int(self._library.outcrop_expand_states(self._handle, worker, rows.ctypes.data, len(rows)))

    def add_carried(self, worker: int) -> int:
        """Makes candidates of the successors that the worker carries. Returns how many are left, because the arena is
        full."""
        return int(self._library.outcrop_add_carried(self._handle, worker))

    def resolve(self, worker: int, first: int, slices: tuple[int, int], few: bool, runs: Sequence[RunLayout]) -> None:
        """Compares candidates, which are the states of the arena from ``first`` on, with sorted runs: those that belong
        to some slices, or all if there are ``few``."""
        if not self._library.outcrop_resolve(self._handle, worker, first, *slices, few, run_table(runs), len(runs)):
            raise run_failure(self._search)

    def take_new(self, worker: int, begin: int, end: int) -> States:
        """Checks and returns the candidates of a range that no sorted run has, after they were compared."""
        count = int(self._library.outcrop_take_new(self._handle, worker, begin, end))
        if count == _NONE:
            raise MemoryError("no memory for new states")
        width = self._search.native.state_bytes
        fresh = np.empty(count * width + SPARE_BYTES, dtype=np.uint8)
        self._library.outcrop_take_fresh(self._handle, worker, fresh.ctypes.data)
        return fresh[:-SPARE_BYTES].reshape(count, width)

    def count_unknown(self, end: int) -> int:
        """Returns the number of states of the arena below ``end`` that no sorted run has."""
        return int(self._library.outcrop_count_unknown(self._handle, end))

    def write_run(self, worker: int, end: int, slices: tuple[int, int], run: RunLayout, length: Counts) -> None:
        """Writes slices of a new sorted run of the states of the arena below ``end`` that no sorted run has. Appends
        them to the file, whose size is in ``length``, an array of one."""
        done = self._library.outcrop_write_run(
            self._handle,
            worker,
            end,
            *slices,
            run_table([run]),
            length.ctypes.data,
            run.starts.ctypes.data,
            run.counts.ctypes.data,
        )
        if not done:
            raise run_failure(self._search)

    def merge_runs(self, worker: int, runs: Sequence[RunLayout], merged: RunLayout, slices: tuple[int, int]) -> None:
        """Writes slices of ``merged``, whose layout is complete, from sorted runs with at most as many bits."""
        done = self._library.outcrop_merge_runs(
            self._handle, worker, run_table(runs), len(runs), run_table([merged]), *slices
        )
        if not done:
            raise run_failure(self._search)

    def check_run(self, run: RunLayout, slices: tuple[int, int]) -> None:
        """Raises RunDamaged unless slices of a sorted run are what was written."""
        if not self._library.outcrop_check_run(run_table([run]), *slices):
            raise run_failure(self._search)

    def forget(self, count: int) -> None:
        """Drops the first ``count`` states of the arena, a multiple of 8, and empties the table."""
        self._library.outcrop_forget(self._handle, count)

    def enter(self, begin: int, end: int) -> None:
        """Enters a range of the arena into the table again."""
        self._library.outcrop_enter(self._handle, begin, end)

    @property
    def _handle(self) -> int | None:
        return self._search._handle


def run_table(runs: Sequence[RunLayout]) -> ctypes.Array[ctypes.Structure]:
    """Returns the layouts as an array of C structures."""
    kind = structure("Run")
    return (kind * len(runs))(*(_raw_run(kind, run) for run in runs))


def _raw_run(kind: type[ctypes.Structure], run: RunLayout) -> ctypes.Structure:
    return kind(
        file=run.file,
        bits=run.bits,
        starts=run.starts.ctypes.data,
        counts=run.counts.ctypes.data,
        bytes=run.data.ctypes.data,
        length=run.data.nbytes,
        stride=run.stride,
        level=run.level,
        newest=run.newest,
        ends=run.ends.ctypes.data,
        end_count=len(run.ends),
        fetch=run.fetch,
        number=run.number,
        sums=run.sums.ctypes.data,
    )

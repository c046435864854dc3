"""The kernels of a search past RAM, as Python objects.

The arena of the search holds the states met last, runs on disk those that it had to forget. States that are not in the
arena are candidates, until they have been compared with the runs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from outcrop.kernels import SPARE_BYTES, Counts, Search, States
from outcrop.kernels.abi import structure

#: Stretches that a run is made of, by the first bits of the hash.
SLICES = 256
#: The least number of bits of a bucket's number in a run, and the greatest.
LEAST_BITS = 16
MOST_BITS = 27
#: Bytes behind a run that kernels may read.
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
    """Where a run lies: ``starts`` and ``counts``, in bytes and entries, have a number for each slice."""

    file: int  #: descriptor
    bits: int  #: of a bucket's number
    starts: Counts
    counts: Counts
    data: NDArray[np.uint8]  #: the file, mapped
    stride: int  #: bytes of the rest of an entry

    # Layers: see native/runs.c.
    level: int = 0
    newest: int = 0
    ends: Counts = field(default_factory=lambda: np.zeros(0, dtype=np.uint64))
    fetch: int | None = None  #: address of a function
    number: int = 0
    sums: Counts = field(default_factory=lambda: np.zeros(SLICES, dtype=np.uint64))  #: checksums of the slices


class RunDamaged(Exception):
    """A run could not be read or written, or is not what was written."""


class RunFull(RunDamaged):
    """There was no room on the disk to write one."""


def run_failure(search: Search) -> Exception:
    """Why a kernel could not read or write runs."""
    library = search.native.with_all_kernels.library_with(_FUNCTIONS)
    if library.outcrop_run_starved():
        return MemoryError("no memory to compare states with those on disk")
    return RunFull() if library.outcrop_run_full() else RunDamaged()


#: Bytes of an entry's tag.
TAG_BYTES = 4
#: Bytes of the hash in its rest, and of its level, where that is kept.
HASH_REST_BYTES = 3
LEVEL_BYTES = 2


def tail_bytes(state_bytes: int) -> int:
    """What of a state its hash does not tell."""
    return max(0, state_bytes - 8)


def rest_bytes(state_bytes: int) -> int:
    """What a run needs for a state beside its tag."""
    return HASH_REST_BYTES + tail_bytes(state_bytes)


def index_bytes(bits: int) -> int:
    """What a run needs beside its entries."""
    return SLICES * ((1 << bits) // SLICES + 1) * 4


class Spill:
    """What a search that was opened with ``spills`` can do beside what every search can."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._library = search.native.with_all_kernels.library_with(_FUNCTIONS)

    def defer(self) -> None:
        """From now on states that are not in the arena are candidates."""
        if not self._library.outcrop_defer(self._handle):
            raise MemoryError("no memory to go on past RAM with")

    def resume(self) -> int:
        """Lets a search that ran out of memory go on; no worker may be at work. Gives how many states the arena has."""
        used = int(self._library.outcrop_resume(self._handle))
        if used == _NONE:
            raise MemoryError("no memory for the successors of a block")
        return used

    def expand(self, worker: int, states: States) -> int:
        """Expands states, in order, until the arena is full; the last successors are then carried. Gives how many."""
        rows = self._search._rows(states)
        return int(self._library.outcrop_expand_states(self._handle, worker, rows.ctypes.data, len(rows)))

    def add_carried(self, worker: int) -> int:
        """Makes candidates of what the worker carries. Gives how much it still does, because the arena is full."""
        return int(self._library.outcrop_add_carried(self._handle, worker))

    def resolve(self, worker: int, first: int, slices: tuple[int, int], few: bool, runs: Sequence[RunLayout]) -> None:
        """Compares with runs the candidates, states of the arena from ``first`` on, that belong to some slices, or all
        if there are ``few``."""
        if not self._library.outcrop_resolve(self._handle, worker, first, *slices, few, run_table(runs), len(runs)):
            raise run_failure(self._search)

    def take_new(self, worker: int, begin: int, end: int) -> States:
        """Those of a range of candidates, compared before, that no run has. Checks them."""
        count = int(self._library.outcrop_take_new(self._handle, worker, begin, end))
        if count == _NONE:
            raise MemoryError("no memory for new states")
        width = self._search.native.state_bytes
        fresh = np.empty(count * width + SPARE_BYTES, dtype=np.uint8)
        self._library.outcrop_take_fresh(self._handle, worker, fresh.ctypes.data)
        return fresh[:-SPARE_BYTES].reshape(count, width)

    def count_unknown(self, end: int) -> int:
        """How many states of the arena below ``end`` no run has."""
        return int(self._library.outcrop_count_unknown(self._handle, end))

    def write_run(self, worker: int, end: int, slices: tuple[int, int], run: RunLayout, length: Counts) -> None:
        """Writes slices of a new run of those states of the arena below ``end`` that no run has yet: to the end of the
        file, which ``length`` keeps, an array of one."""
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
        """Writes slices of ``merged``, whose layout is complete, from those of some runs with no more bits."""
        done = self._library.outcrop_merge_runs(
            self._handle, worker, run_table(runs), len(runs), run_table([merged]), *slices
        )
        if not done:
            raise run_failure(self._search)

    def check_run(self, run: RunLayout, slices: tuple[int, int]) -> None:
        """Raises RunDamaged unless slices of a run are what was written."""
        if not self._library.outcrop_check_run(run_table([run]), *slices):
            raise run_failure(self._search)

    def forget(self, count: int) -> None:
        """Drops the first states of the arena, a multiple of 8, and empties the table."""
        self._library.outcrop_forget(self._handle, count)

    def enter(self, begin: int, end: int) -> None:
        """Enters states of the arena into the table again."""
        self._library.outcrop_enter(self._handle, begin, end)

    @property
    def _handle(self) -> int | None:
        return self._search._handle


def run_table(runs: Sequence[RunLayout]) -> ctypes.Array[ctypes.Structure]:
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

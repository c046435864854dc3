"""The kernels of layered search and of delayed duplicate detection, as Python objects. They extend spill.py."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outcrop.kernels import SPARE_BYTES, Counts, Search, States
from outcrop.kernels.abi import callback, structure
from outcrop.kernels.spill import RunLayout, run_failure, run_table

_FUNCTIONS = (
    "outcrop_keep_duplicates",
    "outcrop_set_known",
    "outcrop_write_stretch",
    "outcrop_resolve_stretches",
    "outcrop_take_stretch",
    "outcrop_take_oldest",
    "outcrop_restart",
    "outcrop_read_layers",
)


@dataclass(frozen=True)
class Stretch:
    """Candidates on disk, grouped by slice."""

    file: int  #: descriptor
    at: int  #: offset in the file
    first: int  #: number of its first candidate, counted over all stretches
    begins: NDArray[np.uint32]  #: number of the first candidate of each slice, and at the end the number of candidates
    sums: Counts  #: checksums of its states and of their slices


def candidate_bytes(state_bytes: int) -> int:
    """Returns the size of a candidate on disk, in bytes."""
    return state_bytes + 1


class Fetcher:
    """A callback with which kernels get the tails of a packed run. ``fetch`` takes the number of the run and a slice.
    It returns bytes that must stay valid until the same thread calls it again."""

    def __init__(self, fetch: Callable[[int, int], NDArray[np.uint8]]) -> None:
        self.error: Exception | None = None  #: the last exception of ``fetch``

        def call(number: int, slice_number: int) -> int | None:
            try:
                return fetch(number, slice_number).ctypes.data
            except Exception as error:  # an exception cannot pass through the calling kernel
                self.error = error
                return None

        self._function = callback("Fetch")(call)

    @property
    def address(self) -> int | None:
        return ctypes.cast(self._function, ctypes.c_void_p).value


class LayerKernels:
    """The kernels, bound to one search."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._library = search.native.with_all_kernels.library_with(_FUNCTIONS)

    def keep_duplicates(self) -> None:
        """Makes every successor a candidate from now on. The states of the arena must be on disk."""
        self._library.outcrop_keep_duplicates(self._search.handle)

    def set_known(self, begin: int, end: int) -> None:
        """Marks a range of the arena as states that sorted runs have."""
        self._library.outcrop_set_known(self._search.handle, begin, end)

    def write_stretch(self, worker: int, begin: int, end: int, stretch: Stretch) -> None:
        """Writes some candidates, and sets the start of each slice."""
        if not self._library.outcrop_write_stretch(self._search.handle, worker, begin, end, _stretches([stretch])):
            raise run_failure(self._search)

    def resolve_stretches(
        self,
        worker: int,
        stretches: Sequence[Stretch],
        runs: Sequence[RunLayout],
        slices: tuple[int, int],
        layer: RunLayout,
        length: Counts,
        is_new: NDArray[np.uint8],
        read: Counts,
    ) -> None:
        """Compares slices of the candidates on disk with each other and with sorted runs. Appends the new ones to
        ``layer``, whose size is in ``length``, and sets their bits in ``is_new``. Adds the checksum of what was read to
        ``read``, an array of one."""
        if not self._library.outcrop_resolve_stretches(
            self._search.handle,
            worker,
            _stretches(stretches),
            len(stretches),
            run_table(runs),
            len(runs),
            *slices,
            run_table([layer]),
            length.ctypes.data,
            layer.starts.ctypes.data,
            layer.counts.ctypes.data,
            is_new.ctypes.data,
            read.ctypes.data,
        ):
            raise run_failure(self._search)

    def take_stretch(self, worker: int, stretch: Stretch, is_new: NDArray[np.uint8]) -> States:
        """Returns the candidates of a stretch whose bit is set, in the order of discovery."""
        take, table = self._library.outcrop_take_stretch, _stretches([stretch])
        found = take(self._search.handle, worker, table, is_new.ctypes.data, None)
        width = self._search.native.state_bytes
        states = np.empty(found * width + SPARE_BYTES, dtype=np.uint8)
        if take(self._search.handle, worker, table, is_new.ctypes.data, states.ctypes.data) != found:
            raise run_failure(self._search)
        return states[:-SPARE_BYTES].reshape(found, width)

    def take_oldest(self) -> int:
        """Returns the longest back edge since the last call: levels between a candidate and the layer that has it."""
        return int(self._library.outcrop_take_oldest(self._search.handle))

    def restart(self) -> None:
        """Resets the search: no states, and no reason to stop."""
        self._library.outcrop_restart(self._search.handle)

    def read_layers(
        self, run: RunLayout, slice_number: int, first: int, levels: int
    ) -> tuple[States, NDArray[np.uint16]]:
        """Returns the states of some levels in a slice of a run, and the distance of each from level ``first``."""
        width, most = self._search.native.state_bytes, int(run.counts[slice_number])
        room = np.empty(most * width + SPARE_BYTES, dtype=np.uint8)
        after = np.empty(most, dtype=np.uint16)
        count = self._library.outcrop_read_layers(
            self._search.handle,
            run_table([run]),
            slice_number,
            first % 65536,
            levels,
            room.ctypes.data,
            after.ctypes.data,
        )
        if count == 2**64 - 1:
            raise run_failure(self._search)
        return room[:-SPARE_BYTES].reshape(-1, width)[:count], after[:count]


def _stretches(stretches: Sequence[Stretch]) -> ctypes.Array[ctypes.Structure]:
    kind = structure("Stretch")
    return (kind * len(stretches))(
        *(
            kind(
                file=each.file,
                at=each.at,
                first=each.first,
                begins=each.begins.ctypes.data,
                sums=each.sums.ctypes.data,
            )
            for each in stretches
        )
    )

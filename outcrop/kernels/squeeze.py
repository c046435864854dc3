"""Squeezed states, and the handover of a search to one with states of another width, as Python objects.

A squeezed state holds only the bits of a packed state that have changed so far. All others are as in the first state.
See native/squeeze.c.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from outcrop.errors import InternalError
from outcrop.kernels import SPARE_BYTES, Native, Search, Settings, States, with_spare_bytes

_CARRYING = (
    "outcrop_changing_bits",
    "outcrop_let_go",
    "outcrop_carried",
    "outcrop_take_up",
    "outcrop_set_counts",
)
_SQUEEZING = (
    "outcrop_squeeze",
    "outcrop_placed_bits",
    "outcrop_squeeze_block",
    "outcrop_spread_block",
    "outcrop_misfits",
)


class TooWide(InternalError):
    """Raised when a state has changed bits without a place for them."""


@dataclass(frozen=True, eq=False)
class Form:
    """The form of squeezed states. ``first`` and ``changing`` are rows as the model packs them."""

    first: States  #: the state that all others are compared with
    changing: States  #: the bits that have changed
    state_bytes: int  #: bytes of a squeezed state, including spare places for bits that change later

    @property
    def bits(self) -> int:
        return int(np.unpackbits(self.changing).sum())


class SqueezedSearch(Search):
    """A search whose states are squeezed. ``native`` is compiled for states of that width."""

    def __init__(self, native: Native, settings: Settings, form: Form) -> None:
        super().__init__(native, settings)
        self._squeezing = native.library_with(_SQUEEZING)
        self.first = form.first
        first, changing = (with_spare_bytes(row.reshape(1, -1)) for row in (form.first, form.changing))
        if not self._squeezing.outcrop_squeeze(self.handle, first.ctypes.data, changing.ctypes.data):
            raise InternalError(f"{form.bits} bits do not fit {native.state_bytes} bytes")

    def placed_bits(self) -> States:
        """Returns the bits that have changed, as a row of packed states."""
        placed = np.zeros(self.native.model_bytes, dtype=np.uint8)
        self._squeezing.outcrop_placed_bits(self.handle, placed.ctypes.data)
        return placed

    def kept_form(self, states: States) -> States:
        rows = with_spare_bytes(states)
        room = np.empty(len(rows) * self.native.state_bytes + SPARE_BYTES, dtype=np.uint8)
        done = self._squeezing.outcrop_squeeze_block(self.handle, rows.ctypes.data, len(rows), room.ctypes.data)
        if done < len(rows):
            raise TooWide("a visited state cannot be squeezed")
        return room[:-SPARE_BYTES].reshape(len(rows), self.native.state_bytes)

    def packed_form(self, states: States) -> States:
        rows = self._rows(states)
        room = np.empty(len(rows) * self.native.model_bytes + SPARE_BYTES, dtype=np.uint8)
        self._squeezing.outcrop_spread_block(self.handle, rows.ctypes.data, len(rows), room.ctypes.data)
        return room[:-SPARE_BYTES].reshape(len(rows), self.native.model_bytes)

    def misfits(self) -> States:
        """Returns the successors of all workers that did not fit, as the model packs them."""
        return _of_all_workers(self, self._squeezing.outcrop_misfits, self.native.model_bytes)


class Carrying:
    """The handover of a search to another, or from another."""

    def __init__(self, search: Search) -> None:
        self._search = search
        native = search.native if search.native.is_compressed else search.native.with_all_kernels
        self._library = native.library_with(_CARRYING)

    def changing_bits(self, begin: int, end: int) -> States:
        """Returns the bits in which a range of the arena differs from the first state."""
        changing = np.zeros(self._search.native.state_bytes + SPARE_BYTES, dtype=np.uint8)
        self._library.outcrop_changing_bits(self._search.handle, begin, end, changing.ctypes.data)
        return changing[:-SPARE_BYTES]

    def carried(self) -> States:
        """Returns the successors of all workers that did not fit in memory, as the model packs them."""
        search = self._search
        return search.packed_form(_of_all_workers(search, self._library.outcrop_carried, search.native.state_bytes))

    def let_go(self, end: int) -> None:
        """Frees the memory of the visited states up to ``end``, which another search has. Lookups are no longer
        possible."""
        self._library.outcrop_let_go(self._search.handle, end)

    def take_up(self, other: Search, level_begin: int, cursor: int, levels: int) -> None:
        """Continues where another search stood: at state ``cursor`` of the level that begins at ``level_begin``. The
        states must have been inserted."""
        generated = other.standing().generated
        self._library.outcrop_take_up(self._search.handle, level_begin, cursor, levels, generated)
        (fired, covered, noted), (enabled, deeper) = other.count(), other.coverage()
        self._library.outcrop_set_counts(
            self._search.handle,
            fired.ctypes.data,
            covered.ctypes.data,
            noted.ctypes.data,
            enabled.ctypes.data,
            deeper.ctypes.data,
        )


def _of_all_workers(search: Search, read: Callable[[int, int, int | None], int], width: int) -> States:
    """Returns the rows of all workers. ``read`` counts the rows of a worker, and then copies them."""
    parts = [np.zeros((0, width), dtype=np.uint8)]
    for worker in range(search.workers):
        parts.append(np.zeros((read(search.handle, worker, None), width), dtype=np.uint8))
        read(search.handle, worker, parts[-1].ctypes.data)
    return np.concatenate(parts)

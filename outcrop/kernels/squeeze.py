"""Squeezed states, and carrying a search over into one with states of another size, as Python objects.

A squeezed state holds only those bits of a packed one that have been seen to change; all others are as in the first
state. See native/squeeze.c.
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
    """A state has changed bits for which there is no place."""


@dataclass(frozen=True, eq=False)
class Form:
    """What squeezed states are made of. ``first`` and ``changing`` are rows as the model packs them."""

    first: States  #: the state that all others are compared with
    changing: States  #: the bits that have been seen to change
    state_bytes: int  #: of a squeezed state, places for bits that change later included

    @property
    def bits(self) -> int:
        return int(np.unpackbits(self.changing).sum())


class SqueezedSearch(Search):
    """A search whose states are squeezed. ``native`` is compiled for states of that size."""

    def __init__(self, native: Native, settings: Settings, form: Form) -> None:
        super().__init__(native, settings)
        self._squeezing = native.library_with(_SQUEEZING)
        self.first = form.first
        first, changing = (with_spare_bytes(row.reshape(1, -1)) for row in (form.first, form.changing))
        if not self._squeezing.outcrop_squeeze(self.handle, first.ctypes.data, changing.ctypes.data):
            raise InternalError(f"{form.bits} bits do not fit {native.state_bytes} bytes")

    def placed_bits(self) -> States:
        """The bits that have been seen to change, as a row of packed states has them."""
        placed = np.zeros(self.native.model_bytes, dtype=np.uint8)
        self._squeezing.outcrop_placed_bits(self.handle, placed.ctypes.data)
        return placed

    def kept_form(self, states: States) -> States:
        rows = with_spare_bytes(states)
        room = np.empty(len(rows) * self.native.state_bytes + SPARE_BYTES, dtype=np.uint8)
        done = self._squeezing.outcrop_squeeze_block(self.handle, rows.ctypes.data, len(rows), room.ctypes.data)
        if done < len(rows):
            raise TooWide("a state that was visited cannot be squeezed")
        return room[:-SPARE_BYTES].reshape(len(rows), self.native.state_bytes)

    def packed_form(self, states: States) -> States:
        rows = self._rows(states)
        room = np.empty(len(rows) * self.native.model_bytes + SPARE_BYTES, dtype=np.uint8)
        self._squeezing.outcrop_spread_block(self.handle, rows.ctypes.data, len(rows), room.ctypes.data)
        return room[:-SPARE_BYTES].reshape(len(rows), self.native.model_bytes)

    def misfits(self) -> States:
        """Successors that did not fit, of all workers, as the model packs them."""
        return _of_all_workers(self, self._squeezing.outcrop_misfits, self.native.model_bytes)


class Carrying:
    """What carries a search over, or takes it up."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._library = search.native.with_all_kernels.library_with(_CARRYING)

    def changing_bits(self, begin: int, end: int) -> States:
        """In which bits some states of the arena differ from the first one."""
        changing = np.zeros(self._search.native.state_bytes + SPARE_BYTES, dtype=np.uint8)
        self._library.outcrop_changing_bits(self._search.handle, begin, end, changing.ctypes.data)
        return changing[:-SPARE_BYTES]

    def carried(self) -> States:
        """Successors that memory did not hold, of all workers, as the model packs them."""
        search = self._search
        return search.packed_form(_of_all_workers(search, self._library.outcrop_carried, search.native.state_bytes))

    def let_go(self, end: int) -> None:
        """Frees what holds the visited states up to ``end``, which another search has. Nothing is looked up any
        more."""
        self._library.outcrop_let_go(self._search.handle, end)

    def take_up(self, other: Search, level_begin: int, cursor: int, levels: int) -> None:
        """Goes on where another search stood: in the level that begins at ``level_begin``, at state ``cursor``. Its
        states are there."""
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
    """What ``read`` says how many there are of, for a worker, and copies."""
    parts = [np.zeros((0, width), dtype=np.uint8)]
    for worker in range(search.workers):
        parts.append(np.zeros((read(search.handle, worker, None), width), dtype=np.uint8))
        read(search.handle, worker, parts[-1].ctypes.data)
    return np.concatenate(parts)

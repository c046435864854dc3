"""Sets of leaves of the state, as bits of a number, and what a rule instance does to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Stored:
    """Values that a leaf may have after a step that writes it; None if unknown. ``is_certain``: the step writes it."""

    values: frozenset[int | None] | None
    is_certain: bool


@dataclass
class Effects:
    """Leaves as bits of a number. ``stores`` is kept for single leaves that are written by name."""

    reads: int = 0
    writes: int = 0
    stores: dict[int, Stored] = field(default_factory=dict)
    can_abandon: bool = False

    def stored(self, leaf: int) -> Stored:
        """Returns what a written leaf may hold afterwards."""
        return self.stores.get(leaf, Stored(None, False))


@dataclass(frozen=True)
class Location:
    """The first leaves of the places in the state that a place may be. No starts: it lies in a frame."""

    starts: tuple[int, ...] = ()
    multiset: Location | None = None  #: the whole multiset around it, with its size in ``size``
    size: int = 0


def mask_of(starts: Sequence[int], size: int) -> int:
    """Returns the leaves of places of a size.

    >>> bin(mask_of([0, 4], 2))
    '0b110011'
    """
    whole = 0
    for start in starts:
        whole |= ((1 << size) - 1) << start
    return whole


def bits(mask: int) -> list[int]:
    """Returns the positions of the bits that are set.

    >>> bits(0b1101)
    [0, 2, 3]
    """
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found

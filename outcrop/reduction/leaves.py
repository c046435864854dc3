"""Sets of leaves of the state, as bits of a number, and what a rule instance does to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

#: Leaves that have one value in all states that matter.
Known = dict[int, int]
#: Values that a leaf may have; None: any.
Values = frozenset[int | None] | None


@dataclass(frozen=True)
class Stored:
    """Values that a leaf may have after a step that writes it; None if unknown. ``is_certain``: the step writes it.
    ``change``: what the step adds to the value, if that is known."""

    values: Values
    is_certain: bool
    change: int | None = None


@dataclass
class Effects:
    """Effects of an instance on leaves, as bits of a number. ``stores`` is kept for single leaves that are written
    by name. ``indices``: leaves that decide which element of an array is read or written."""

    reads: int = 0
    writes: int = 0
    stores: dict[int, Stored] = field(default_factory=dict)
    indices: int = 0

    def store(self, leaf: int, values: Values, is_certain: bool) -> None:
        """Notes the values that a statement may store into a leaf."""
        before = self.stores.get(leaf)
        if is_certain or values is None or (before is not None and before.values is None):
            known = values if is_certain else None
            self.stores[leaf] = Stored(known, is_certain or (before is not None and before.is_certain))
        else:
            others = frozenset() if before is None or before.values is None else before.values
            self.stores[leaf] = Stored(values | others, before is not None and before.is_certain)

    def stored(self, leaf: int) -> Stored:
        """Returns what a written leaf may hold afterwards."""
        return self.stores.get(leaf, Stored(None, False))


@dataclass(frozen=True)
class Location:
    """The first leaves of the places in the state that a place may be. No starts: it lies in a frame."""

    starts: tuple[int, ...] = ()
    multiset: Location | None = None  #: the whole multiset around it, with its size in ``size``
    size: int = 0

    @property
    def single(self) -> int | None:
        """The first leaf, if there is no doubt about the place, and it does not lie in a multiset."""
        return self.starts[0] if len(self.starts) == 1 and self.multiset is None else None


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

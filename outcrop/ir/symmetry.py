"""The normal form of a state: sorted multisets and, under symmetry, the representative of its orbit.

This is the definition, slow and simple, that the compiled version is tested against. A permutation of the scalarsets
renames their values wherever one is stored (in a leaf of the scalarset, or in a union), and moves the elements of the
arrays that they index. The representative of an orbit is the least state among its images under all permutations, each
with its multisets sorted; states are compared as tuples of encoded leaves. If there are too many permutations, it is
the least one under the candidates of candidates.py, which identifies orbits as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product
from math import factorial, prod

from outcrop.ir.candidates import Candidates
from outcrop.ir.layout import Leaf, State, decode, encode
from outcrop.ir.system import System
from outcrop.ir.types import Array, Multiset, Record, Scalarset, Simple, Type, Union

#: Image of each value, for each scalarset of ``System.scalarsets`` in that order.
Permutation = tuple[tuple[int, ...], ...]
#: A state as the packed values of its leaves.
Encoded = tuple[int, ...]
#: For each leaf of the image: the leaf it comes from, and the map from old to new packed values.
Action = tuple[tuple[int, ...], tuple[tuple[int, ...] | None, ...]]

#: Largest number of permutations that are all tried.
LARGEST_GROUP = 6000


def image(kind: Simple, renaming: dict[Scalarset, tuple[int, ...]]) -> tuple[int, ...] | None:
    """Returns the image of each ordinal of a simple type, None if nothing moves."""
    if isinstance(kind, Scalarset):
        return renaming.get(kind)
    if not isinstance(kind, Union) or not any(member in renaming for member in kind.members):
        return None
    images: list[int] = []
    for member in kind.members:
        start = len(images)
        moved = image(member, renaming) or range(member.cardinality)
        images += [start + value for value in moved]
    return tuple(images)


def _sources(kind: Type, start: int, renaming: dict[Scalarset, tuple[int, ...]]) -> Iterator[int]:
    """Yields the leaves that the leaves of a type starting at leaf ``start`` come from."""
    if isinstance(kind, Simple):
        yield start
    elif isinstance(kind, Record):
        for (_, each), offset in zip(kind.fields, kind.offsets, strict=True):
            yield from _sources(each, start + offset, renaming)
    elif isinstance(kind, Array):
        images = image(kind.index, renaming) or tuple(range(kind.index.cardinality))
        for position in range(kind.index.cardinality):
            origin = images.index(position)
            yield from _sources(kind.element, start + origin * kind.element.leaf_count, renaming)
    else:
        assert isinstance(kind, Multiset)
        for slot in range(kind.capacity):
            at = start + slot * kind.slot_leaf_count
            yield at
            yield from _sources(kind.element, at + 1, renaming)


def _multisets(kind: Type, start: int) -> Iterator[tuple[int, Multiset]]:
    """Yields the first leaf and the type of every multiset inside a type, inner ones first."""
    if isinstance(kind, Record):
        for (_, each), offset in zip(kind.fields, kind.offsets, strict=True):
            yield from _multisets(each, start + offset)
    elif isinstance(kind, Array):
        for position in range(kind.index.cardinality):
            yield from _multisets(kind.element, start + position * kind.element.leaf_count)
    elif isinstance(kind, Multiset):
        for slot in range(kind.capacity):
            yield from _multisets(kind.element, start + slot * kind.slot_leaf_count + 1)
        yield start, kind


class Normaliser:
    """Maps a state to its normal form. If ``symmetry`` is false, only multisets are sorted."""

    def __init__(self, system: System, symmetry: bool) -> None:
        self._system = system
        self._kinds = system.leaf_types
        self.scalarsets = system.scalarsets if symmetry else ()
        self._sorts: list[tuple[int, int, int]] = []
        start = 0
        for variable in system.variables:
            for at, multiset in _multisets(variable.type, start):
                self._sorts.append((at, multiset.slot_leaf_count, multiset.capacity))
            start += variable.type.leaf_count
        self._actions: list[Action] = []
        self._candidates = Candidates(system) if self.group_order > LARGEST_GROUP else None

    @property
    def is_identity(self) -> bool:
        """Whether every state is its own normal form."""
        return not self._sorts and not self.scalarsets

    @property
    def group_order(self) -> int:
        """The number of permutations."""
        return prod(factorial(each.size) for each in self.scalarsets)

    def __call__(self, state: Sequence[Leaf]) -> State:
        if self.is_identity:
            return tuple(state)
        encoded = self._encode(state)
        if not self.scalarsets:
            return self._decode(self._sort(encoded))
        return self._decode(min(self._images(encoded)))

    def permute(self, state: Sequence[Leaf], permutation: Permutation) -> State:
        """Returns the image of a state under one permutation, with sorted multisets."""
        return self._decode(self.apply(self.action(permutation), self._encode(state)))

    def orbit_size(self, state: Sequence[Leaf]) -> int:
        """Returns the number of states (with sorted multisets) that have the same normal form."""
        encoded = self._encode(state)
        return len({self.apply(self.action(permutation), encoded) for permutation in self.permutations()})

    def permutations(self) -> Iterator[Permutation]:
        """Returns all elements of the group, the identity first."""
        return product(*(permutations(range(each.size)) for each in self.scalarsets))

    def _encode(self, state: Sequence[Leaf]) -> Encoded:
        return tuple(encode(kind, value) for kind, value in zip(self._kinds, state, strict=True))

    def _decode(self, encoded: Encoded) -> State:
        return tuple(decode(kind, value) for kind, value in zip(self._kinds, encoded, strict=True))

    def _images(self, encoded: Encoded) -> Iterator[Encoded]:
        """Returns the images of a state, the least of which is its normal form."""
        if self._candidates is not None:
            return self._candidate_images(self._candidates, self._sort(encoded))
        if not self._actions:
            self._actions = [self.action(permutation) for permutation in self.permutations()]
        return (self.apply(action, encoded) for action in self._actions)

    def _candidate_images(self, candidates: Candidates, encoded: Encoded) -> Iterator[Encoded]:
        def swap_fixes(kind: Scalarset, one: int, other: int) -> bool:
            image = list(range(kind.size))
            image[one], image[other] = other, one
            swap = tuple(tuple(image if each == kind else range(each.size)) for each in self.scalarsets)
            return self.apply(self.action(swap), encoded) == encoded

        return (
            self.apply(self.action(permutation), encoded)
            for permutation in candidates.permutations(encoded, swap_fixes)
        )

    def action(self, permutation: Permutation) -> Action:
        renaming = dict(zip(self.scalarsets, permutation, strict=True))
        sources: list[int] = []
        for variable in self._system.variables:
            sources += _sources(variable.type, len(sources), renaming)
        tables = {kind: image(kind, renaming) for kind in set(self._kinds)}
        # A packed leaf is 0 if undefined, and the ordinal plus one otherwise.
        packed = {kind: table and (0, *(value + 1 for value in table)) for kind, table in tables.items()}
        return tuple(sources), tuple(packed[kind] for kind in self._kinds)

    def apply(self, action: Action, encoded: Encoded) -> Encoded:
        sources, tables = action
        moved = tuple(
            encoded[source] if table is None else table[encoded[source]]
            for source, table in zip(sources, tables, strict=True)
        )
        return self._sort(moved)

    def _sort(self, encoded: Encoded) -> Encoded:
        if not self._sorts:
            return encoded
        leaves = list(encoded)
        for start, length, capacity in self._sorts:
            end = start + capacity * length
            slots = [leaves[at : at + length] for at in range(start, end, length)]
            used = sorted(slot for slot in slots if slot[0])
            free = (capacity - len(used)) * length
            leaves[start:end] = [leaf for slot in used for leaf in slot] + [0] * free
        return tuple(leaves)

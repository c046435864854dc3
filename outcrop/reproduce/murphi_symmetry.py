"""Murphi's own normal form of a state under scalarset symmetry, which is not ours.

Table 1 of the 2004 paper depends on it: a transition counts as leading back only when the successor, as the rule left
it, *is* one of the normal forms visited. Murphi's heuristic ("small memory canonicalization" with at most ten
permutations) is told here from what it does, for models without multisets:

1. The values of each scalarset start in one class; a class will be a stretch of values in the normal form.
2. Plain scalarset variables give the values that they hold classes of their own, in the order of their mention.
3. Arrays of plain elements indexed by a scalarset split classes by their elements, smaller ones first.
4. In variables that mix both, first the plain scalarset parts split the last class, then elements split classes by what
   is not a scalarset in them, then by which class they point to, as a graph.
5. Of the first ten permutations that keep to the classes, in lexicographic order, the one that gives the least state
   wins, compared word by word as signed integers.

The result need not be the same for all states of an orbit: some models then have a few more states than orbits.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum

from outcrop.errors import UsageError
from outcrop.ir.layout import Layout
from outcrop.ir.nodes import Variable
from outcrop.ir.symmetry import Action, Encoded, Normaliser
from outcrop.ir.system import System
from outcrop.ir.types import Array, Multiset, Record, Scalarset, Simple, Type, Union

_MOST_PERMUTATIONS = 10

#: A scalarset that values of a leaf may belong to, and what its first value is packed as, less one.
Part = tuple[Scalarset, int]
#: The class of each value.
Classes = dict[Scalarset, list[int]]
#: For each scalarset, which value goes to each place of the normal form.
Places = dict[Scalarset, list[int]]


class Structure(IntEnum):
    """How scalarsets occur in a type; variables are dealt with in this order."""

    NONE = 0
    VARIABLE = 1  #: as values, outside arrays that a scalarset indexes
    PLAIN_ARRAY = 2  #: as an index of plain elements
    ARRAY = 4  #: as an index of elements that hold scalarset values
    COMPLEX = 6


def parts(kind: Type) -> list[Part]:
    """The scalarsets of more than one value among the values of a simple type."""
    if isinstance(kind, Scalarset):
        return [(kind, 0)] if kind.size > 1 else []
    found: list[Part] = []
    if isinstance(kind, Union):
        start = 0
        for member in kind.members:
            if isinstance(member, Scalarset) and member.size > 1:
                found.append((member, start))
            start += member.cardinality
    return found


def structure(kind: Type) -> Structure:
    if isinstance(kind, Simple):
        return Structure.VARIABLE if parts(kind) else Structure.NONE
    if isinstance(kind, Record):
        inner = {structure(each) for _, each in kind.fields} - {Structure.NONE}
        return Structure.NONE if not inner else inner.pop() if len(inner) == 1 else Structure.COMPLEX
    if isinstance(kind, Multiset):
        raise UsageError("Murphi's normal form of multisets is not known here")
    assert isinstance(kind, Array)
    element = structure(kind.element)
    if not parts(kind.index):
        return element
    known = {Structure.NONE: Structure.PLAIN_ARRAY, Structure.VARIABLE: Structure.ARRAY}
    return known.get(element, Structure.COMPLEX)


@dataclass(frozen=True)
class Leaf:
    """A leaf of an element, counted from its beginning."""

    offset: int
    parts: tuple[Part, ...]
    is_plain: bool  #: some of its values belong to no scalarset

    def weight(self, packed: int) -> int:
        """What it adds to the order of elements: of a scalarset only whether it is defined."""
        return 1 if any(start < packed <= start + each.size for each, start in self.parts) else packed


@dataclass(frozen=True)
class Elements:
    """An array that a scalarset indexes: where the element of each of its values begins."""

    index: Scalarset
    begins: tuple[int, ...]
    leaves: tuple[Leaf, ...]  #: of an element, outside inner arrays that scalarsets index

    def sort(self, state: Encoded, classes: Classes) -> None:
        """Splits classes by the weights of elements."""
        own = classes[self.index]
        weights = [tuple(leaf.weight(state[begin + leaf.offset]) for leaf in self.leaves) for begin in self.begins]
        keys = list(zip(own, weights, strict=True))
        numbers = {key: number for number, key in enumerate(sorted(set(keys)))}
        classes[self.index] = [numbers[key] for key in keys]

    def pointers(self) -> Iterator[tuple[Part, int]]:
        for leaf in self.leaves:
            for part in leaf.parts:
                yield part, leaf.offset

    def targets(self, state: Encoded, part: Part, offset: int) -> list[int | None]:
        """Which value of a scalarset each element holds there."""
        kind, start = part
        found = [state[begin + offset] for begin in self.begins]
        return [each - start - 1 if start < each <= start + kind.size else None for each in found]


def _leaves(kind: Type, offset: int) -> Iterator[Leaf]:
    if isinstance(kind, Simple):
        yield Leaf(offset, tuple(parts(kind)), not parts(kind) or isinstance(kind, Union))
    elif isinstance(kind, Record):
        for (_, each), start in zip(kind.fields, kind.offsets, strict=True):
            yield from _leaves(each, offset + start)
    elif isinstance(kind, Array) and not parts(kind.index):
        for number in range(kind.index.cardinality):
            yield from _leaves(kind.element, offset + number * kind.element.leaf_count)


def _arrays(kind: Type, offset: int) -> Iterator[list[Elements]]:
    """The outermost arrays that scalarsets index. One that a union indexes has a part for each scalarset in it."""
    if isinstance(kind, Record):
        for (_, each), start in zip(kind.fields, kind.offsets, strict=True):
            yield from _arrays(each, offset + start)
    elif isinstance(kind, Array):
        step = kind.element.leaf_count
        if not parts(kind.index):
            for number in range(kind.index.cardinality):
                yield from _arrays(kind.element, offset + number * step)
        else:
            leaves = tuple(_leaves(kind.element, 0))
            yield [
                Elements(index, tuple(offset + (start + number) * step for number in range(index.size)), leaves)
                for index, start in parts(kind.index)
            ]


def _mention(leaf: Leaf, state: Encoded, classes: Classes) -> None:
    """A value of the last class that is mentioned becomes the first of it, and the rest a new last class."""
    for kind, start in leaf.parts:
        number = state[leaf.offset] - start - 1
        if 0 <= number < kind.size:
            own = classes[kind]
            last = max(own)
            if own[number] == last:
                classes[kind] = [each + (each == last and at != number) for at, each in enumerate(own)]


def _is_decided(classes: Classes) -> bool:
    return all(len(set(own)) == len(own) for own in classes.values())


class _Graph:
    """Splits classes by what elements point to, in passes, as long as something changes."""

    def __init__(self, state: Encoded, classes: Classes) -> None:
        self._state = state
        self._classes = classes
        self._open = {kind for kind, own in classes.items() if len(set(own)) < len(own)}
        self.groups = {
            kind: [{value for value, each in enumerate(own) if each == number} for number in range(max(own) + 1)]
            for kind, own in classes.items()
        }

    def refine(self, arrays: list[Elements]) -> None:
        kinds = {each.index for each in arrays} | {part[0] for each in arrays for part, _ in each.pointers()}
        for each in arrays:
            for part, offset in each.pointers():
                if part[0] == each.index and self._is_open(each.index):
                    self._by_loops(each.index, each.targets(self._state, part, offset))
        while any(self._is_open(kind) for kind in kinds):
            before = {kind: len(self.groups[kind]) for kind in kinds}
            for own in (True, False):
                for each in arrays:
                    for part, offset in each.pointers():
                        if (part[0] == each.index) is own:
                            self._by_targets(each.index, part[0], each.targets(self._state, part, offset))
            if before == {kind: len(self.groups[kind]) for kind in kinds}:
                break
        for kind in kinds & self._open:
            for number, group in enumerate(self.groups[kind]):
                for value in group:
                    self._classes[kind][value] = number

    def _is_open(self, kind: Scalarset) -> bool:
        return kind in self._open and len(self.groups[kind]) < kind.size

    def _split(self, kind: Scalarset, number: int, good: set[int]) -> bool:
        """Puts some of a group before the rest of it; says whether there is a rest."""
        group = self.groups[kind][number]
        if not good or good == group:
            return False
        self.groups[kind][number : number + 1] = [good, group - good]
        return True

    def _by_loops(self, kind: Scalarset, targets: list[int | None]) -> None:
        number = 0
        while number < len(self.groups[kind]):
            good = {value for value in self.groups[kind][number] if targets[value] == value}
            number += 1 + self._split(kind, number, good)

    def _by_targets(self, kind: Scalarset, other: Scalarset, targets: list[int | None]) -> None:
        if kind == other:
            if self._is_open(kind) and any(each not in (None, value) for value, each in enumerate(targets)):
                self._within(kind, targets)
        elif (self._is_open(kind) or self._is_open(other)) and None in targets and set(targets) != {None}:
            self._between(kind, other, targets)

    def _within(self, kind: Scalarset, targets: list[int | None]) -> None:
        groups = self.groups[kind]
        number = 0
        while number < len(groups):
            target = 0
            while target < len(groups):
                good = {at for at in groups[number] if targets[at] != at and targets[at] in groups[target]}
                if self._split(kind, number, good):
                    target = number  # as Murphi has it: its loop over targets goes on from here
                target += 1
            number += 1

    def _between(self, kind: Scalarset, other: Scalarset, targets: list[int | None]) -> None:
        number = 0
        while number < len(self.groups[kind]):
            target = 0
            while target < len(self.groups[other]):
                good = {at for at in self.groups[kind][number] if targets[at] in self.groups[other][target]}
                reached = {each for at in good if (each := targets[at]) is not None}
                self._split(kind, number, good)
                self._split(other, target, reached)
                target += 1
            number += 1


class MurphiNormalForm:
    """Maps packed leaves to those of the normal form."""

    def __init__(self, system: System) -> None:
        self._kinds = [kind for kind in system.scalarsets if kind.size > 1]
        self._system = system
        self._permuted = Normaliser(system, True)
        self._actions: dict[tuple[tuple[int, ...], ...], Action] = {}
        self._layout = Layout(system)
        variables = _in_murphis_order(system)
        self._tries = any(structure(each.type) >= Structure.ARRAY for each in variables)
        self._steps: list[tuple[bool, Callable[[Encoded, Classes], None]]] = []
        plain = [each for each in variables if structure(each.type) in (Structure.VARIABLE, Structure.PLAIN_ARRAY)]
        mixed = [each for each in variables if structure(each.type) >= Structure.ARRAY]
        for each in plain:
            self._add_mentions(each.type, each.offset, False)
        for each in plain:
            self._add_sorts(each.type, each.offset, False)
        for each in mixed:
            self._add_mentions(each.type, each.offset, True)
        for each in mixed:
            self._add_sorts(each.type, each.offset, True)
        for each in mixed:
            self._add_graphs(each.type, each.offset)

    def _add_mentions(self, kind: Type, offset: int, only_if_open: bool) -> None:
        leaves = [leaf for leaf in _leaves(kind, offset) if leaf.parts]

        def step(state: Encoded, classes: Classes) -> None:
            for leaf in leaves:
                _mention(leaf, state, classes)

        self._steps.append((only_if_open, step))

    def _add_sorts(self, kind: Type, offset: int, only_if_open: bool) -> None:
        arrays = [
            each for array in _arrays(kind, offset) for each in array if any(leaf.is_plain for leaf in each.leaves)
        ]

        def step(state: Encoded, classes: Classes) -> None:
            for each in arrays:
                each.sort(state, classes)

        self._steps.append((only_if_open, step))

    def _add_graphs(self, kind: Type, offset: int) -> None:
        arrays = [array for array in _arrays(kind, offset) if any(leaf.parts for leaf in array[0].leaves)]

        def step(state: Encoded, classes: Classes) -> None:
            for array in arrays:
                _Graph(state, classes).refine(array)

        self._steps.append((True, step))

    def __call__(self, state: Encoded) -> Encoded:
        classes: Classes = {kind: [0] * kind.size for kind in self._kinds}
        for only_if_open, step in self._steps:
            if not only_if_open or not _is_decided(classes):
                step(state, classes)
        places = {kind: sorted(range(kind.size), key=classes[kind].__getitem__) for kind in self._kinds}
        best = self._image(state, places)
        if not self._tries or _is_decided(classes):
            return best
        for _ in range(_MOST_PERMUTATIONS - 1):
            if not _advance(places, classes, self._kinds):
                break
            image = self._image(state, places)
            if self._words(image) < self._words(best):
                best = image
        return best

    def _image(self, state: Encoded, places: Places) -> Encoded:
        key = tuple(tuple(places[kind]) for kind in self._kinds)
        action = self._actions.get(key)
        if action is None:
            images = [
                tuple(places[kind].index(value) for value in range(kind.size)) if kind in places else (0,)
                for kind in self._system.scalarsets
            ]
            action = self._actions[key] = self._permuted.action(tuple(images))
        return self._permuted.apply(action, state)

    def _words(self, state: Encoded) -> tuple[int, ...]:
        packed = 0
        for (bit, _, _), value in zip(self._layout.leaves, state, strict=True):
            packed |= value << bit
        count = -(-self._layout.byte_count // 4)
        return struct.unpack(f"<{count}i", packed.to_bytes(4 * count, "little"))


def _in_murphis_order(system: System) -> list[Variable]:
    """By structure. Murphi sorts them anew for each name that the model declares, from the last one back, and each time
    turns round the order of those with the same structure. Names before the variables are taken to be odd in number,
    which fits all models of the paper that tell the difference."""
    order: list[Variable] = []
    for each in reversed(system.variables):
        order = _sorted_backwards([each, *order])
    return _sorted_backwards(order)


def _sorted_backwards(variables: list[Variable]) -> list[Variable]:
    found: list[Variable] = []
    for number in sorted(Structure, reverse=True):
        for each in variables:
            if structure(each.type) is number:
                found.insert(0, each)
    return found


def _advance(places: Places, classes: Classes, kinds: list[Scalarset]) -> bool:
    """The next permutation within the classes, the first class varying fastest; False after the last."""
    for kind in kinds:
        order, own = places[kind], classes[kind]
        start = 0
        while start < len(order):
            end = start + own.count(own[order[start]])
            if _next(order, start, end):
                return True
            start = end
    return False


def _next(order: list[int], start: int, end: int) -> bool:
    """The lexicographically next order of a stretch; after the last one the first again, and False."""
    at = end - 2
    while at >= start and order[at] > order[at + 1]:
        at -= 1
    if at < start:
        order[start:end] = order[start:end][::-1]
        return False
    other = max(number for number in range(at + 1, end) if order[number] > order[at])
    order[at], order[other] = order[other], order[at]
    order[at + 1 : end] = order[at + 1 : end][::-1]
    return True

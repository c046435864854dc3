"""The normal form of Murphi for a state under scalarset symmetry, which differs from ours.

Table 1 of the 2004 paper depends on it: a transition counts as leading back only if the successor, as the rule left it,
*is* one of the visited normal forms. Murphi's heuristic ("small memory canonicalization" with at most ten permutations)
works as follows:

1. The values of each scalarset start in one class; a class becomes a range of values in the normal form.
2. Plain scalarset variables give their values separate classes, in the order of their mention.
3. Arrays of plain elements indexed by a scalarset split classes by their elements, smaller ones first.
4. In variables that mix both, first the plain scalarset parts split the last class, then elements split classes by
   their parts that are not scalarsets; then the elements of multisets, and those of arrays by the class that they point
   to, as a graph.
5. Of the first ten permutations that respect the classes, in lexicographic order, the one that gives the least state
   is chosen, with sorted multisets, compared word by word as signed integers.

The result need not be the same for all states of an orbit: some models then have a few more states than orbits.

murphi_normal_form.c implements this; here are the tables that it follows, made from the types of the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from outcrop.errors import UsageError
from outcrop.ir.layout import Layout, width
from outcrop.ir.system import System
from outcrop.ir.types import Array, Multiset, Record, Scalarset, Simple, Type, Union
from outcrop.reproduce.murphi_structure import Structure, in_murphis_order, parts, structure

_MOST_PERMUTATIONS = 10
#: Largest scalarset or multiset, since values and slots are bits of a word.
_LARGEST = 31
_CODE = Path(__file__).with_name("murphi_normal_form.c")

_MENTION, _SORT, _GRAPH, _MULTISET = range(4)

#: The number of a scalarset, a value of it, and the leaves of an element, for each array around a leaf.
Indices = tuple[tuple[int, int, int], ...]


def normal_form_source(system: System) -> str:
    """Returns C with ``outcrop_murphi_normal_forms``, to be appended to the C of the model."""
    return "\n".join(["#include <string.h>", *_Tables(system).lines(), _CODE.read_text(encoding="utf-8")])


def _leaves(kind: Type, offset: int = 0) -> Iterator[tuple[int, Simple]]:
    """Yields each leaf outside multisets and outside arrays that scalarsets index, with its type."""
    if isinstance(kind, Simple):
        yield offset, kind
    elif isinstance(kind, Record):
        for (_, each), start in zip(kind.fields, kind.offsets, strict=True):
            yield from _leaves(each, offset + start)
    elif isinstance(kind, Array) and not parts(kind.index):
        for number in range(kind.index.cardinality):
            yield from _leaves(kind.element, offset + number * kind.element.leaf_count)


def _parts_of(kind: Type, wanted: type[Array] | type[Multiset], offset: int = 0) -> Iterator[tuple[int, Type]]:
    """Yields the first leaf and type of the outermost arrays that scalarsets index, or of multisets outside these."""
    if isinstance(kind, Record):
        for (_, each), start in zip(kind.fields, kind.offsets, strict=True):
            yield from _parts_of(each, wanted, offset + start)
    elif isinstance(kind, Array) and not parts(kind.index):
        for number in range(kind.index.cardinality):
            yield from _parts_of(kind.element, wanted, offset + number * kind.element.leaf_count)
    elif isinstance(kind, wanted):
        yield offset, kind


def _murphis_bits(kind: Type, bit: int) -> Iterator[tuple[int, bool]]:
    """Yields, for each leaf as Murphi packs it, its bit and whether it is the flag of a slot. The flags of a multiset
    follow its elements and take two bits each."""
    if isinstance(kind, Simple):
        yield bit, False
    elif isinstance(kind, Record):
        for _, each in kind.fields:
            yield from _murphis_bits(each, bit)
            bit += _murphis_size(each)
    elif isinstance(kind, Array):
        for number in range(kind.index.cardinality):
            yield from _murphis_bits(kind.element, bit + number * _murphis_size(kind.element))
    else:
        assert isinstance(kind, Multiset)
        step = _murphis_size(kind.element)
        for slot in range(kind.capacity):
            yield bit + kind.capacity * step + 2 * slot, True
            yield from _murphis_bits(kind.element, bit + slot * step)


def _murphis_size(kind: Type) -> int:
    if isinstance(kind, Simple):
        return width(kind)
    if isinstance(kind, Record):
        return sum(_murphis_size(each) for _, each in kind.fields)
    if isinstance(kind, Array):
        return kind.index.cardinality * _murphis_size(kind.element)
    assert isinstance(kind, Multiset)
    return kind.capacity * (_murphis_size(kind.element) + 2)


def _multisets(kind: Type, offset: int) -> Iterator[tuple[int, Multiset]]:
    """Yields the first leaf and type of every multiset."""
    if isinstance(kind, Record):
        for (_, each), start in zip(kind.fields, kind.offsets, strict=True):
            yield from _multisets(each, offset + start)
    elif isinstance(kind, Array):
        for number in range(kind.index.cardinality):
            yield from _multisets(kind.element, offset + number * kind.element.leaf_count)
    elif isinstance(kind, Multiset):
        yield offset, kind
        if any(_multisets(kind.element, 0)):
            raise UsageError("Murphi's normal form of multisets in multisets is not implemented")


def _has_scalarset(kind: Simple) -> bool:
    """Returns whether a type contains a scalarset, including one of a single value in a union."""
    return bool(parts(kind)) or (isinstance(kind, Union) and any(isinstance(each, Scalarset) for each in kind.members))


class _Tables:
    def __init__(self, system: System) -> None:
        self._system = system
        # Murphi's list of scalarsets begins with the last one.
        self._sets = [kind for kind in reversed(system.scalarsets) if kind.size > 1]
        self._number = {kind: number for number, kind in enumerate(self._sets)}
        self._multisets = [found for each in system.variables for found in _multisets(each.type, each.offset)]
        largest = max([each.size for each in self._sets] + [kind.capacity for _, kind in self._multisets], default=0)
        if largest > _LARGEST or not self._sets:
            raise UsageError("Murphi's normal form is implemented only for scalarsets and multisets of 2 to 31 values")
        self._largest = largest

    def lines(self) -> list[str]:
        """Returns the tables as C."""
        steps = self._steps()
        slots = [kind for _, kind in self._multisets]
        constants = {
            "SETS": len(self._sets),
            "LARGEST_SET": max(each.size for each in self._sets),
            "LARGEST_GROUP": self._largest + 1,
            "LEAVES": len(self._system.leaf_types),
            "MULTISETS": len(slots),
            "LONGEST_SLOT": max((kind.slot_leaf_count for kind in slots), default=1),
            "WORDS": -(-sum(_murphis_size(each.type) for each in self._system.variables) // 32),
            "MOST_PERMUTATIONS": _MOST_PERMUTATIONS,
            "TRIES_PERMUTATIONS": int(any(structure(each.type) >= Structure.ARRAY for each in self._system.variables)),
            "STEP_LENGTH": len(steps),
        }
        tables = {
            "SIZE": [each.size for each in self._sets],
            "MULTISET_BEGIN": [at for at, _ in self._multisets],
            "MULTISET_LENGTH": [kind.slot_leaf_count for kind in slots],
            "MULTISET_CAPACITY": [kind.capacity for kind in slots],
            "STEPS": steps,
            **self._leaf_tables(),
            **self._index_tables(),
        }
        return [
            *(f"#define {name} {value}" for name, value in constants.items()),
            *(
                f"static const int32_t {name}[] = {{{', '.join(map(str, row or [0]))}}};"
                for name, row in tables.items()
            ),
        ]

    def _leaf_tables(self) -> dict[str, list[int]]:
        """Returns, for each leaf, its position in our state and in Murphi's, and the scalarsets of its values."""
        kinds = self._system.leaf_types
        layout = Layout(self._system)
        begins, found = [0], []
        for kind in kinds:
            found += [(self._number[each], start) for each, start in parts(kind)]
            begins.append(len(found))
        bits: list[tuple[int, bool]] = []
        end = 0
        for variable in self._system.variables:
            bits += _murphis_bits(variable.type, end)
            end += _murphis_size(variable.type)
        return {
            "LEAF_BIT": [bit for bit, _, _ in layout.leaves],
            "LEAF_WIDTH": [wide for _, wide, _ in layout.leaves],
            "WORD_BIT": [bit for bit, _ in bits],
            "IS_FLAG": [int(is_flag) for _, is_flag in bits],
            "IS_WEIGHED_AS_DEFINED": [int(isinstance(kind, Scalarset | Union)) for kind in kinds],
            "PART_BEGIN": begins,
            "PART_SET": [number for number, _ in found],
            "PART_START": [start for _, start in found],
        }

    def _index_tables(self) -> dict[str, list[int]]:
        """Returns, for each leaf, the arrays indexed by a scalarset that contain it, as (scalarset, value, leaves of an
        element)."""
        begins: list[int] = [0]
        found: list[tuple[int, int, int]] = []
        for variable in self._system.variables:
            for indices in self._indices(variable.type, ()):
                found += indices
                begins.append(len(found))
        return {
            "INDEX_BEGIN": begins,
            "INDEX_SET": [number for number, _, _ in found],
            "INDEX_DIGIT": [digit for _, digit, _ in found],
            "INDEX_STRIDE": [stride for _, _, stride in found],
        }

    def _indices(self, kind: Type, outer: Indices) -> Iterator[Indices]:
        if isinstance(kind, Simple):
            yield outer
        elif isinstance(kind, Record):
            for _, each in kind.fields:
                yield from self._indices(each, outer)
        elif isinstance(kind, Multiset):
            for _ in range(kind.capacity):
                yield outer
                yield from self._indices(kind.element, outer)
        else:
            assert isinstance(kind, Array)
            for place in range(kind.index.cardinality):
                own = [
                    (self._number[each], place - start, kind.element.leaf_count)
                    for each, start in parts(kind.index)
                    if start <= place < start + each.size
                ]
                yield from self._indices(kind.element, (*outer, *own))

    def _steps(self) -> list[int]:
        """Returns the steps in order: rows of an operation, whether it concerns only classes that are still open, the
        length of the row, and its operands."""
        variables = in_murphis_order(self._system)
        plain = [each for each in variables if structure(each.type) <= Structure.PLAIN_MULTISET]
        mixed = [each for each in variables if structure(each.type) > Structure.PLAIN_MULTISET]
        steps: list[int] = []
        for each in plain:
            steps += self._mentions(each.type, each.offset, False)
        for each in plain:
            steps += self._sorts(each.type, each.offset, False)
        for each in mixed:
            steps += self._mentions(each.type, each.offset, True)
        for each in mixed:
            steps += self._sorts(each.type, each.offset, True)
        for each in mixed:
            for at, kind in _parts_of(each.type, Multiset, each.offset):
                steps += self._multiset(at, kind)
        for each in mixed:
            steps += self._graphs(each.type, each.offset, True)
        return steps

    def _mentions(self, kind: Type, offset: int, only_if_open: bool) -> list[int]:
        leaves = [leaf for leaf, each in _leaves(kind, offset) if parts(each)]
        return _step(_MENTION, only_if_open, leaves) if leaves else []

    def _sorts(self, kind: Type, offset: int, only_if_open: bool) -> list[int]:
        steps: list[int] = []
        for at, array in _parts_of(kind, Array, offset):
            assert isinstance(array, Array)
            leaves = list(_leaves(array.element))
            if any(not parts(each) and not isinstance(each, Union) for _, each in leaves):
                for begins, index in self._elements(array, at):
                    row = [self._number[index], len(leaves), *begins, *(leaf for leaf, _ in leaves)]
                    steps += _step(_SORT, only_if_open, row)
        return steps

    def _graphs(self, kind: Type, offset: int, only_if_open: bool) -> list[int]:
        steps: list[int] = []
        for at, array in _parts_of(kind, Array, offset):
            assert isinstance(array, Array)
            pointers = self._pointers(array.element)
            if pointers:
                rows = [
                    [self._number[index], len(pointers) // 3, *begins, *pointers]
                    for begins, index in self._elements(array, at)
                ]
                steps += _step(_GRAPH, only_if_open, [len(rows), *(each for row in rows for each in row)])
        return steps

    def _multiset(self, at: int, kind: Type) -> list[int]:
        assert isinstance(kind, Multiset)
        element = kind.element
        leaves = list(_leaves(element))
        if not any(_has_scalarset(each) for _, each in leaves):
            return []
        alone = [
            *self._mentions(element, 0, False),
            *self._sorts(element, 0, False),
            *self._graphs(element, 0, False),
        ]
        pointers = self._pointers(element)
        row = [at, kind.capacity, kind.slot_leaf_count, len(alone), *alone, len(leaves), len(pointers) // 3]
        return _step(_MULTISET, True, [*row, *(leaf for leaf, _ in leaves), *pointers])

    def _elements(self, array: Array, at: int) -> Iterator[tuple[list[int], Scalarset]]:
        """Yields the first leaf of the element for each value of a scalarset. An array that a union indexes has
        several."""
        step = array.element.leaf_count
        for index, start in parts(array.index):
            yield [at + (start + number) * step for number in range(index.size)], index

    def _pointers(self, element: Type) -> list[int]:
        """Returns scalarset, start and leaf for each place of an element that contains scalarset values."""
        return [
            each
            for leaf, kind in _leaves(element)
            for found, start in parts(kind)
            for each in (self._number[found], start, leaf)
        ]


def _step(operation: int, only_if_open: bool, row: Sequence[int]) -> list[int]:
    return [operation, int(only_if_open), 3 + len(row), *row]

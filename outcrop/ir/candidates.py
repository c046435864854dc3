"""Candidate permutations of a state, for groups that are too large to try all permutations.

A canonical form needs only a set of permutations whose choice does not depend on the names of scalarset values. Then
all states of an orbit have the same set of images under their candidates, and so the same least one. This file makes
two such choices:

* Elements are sorted by their *portrait*: the places of an element and the values next to it, with every other
  scalarset value blurred. Only elements with equal portraits may be exchanged.
* Of elements that can be swapped without changing the state, only one order is tried, since all give the same image.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby, product

from outcrop.ir.system import System
from outcrop.ir.types import Array, Multiset, Record, Scalarset, Simple, Type, Union

#: A scalarset value: its type and ordinal.
Element = tuple[Scalarset, int]
#: Path to a leaf: fields and plain indices as numbers, scalarset indices as elements, slots as None.
Path = tuple[int | Element | None, ...]
Portrait = list[tuple[tuple[int, ...], int]]
#: Returns whether the state is unchanged when two elements of a scalarset are swapped.
SwapFixes = Callable[[Scalarset, int, int], bool]


def element_of(kind: Simple, ordinal: int) -> Element | None:
    """Returns the scalarset value that a value of a simple type is, if it is one."""
    if isinstance(kind, Union):
        return element_of(*kind.member_of(ordinal))
    return (kind, ordinal) if isinstance(kind, Scalarset) and kind.is_symmetric else None


def paths(kind: Type, path: Path = ()) -> Iterator[Path]:
    """Yields the path of each leaf of a type."""
    if isinstance(kind, Simple):
        yield path
    elif isinstance(kind, Record):
        for number, (_, each) in enumerate(kind.fields):
            yield from paths(each, (*path, number))
    elif isinstance(kind, Array):
        for position in range(kind.index.cardinality):
            yield from paths(kind.element, (*path, element_of(kind.index, position) or position))
    else:
        assert isinstance(kind, Multiset)
        for _ in range(kind.capacity):
            yield (*path, None, 0)
            yield from paths(kind.element, (*path, None, 1))


class Candidates:
    """The permutations to try for the states of one System."""

    def __init__(self, system: System) -> None:
        self._scalarsets = system.scalarsets
        self._kinds = system.leaf_types
        self._paths = [
            path for number, variable in enumerate(system.variables) for path in paths(variable.type, (number,))
        ]

    def permutations(self, encoded: tuple[int, ...], swap_fixes: SwapFixes) -> Iterator[tuple[tuple[int, ...], ...]]:
        """Yields, for each scalarset, the image of each value, in all combinations worth trying."""
        facts = [
            (path, value, element_of(kind, value - 1) if value else None)
            for path, value, kind in zip(self._paths, encoded, self._kinds, strict=True)
        ]
        return product(*(list(self._orders(each, facts, swap_fixes)) for each in self._scalarsets))

    def _orders(
        self, kind: Scalarset, facts: list[tuple[Path, int, Element | None]], swap_fixes: SwapFixes
    ) -> Iterator[tuple[int, ...]]:
        portraits = {ordinal: _portrait((kind, ordinal), facts) for ordinal in range(kind.size)}
        ranked = sorted(portraits, key=portraits.__getitem__)
        cells = [list(cell) for _, cell in groupby(ranked, key=portraits.__getitem__)]
        arrangements = (list(_arrangements(_blocks(cell, kind, swap_fixes))) for cell in cells)
        for arranged in product(*arrangements):
            image = [0] * kind.size
            for position, ordinal in enumerate(ordinal for cell in arranged for ordinal in cell):
                image[ordinal] = position
            yield tuple(image)


def _portrait(element: Element, facts: list[tuple[Path, int, Element | None]]) -> Portrait:
    """Returns every leaf as the element sees it: itself, another scalarset value, or plain data."""
    itself, another, slot = -1, -2, -3

    def seen(step: int | Element | None) -> int:
        if step is None:
            return slot
        if isinstance(step, int):
            return step
        return itself if step == element else another

    return sorted((tuple(map(seen, path)), value if stored is None else seen(stored)) for path, value, stored in facts)


def _blocks(cell: list[int], kind: Scalarset, swap_fixes: SwapFixes) -> list[list[int]]:
    """Returns the cell split into sets of elements that can be swapped freely. Swappability is an equivalence."""
    blocks: list[list[int]] = []
    for ordinal in cell:
        for block in blocks:
            if swap_fixes(kind, block[0], ordinal):
                block.append(ordinal)
                break
        else:
            blocks.append([ordinal])
    return blocks


def _arrangements(blocks: list[list[int]]) -> Iterator[list[int]]:
    """Yields the orders of all elements in which the elements of each block keep their order."""
    remaining = [block for block in blocks if block]
    if not remaining:
        yield []
    for number, block in enumerate(remaining):
        rest = [*remaining[:number], block[1:], *remaining[number + 1 :]]
        for order in _arrangements(rest):
            yield [block[0], *order]

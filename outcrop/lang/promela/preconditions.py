"""Tests of the later steps of an atomic sequence that have the same value before the first step.

They belong to the guard of the rule. A rule that is abandoned after it has begun costs more than one that does not
begin, and partial-order reduction knows what a guard demands.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from outcrop.ir.nodes import (
    Assign,
    Assume,
    Bind,
    Expression,
    FieldPlace,
    For,
    GlobalPlace,
    If,
    IndexPlace,
    Load,
    Local,
    LocalPlace,
    Place,
    Put,
    Quantified,
    Statement,
    While,
)
from outcrop.ir.walk import walk
from outcrop.lang import build

#: Statements that change nothing but what an assignment among them does, and do not end the run.
_HARMLESS = (Assign, Assume, Bind, For, If, Put, While)


class Preconditions:
    """The statements of a body that grows, and the tests behind it that have the same value before it."""

    def __init__(self, body: Sequence[Statement], given: Collection[Local | None]) -> None:
        """Follows a body. ``given``: locals that have a value before it."""
        self._body = body
        self._given = given
        self._seen = 0
        self._is_harmless = True
        self._waits = False
        self._written: dict[tuple[object, ...], None] = {}

    def has(self, test: Expression) -> bool:
        """Returns whether the statements up to now leave the value of a test as it is.

        A test that may fail is none behind one that is made later: where that one is false, it is not evaluated."""
        self._look()
        if not self._is_harmless or (self._waits and not build.cannot_fail(test)):
            return False
        nodes = list(walk(test))
        bound = {each.variable for each in nodes if isinstance(each, Quantified)}
        for each in nodes:
            if isinstance(each, LocalPlace) and each.local not in bound and each.local not in self._given:
                return False
            if isinstance(each, Load):
                path = _path(each.place)
                if any(_may_overlap(path, other) for other in self._written):
                    return False
        return True

    def _look(self) -> None:
        """Notes what the statements since the last call write, and whether one of them waits."""
        for each in walk(tuple(self._body[self._seen :])):
            self._waits = self._waits or isinstance(each, Assume)
            if isinstance(each, Assign):
                self._written[tuple(_path(each.target))] = None
            elif isinstance(each, Statement) and not isinstance(each, _HARMLESS):
                self._is_harmless = False
        self._seen = len(self._body)


def _may_overlap(one: Sequence[object], other: Sequence[object]) -> bool:
    """Returns whether the places of two paths may share a part of the state."""
    (first, *inner), (second, *others) = one, other
    if first is not second:
        return False
    return all(step is None or there is None or step == there for step, there in zip(inner, others, strict=False))


def _path(place: Place) -> list[object]:
    """Returns the variable or local of a place, and the numbers of fields and elements in it; None: unknown."""
    match place:
        case FieldPlace():
            return [*_path(place.base), place.field_index]
        case IndexPlace():
            return [*_path(place.base), getattr(place.index, "value", None)]
        case GlobalPlace():
            return [place.variable]
        case LocalPlace():
            return [place.local]
    raise TypeError(place)

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

#: Statements that change nothing but what an assignment among them does, and do not end the run.
_HARMLESS = (Assign, Assume, Bind, For, If, Put, While)


def is_precondition(test: Expression, before: Sequence[Statement], given: Collection[Local | None]) -> bool:
    """Returns whether statements leave the value of a test as it is. ``given``: locals that have a value before."""
    nodes = list(walk(tuple(before)))
    if any(isinstance(each, Statement) and not isinstance(each, _HARMLESS) for each in nodes):
        return False
    written = [each.target for each in nodes if isinstance(each, Assign)]
    bound = {each.variable for each in walk(test) if isinstance(each, Quantified)}
    for each in walk(test):
        if isinstance(each, LocalPlace) and each.local not in bound and each.local not in given:
            return False
        if isinstance(each, Load) and any(_may_overlap(each.place, target) for target in written):
            return False
    return True


def _may_overlap(one: Place, other: Place) -> bool:
    """Returns whether two places may share a part of the state."""
    (first, *inner), (second, *others) = _path(one), _path(other)
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

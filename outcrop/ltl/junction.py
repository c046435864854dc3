"""Simplified conjunctions of normal forms; disjunctions are their duals.

Two operands that are equivalent to one formula are replaced by it, until no rule applies to any pair.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from outcrop.ir.formula import FALSE, TRUE, Formula, Operator

if TYPE_CHECKING:
    from outcrop.ltl.simplify import Simplifier

#: Largest number of operands for which all pairs are compared. Beyond it only the cheap rules are worth their time.
MAX_PAIRED = 60


def conjoin(simplifier: Simplifier, operands: Iterable[Formula]) -> Formula:
    """Returns the conjunction of normal forms, in normal form."""
    waiting = [*operands]
    kept: list[Formula] = []
    while waiting:
        one = waiting.pop()
        if one.operator is Operator.AND:
            waiting.extend(one.operands)
        elif one is FALSE:
            return FALSE
        elif one is not TRUE and one not in kept:
            joined = _join_with_one(simplifier, one, kept) if len(kept) < MAX_PAIRED else None
            if joined is None:
                kept.append(one)
            else:
                waiting.append(joined)
    if not kept:
        return TRUE
    return kept[0] if len(kept) == 1 else Formula(Operator.AND, *sorted(kept, key=lambda each: each.digest))


def _join_with_one(simplifier: Simplifier, one: Formula, kept: list[Formula]) -> Formula | None:
    """Removes a formula from ``kept`` that ``one`` can be joined with, and returns the joined formula; None if none
    can."""
    for index, other in enumerate(kept):
        joined = _join(simplifier, one, other) or _join(simplifier, other, one)
        if joined is not None:
            del kept[index]
            return joined
    return None


def _join(simplifier: Simplifier, one: Formula, other: Formula) -> Formula | None:
    """Returns one formula for the conjunction of two that differs in form from it, or None."""
    if simplifier.implies(one, other):
        return one
    if simplifier.excludes(one, other):
        return FALSE
    if other.operator is Operator.OR:
        # a && (!a || b) is a && b.
        possible = [each for each in other.operands if not simplifier.excludes(one, each)]
        if len(possible) < len(other.operands):
            return _both(one, simplifier.disjunction(possible))
    if one.operands and one.operator is other.operator:
        joined = _join_alike(simplifier, one, other)
        if joined is not None:
            return joined
    return _join_unlike(simplifier, one, other)


def _both(one: Formula, other: Formula) -> Formula:
    """Returns two operands as a conjunction, which the caller splits again."""
    return Formula(Operator.AND, one, other)


def _join_alike(simplifier: Simplifier, one: Formula, other: Formula) -> Formula | None:
    operator = one.operator
    first, second = one.operands[0], other.operands[0]
    match operator:
        case Operator.NEXT:
            return simplifier.build(operator, [simplifier.conjunction([first, second])])
        case Operator.GLOBALLY if not (simplifier.suspendable(one) or simplifier.suspendable(other)):
            return simplifier.build(operator, [simplifier.conjunction([first, second])])
        case Operator.FINALLY if first.operator is Operator.GLOBALLY and second.operator is Operator.GLOBALLY:
            return simplifier.build(operator, [simplifier.conjunction([first, second])])
        case Operator.UNTIL | Operator.WEAK_UNTIL if one.operands[1] is other.operands[1]:
            return simplifier.build(operator, [simplifier.conjunction([first, second]), one.operands[1]])
        case Operator.RELEASE | Operator.STRONG_RELEASE if first is second:
            return simplifier.build(operator, [first, simplifier.conjunction([one.operands[1], other.operands[1]])])
    return None


def _join_unlike(simplifier: Simplifier, one: Formula, other: Formula) -> Formula | None:
    match one.operator, other.operator:
        case Operator.FINALLY, Operator.WEAK_UNTIL if one.operands[0] is other.operands[1]:
            return simplifier.build(Operator.UNTIL, [*other.operands])
        case Operator.FINALLY, Operator.RELEASE if one.operands[0] is other.operands[0]:
            return simplifier.build(Operator.STRONG_RELEASE, [*other.operands])
        case Operator.GLOBALLY, Operator.UNTIL if simplifier.implies(one.operands[0], other.operands[0]):
            return _both(one, simplifier.build(Operator.FINALLY, [other.operands[1]]))
        case Operator.GLOBALLY, Operator.STRONG_RELEASE if simplifier.implies(one.operands[0], other.operands[1]):
            return _both(one, simplifier.build(Operator.FINALLY, [other.operands[0]]))
        case Operator.UNTIL, Operator.WEAK_UNTIL if one.operands[1] is other.operands[1]:
            left = simplifier.conjunction([one.operands[0], other.operands[0]])
            return simplifier.build(Operator.UNTIL, [left, one.operands[1]])
        case Operator.STRONG_RELEASE, Operator.RELEASE if one.operands[0] is other.operands[0]:
            right = simplifier.conjunction([one.operands[1], other.operands[1]])
            return simplifier.build(Operator.STRONG_RELEASE, [one.operands[0], right])
    return None

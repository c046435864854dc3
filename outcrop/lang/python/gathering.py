"""Accumulation: turns of a loop that assign one place, in a way for which their order makes no difference.

Recognised are sums of one sign, disjunctions and conjunctions, minima and maxima, and ``remove`` of a Bag.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from outcrop.ir.nodes import (
    Assign,
    Binary,
    BinaryOperator,
    Call,
    Conditional,
    Constant,
    Expression,
    For,
    If,
    IsUndefined,
    Load,
    Local,
    LocalPlace,
    MultisetRemove,
    Place,
    SlotPlace,
    Statement,
    Unary,
    UnaryOperator,
)
from outcrop.ir.types import INTEGER
from outcrop.ir.walk import writes_state
from outcrop.lang.python.values import strict

_LESS = (BinaryOperator.LESS, BinaryOperator.LESS_EQUAL)
_GREATER = (BinaryOperator.GREATER, BinaryOperator.GREATER_EQUAL)
#: Operators for which the order of operands does not matter.
_GATHERING = (BinaryOperator.OR, BinaryOperator.AND, BinaryOperator.BIT_OR, BinaryOperator.BIT_AND)


def gathered(each: Assign) -> tuple[tuple[Any, ...], Expression] | None:
    """Returns how an assignment accumulates, and what it adds; None if it does not."""
    value = each.value
    if isinstance(value, Conditional):
        return _extreme_value(value, each.target)
    if not isinstance(value, Binary) or writes_state(value):
        return None
    operand = value.right
    if not _loads(value.left, each.target):
        operand = value.left
        if not _loads(value.right, each.target) or value.operator is BinaryOperator.SUBTRACT:
            return None
    if value.operator in _GATHERING:
        return (value.operator,), operand
    if value.operator in (BinaryOperator.ADD, BinaryOperator.SUBTRACT):
        if _is_wide(each.target):
            return (BinaryOperator.ADD,), operand
        sign = _sign(operand) * (1 if value.operator is BinaryOperator.ADD else -1)
        if sign:
            return (BinaryOperator.ADD, sign), operand
    return None


def taken_value(loop: For) -> tuple[Place, Expression] | None:
    """Returns the Bag and the element of a loop that ``remove`` stands for: it frees one slot with an equal element,
    and which one makes no difference."""
    match loop.body:
        case (If(branches=((condition, (MultisetRemove() as free, Assign(value=Constant()) as done)),), otherwise=()),):
            for guard in conjuncts((condition,)):
                if isinstance(guard, Binary) and guard.operator is BinaryOperator.EQUAL:
                    sides = (guard.left, guard.right)
                    slots = [each for each in sides if isinstance(each, Load) and isinstance(each.place, SlotPlace)]
                    if len(slots) == 1 and isinstance(done.target, LocalPlace):
                        return free.target, sides[sides[0] is slots[0]]
    return None


def conjuncts(conditions: tuple[Expression, ...]) -> Iterator[Expression]:
    if len(conditions) != 1:
        return
    (condition,) = conditions
    if isinstance(condition, Binary) and condition.operator is BinaryOperator.AND:
        yield from conjuncts((condition.left,))
        yield from conjuncts((condition.right,))
    else:
        yield condition


def _loads(node: Expression, place: Place) -> bool:
    return isinstance(node, Load) and node.place == place


def _is_wide(place: Place) -> bool:
    """Returns whether a place holds any integer, so that no partial sum leaves its range."""
    return getattr(place.type, "low", 0) <= INTEGER.low // 2


def _sign(node: Expression) -> int:
    """Returns 1 if a number is never negative, -1 if it is never positive, 0 if neither is known."""
    if isinstance(node, Constant):
        return 1 if (node.value or 0) >= 0 else -1
    if isinstance(node, Conditional):
        one, other = _sign(node.then), _sign(node.otherwise)
        return one if one == other else 0
    if isinstance(node, Load | Call) and node.type.is_simple:
        low, high = getattr(node.type, "low", -1), getattr(node.type, "high", 1)
        return 1 if low >= 0 else -1 if high <= 0 else 0
    return 0


def _direction(node: Expression, place: Place, value: Expression) -> str | None:
    """Returns "max" for a test that a value is greater than a place, "min" for the opposite, None for all others."""
    if not isinstance(node, Binary) or node.operator not in (*_LESS, *_GREATER):
        return None
    if _loads(node.left, place) and strict(node.right) == strict(value):
        return "max" if node.operator in _LESS else "min"
    if _loads(node.right, place) and strict(node.left) == strict(value):
        return "min" if node.operator in _LESS else "max"
    return None


def _extreme_value(value: Conditional, place: Place) -> tuple[tuple[Any, ...], Expression] | None:
    """Recognises ``best = max(best, x)``."""
    for new, old, keeps in ((value.then, value.otherwise, False), (value.otherwise, value.then, True)):
        direction = _direction(value.condition, place, new) if _loads(old, place) else None
        if direction is not None:
            flipped = {"max": "min", "min": "max"}[direction]
            return ((flipped if keeps else direction),), new
    return None


def extreme_branch(node: If) -> tuple[str, Assign, Local | None, list[Expression]] | None:
    """Recognises ``if x > best: best = x``, also for a place that is None or unset at first: the direction, the store,
    the flag that says whether it is set, and the other guards."""
    if len(node.branches) != 1 or node.otherwise:
        return None
    condition, body = node.branches[0]
    if not body or len(body) > 2 or not all(isinstance(each, Assign) for each in body):
        return None
    store, flag = body[0], body[1] if len(body) == 2 else None
    assert isinstance(store, Assign)
    local = _raised_flag(flag)
    if flag is not None and local is None:
        return None
    rest: list[Expression] = []
    direction: str | None = None
    for guard in conjuncts((condition,)):
        found = _first_or(guard, store.target, store.value, local)
        if found is None or direction is not None:
            rest.append(guard)
        else:
            direction = found
    return None if direction is None else (direction, store, local, rest)


def _raised_flag(flag: Statement | None) -> Local | None:
    match flag:
        case Assign(target=LocalPlace(local=local), value=Constant(value=1)):
            return local
    return None


def _first_or(guard: Expression, place: Place, value: Expression, flag: Local | None) -> str | None:
    """Returns the direction of ``x > best``, of ``best is None or x > best``, and of ``not found or x > best``."""
    if not isinstance(guard, Binary) or guard.operator is not BinaryOperator.OR:
        return _direction(guard, place, value) if flag is None else None
    unset = guard.left
    is_unset = isinstance(unset, IsUndefined) and unset.place == place
    if isinstance(unset, Unary) and unset.operator is UnaryOperator.NOT and flag is not None:
        operand = unset.operand
        is_unset = isinstance(operand, Load) and _loads(operand, operand.place) and _is_flag(operand.place, flag)
    return _direction(guard.right, place, value) if is_unset else None


def _is_flag(place: Place, flag: Local) -> bool:
    return isinstance(place, LocalPlace) and place.local is flag

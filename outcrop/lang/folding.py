"""Constant folding. Integers are folded exactly; the user of the value tests whether it fits into 64 bits."""

from __future__ import annotations

import math

from outcrop.ir.arithmetic import COMPARISONS, INTEGER_OPERATIONS
from outcrop.ir.nodes import Binary, BinaryOperator, Constant, Expression, UnaryOperator

Number = int | float

#: Operators for which an integer zero on the left decides the value, whatever the right operand is.
_ZERO_FROM_LEFT = frozenset(
    {
        BinaryOperator.MULTIPLY,
        BinaryOperator.DIVIDE,
        BinaryOperator.REMAINDER,
        BinaryOperator.BIT_AND,
        BinaryOperator.SHIFT_LEFT,
        BinaryOperator.SHIFT_RIGHT,
    }
)
_ZERO_FROM_RIGHT = frozenset({BinaryOperator.MULTIPLY, BinaryOperator.BIT_AND})


def fold_comparison(what: BinaryOperator, left: Number, right: Number) -> int:
    return int(COMPARISONS[what](left, right))


def fold_integers(what: BinaryOperator, left: int, right: int) -> int | None:
    """Returns the folded value; None for a division by zero, which stays in the model as a runtime error."""
    if right == 0 and what in (BinaryOperator.DIVIDE, BinaryOperator.REMAINDER):
        return None
    return INTEGER_OPERATIONS[what](left, right)


def fold_reals(what: BinaryOperator, left: float, right: float) -> float | None:
    """Returns the folded value; None if it is not a finite number."""
    try:
        if what is BinaryOperator.ADD:
            value = left + right
        elif what is BinaryOperator.SUBTRACT:
            value = left - right
        elif what is BinaryOperator.MULTIPLY:
            value = left * right
        else:
            value = left / right
    except (OverflowError, ZeroDivisionError):
        return None
    return value if math.isfinite(value) else None


def fold_unary(what: UnaryOperator, value: Number) -> Number:
    if what is UnaryOperator.NOT:
        return 1 - value
    if what is UnaryOperator.NEGATE:
        return -value
    return ~int(value)


def fold_short_circuit(what: BinaryOperator, left: Expression, right: Expression) -> Expression | None:
    """Returns the value of ``&``, ``|`` or ``->`` if one operand is constant; None if both must stay.

    A constant right operand that decides the value does not remove the left one, which may fail.
    """
    neutral = 0 if what is BinaryOperator.OR else 1
    if isinstance(left, Constant):
        if left.value == neutral:
            return right
        if what is not BinaryOperator.IMPLIES:
            return left
        # A trivially true implication deserves a warning (ir/vacuity.py), so it is kept if possible.
        return Constant(type=left.type, span=left.span, value=1) if isinstance(right, Constant) else None
    if isinstance(right, Constant) and right.value == neutral and what is not BinaryOperator.IMPLIES:
        return left
    return None


def forced_value(expression: Expression) -> int | None:
    """Returns the value of an expression that one constant operand decides (``0 * f()``), which can be used as a
    bound."""
    if not isinstance(expression, Binary):
        return None
    what = expression.operator
    left, right = _operand(expression.left), _operand(expression.right)
    if what in _ZERO_FROM_LEFT and left == 0:
        return 0
    if what in _ZERO_FROM_RIGHT and right == 0:
        return 0
    if what is BinaryOperator.AND and (left == 0 or right == 0):
        return 0
    if what is BinaryOperator.OR and (left == 1 or right == 1):
        return 1
    if what is BinaryOperator.IMPLIES and (left == 0 or right == 1):
        return 1
    if left is not None and right is not None:
        return fold_integers(what, left, right) if what in INTEGER_OPERATIONS else None
    return None


def _operand(expression: Expression) -> int | None:
    if isinstance(expression, Constant):
        return expression.value if isinstance(expression.value, int) else None
    return forced_value(expression)

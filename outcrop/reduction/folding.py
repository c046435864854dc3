"""The values of operations on constants. None stands for a value that is not known."""

from __future__ import annotations

from outcrop.ir.nodes import BinaryOperator, UnaryOperator
from outcrop.ir.types import Simple, Type, Union


def negated(operator: UnaryOperator, value: int | None) -> int | None:
    """Returns the value of an operation on one constant; None if it is not known."""
    if value is None or operator is UnaryOperator.COMPLEMENT:
        return None
    return int(not value) if operator is UnaryOperator.NOT else _fitting(-value)


#: Results of arithmetic from here on may be errors, in some languages and engines.
_LARGE = 2**62


def combined(operator: BinaryOperator, left: int | None, right: int | None) -> int | None:
    """Returns the value of an operation on constants; None if it may fail."""
    if left is None or right is None:
        return None
    match operator:
        case BinaryOperator.AND:
            return int(bool(left and right))
        case BinaryOperator.OR:
            return int(bool(left or right))
        case BinaryOperator.IMPLIES:
            return int(not left or bool(right))
        case BinaryOperator.EQUAL:
            return int(left == right)
        case BinaryOperator.NOT_EQUAL:
            return int(left != right)
        case BinaryOperator.LESS:
            return int(left < right)
        case BinaryOperator.LESS_EQUAL:
            return int(left <= right)
        case BinaryOperator.GREATER:
            return int(left > right)
        case BinaryOperator.GREATER_EQUAL:
            return int(left >= right)
        case BinaryOperator.ADD:
            return _fitting(left + right)
        case BinaryOperator.SUBTRACT:
            return _fitting(left - right)
        case BinaryOperator.MULTIPLY:
            return _fitting(left * right)
    return _of_naturals(operator, left, right) if left >= 0 and right >= 0 else None


def _of_naturals(operator: BinaryOperator, left: int, right: int) -> int | None:
    """Returns the values of operations that depend on signs, or fail for some operands."""
    match operator:
        case BinaryOperator.DIVIDE if right:
            return left // right
        case BinaryOperator.REMAINDER if right:
            return left % right
        case BinaryOperator.BIT_AND:
            return left & right
        case BinaryOperator.BIT_OR:
            return left | right
        case BinaryOperator.BIT_XOR:
            return left ^ right
        case BinaryOperator.SHIFT_LEFT if right < 62:
            return _fitting(left << right)
        case BinaryOperator.SHIFT_RIGHT:
            return left >> right
    return None


def _fitting(value: int) -> int | None:
    return value if abs(value) < _LARGE else None


def converted(value: int | None, before: Type, after: Type) -> int | None:
    """Returns a member's value as a value of the union."""
    if value is None or not isinstance(after, Union) or not isinstance(before, Simple) or isinstance(before, Union):
        return None
    offset = after.offset(before)
    return None if offset is None else value + offset

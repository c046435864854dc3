"""The arithmetic of models: 64-bit integers that do not wrap, and decimal reals."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from outcrop.ir.nodes import BinaryOperator
from outcrop.ir.types import INT64_MIN, Real


def wrap(value: int) -> int:
    """Returns the signed 64-bit integer with the low 64 bits of ``value``."""
    return (value - INT64_MIN) % 2**64 + INT64_MIN


def divide(dividend: int, divisor: int) -> int:
    """Returns the quotient, truncated towards zero.

    >>> divide(-7, 2)
    -3
    """
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


def remainder(dividend: int, divisor: int) -> int:
    """Returns the remainder, which has the sign of the dividend.

    >>> remainder(-7, 2), remainder(7, -2)
    (-1, 1)
    """
    return dividend - divisor * divide(dividend, divisor)


def shift_left(value: int, count: int) -> int:
    if count < 0:
        return shift_right(value, -count)
    return wrap(value << count) if count < 64 else 0


def shift_right(value: int, count: int) -> int:
    if count < 0:
        return shift_left(value, -count)
    return value >> min(count, 64)


COMPARISONS: dict[BinaryOperator, Callable[[Any, Any], bool]] = {
    BinaryOperator.EQUAL: operator.eq,
    BinaryOperator.NOT_EQUAL: operator.ne,
    BinaryOperator.LESS: operator.lt,
    BinaryOperator.LESS_EQUAL: operator.le,
    BinaryOperator.GREATER: operator.gt,
    BinaryOperator.GREATER_EQUAL: operator.ge,
}

INTEGER_OPERATIONS: dict[BinaryOperator, Callable[[int, int], int]] = {
    BinaryOperator.ADD: operator.add,
    BinaryOperator.SUBTRACT: operator.sub,
    BinaryOperator.MULTIPLY: operator.mul,
    BinaryOperator.DIVIDE: divide,
    BinaryOperator.REMAINDER: remainder,
    BinaryOperator.BIT_AND: operator.and_,
    BinaryOperator.BIT_OR: operator.or_,
    BinaryOperator.BIT_XOR: operator.xor,
    BinaryOperator.SHIFT_LEFT: shift_left,
    BinaryOperator.SHIFT_RIGHT: shift_right,
}

REAL_OPERATIONS: dict[BinaryOperator, Callable[[float, float], float]] = {
    BinaryOperator.ADD: operator.add,
    BinaryOperator.SUBTRACT: operator.sub,
    BinaryOperator.MULTIPLY: operator.mul,
    BinaryOperator.DIVIDE: operator.truediv,
    BinaryOperator.REMAINDER: math.fmod,
}

REAL_FUNCTIONS: dict[str, Callable[..., float]] = {
    "log": math.log,
    "log10": math.log10,
    "exp": math.exp,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "fabs": math.fabs,
    "floor": math.floor,
    "ceil": math.ceil,
    "sqrt": math.sqrt,
    "fmod": math.fmod,
    "pow": math.pow,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
}


def round_real(kind: Real, value: float) -> float | None:
    """Returns ``value`` rounded to the digits of ``kind``; None if its exponent is too large. There is only one zero.

    >>> round_real(Real(3, 10), 2 / 3)
    0.667
    """
    text = f"{value:.{kind.digits - 1}e}"
    if int(text.partition("e")[2]) > kind.max_exponent:
        return None
    return float(text) + 0.0

"""Intervals of integer expressions: which checks cannot fail.

Each operation gives an interval that holds every result for operands in the given ones, in exact arithmetic. A
result that may leave 64 bits is checked when the code runs, and is within 64 bits after that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from outcrop.ir.nodes import BinaryOperator
from outcrop.ir.types import INT64_MAX, INT64_MIN, Real, Simple


class Interval(NamedTuple):
    low: int
    high: int

    @staticmethod
    def of(kind: Simple) -> Interval:
        """The values of a type. One without values has no interval that holds them; 64 bits are safe."""
        if isinstance(kind, Real) or kind.cardinality == 0:
            return INT64
        return Interval(kind.low, kind.high)

    def within(self, other: Interval) -> bool:
        return other.low <= self.low and self.high <= other.high

    def clipped(self, other: Interval) -> Interval:
        """What remains after a check against ``other``."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Interval(low, high) if low <= high else other

    def joined(self, other: Interval) -> Interval:
        return Interval(min(self.low, other.low), max(self.high, other.high))

    @property
    def constant(self) -> int | None:
        return self.low if self.low == self.high else None

    @property
    def magnitude(self) -> int:
        return max(abs(self.low), abs(self.high))


INT64 = Interval(INT64_MIN, INT64_MAX)
TRUTH = Interval(0, 1)


def add(a: Interval, b: Interval) -> Interval:
    return Interval(a.low + b.low, a.high + b.high)


def subtract(a: Interval, b: Interval) -> Interval:
    return Interval(a.low - b.high, a.high - b.low)


def multiply(a: Interval, b: Interval) -> Interval:
    corners = [x * y for x in a for y in b]
    return Interval(min(corners), max(corners))


def divide(a: Interval, b: Interval) -> Interval:
    """Truncation never makes a quotient larger than the dividend; only the least number / -1 leaves 64 bits."""
    low = 0 if a.low >= 0 and b.low >= 0 else -a.magnitude
    return Interval(low, a.magnitude)


def remainder(a: Interval, b: Interval) -> Interval:
    most = min(a.magnitude, max(b.magnitude - 1, 0))
    return Interval(-most if a.low < 0 else 0, most if a.high > 0 else 0)


def bit_and(a: Interval, b: Interval) -> Interval:
    bounds = [each.high for each in (a, b) if each.low >= 0]
    return Interval(0, min(bounds)) if bounds else bit_or(a, b)


def bit_or(a: Interval, b: Interval) -> Interval:
    """Also for exclusive or. The result needs no more bits than the operands, and a sign if one of them has it."""
    bits = max((~bound if bound < 0 else bound).bit_length() for bound in (*a, *b))
    return Interval(-(1 << bits) if min(a.low, b.low) < 0 else 0, (1 << bits) - 1)


def shift(a: Interval, b: Interval) -> Interval:
    """To the right it goes no further from zero; to the left it is cut to 64 bits with a sign."""
    return INT64.joined(a)


OPERATIONS: dict[BinaryOperator, Callable[[Interval, Interval], Interval]] = {
    BinaryOperator.ADD: add,
    BinaryOperator.SUBTRACT: subtract,
    BinaryOperator.MULTIPLY: multiply,
    BinaryOperator.DIVIDE: divide,
    BinaryOperator.REMAINDER: remainder,
    BinaryOperator.BIT_AND: bit_and,
    BinaryOperator.BIT_OR: bit_or,
    BinaryOperator.BIT_XOR: bit_or,
    BinaryOperator.SHIFT_LEFT: shift,
    BinaryOperator.SHIFT_RIGHT: shift,
}

"""Intervals of integer expressions, to find checks that cannot fail.

Each operation returns an interval that contains every result for operands in the given intervals, in exact arithmetic.
A result that may exceed 64 bits is checked at run time, and fits 64 bits after that.
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
        """Returns the interval of the values of a type. A type without values gets 64 bits, which is safe."""
        if isinstance(kind, Real) or kind.cardinality == 0:
            return INT64
        return Interval(kind.low, kind.high)

    def within(self, other: Interval) -> bool:
        return other.low <= self.low and self.high <= other.high

    def clipped(self, other: Interval) -> Interval:
        """Returns the interval after a check against ``other``."""
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
    """Returns the interval of a quotient. Truncation never makes it larger than the dividend; only the least number /
    -1 exceeds 64 bits."""
    low = 0 if a.low >= 0 and b.low >= 0 else -a.magnitude
    return Interval(low, a.magnitude)


def remainder(a: Interval, b: Interval) -> Interval:
    most = min(a.magnitude, max(b.magnitude - 1, 0))
    return Interval(-most if a.low < 0 else 0, most if a.high > 0 else 0)


def bit_and(a: Interval, b: Interval) -> Interval:
    bounds = [each.high for each in (a, b) if each.low >= 0]
    return Interval(0, min(bounds)) if bounds else bit_or(a, b)


def bit_or(a: Interval, b: Interval) -> Interval:
    """Returns the interval of an inclusive or exclusive or. The result needs no more bits than the operands, and a sign
    if one of them has it."""
    bits = max((~bound if bound < 0 else bound).bit_length() for bound in (*a, *b))
    return Interval(-(1 << bits) if min(a.low, b.low) < 0 else 0, (1 << bits) - 1)


def shift(a: Interval, b: Interval) -> Interval:
    """Returns the interval of a shift. To the right, the result is not farther from zero; to the left, it is cut to 64
    bits with a sign."""
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

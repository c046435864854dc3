"""Interval analysis: every result lies in the interval that was promised for it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from outcrop.codegen.bounds import INT64, OPERATIONS, Interval
from outcrop.ir.arithmetic import INTEGER_OPERATIONS
from outcrop.ir.nodes import BinaryOperator
from outcrop.ir.types import INT64_MAX, INT64_MIN

NUMBERS = st.integers(-20, 20) | st.sampled_from([INT64_MIN, INT64_MIN + 1, INT64_MAX - 1, INT64_MAX, 2**31, -(2**31)])


@given(st.sampled_from(sorted(OPERATIONS)), *[st.tuples(NUMBERS, NUMBERS, NUMBERS).map(sorted)] * 2)
def test_results_lie_in_the_interval(operator: BinaryOperator, left: list[int], right: list[int]) -> None:
    a, b = left[1], right[1]
    if b == 0 and operator in (BinaryOperator.DIVIDE, BinaryOperator.REMAINDER):
        return
    promised = OPERATIONS[operator](Interval(left[0], left[2]), Interval(right[0], right[2]))
    value = INTEGER_OPERATIONS[operator](a, b)
    assert promised.low <= value <= promised.high


def test_what_a_check_leaves_is_within_the_checked_interval() -> None:
    assert Interval(-5, 50).clipped(Interval(0, 9)) == Interval(0, 9)
    assert Interval(3, 4).clipped(Interval(0, 9)) == Interval(3, 4)
    assert Interval(20, 30).clipped(Interval(0, 9)) == Interval(0, 9)  # the check always fails
    assert Interval(-(2**64), 2**64).clipped(INT64) == INT64

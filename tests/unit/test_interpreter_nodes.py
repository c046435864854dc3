"""The interpreter on Systems built by hand, for constructs that no front-end produces."""

from __future__ import annotations

import pytest

from outcrop.ir.faults import FaultKind
from outcrop.ir.interpreter import Interpreter
from outcrop.ir.nodes import (
    Assign,
    Binary,
    BinaryOperator,
    Constant,
    Expression,
    Frame,
    GlobalPlace,
    Load,
    Statement,
    Undefined,
    Variable,
)
from outcrop.ir.system import Rule, StartState, System
from outcrop.ir.types import INT64_MAX, INT64_MIN, INTEGER, Range
from outcrop.source import Source, Span

SOURCE = Source("hand.m", "built by hand")
SPAN = Span(SOURCE, 0, 5)
COUNTER = Range(INT64_MIN, INT64_MAX)
X = Variable("x", COUNTER, 0, SPAN)
PLACE = GlobalPlace(type=COUNTER, span=SPAN, variable=X)


def number(value: int) -> Expression:
    return Constant(type=INTEGER, span=SPAN, value=value)


def assign(value: Expression) -> Statement:
    return Assign(span=SPAN, target=PLACE, value=value)


def binary(operator: BinaryOperator, left: int, right: int) -> Expression:
    return Binary(type=INTEGER, span=SPAN, operator=operator, left=number(left), right=number(right))


def system(start: tuple[Statement, ...], rules: tuple[Rule, ...] = ()) -> System:
    starts = (StartState("start", (), Frame(), SPAN, start),)
    return System("hand", SOURCE, {}, (X,), (), starts, rules, (), ())


def evaluate(node: Expression) -> object:
    firing = next(Interpreter(system((assign(node),)), symmetry=False).start_states())
    return firing.fault.kind if firing.fault else firing.successor[0] if firing.successor else None


@pytest.mark.parametrize(
    ("operator", "left", "right", "expected"),
    [
        (BinaryOperator.DIVIDE, -7, 2, -3),
        (BinaryOperator.DIVIDE, 7, -2, -3),
        (BinaryOperator.REMAINDER, -7, 2, -1),
        (BinaryOperator.REMAINDER, 7, -2, 1),
        (BinaryOperator.REMAINDER, INT64_MIN, -1, 0),
        (BinaryOperator.DIVIDE, INT64_MIN, -1, FaultKind.OVERFLOW),
        (BinaryOperator.DIVIDE, 1, 0, FaultKind.DIVISION),
        (BinaryOperator.REMAINDER, 1, 0, FaultKind.DIVISION),
        (BinaryOperator.ADD, INT64_MAX, 1, FaultKind.OVERFLOW),
        (BinaryOperator.ADD, INT64_MAX, 0, INT64_MAX),
        (BinaryOperator.SUBTRACT, INT64_MIN, 1, FaultKind.OVERFLOW),
        (BinaryOperator.MULTIPLY, 2**32, 2**31, FaultKind.OVERFLOW),
        (BinaryOperator.SHIFT_LEFT, 1, 63, INT64_MIN),
        (BinaryOperator.SHIFT_LEFT, 3, 63, INT64_MIN),
        (BinaryOperator.SHIFT_LEFT, 1, 64, 0),
        (BinaryOperator.SHIFT_LEFT, 8, -2, 2),
        (BinaryOperator.SHIFT_RIGHT, -8, 100, -1),
        (BinaryOperator.SHIFT_RIGHT, 8, 100, 0),
        (BinaryOperator.SHIFT_RIGHT, 1, -3, 8),
        (BinaryOperator.BIT_XOR, -1, 5, -6),
    ],
)
def test_integer_arithmetic(operator: BinaryOperator, left: int, right: int, expected: object) -> None:
    assert evaluate(binary(operator, left, right)) == expected


def test_an_undefined_value_that_a_read_lets_through_cannot_be_added_to() -> None:
    read = Load(type=COUNTER, span=SPAN, place=PLACE, undefined=Undefined.ALLOW)
    total = Binary(type=INTEGER, span=SPAN, operator=BinaryOperator.ADD, left=read, right=number(1))
    assert evaluate(total) is FaultKind.UNDEFINED


def test_a_noted_read_goes_through_and_is_recorded() -> None:
    read = Load(type=COUNTER, span=Span(SOURCE, 6, 8), place=PLACE, undefined=Undefined.NOTE)
    interpreter = Interpreter(system((assign(read),)), symmetry=False)
    assert [firing.successor for firing in interpreter.start_states()] == [(None,)]
    assert interpreter.noted == {6}


def test_only_the_smallest_enabled_priority_fires() -> None:
    def rule(name: str, priority: int, bound: int) -> Rule:
        guard = Binary(
            type=INTEGER, span=SPAN, operator=BinaryOperator.LESS, left=Load(type=COUNTER, span=SPAN, place=PLACE),
            right=number(bound),
        )  # fmt: skip
        return Rule(name, (), Frame(), SPAN, guard, (assign(number(0)),), priority)

    rules = (rule("late", 5, 100), rule("early", -1, 3), rule("also early", -1, 100))
    interpreter = Interpreter(system((), rules), symmetry=False)
    assert [firing.origin.name for firing in interpreter.successors((2,))] == ["early", "also early"]
    assert [firing.origin.name for firing in interpreter.successors((50,))] == ["also early"]
    assert [firing.origin.name for firing in interpreter.successors((100,))] == []

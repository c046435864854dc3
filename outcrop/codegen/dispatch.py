"""Dispatch to rules whose guards begin with a test of a leaf: a switch selects the rules for the current value.

The transitions of processes are such rules: they test whether the processes are in the states that they leave. The test
cannot fail, and one load serves all rules of a process, so that it comes before all others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from outcrop.codegen.code import Unit
from outcrop.codegen.text import braced
from outcrop.ir.layout import encode, width
from outcrop.ir.nodes import Binary, BinaryOperator, Constant, Expression, GlobalPlace, Load, Undefined
from outcrop.ir.types import Simple

Member = TypeVar("Member")

#: Largest number of tests of one guard; each is a level of switches.
_MOST_TESTS = 16


@dataclass(frozen=True)
class Test:
    """A test whether a leaf, given as get_bits takes it, equals a packed constant."""

    leaf: str
    packed: int


def test_of(unit: Unit, node: Expression) -> Test | None:
    """Returns a condition as such a test; None if it is another one, or may fail."""
    if not (isinstance(node, Binary) and node.operator is BinaryOperator.EQUAL):
        return None
    load, wanted = node.left, node.right
    if not (isinstance(load, Load) and isinstance(load.place, GlobalPlace) and isinstance(wanted, Constant)):
        return None
    variable, kind = load.place.variable, load.type
    if not isinstance(kind, Simple) or kind != wanted.type or wanted.value is None:
        return None
    if not (variable.is_defined or load.undefined is Undefined.ALLOW):
        return None
    return Test(f"{unit.variable_offsets[variable]}, {width(kind)}", encode(kind, wanted.value))


def leading_tests(unit: Unit, parts: Sequence[Expression]) -> list[Test]:
    """Returns the tests at the beginning of a conjunction."""
    found = []
    for part in parts[:_MOST_TESTS]:
        test = test_of(unit, part)
        if test is None:
            break
        found.append(test)
    return found


def write_dispatch(
    members: Sequence[tuple[Member, Sequence[Test]]], write: Callable[[list[Member]], list[str]]
) -> list[str]:
    """Returns the lines that ``write`` returns for members with the same tests, inside switches on these."""
    lines = write([member for member, tests in members if not tests])
    by_leaf: dict[str, dict[int, list[tuple[Member, Sequence[Test]]]]] = {}
    for member, tests in members:
        if tests:
            cases = by_leaf.setdefault(tests[0].leaf, {})
            cases.setdefault(tests[0].packed, []).append((member, tests[1:]))
    for leaf, cases in by_leaf.items():
        body: list[str] = []
        for packed, inner in cases.items():
            body += braced(f"case {packed}:", [*write_dispatch(inner, write), "break;"])
        lines += braced(f"switch (get_bits(state, {leaf}))", body)
    return lines

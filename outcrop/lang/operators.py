"""Binary operators of languages whose values are integers, spelt as in C, with constants folded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from outcrop.ir.chains import balanced
from outcrop.ir.nodes import BinaryOperator, Constant, Expression
from outcrop.ir.types import BOOLEAN
from outcrop.lang import build
from outcrop.lang.folding import fold_comparison, fold_integers
from outcrop.source import Span

_LOGICAL = {"imply": BinaryOperator.IMPLIES, "&&": BinaryOperator.AND, "||": BinaryOperator.OR}
_COMPARISONS = {
    "==": BinaryOperator.EQUAL,
    "!=": BinaryOperator.NOT_EQUAL,
    "<": BinaryOperator.LESS,
    "<=": BinaryOperator.LESS_EQUAL,
    ">": BinaryOperator.GREATER,
    ">=": BinaryOperator.GREATER_EQUAL,
}
_ARITHMETIC = {
    "|": BinaryOperator.BIT_OR,
    "&": BinaryOperator.BIT_AND,
    "^": BinaryOperator.BIT_XOR,
    "<<": BinaryOperator.SHIFT_LEFT,
    ">>": BinaryOperator.SHIFT_RIGHT,
    "+": BinaryOperator.ADD,
    "-": BinaryOperator.SUBTRACT,
    "*": BinaryOperator.MULTIPLY,
    "/": BinaryOperator.DIVIDE,
    "%": BinaryOperator.REMAINDER,
}
#: Combines the two lowered operands of a binary node of some language's syntax.
Combine = Callable[[Any, Expression, Expression], Expression]
OPERATORS = frozenset((*_LOGICAL, *_COMPARISONS, *_ARITHMETIC))


def lower_chain(node: Any, lower: Callable[[Any], Expression], combine: Combine) -> Expression:
    """Returns the lowered form of a binary node. Chains lean to the left and may be thousands long, so the left side is
    a loop and not a recursion."""
    chain = [node]
    while isinstance(chain[-1].left, type(node)):
        chain.append(chain[-1].left)
    left, operator = lower(chain[-1].left), chain[-1].operator
    for each in reversed(chain):
        if each.operator != operator:
            left, operator = balanced(left), each.operator
        left = combine(each, left, lower(each.right))
    return balanced(left)


def combined(operator: str, left: Expression, right: Expression, span: Span) -> Expression:
    """Returns an operation on two values. A folded constant is exact, and may need more than 64 bits."""
    if operator in _LOGICAL:
        left, right = build.as_condition(left), build.as_condition(right)
        return build.logical(_LOGICAL[operator], left, right, span)
    if operator in _COMPARISONS:
        return _comparison(_COMPARISONS[operator], left, right, span)
    return _arithmetic(_ARITHMETIC[operator], build.as_integer(left), build.as_integer(right), span)


def _comparison(what: BinaryOperator, left: Expression, right: Expression, span: Span) -> Expression:
    is_equality = what in (BinaryOperator.EQUAL, BinaryOperator.NOT_EQUAL)
    if is_equality and left.type is BOOLEAN:
        # `(x > 1) == 0` and `P.a == Q.b` need no integers.
        if isinstance(right, Constant) and right.value in (0, 1):
            return left if (right.value == 1) == (what is BinaryOperator.EQUAL) else build.negation(left, span)
        if right.type is BOOLEAN and not isinstance(left, Constant):
            return build.binary(what, left, right, span, BOOLEAN)
    left, right = build.as_integer(left), build.as_integer(right)
    if isinstance(left, Constant) and isinstance(right, Constant):
        assert isinstance(left.value, int) and isinstance(right.value, int)
        return build.truth(bool(fold_comparison(what, left.value, right.value)), span)
    return build.binary(what, left, right, span, BOOLEAN)


def _arithmetic(what: BinaryOperator, left: Expression, right: Expression, span: Span) -> Expression:
    if isinstance(left, Constant) and isinstance(right, Constant):
        assert isinstance(left.value, int) and isinstance(right.value, int)
        folded = fold_integers(what, left.value, right.value)
        if folded is not None:
            return build.number(folded, span)
    return build.binary(what, left, right, span)

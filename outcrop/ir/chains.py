"""Balancing of long chains of an associative operator.

``a & b & c & ...`` leans to the left, so that fifty thousand operands would be fifty thousand levels, too deep for
recursion. A balanced tree evaluates the same operands in the same order, and the same operand ends a short-circuit
evaluation. Generated models have such chains.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from outcrop.ir.nodes import Binary, BinaryOperator, Expression
from outcrop.ir.types import BOOLEAN
from outcrop.source import Span

#: Longest chain, in operands, that is left as it was read.
_LEANING = 32

_ASSOCIATIVE = (
    BinaryOperator.AND,
    BinaryOperator.OR,
    BinaryOperator.BIT_AND,
    BinaryOperator.BIT_OR,
    BinaryOperator.BIT_XOR,
)


def levels(operands: int) -> int:
    """Returns the largest number of levels of a balanced chain of ``operands`` operands.

    >>> levels(2), levels(32), levels(33), levels(50_000)
    (1, 31, 32, 42)
    """
    return min(operands, _LEANING) - 1 + ((operands - 1) // _LEANING).bit_length()


def balanced(node: Expression) -> Expression:
    """Returns the expression with the chain at its top balanced, if it is a long one."""
    if not isinstance(node, Binary) or node.operator not in _ASSOCIATIVE:
        return node
    operands: list[Expression] = []
    spans: list[Span] = []  #: span of the chain up to each operand
    first: Expression = node
    while isinstance(first, Binary) and first.operator is node.operator:
        operands.append(first.right)
        spans.append(first.span)
        first = first.left
    if len(operands) < _LEANING:
        return node
    return _tree(node, [first, *reversed(operands)], [first.span, *reversed(spans)])


def joined(operator: BinaryOperator, operands: Sequence[Expression]) -> Expression:
    """Returns the chain of some conditions."""

    def join(left: Expression, right: Expression) -> Expression:
        return Binary(type=BOOLEAN, span=left.span, operator=operator, left=left, right=right)

    return balanced(reduce(join, operands))


def _tree(chain: Binary, operands: Sequence[Expression], spans: Sequence[Span]) -> Expression:
    def join(left: Expression, right: Expression, end: int) -> Expression:
        span = Span(left.span.source, left.span.start, max(left.span.end, end))
        return Binary(type=chain.type, span=span, operator=chain.operator, left=left, right=right)

    if len(operands) > _LEANING:
        half = len(operands) // 2
        left, right = _tree(chain, operands[:half], spans[:half]), _tree(chain, operands[half:], spans[half:])
        return join(left, right, spans[-1].end)
    left = operands[0]
    for operand, span in zip(operands[1:], spans[1:], strict=True):
        left = join(left, operand, span.end)
    return left

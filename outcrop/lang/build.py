"""Small IR nodes that front-ends with integer values make, and what is known about the values of expressions.

In DVE and Promela every value is an integer, and every non-zero one is true. Comparisons and the like stay boolean as
long as they can: ``as_integer`` and ``as_condition`` convert where the context asks for the other kind.
"""

from __future__ import annotations

from collections.abc import Iterable

from outcrop.ir.nodes import (
    Binary,
    BinaryOperator,
    Conditional,
    Constant,
    Expression,
    FieldPlace,
    GlobalPlace,
    IndexPlace,
    Load,
    LocalPlace,
    Place,
    Unary,
    UnaryOperator,
    Undefined,
    Variable,
)
from outcrop.ir.types import BOOLEAN, INTEGER, Array, Enum, Range, Simple
from outcrop.ir.walk import walk
from outcrop.lang.folding import fold_short_circuit
from outcrop.source import Span


def number(value: int, span: Span) -> Constant:
    return Constant(type=INTEGER, span=span, value=value)


def truth(value: bool, span: Span) -> Constant:
    return Constant(type=BOOLEAN, span=span, value=int(value))


def place(variable: Variable, span: Span) -> GlobalPlace:
    return GlobalPlace(type=variable.type, span=span, variable=variable)


def element(variable: Variable, index: Expression, span: Span) -> IndexPlace:
    assert isinstance(variable.type, Array)
    return IndexPlace(type=variable.type.element, span=span, base=place(variable, span), index=index)


def load(source: Place) -> Load:
    return Load(type=source.type, span=source.span, place=source)


def binary(what: BinaryOperator, left: Expression, right: Expression, span: Span, kind: Simple = INTEGER) -> Binary:
    return Binary(type=kind, span=span, operator=what, left=left, right=right)


def equality(left: Expression, right: Expression, span: Span) -> Expression:
    if isinstance(left, Constant) and isinstance(right, Constant):
        return truth(left.value == right.value, span)
    return binary(BinaryOperator.EQUAL, left, right, span, BOOLEAN)


def logical(what: BinaryOperator, left: Expression, right: Expression, span: Span) -> Expression:
    return fold_short_circuit(what, left, right) or binary(what, left, right, span, BOOLEAN)


def conjunction(parts: Iterable[Expression]) -> Expression | None:
    """Returns the conjunction of conditions. None stands for true."""
    whole: Expression | None = None
    for part in parts:
        whole = part if whole is None else logical(BinaryOperator.AND, whole, part, whole.span.to(part.span))
    return None if isinstance(whole, Constant) and whole.value else whole


def negation(operand: Expression, span: Span) -> Expression:
    if isinstance(operand, Constant):
        return truth(not operand.value, span)
    if isinstance(operand, Unary) and operand.operator is UnaryOperator.NOT:
        return operand.operand
    return Unary(type=BOOLEAN, span=span, operator=UnaryOperator.NOT, operand=operand)


def at_location(location: Variable, states: Enum, state: int, span: Span) -> Expression:
    """Returns the condition that a process is in a state."""
    return _compared(BinaryOperator.EQUAL, location, states, state, span)


def not_at_location(location: Variable, states: Enum, state: int, span: Span) -> Expression:
    return _compared(BinaryOperator.NOT_EQUAL, location, states, state, span)


def _compared(what: BinaryOperator, location: Variable, states: Enum, state: int, span: Span) -> Expression:
    # In the error state the first process is in no state at all.
    here = Load(type=states, span=span, place=place(location, span), undefined=Undefined.ALLOW)
    return binary(what, here, Constant(type=states, span=span, value=state), span, BOOLEAN)


def as_integer(value: Expression) -> Expression:
    if value.type is not BOOLEAN:
        return value
    if isinstance(value, Constant):
        assert isinstance(value.value, int)
        return number(value.value, value.span)
    one, zero = number(1, value.span), number(0, value.span)
    return Conditional(type=INTEGER, span=value.span, condition=value, then=one, otherwise=zero)


def as_condition(value: Expression) -> Expression:
    if value.type is BOOLEAN:
        return value
    if isinstance(value, Constant):
        return truth(value.value != 0, value.span)
    return binary(BinaryOperator.NOT_EQUAL, value, number(0, value.span), value.span, BOOLEAN)


def bounds(value: Expression) -> tuple[int, int] | None:
    """Returns an interval that contains every value of an integer expression; None if nothing simple is known."""
    match value:
        case Constant(value=int(known)):
            return known, known
        case Load(type=Range(lower=low, upper=high)):
            return low, high
        case Conditional():
            one, other = bounds(value.then), bounds(value.otherwise)
            return (min(one[0], other[0]), max(one[1], other[1])) if one and other else None
        case Binary():
            return _binary_bounds(value)
    return None


def _binary_bounds(value: Binary) -> tuple[int, int] | None:
    left, right = bounds(value.left), bounds(value.right)
    if left is None or right is None:
        return None
    match value.operator:
        case BinaryOperator.ADD:
            return left[0] + right[0], left[1] + right[1]
        case BinaryOperator.SUBTRACT:
            return left[0] - right[1], left[1] - right[0]
        case BinaryOperator.REMAINDER if left[0] >= 0 and right[0] > 0:
            return 0, min(left[1], right[1] - 1)
        case BinaryOperator.DIVIDE if left[0] >= 0 and right[0] > 0:
            return 0, left[1]
    return None


def reduced(value: Expression, kind: Range) -> Expression:
    """Returns ``value`` modulo the number of values of ``kind``, which is a power of two."""
    known = bounds(value)
    if known is not None and kind.lower <= known[0] and known[1] <= kind.upper:
        return value
    span, mask = value.span, kind.cardinality - 1
    if isinstance(value, Constant) and isinstance(value.value, int):
        return number((value.value - kind.lower) % kind.cardinality + kind.lower, span)
    if kind.lower == 0:
        return binary(BinaryOperator.BIT_AND, value, number(mask, span), span)
    shifted = binary(BinaryOperator.SUBTRACT, value, number(kind.lower, span), span)
    masked = binary(BinaryOperator.BIT_AND, shifted, number(mask, span), span)
    return binary(BinaryOperator.ADD, masked, number(kind.lower, span), span)


def next_number(value: Expression, span: Span) -> Expression:
    """Returns a number plus one."""
    known = getattr(value, "value", None)
    if isinstance(known, int):
        return number(known + 1, span)
    return binary(BinaryOperator.ADD, value, number(1, span), span)


def variables_in(node: object) -> set[Variable]:
    """Returns the state variables that an expression or place reads or names."""
    return {each.variable for each in walk(node) if isinstance(each, GlobalPlace)}


#: Operators that have a value for all operands.
_TOTAL = frozenset(
    (
        BinaryOperator.AND,
        BinaryOperator.OR,
        BinaryOperator.EQUAL,
        BinaryOperator.NOT_EQUAL,
        BinaryOperator.LESS,
        BinaryOperator.LESS_EQUAL,
        BinaryOperator.GREATER,
        BinaryOperator.GREATER_EQUAL,
    )
)


def cannot_fail(node: Expression) -> bool:
    """Returns whether an expression surely has a value, in a language whose variables are never undefined."""
    match node:
        case Constant():
            return True
        case Load():
            return _is_there(node.place)
        case Unary():
            return node.operator is UnaryOperator.NOT and cannot_fail(node.operand)
        case Binary():
            return node.operator in _TOTAL and cannot_fail(node.left) and cannot_fail(node.right)
    return False


def _is_there(place: Place) -> bool:
    if isinstance(place, IndexPlace):
        kind, index = place.base.type, getattr(place.index, "value", None)
        values = kind.index if isinstance(kind, Array) else None
        if not isinstance(values, Range) or not isinstance(index, int):
            return False
        return values.low <= index <= values.high and _is_there(place.base)
    return isinstance(place, GlobalPlace | LocalPlace) or (isinstance(place, FieldPlace) and _is_there(place.base))

"""Integers: Python's operators with Python's meaning, and what is known about the bounds of an outcome."""

from __future__ import annotations

import ast

from outcrop.ir.nodes import (
    Assign,
    Binary,
    BinaryOperator,
    Call,
    Conditional,
    Constant,
    Expression,
    If,
    LocalPlace,
    Return,
    Statement,
    Unary,
    UnaryOperator,
)
from outcrop.ir.system import Formal, Function
from outcrop.ir.types import BOOLEAN, INTEGER
from outcrop.lang.python.context import EXPRESSIONS, Body
from outcrop.lang.python.kinds import BOOL, INT, LOCAL_INT, BoolKind, IntKind, Kind, SetKind, integer
from outcrop.lang.python.sets import set_operation
from outcrop.lang.python.values import Value, as_integer, constant
from outcrop.source import Span

_SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Div: "/",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.MatMult: "@",
}
_BITWISE = {ast.BitAnd: BinaryOperator.BIT_AND, ast.BitOr: BinaryOperator.BIT_OR, ast.BitXor: BinaryOperator.BIT_XOR}
_HINTS: dict[type[ast.operator], str] = {
    ast.Div: "there are no fractions: divide with //",
    ast.Pow: "write the product out",
    ast.MatMult: "",
}


def bounds(value: Value) -> tuple[int, int]:
    """Returns the least and the greatest integer that a value can be."""
    if isinstance(value.node, Constant) and isinstance(value.node.value, int):
        return value.node.value, value.node.value
    kind = value.kind.simple
    return kind.low, kind.high


def binary(operator: BinaryOperator, left: Expression, right: Expression, span: Span) -> Binary:
    """Returns an operation on integers."""
    return Binary(type=INTEGER, span=span, operator=operator, left=left, right=right)


def compared(operator: BinaryOperator, left: Expression, right: Expression, span: Span) -> Binary:
    return Binary(type=BOOLEAN, span=span, operator=operator, left=left, right=right)


def _binary(b: Body, node: ast.BinOp, wanted: Kind | None) -> Value:
    left, right = b.expression(node.left, wanted), b.expression(node.right, wanted)
    return operation(b, type(node.op), left, right, node)


def operation(b: Body, what: type[ast.operator], left: Value, right: Value, node: ast.AST) -> Value:
    """Lowers an operator between two values."""
    if left.is_unknown or right.is_unknown:
        return b.unknown(node)
    if isinstance(left.kind, SetKind) and isinstance(right.kind, SetKind):
        return set_operation(b, what, left, right, node)
    if what in _BITWISE and isinstance(left.kind, BoolKind) and isinstance(right.kind, BoolKind):
        return b.refuse("'&', '|' and '^' need integers or sets, not bools", node, "write and, or, !=")
    for side in (left, right):
        if not isinstance(side.kind, IntKind | BoolKind) or (side.kind.optional and not side.place):
            return b.refuse(f"'{_SIGNS[what]}' needs integers, not {side.kind}", side.span)
    if what in _HINTS:
        return b.refuse(f"models have no operator '{_SIGNS[what]}'", node, _HINTS[what])
    first, second = (as_integer(each) for each in (left, right))
    return _integers(b, what, first, second, b.span(node))


def _integers(b: Body, what: type[ast.operator], left: Value, right: Value, span: Span) -> Value:
    (a, c), (d, e) = bounds(left), bounds(right)
    if what is ast.Add:
        return Value(integer(a + d, c + e), binary(BinaryOperator.ADD, left.node, right.node, span))
    if what is ast.Sub:
        return Value(integer(a - e, c - d), binary(BinaryOperator.SUBTRACT, left.node, right.node, span))
    if what is ast.Mult:
        corners = (a * d, a * e, c * d, c * e)
        return Value(integer(min(corners), max(corners)), binary(BinaryOperator.MULTIPLY, left.node, right.node, span))
    if what in (ast.FloorDiv, ast.Mod):
        return _division(b, what, left, right, span)
    if what in (ast.LShift, ast.RShift):
        return _shift(b, what, left, right, span)
    high = (1 << max(c, e, 0).bit_length()) - 1
    kind = integer(0, high) if a >= 0 and d >= 0 else INT
    return Value(kind, binary(_BITWISE[what], left.node, right.node, span))


def _division(b: Body, what: type[ast.operator], left: Value, right: Value, span: Span) -> Value:
    """Rounds towards minus infinity, as Python does; the System rounds towards 0."""
    (a, c), (d, e) = bounds(left), bounds(right)
    is_quotient = what is ast.FloorDiv
    if a >= 0 and d >= 0:
        operator = BinaryOperator.DIVIDE if is_quotient else BinaryOperator.REMAINDER
        kind = integer(a // max(e, 1), c // max(d, 1)) if is_quotient else integer(0, min(c, max(e - 1, 0)))
        return Value(kind, binary(operator, left.node, right.node, span))
    function = b.model.helpers.get(what) or _floor_function(b, is_quotient, span)
    b.model.helpers[what] = function
    call = Call(type=LOCAL_INT.type, span=span, function=function, arguments=(left.node, right.node))
    if is_quotient:
        return Value(integer(min(a, -c), max(c, -a)), call)
    return Value(integer(min(d + 1, 0), max(e - 1, 0)), call)


def _floor_function(b: Body, is_quotient: bool, span: Span) -> Function:
    """Returns a function of the System: the quotient rounded down, or the remainder with the sign of the divisor."""
    inner = Body(b.model, b.source, b.globals)
    a, d = (inner.local(name, INT, is_parameter=True) for name in ("a", "b"))
    r = inner.local("r", INT)
    x, y, rest = (inner.read_local(each, INT, span).node for each in (a, d, r))
    zero = constant(0, span).node
    nonzero = compared(BinaryOperator.NOT_EQUAL, rest, zero, span)
    signs = [compared(BinaryOperator.LESS, each, zero, span) for each in (rest, y)]
    differ = compared(BinaryOperator.NOT_EQUAL, signs[0], signs[1], span)
    must_adapt = compared(BinaryOperator.AND, nonzero, differ, span)
    if is_quotient:
        plain: Expression = binary(BinaryOperator.DIVIDE, x, y, span)
        adapted = binary(BinaryOperator.SUBTRACT, plain, constant(1, span).node, span)
    else:
        plain, adapted = rest, binary(BinaryOperator.ADD, rest, y, span)
    body: tuple[Statement, ...] = (
        Assign(
            span=span,
            target=LocalPlace(type=r.type, span=span, local=r),
            value=binary(BinaryOperator.REMAINDER, x, y, span),
        ),
        If(span=span, branches=((must_adapt, (Return(span=span, value=adapted),)),)),
        Return(span=span, value=plain),
    )
    formals = (Formal(a, by_reference=False), Formal(d, by_reference=False))
    name = "floor_divide" if is_quotient else "floor_remainder"
    function = Function(name, formals, LOCAL_INT.type, span, inner.frame.finish(), body)
    b.model.functions.append(function)
    return function


def _shift(b: Body, what: type[ast.operator], left: Value, right: Value, span: Span) -> Value:
    (low, high), (least, most) = bounds(left), bounds(right)
    if least < 0 or most > 62:
        return b.refuse("the count of this shift may lie outside 0..62", right.span, "use a Range[0, 62]")
    if what is ast.RShift:
        kind = integer(min(low >> least, low >> most), max(high >> least, high >> most))
        return Value(kind, binary(BinaryOperator.SHIFT_RIGHT, left.node, right.node, span))
    kind = integer(min(low << least, low << most), max(high << least, high << most))
    if least == most:
        factor = constant(1 << least, span).node
        return Value(kind, binary(BinaryOperator.MULTIPLY, left.node, factor, span))
    if kind is INT:
        return b.refuse("the result of this shift may need more than 62 bits", left.span, "use smaller bounds")
    return Value(kind, binary(BinaryOperator.SHIFT_LEFT, left.node, right.node, span))


def _unary(b: Body, node: ast.UnaryOp, wanted: Kind | None) -> Value:
    span = b.span(node)
    if isinstance(node.op, ast.Not):
        condition = b.condition(node.operand, "the operand of 'not'")
        return Value(BOOL, Unary(type=BOOLEAN, span=span, operator=UnaryOperator.NOT, operand=condition))
    value = b.integer(node.operand, "the operand")
    if value.is_unknown or isinstance(node.op, ast.UAdd):
        return value
    low, high = bounds(value)
    is_negation = isinstance(node.op, ast.USub)
    operator = UnaryOperator.NEGATE if is_negation else UnaryOperator.COMPLEMENT
    kind = integer(-high, -low) if is_negation else integer(~high, ~low)
    return Value(kind, Unary(type=INTEGER, span=span, operator=operator, operand=value.node))


def smaller(b: Body, left: Value, right: Value, span: Span, *, greatest: bool = False) -> Value:
    """Returns the smaller, or the greater, of two integers."""
    operator = BinaryOperator.GREATER_EQUAL if greatest else BinaryOperator.LESS_EQUAL
    condition = compared(operator, left.node, right.node, span)
    node = Conditional(type=INTEGER, span=span, condition=condition, then=left.node, otherwise=right.node)
    (a, c), (d, e) = bounds(left), bounds(right)
    choose = max if greatest else min
    return Value(integer(choose(a, d), choose(c, e)), node)


EXPRESSIONS[ast.BinOp] = _binary
EXPRESSIONS[ast.UnaryOp] = _unary

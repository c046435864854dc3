"""Sets: arrays of booleans over all values that they may hold."""

from __future__ import annotations

import ast
from typing import Any

from outcrop.ir.nodes import (
    Assert,
    Assign,
    Binary,
    BinaryOperator,
    Clear,
    Expression,
    For,
    If,
    IndexPlace,
    Load,
    LocalPlace,
    Quantified,
    Quantifier,
    Return,
    Statement,
    TypeDomain,
    Unary,
    UnaryOperator,
)
from outcrop.ir.types import BOOLEAN, INTEGER
from outcrop.lang.python.context import CHANGES, METHODS, Body, generated
from outcrop.lang.python.kinds import BOOL, Kind, SetKind, integer
from outcrop.lang.python.values import Value, as_place, boolean, constant
from outcrop.source import Span


def member(b: Body, kind: SetKind, value: Value, index: Expression, span: Span) -> Load:
    """Returns whether a set holds the value that ``index`` evaluates to."""
    place = IndexPlace(type=BOOLEAN, span=span, base=as_place(value), index=index)
    return Load(type=BOOLEAN, span=span, place=place)


def _each(b: Body, kind: SetKind, span: Span) -> tuple[Any, Expression, TypeDomain]:
    """Returns a new local that runs through all values that a set may hold, a read of it, and its domain."""
    local = b.local("element", kind.element)
    return local, b.read_local(local, kind.element, span).node, TypeDomain(type=kind.element.simple)


def not_(node: Expression) -> Expression:
    return Unary(type=BOOLEAN, span=node.span, operator=UnaryOperator.NOT, operand=node)


def and_(left: Expression, right: Expression) -> Expression:
    return Binary(type=BOOLEAN, span=left.span, operator=BinaryOperator.AND, left=left, right=right)


def or_(left: Expression, right: Expression) -> Expression:
    return Binary(type=BOOLEAN, span=left.span, operator=BinaryOperator.OR, left=left, right=right)


def implies(left: Expression, right: Expression) -> Expression:
    return Binary(type=BOOLEAN, span=left.span, operator=BinaryOperator.IMPLIES, left=left, right=right)


def set_operation(b: Body, what: type[ast.operator], left: Value, right: Value, node: ast.AST) -> Value:
    """Returns a new set: the union, intersection, difference or symmetric difference of two."""
    kind, span = left.kind, b.span(node)
    assert isinstance(kind, SetKind)
    if kind != right.kind:
        return b.refuse(f"sets of different types cannot be combined: {left.kind} and {right.kind}", node)
    if what not in (ast.BitOr, ast.BitAnd, ast.Sub, ast.BitXor):
        return b.refuse("sets do not have this operator; use |, &, - or ^", node)

    def build(inner: Body) -> list[Statement]:
        first, second = (inner.add_reference(name, _placed(each)) for name, each in (("a", left), ("b", right)))
        made = inner.local("made", kind)
        local, element, domain = _each(inner, kind, span)
        x, y = (member(inner, kind, each, element, span) for each in (first, second))
        outcome = _combined(what, x, y)
        whole = LocalPlace(type=kind.type, span=span, local=made)
        target = IndexPlace(type=BOOLEAN, span=span, base=whole, index=element)
        loop = For(span=span, variable=local, domain=domain, body=(Assign(span=span, target=target, value=outcome),))
        return [loop, Return(span=span, value=Load(type=kind.type, span=span, place=whole))]

    return generated(b, "set_operation", kind, span, build)


def _combined(what: type[ast.operator], x: Expression, y: Expression) -> Expression:
    if what is ast.BitOr:
        return or_(x, y)
    if what is ast.BitXor:
        return Binary(type=BOOLEAN, span=x.span, operator=BinaryOperator.NOT_EQUAL, left=x, right=y)
    return and_(x, y) if what is ast.BitAnd else and_(x, not_(y))


def _placed(value: Value) -> Value:
    """Returns a value that lies somewhere, so that a function can refer to it."""
    return value if value.place is not None else Value(value.kind, value.node, as_place(value), value.fixed)


def subset(b: Body, left: Value, right: Value, span: Span) -> Expression:
    """Returns whether every element of one set is in the other."""
    kind = left.kind
    assert isinstance(kind, SetKind)
    local, element, domain = _each(b, kind, span)
    body = implies(member(b, kind, left, element, span), member(b, kind, right, element, span))
    return Quantified(span=span, quantifier=Quantifier.FORALL, variable=local, domain=domain, body=body)


def _is_nonempty(b: Body, value: Value, node: ast.Call) -> Value:
    kind, span = value.kind, value.span
    assert isinstance(kind, SetKind)
    local, element, domain = _each(b, kind, span)
    body = member(b, kind, value, element, span)
    found = Quantified(span=span, quantifier=Quantifier.EXISTS, variable=local, domain=domain, body=body)
    return Value(BOOL, found)


def _length(b: Body, value: Value, node: ast.Call) -> Value:
    kind, span = value.kind, b.span(node)
    assert isinstance(kind, SetKind)
    result = integer(0, kind.element.simple.cardinality)

    def build(inner: Body) -> list[Statement]:
        whole = inner.add_reference("s", _placed(value))
        count = inner.local("count", result)
        target = LocalPlace(type=count.type, span=span, local=count)
        read = Load(type=count.type, span=span, place=target)
        local, element, domain = _each(inner, kind, span)
        more = Binary(type=INTEGER, span=span, operator=BinaryOperator.ADD, left=read, right=constant(1, span).node)
        step = If(
            span=span,
            branches=((member(inner, kind, whole, element, span), (Assign(span=span, target=target, value=more),)),),
        )
        return [
            Assign(span=span, target=target, value=constant(0, span).node),
            For(span=span, variable=local, domain=domain, body=(step,)),
            Return(span=span, value=read),
        ]

    return generated(b, "len", result, span, build)


def _put(b: Body, value: Value, node: ast.Call, truth: bool) -> list[Statement]:
    kind, span = value.kind, b.span(node)
    assert isinstance(kind, SetKind) and value.place is not None
    if len(node.args) != 1:
        b.error("this method takes exactly one element", node)
        return []
    index = b.fitted(b.expression(node.args[0], kind.element), kind.element, "the element")
    target = IndexPlace(type=BOOLEAN, span=span, base=value.place, index=index)
    return [Assign(span=span, target=target, value=boolean(truth, span).node)]


def _remove(b: Body, value: Value, node: ast.Call) -> list[Statement]:
    made = _put(b, value, node, False)
    if not made:
        return []
    store = made[0]
    assert isinstance(store, Assign)
    present = Load(type=BOOLEAN, span=store.span, place=store.target)
    return [
        Assert(span=store.span, condition=present, message="KeyError: remove() of an element that is not there"),
        store,
    ]


def _clear(b: Body, value: Value, node: ast.Call) -> list[Statement]:
    assert value.place is not None
    return [Clear(span=b.span(node), target=value.place)]


def empty_set(kind: Kind, b: Body, span: Span) -> Value:
    """Returns a new set without elements."""

    def build(inner: Body) -> list[Statement]:
        place = LocalPlace(type=kind.type, span=span, local=inner.local("made", kind))
        return [Clear(span=span, target=place), Return(span=span, value=Load(type=kind.type, span=span, place=place))]

    return generated(b, "empty_set", kind, span, build)


METHODS[SetKind, "__bool__"] = _is_nonempty
METHODS[SetKind, "__len__"] = _length
CHANGES[SetKind, "add"] = lambda b, value, node: _put(b, value, node, True)
CHANGES[SetKind, "discard"] = lambda b, value, node: _put(b, value, node, False)
CHANGES[SetKind, "remove"] = _remove
CHANGES[SetKind, "clear"] = _clear

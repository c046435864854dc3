"""Bags: multisets of the System, whose elements lie in numbered slots."""

from __future__ import annotations

import ast

from outcrop.ir.nodes import (
    Assert,
    Assign,
    For,
    If,
    LocalPlace,
    MultisetAdd,
    MultisetCount,
    MultisetRemove,
    Quantified,
    Quantifier,
    Statement,
    TypeDomain,
    Undefine,
)
from outcrop.lang.python.context import CHANGES, METHODS, Body
from outcrop.lang.python.domains import over_bag
from outcrop.lang.python.expressions import equal
from outcrop.lang.python.kinds import BOOL, BagKind, IntKind, integer
from outcrop.lang.python.sets import and_, not_
from outcrop.lang.python.values import Value, as_place, boolean


def _bag(value: Value) -> BagKind:
    assert isinstance(value.kind, BagKind)
    return value.kind


def _argument(b: Body, value: Value, node: ast.Call) -> Value:
    if len(node.args) != 1 or node.keywords:
        return b.refuse("this method takes exactly one element", node)
    return b.expression(node.args[0], _bag(value).element)


def _add(b: Body, value: Value, node: ast.Call) -> list[Statement]:
    element = _argument(b, value, node)
    fitted = b.fitted(element, _bag(value).element, "the element")
    assert value.place is not None
    return [MultisetAdd(span=b.span(node), value=fitted, target=value.place)]


def _remove(b: Body, value: Value, node: ast.Call) -> list[Statement]:
    """Takes out one element: the slot itself where it is known, else the first that holds an equal one."""
    argument = node.args[0] if len(node.args) == 1 else None
    kind, span = _bag(value), b.span(node)
    assert value.place is not None
    name = argument.id if isinstance(argument, ast.Name) else ""
    element = b.chosen.get(name) or _argument(b, value, node)
    if element.slot is not None and element.slot.base == value.place:
        return [MultisetRemove(span=span, target=value.place, index=element.slot.index)]
    done = b.local("done", BOOL)
    flag = LocalPlace(type=BOOL.type, span=span, local=done)
    is_done = b.read_local(done, BOOL, span).node
    turns = over_bag(b, value, kind, span)
    assert isinstance(turns.item, Value) and turns.present is not None
    index = b.read_local(turns.variable, IntKind(kind.multiset.index), span).node
    matches = and_(and_(not_(is_done), turns.present), equal(b, turns.item, element, span))
    take = (
        MultisetRemove(span=span, target=value.place, index=index),
        Assign(span=span, target=flag, value=boolean(True, span).node),
    )
    return [
        Assign(span=span, target=flag, value=boolean(False, span).node),
        For(
            span=span, variable=turns.variable, domain=turns.domain, body=(If(span=span, branches=((matches, take),)),)
        ),
        Assert(span=span, condition=is_done, message="ValueError: remove() of an element that is not in the Bag"),
    ]


def _clear(b: Body, value: Value, node: ast.Call) -> list[Statement]:
    assert value.place is not None
    return [Undefine(span=b.span(node), target=value.place)]


def _length(b: Body, value: Value, node: ast.Call) -> Value:
    kind, span = _bag(value), b.span(node)
    local = b.local("slot", IntKind(kind.multiset.index))
    count = MultisetCount(
        type=integer(0, kind.multiset.capacity).type,
        span=span,
        variable=local,
        place=as_place(value),
        condition=boolean(True, span).node,
    )
    return Value(integer(0, kind.multiset.capacity), count)


def _count(b: Body, value: Value, node: ast.Call) -> Value:
    element = _argument(b, value, node)
    if element.is_unknown:
        return element
    span = b.span(node)
    turns = over_bag(b, value, _bag(value), span)
    assert isinstance(turns.item, Value)
    kind = integer(0, _bag(value).multiset.capacity)
    condition = equal(b, turns.item, element, span)
    made = MultisetCount(type=kind.type, span=span, variable=turns.variable, place=as_place(value), condition=condition)
    return Value(kind, made)


def _is_nonempty(b: Body, value: Value, node: ast.Call) -> Value:
    turns = over_bag(b, value, _bag(value), value.span)
    assert turns.present is not None and isinstance(turns.domain, TypeDomain)
    found = Quantified(
        span=value.span,
        quantifier=Quantifier.EXISTS,
        variable=turns.variable,
        domain=turns.domain,
        body=turns.present,
    )
    return Value(BOOL, found)


CHANGES[BagKind, "add"] = _add
CHANGES[BagKind, "remove"] = _remove
CHANGES[BagKind, "clear"] = _clear
METHODS[BagKind, "__len__"] = _length
METHODS[BagKind, "__bool__"] = _is_nonempty
METHODS[BagKind, "count"] = _count

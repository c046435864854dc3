"""Displays and comprehensions: new sets, dictionaries, arrays and tuples."""

from __future__ import annotations

import ast

from outcrop.ir.nodes import (
    Assign,
    Clear,
    For,
    LocalPlace,
    Statement,
    TypeDomain,
)
from outcrop.lang.python.context import EXPRESSIONS, Body
from outcrop.lang.python.domains import loops
from outcrop.lang.python.hints import NODES
from outcrop.lang.python.kinds import (
    ArrayKind,
    BoolKind,
    DictKind,
    Kind,
    RecordKind,
    SetKind,
    integer,
    record_kind,
)
from outcrop.lang.python.objects import built, construct, element_at, store, stored
from outcrop.lang.python.values import Value, boolean, constant
from outcrop.source import Span


def _refuse(b: Body, node: ast.AST) -> Value:
    title, hint = NODES[type(node)]
    return b.refuse(f"{title} can only be assigned to a field of its type", node, hint)


def _set_display(b: Body, node: ast.Set, wanted: Kind | None) -> Value:
    if not isinstance(wanted, SetKind):
        return _refuse(b, node)
    span = b.span(node)

    def fill(inner: Body, whole: LocalPlace) -> list[Statement]:
        made: list[Statement] = [Clear(span=span, target=whole)]
        for each in node.elts:
            index = inner.fitted(inner.expression(each, wanted.element), wanted.element, "the element")
            target = element_at(whole, BoolKind(), index, span)
            made.append(Assign(span=span, target=target, value=boolean(True, span).node))
        return made

    return built(b, wanted, span, fill)


def set_comprehension(b: Body, node: ast.SetComp | ast.GeneratorExp, wanted: Kind | None) -> Value:
    if not isinstance(wanted, SetKind):
        return _refuse(b, node)
    span = b.span(node)

    def fill(inner: Body, whole: LocalPlace) -> list[Statement]:
        def one() -> list[Statement]:
            index = inner.fitted(inner.expression(node.elt, wanted.element), wanted.element, "the element")
            target = element_at(whole, BoolKind(), index, span)
            return [Assign(span=span, target=target, value=boolean(True, span).node)]

        return [Clear(span=span, target=whole), *loops(inner, node.generators, one)]

    return built(b, wanted, span, fill)


def _dict_comprehension(b: Body, node: ast.DictComp, wanted: Kind | None) -> Value:
    if not isinstance(wanted, DictKind):
        return _refuse(b, node)
    span = b.span(node)

    def fill(inner: Body, whole: LocalPlace) -> list[Statement]:
        def one() -> list[Statement]:
            key = inner.fitted(inner.expression(node.key, wanted.key), wanted.key, "the key")
            value = inner.expression(node.value, wanted.element)
            target = element_at(whole, wanted.element, key, span)
            return store(inner, target, wanted.element, value, "the value")

        return loops(inner, node.generators, one)

    return built(b, wanted, span, fill)


def _dict_display(b: Body, node: ast.Dict, wanted: Kind | None) -> Value:
    if not isinstance(wanted, DictKind):
        return _refuse(b, node)
    span = b.span(node)
    if len(node.keys) != wanted.key.simple.cardinality or None in node.keys:
        message = f"{wanted} has {wanted.key.simple.cardinality} keys, but {len(node.keys)} are given"
        return b.refuse(message, node, "give every key a value, as with a comprehension: {k: ... for k in ...}")

    def fill(inner: Body, whole: LocalPlace) -> list[Statement]:
        made: list[Statement] = []
        for key, value in zip(node.keys, node.values, strict=True):
            assert key is not None
            index = inner.fitted(inner.expression(key, wanted.key), wanted.key, "the key")
            target = element_at(whole, wanted.element, index, span)
            made += store(inner, target, wanted.element, inner.expression(value, wanted.element), "the value")
        return made

    return built(b, wanted, span, fill)


def _list(b: Body, node: ast.List | ast.ListComp, wanted: Kind | None) -> Value:
    if not isinstance(wanted, ArrayKind):
        return _refuse(b, node)
    span = b.span(node)
    if isinstance(node, ast.List):
        return _listed(b, node, wanted, span)
    clause = node.generators[0]
    domain = b.static(clause.iter)
    size = len(domain.object) if domain is not None and isinstance(domain.object, range) else None
    if len(node.generators) > 1 or clause.ifs or size is None or domain is None or domain.object != range(size):
        return b.refuse(
            "the number of these elements is not known",
            node,
            "use one 'for' over range(n), as in [0 for _ in range(3)]",
        )
    if size != wanted.size:
        return b.refuse(f"{wanted} has {wanted.size} elements, but {size} are given", node)

    def fill(inner: Body, whole: LocalPlace) -> list[Statement]:
        kind = integer(0, wanted.size - 1)
        local = inner.local("index", kind)
        index = inner.read_local(local, kind, span, "a loop variable")
        if isinstance(clause.target, ast.Name):
            inner.names[clause.target.id] = index
        target = element_at(whole, wanted.element, index.node, span)
        body = store(inner, target, wanted.element, inner.expression(node.elt, wanted.element), "the element")
        return [For(span=span, variable=local, domain=TypeDomain(type=kind.simple), body=tuple(body))]

    return built(b, wanted, span, fill)


def _listed(b: Body, node: ast.List, wanted: ArrayKind, span: Span) -> Value:
    if len(node.elts) != wanted.size:
        return b.refuse(f"{wanted} has {wanted.size} elements, but {len(node.elts)} are given", node)

    def fill(inner: Body, whole: LocalPlace) -> list[Statement]:
        made: list[Statement] = []
        for at, each in enumerate(node.elts):
            target = element_at(whole, wanted.element, constant(at, span).node, span)
            made += store(inner, target, wanted.element, inner.expression(each, wanted.element), "the element")
        return made

    return built(b, wanted, span, fill)


def _tuple(b: Body, node: ast.Tuple, wanted: Kind | None) -> Value:
    kinds = [each for _, each in wanted.fields] if isinstance(wanted, RecordKind) and wanted.cls is tuple else []
    if kinds and len(kinds) != len(node.elts):
        return b.refuse(f"{wanted} has {len(kinds)} parts, but {len(node.elts)} are given", node)
    values = [b.expression(each, kinds[at] if kinds else None) for at, each in enumerate(node.elts)]
    if any(each.is_unknown for each in values):
        return b.unknown(node)
    if not kinds:
        kinds = [each.kind for each in values]
        wanted = record_kind(tuple, tuple((str(at), each) for at, each in enumerate(kinds)), frozen=True)
    assert isinstance(wanted, RecordKind)
    parts = [stored(b, value, kind, "this part") for value, kind in zip(values, kinds, strict=True)]
    return construct(b, wanted, parts, b.span(node))


EXPRESSIONS[ast.Set] = _set_display
EXPRESSIONS[ast.SetComp] = set_comprehension
EXPRESSIONS[ast.Dict] = _dict_display
EXPRESSIONS[ast.DictComp] = _dict_comprehension
EXPRESSIONS[ast.List] = _list
EXPRESSIONS[ast.ListComp] = _list
EXPRESSIONS[ast.Tuple] = _tuple

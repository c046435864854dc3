"""Assignments: to fields and their parts, to local variables, and aliases."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from outcrop.ir.nodes import (
    Assign,
    Bind,
    LocalPlace,
    Statement,
)
from outcrop.lang.python.arithmetic import operation
from outcrop.lang.python.calls import evaluate, is_changeable
from outcrop.lang.python.context import STATEMENTS, Body, ModelSelf
from outcrop.lang.python.expressions import attribute_of, element_of, field
from outcrop.lang.python.kinds import LOCAL_INT, UNKNOWN, IntKind, Kind, NoneKind, SetKind
from outcrop.lang.python.objects import store
from outcrop.lang.python.values import Value, relaxed, take_reference
from outcrop.lang.report import did_you_mean
from outcrop.source import Span


def _assign(b: Body, node: ast.Assign) -> list[Statement]:
    if len(node.targets) != 1:
        made: list[Statement] = []
        for target in node.targets:
            made += _assign_to(b, target, node.value, node)
        return made
    return _assign_to(b, node.targets[0], node.value, node)


def _assign_to(b: Body, target: ast.expr, value: ast.expr, node: ast.stmt) -> list[Statement]:
    if isinstance(target, ast.Tuple | ast.List):
        return _assign_tuple(b, target, value, node)
    if isinstance(target, ast.Name):
        return assign_name(b, target, value, node)
    place = _target(b, target)
    if place is None:
        b.expression(value)
        return []
    lowered = b.expression(value, place.kind)
    assert place.place is not None
    return [] if lowered.is_unknown else store(b, place.place, place.kind, lowered, f"'{ast.unparse(target)}'")


def _target(b: Body, node: ast.expr) -> Value | None:
    """Lowers what is assigned to; None after an error."""
    base: Any
    if isinstance(node, ast.Attribute):
        base = b.any_expression(node.value)
        if isinstance(base, ModelSelf):
            return _field_target(b, node)
        found = attribute_of(b, base, node.attr, node) if isinstance(base, Value) and not base.is_unknown else None
    elif isinstance(node, ast.Subscript):
        base = b.any_expression(node.value)
        known = isinstance(base, Value) and not base.is_unknown
        found = element_of(b, base, node.slice, node) if known else None
        if not isinstance(base, Value):
            b.error("a constant cannot be assigned to", node, "assign to a field: self.name = ...")
    else:
        b.error(f"'{ast.unparse(node)}' cannot be assigned to", node, "assign to a name, a field or an element")
        return None
    if isinstance(base, Value) and isinstance(base.kind, SetKind) and isinstance(node, ast.Subscript):
        return None
    return found if found is not None and is_changeable(b, found, node, "assigned to") else None


def _field_target(b: Body, node: ast.Attribute) -> Value | None:
    if node.attr not in b.model.fields:
        if b.model.is_constant(node.attr):
            b.error(
                f"'{node.attr}' is a constant and cannot be assigned to",
                node,
                f"to make it a field, annotate it: {node.attr}: ...",
            )
        else:
            hint = did_you_mean(node.attr, b.model.fields) or f"declare it in the class: {node.attr}: type"
            b.error(f"{b.model.cls.__name__} has no field '{node.attr}'", node, hint)
        return None
    was_read = node.attr in b.model.read
    found = field(b, node.attr, b.span(node))
    if not was_read:
        b.model.read.discard(node.attr)
    b.model.written.add(node.attr)
    return found if is_changeable(b, found, node, "assigned to") else None


def _assign_tuple(b: Body, target: ast.Tuple | ast.List, value: ast.expr, node: ast.stmt) -> list[Statement]:
    """Lowers an assignment to a tuple. All values are evaluated before the first target is written."""
    if not isinstance(value, ast.Tuple | ast.List) or len(value.elts) != len(target.elts):
        b.error("the numbers of values on the left and on the right differ", node, "write them out: a, b = x, y")
        return []
    made: list[Statement] = []
    stores: list[Statement] = []
    for each, part in zip(target.elts, value.elts, strict=True):
        name = each.id if isinstance(each, ast.Name) else ""
        place = None if name else _target(b, each)
        lowered = b.expression(part, None if place is None else place.kind)
        if lowered.is_unknown or (place is None and not name):
            continue
        kind = place.kind if place is not None else _local_kind(lowered)
        local = b.local("part", kind)
        span = b.span(part)
        temporary = LocalPlace(type=local.type, span=span, local=local)
        made += store(b, temporary, kind, lowered, "this")
        read = dataclasses.replace(b.read_local(local, kind, span), fresh=True)
        if place is None:
            stores += _assign_local(b, name, read, span)
        else:
            assert place.place is not None
            stores += store(b, place.place, place.kind, read, "this")
    return [*made, *stores]


def assign_name(
    b: Body, target: ast.Name, value: ast.expr, node: ast.stmt, kind: Kind | None = None
) -> list[Statement]:
    """Binds an alias, or assigns a local variable."""
    lowered = b.expression(value, kind)
    if lowered.is_unknown:
        b.names[target.id] = lowered
        return []
    span = b.span(node)
    if b.bound_once.get(target.id) is node:
        bound = _bind(b, target.id, lowered, span)
        if bound is not None:
            return bound
    if lowered.kind.is_mutable and not lowered.fresh:
        hint = "assign it once, before all its uses; or copy it: deepcopy(...)"
        b.error(f"'{target.id}' would be a second name of a mutable {lowered.kind.title}", node, hint)
        return []
    return _assign_local(b, target.id, lowered, span, kind)


def _bind(b: Body, name: str, value: Value, span: Span) -> list[Statement] | None:
    """Binds a name that is assigned once; None where it needs a variable."""
    if value.kind.type.is_simple:
        kind = _local_kind(value)
        local = b.local(name, kind)
        b.names[name] = b.read_local(local, kind, span, "")
        node = relaxed(value.node) if value.kind.optional else value.node
        return [Bind(span=span, local=local, target=node)]
    if value.place is not None and value.kind.is_mutable:
        local = b.local(name, value.kind, is_reference=True)
        take_reference(value.place)
        b.names[name] = b.read_local(local, value.kind, span, value.fixed)
        return [Bind(span=span, local=local, target=value.place)]
    return None


def _local_kind(value: Value) -> Kind:
    if isinstance(value.kind, IntKind):
        return IntKind(LOCAL_INT.type, value.kind.optional)
    return value.kind


def _assign_local(b: Body, name: str, value: Value, span: Span, kind: Kind | None = None) -> list[Statement]:
    known = b.names.get(name)
    if isinstance(known, Value) and not known.is_unknown:
        if known.fixed:
            b.error(f"'{name}' is {known.fixed} and cannot be assigned to", span, "use another name")
            return []
        assert known.place is not None
        return store(b, known.place, known.kind, value, f"'{name}'")
    if isinstance(value.kind, NoneKind) and kind is None:
        b.error(f"the type of '{name}' is not known", span, f"annotate it: {name}: Node | None = None")
        return []
    kind = _local_kind(value) if kind is None else kind
    local = b.local(name, kind)
    fixed = value.fixed if value.kind.is_mutable and not value.fresh else ""
    b.names[name] = b.read_local(local, kind, span, fixed)
    place = LocalPlace(type=local.type, span=span, local=local)
    return store(b, place, kind, dataclasses.replace(value, fresh=True), f"'{name}'")


def _annotated(b: Body, node: ast.AnnAssign) -> list[Statement]:
    if not isinstance(node.target, ast.Name):
        b.error(
            "a field is annotated outside the class body", node, "leave out the annotation, or move it to the class"
        )
        return []
    annotation = evaluate(b, node.annotation)
    kind = b.model.kind_of(annotation, b.span(node.annotation), argument=True) if annotation is not None else UNKNOWN
    if kind is UNKNOWN:
        b.names[node.target.id] = b.unknown(node)
        return []
    if isinstance(kind, IntKind):
        kind = IntKind(LOCAL_INT.type, kind.optional)
    if node.value is None:
        local = b.local(node.target.id, kind)
        b.names[node.target.id] = b.read_local(local, kind, b.span(node))
        return []
    return assign_name(b, node.target, node.value, node, kind)


def _augmented(b: Body, node: ast.AugAssign) -> list[Statement]:
    if isinstance(node.target, ast.Name):
        known = b.lookup(node.target.id)
        target = known if isinstance(known, Value) and is_changeable(b, known, node.target, "assigned to") else None
        if known is None:
            name = node.target.id
            hint = f"a field is written self.{name}" if name in b.model.fields else "assign to it before"
            b.error(f"'{name}' has no value yet", node.target, hint)
    else:
        target = _target(b, node.target)
    if target is None or target.place is None:
        return []
    span = b.span(node)
    here = b.read(dataclasses.replace(target.place, span=b.span(node.target)), target.kind)
    if isinstance(node.target, ast.Attribute):
        b.model.read.add(node.target.attr)
    value = operation(b, type(node.op), here, b.expression(node.value, target.kind), node)
    if value.is_unknown:
        return []
    return [Assign(span=span, target=target.place, value=b.fitted(value, target.kind, f"'{ast.unparse(node.target)}'"))]


STATEMENTS[ast.Assign] = _assign
STATEMENTS[ast.AnnAssign] = _annotated
STATEMENTS[ast.AugAssign] = _augmented

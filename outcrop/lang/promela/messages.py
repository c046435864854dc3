"""Structures in messages: an argument that is a structure stands for all its fields, and a typedef in a channel too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from outcrop.ir.types import Array, Record, Type
from outcrop.lang.promela import syntax
from outcrop.lang.promela.control import Graph
from outcrop.lang.report import Report

#: Returns the type of a variable by its name, None if the name is not a variable.
TypeOf = Callable[[str], Type | None]


def expand_messages(graph: Graph, type_of: TypeOf) -> None:
    """Replaces structures among the arguments of messages by their fields, in all steps of a graph."""
    for location in graph.locations:
        for step in location.steps:
            step.action = _expanded(step.action, type_of)
            if step.graph is not None:
                expand_messages(step.graph, type_of)


def _expanded(node: Any, type_of: TypeOf) -> Any:
    if isinstance(node, syntax.Block):
        return node
    if isinstance(node, tuple):
        return tuple(_expanded(each, type_of) for each in node)
    if not isinstance(node, syntax.Expression | syntax.Statement) or not is_dataclass(node):
        return node
    changed = {}
    for each in fields(node):
        part = getattr(node, each.name)
        new = _expanded(part, type_of) if each.name != "span" else part
        if each.name == "arguments" and not isinstance(node, syntax.Print):
            new = tuple(leaf for argument in new for leaf in _leaves(argument, type_of))
        if new is not part and new != part:
            changed[each.name] = new
    return replace(node, **changed) if changed else node


def _leaves(node: syntax.Expression, type_of: TypeOf) -> Iterator[syntax.Expression]:
    """Yields an argument, or the fields of a structure."""
    if not isinstance(node, syntax.Reference):
        yield node
        return
    kind, here = type_of(node.name.text), node
    path = [node]
    while kind is not None:
        if isinstance(kind, Array) and here.index is not None:
            kind = kind.element
        if here.next is None or not isinstance(kind, Record):
            break
        here = here.next
        path.append(here)
        kind = dict(kind.fields).get(here.name.text)
    if not isinstance(kind, Record):
        yield node
        return
    for tail in _tails(kind, node):
        yield _joined(path, tail)


def _tails(kind: Record, node: syntax.Reference) -> Iterator[syntax.Reference]:
    for name, part in kind.fields:
        field = syntax.Reference(syntax.Name(name, node.span), span=node.span)
        elements = [field]
        if isinstance(part, Array):
            numbers = range(part.index.cardinality)
            elements = [replace(field, index=syntax.Number(each, span=node.span)) for each in numbers]
            part = part.element
        for each in elements:
            if isinstance(part, Record):
                for tail in _tails(part, node):
                    yield replace(each, next=tail)
            else:
                yield each


def _joined(path: list[syntax.Reference], tail: syntax.Reference) -> syntax.Reference:
    for each in reversed(path):
        tail = replace(each, next=tail)
    return tail


def report_twice_taken(node: syntax.Receive, is_value: Callable[[syntax.Expression], bool], report: Report) -> None:
    """Reports variables that take two values of a message. Elements and fields may stand there twice, as in SPIN."""
    names: set[str] = set()
    for each in node.arguments:
        if isinstance(each, syntax.Reference) and each.index is None and each.next is None and not is_value(each):
            if each.name.text in names - {"_"}:
                hint = "use another variable, or '_' for a value that is not needed"
                report.error(f"'{each.name.text}' takes two values of this message", each.span, hint)
                return
            names.add(each.name.text)

"""Traversal of expressions, places and statements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import Any

from outcrop.ir.nodes import Binary, BinaryOperator, Call, Expression, Place, Statement, StepDomain, TypeDomain

NODE_TYPES = (Expression, Place, Statement, StepDomain, TypeDomain)


@cache
def _parts_backwards(kind: type) -> tuple[str, ...]:
    """Returns the fields of a node that may hold nodes, by their annotations."""
    kinds = {"Domain", *(each.__name__ for each in _with_subclasses(NODE_TYPES))}
    words = ((each.name, re.findall(r"\w+", str(each.type))) for each in reversed(fields(kind)))
    return tuple(name for name, some in words if not kinds.isdisjoint(some))


def _with_subclasses(kinds: Sequence[type]) -> Iterator[type]:
    for each in kinds:
        yield each
        yield from _with_subclasses(each.__subclasses__())


def walk(node: Any) -> Iterator[Any]:
    """Yields ``node`` and every node in it, outermost first. The bodies of called functions are not entered."""
    pending = [node]
    while pending:
        each = pending.pop()
        if isinstance(each, tuple):
            pending.extend(reversed(each))
        elif isinstance(each, NODE_TYPES):
            yield each
            kind: Any = type(each)
            pending.extend(getattr(each, name) for name in _parts_backwards(kind))


def changed(node: Any, change: Callable[[Any], Any]) -> Any:
    """Returns ``node`` with every node in it changed, outermost first. The bodies of called functions stay."""
    if isinstance(node, tuple):
        return tuple(changed(each, change) for each in node)
    if not isinstance(node, NODE_TYPES):
        return node
    node = change(node)
    return replace(node, **{each.name: changed(getattr(node, each.name), change) for each in fields(node)})


def writes_state(node: Any) -> bool:
    """Returns whether an expression, or one of a tuple, calls a function that may assign a state variable."""
    return any(isinstance(each, Call) and each.function.writes_state for each in walk(node))


def conjuncts(node: Expression) -> Iterator[Expression]:
    """Yields the conjuncts of a guard, in order."""
    if isinstance(node, Binary) and node.operator is BinaryOperator.AND:
        yield from conjuncts(node.left)
        yield from conjuncts(node.right)
    else:
        yield node

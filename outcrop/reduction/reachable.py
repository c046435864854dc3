"""Traversals of statements: with the functions that they call, and for returns and the locals that they change."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from outcrop.ir.nodes import (
    Assign,
    Bind,
    Call,
    Clear,
    For,
    If,
    Local,
    LocalPlace,
    MultisetAdd,
    Return,
    Statement,
    Switch,
    Undefine,
    While,
)
from outcrop.ir.system import Function, Rule
from outcrop.ir.walk import walk


def reachable_nodes(node: Any) -> Iterator[Any]:
    """Yields the nodes of an expression or of statements, and those of all functions that they may call."""
    pending, entered = [node], set[Function]()
    while pending:
        for each in walk(pending.pop()):
            yield each
            if isinstance(each, Call) and each.function not in entered:
                entered.add(each.function)
                pending.append(each.function.body)


@lru_cache(maxsize=2048)
def assigned_in(rule: Rule) -> frozenset[Local]:
    """Returns the locals that change after they are bound, in a rule and in functions that it calls."""
    return frozenset(assigned_locals((rule.guard, rule.body)))


def assigned_locals(node: Any) -> Iterator[Local]:
    """Yields the locals that change after they are bound."""
    for each in reachable_nodes(node):
        if isinstance(each, Assign | Clear | Undefine | MultisetAdd | Bind):
            if isinstance(each.target, LocalPlace):
                yield each.target.local
        elif isinstance(each, Call):
            yield from (argument.local for argument in each.arguments if isinstance(argument, LocalPlace))


def may_return(node: Statement) -> bool:
    """Returns whether a statement may end the function or rule that it is in."""
    blocks: list[tuple[Statement, ...]] = []
    match node:
        case Return():
            return True
        case If():
            blocks = [*(body for _, body in node.branches), node.otherwise]
        case Switch():
            blocks = [*(body for _, body in node.cases), node.otherwise]
        case For() | While():
            blocks = [node.body]
    return any(may_return(each) for block in blocks for each in block)

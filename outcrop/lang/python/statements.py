"""Statements."""

from __future__ import annotations

import ast
from typing import Any

from outcrop.ir.nodes import (
    Assert,
    Assign,
    Assume,
    Error,
    If,
    Local,
    LocalPlace,
    Put,
    Return,
    Statement,
)
from outcrop.lang.python.calls import call_statement
from outcrop.lang.python.context import STATEMENTS, Body
from outcrop.lang.python.hints import NODES
from outcrop.lang.python.kinds import BOOL
from outcrop.lang.python.values import boolean
from outcrop.model import when
from outcrop.source import Span


def block(b: Body, nodes: list[ast.stmt]) -> list[Statement]:
    """Lowers a row of statements. What follows one that may leave the loop stands under a test."""
    made: list[Statement] = []
    for position, node in enumerate(nodes):
        made += statement(b, node)
        if b.loops and _may_leave(node) and position + 1 < len(nodes):
            loop = b.loops[-1]
            rest = block(b, nodes[position + 1 :])
            for flag in (loop.skipped, loop.broken):
                if flag is not None and rest:
                    read = b.read_local(flag, BOOL, b.span(node)).node
                    rest = [If(span=b.span(node), branches=((read, ()),), otherwise=tuple(rest))]
            return [*made, *rest]
    return made


def _may_leave(node: ast.AST) -> bool:
    """Returns whether a statement has a ``break`` or ``continue`` of the loop around it."""
    if isinstance(node, ast.Break | ast.Continue):
        return True
    if isinstance(node, ast.For | ast.While):
        return False
    return any(_may_leave(each) for each in ast.iter_child_nodes(node))


def statement(b: Body, node: ast.stmt) -> list[Statement]:
    lower = STATEMENTS.get(type(node))
    if lower is not None:
        return lower(b, node)
    title, hint = NODES.get(type(node), (f"'{type(node).__name__.lower()}'", ""))
    b.error(f"{title} is not available in models", _head(b, node), hint)
    return []


def _head(b: Body, node: ast.stmt) -> Span:
    """Returns the first line of a statement."""
    span = b.span(node)
    return Span(span.source, span.start, span.start + max(1, len(span.text.split("\n")[0])))


def _assignment(value: ast.expr) -> str:
    """Returns the assignment that the author of an expression without effect may have meant."""
    match value:
        case ast.BinOp(left=left, op=ast.Add(), right=ast.UnaryOp(op=ast.UAdd(), operand=right)):
            return f"write {ast.unparse(left)} += {ast.unparse(right)}"
        case ast.BinOp(left=left, op=ast.Sub(), right=ast.UnaryOp(op=ast.USub(), operand=right)):
            return f"write {ast.unparse(left)} -= {ast.unparse(right)}"
        case ast.Compare(
            left=ast.Attribute() | ast.Subscript() | ast.Name() as left, ops=[ast.Eq()], comparators=[right]
        ):
            return f"to assign, write {ast.unparse(left)} = {ast.unparse(right)}; to state a condition, when(...)"
        case ast.Compare() | ast.BoolOp():
            return "to state a condition, write when(...)"
    return ""


# --- Expressions as statements -----------------------------------------------------------------------------


def _expression(b: Body, node: ast.Expr) -> list[Statement]:
    value = node.value
    if isinstance(value, ast.Constant) and (isinstance(value.value, str) or value.value is Ellipsis):
        return []
    if not isinstance(value, ast.Call):
        title, hint = NODES.get(type(value), ("", _assignment(value)))
        b.error(f"{title} is not available in models" if title else "this statement has no effect", node, hint)
        return []
    called = b.static(value.func)
    if called is not None and called.object is when:
        return _when(b, value)
    if called is not None and called.object is print:
        return _print(b, value)
    return call_statement(b, value)


def _when(b: Body, node: ast.Call) -> list[Statement]:
    if not b.in_rule:
        b.error("'when' can only stand in a rule", node, "return a bool from the helper, and test it in the rule")
        return []
    if len(node.args) != 1 or node.keywords:
        b.error("'when' takes exactly one condition", node, "join conditions with 'and'")
        return []
    condition = b.condition(node.args[0], "the condition of 'when'")
    return [Assume(span=b.span(node), condition=condition, message="when")]


def _print(b: Body, node: ast.Call) -> list[Statement]:
    made: list[Statement] = []
    for number, each in enumerate(node.args):
        span = b.span(each)
        if number:
            made.append(Put(span=span, argument=" "))
        parts = each.values if isinstance(each, ast.JoinedStr) else [each]
        for part in parts:
            if isinstance(part, ast.FormattedValue):
                part = part.value
            static = b.static(part)
            if static is not None and not hasattr(static.object, "__members__"):
                made.append(Put(span=span, argument=str(getattr(static.object, "name", static.object))))
                continue
            value = b.expression(part)
            if not value.is_unknown:
                made.append(Put(span=span, argument=value.place or value.node))
    return [*made, Put(span=b.span(node), argument="\n")]


# --- Control -----------------------------------------------------------------------------------------------


def _if(b: Body, node: ast.If) -> list[Statement]:
    branches = []
    otherwise: list[Statement] = []
    rest: ast.If | None = node
    names = dict(b.names)
    while rest is not None:
        condition = b.condition(rest.test, "the condition of 'if'")
        branches.append((condition, tuple(branch(b, rest.body, names))))
        following = rest.orelse
        rest = following[0] if len(following) == 1 and isinstance(following[0], ast.If) else None
        if rest is None and following:
            otherwise = branch(b, following, names)
    return [If(span=_head(b, node), branches=tuple(branches), otherwise=tuple(otherwise))]


def branch(b: Body, nodes: list[ast.stmt], names: dict[str, Any]) -> list[Statement]:
    """Lowers a branch. Variables that it makes stay known; aliases of it do not."""
    made = block(b, nodes)
    for name in [each for each in b.names if each not in names and each in b.bound_once]:
        del b.names[name]
    return made


def _assert(b: Body, node: ast.Assert) -> list[Statement]:
    if isinstance(node.test, ast.Tuple):
        b.error("this asserts a tuple, which is always true", node.test, "leave the parentheses out")
        return []
    condition = b.condition(node.test, "the condition of 'assert'")
    message = _text(node.msg) or f"assert {ast.unparse(node.test)}"
    return [Assert(span=b.span(node), condition=condition, message=message)]


def _text(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(str(each.value) if isinstance(each, ast.Constant) else "..." for each in node.values)
    return ""


def _raise(b: Body, node: ast.Raise) -> list[Statement]:
    raised = node.exc
    text = _text(raised.args[0]) if isinstance(raised, ast.Call) and raised.args else ""
    name = ast.unparse(raised.func if isinstance(raised, ast.Call) else raised) if raised is not None else "raise"
    return [Error(span=b.span(node), message=f"{name}: {text}" if text else name)]


def _return(b: Body, node: ast.Return) -> list[Statement]:
    span = b.span(node)
    if node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None and b.result is None):
        if b.result is not None and not b.result.optional:
            b.error(f"the value that is returned must be {b.result}", node)
        return [
            Return(
                span=span,
                value=b.fitted(b.expression(ast.copy_location(ast.Constant(None), node)), b.result, "the value")
                if b.result is not None and b.result.optional
                else None,
            )
        ]
    if b.result is None:
        if b.function is None:
            b.error("a rule cannot return a value", node, "to restrict when it is enabled, write when(...)")
        else:
            b.error(f"'{b.function.name}' returns nothing", node, "annotate what it returns: -> bool")
        return []
    value = b.fitted(b.expression(node.value, b.result), b.result, "the value that is returned")
    return [Return(span=span, value=value)]


def _leave(b: Body, node: ast.Break | ast.Continue) -> list[Statement]:
    loop = b.loops[-1]
    name = "broken" if isinstance(node, ast.Break) else "skipped"
    flag: Local | None = getattr(loop, name)
    if flag is None:
        flag = b.local(name, BOOL)
        setattr(loop, name, flag)
    span = b.span(node)
    return [Assign(span=span, target=LocalPlace(type=BOOL.type, span=span, local=flag), value=boolean(True, span).node)]


def _pass(b: Body, node: ast.Pass) -> list[Statement]:
    return []


STATEMENTS[ast.Expr] = _expression
STATEMENTS[ast.If] = _if
STATEMENTS[ast.Assert] = _assert
STATEMENTS[ast.Raise] = _raise
STATEMENTS[ast.Return] = _return
STATEMENTS[ast.Break] = _leave
STATEMENTS[ast.Continue] = _leave
STATEMENTS[ast.Pass] = _pass

"""Loops and ``match``."""

from __future__ import annotations

import ast
from typing import Any

from outcrop.ir.nodes import (
    Assign,
    BinaryOperator,
    Expression,
    For,
    If,
    Local,
    LocalPlace,
    Statement,
    Switch,
    While,
)
from outcrop.lang.folding import fold_short_circuit
from outcrop.lang.python.context import STATEMENTS, Body, Loop
from outcrop.lang.python.domains import Unrolled, bind, iteration
from outcrop.lang.python.expressions import equal, is_none
from outcrop.lang.python.kinds import BOOL, Kind, RecordKind
from outcrop.lang.python.sets import and_, not_, or_
from outcrop.lang.python.statements import branch
from outcrop.lang.python.values import Value, as_place, boolean, field_place, relaxed
from outcrop.lang.while_limit import LoopOptions
from outcrop.source import Span


def _store_flag(flag: Local, truth: bool, span: Span) -> Assign:
    place = LocalPlace(type=BOOL.type, span=span, local=flag)
    return Assign(span=span, target=place, value=boolean(truth, span).node)


def _within_loop(b: Body, nodes: list[ast.stmt], span: Span, loop: Loop | None = None) -> tuple[list[Statement], Loop]:
    """Lowers the body of a loop; ``continue`` skips the rest of it, ``break`` the turns that follow too."""
    loop = loop or Loop()
    b.loops.append(loop)
    body = branch(b, nodes, dict(b.names))
    b.loops.pop()
    if loop.skipped is not None:
        body = [_store_flag(loop.skipped, False, span), *body]
    if loop.broken is not None:
        body = [If(span=span, branches=((b.read_local(loop.broken, BOOL, span).node, ()),), otherwise=tuple(body))]
    return body, loop


def _around(loop: Loop, made: list[Statement], span: Span) -> list[Statement]:
    return made if loop.broken is None else [_store_flag(loop.broken, False, span), *made]


def _for(b: Body, node: ast.For) -> list[Statement]:
    span = b.span(node.iter)
    turns = iteration(b, node.iter)
    if turns is None:
        return []
    targets = [each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)]
    before = {name: b.names.get(name) for name in targets}
    made = _unrolled(b, node, turns, span) if isinstance(turns, Unrolled) else _looped(b, node, turns, span)
    for name, value in before.items():
        if value is None:
            b.names.pop(name, None)
        else:
            b.names[name] = value
    if node.orelse:
        b.error("loops of models have no 'else'", node.orelse[0], "set a variable before 'break', and test it")
    return made


def _looped(b: Body, node: ast.For, turns: Any, span: Span) -> list[Statement]:
    if not bind(b, node.target, turns.item, turns):
        return []
    body, loop = _within_loop(b, node.body, span)
    if turns.present is not None:
        body = [If(span=span, branches=((turns.present, tuple(body)),))]
    return _around(loop, [For(span=span, variable=turns.variable, domain=turns.domain, body=tuple(body))], span)


def _unrolled(b: Body, node: ast.For, turns: Unrolled, span: Span) -> list[Statement]:
    made: list[Statement] = []
    loop = Loop()
    for item in turns.items:
        if not bind(b, node.target, item):
            return []
        made += _within_loop(b, node.body, span, loop)[0]
    return _around(loop, made, span)


def _while(b: Body, node: ast.While) -> list[Statement]:
    span = b.span(node.test)
    condition = b.condition(node.test, "the condition of 'while'")
    body, loop = _within_loop(b, node.body, span)
    if loop.broken is not None:
        condition = and_(not_(b.read_local(loop.broken, BOOL, span).node), condition)
    if node.orelse:
        b.error("loops of models have no 'else'", node.orelse[0], "set a variable before 'break', and test it")
    limit = b.model.options.of(LoopOptions).while_limit
    return _around(loop, [While(span=span, condition=condition, body=tuple(body), limit=limit)], span)


# --- match -------------------------------------------------------------------------------------------------


def _match(b: Body, node: ast.Match) -> list[Statement]:
    span = b.span(node.subject)
    subjects = _subjects(b, node.subject)
    if subjects is None:
        return []
    if isinstance(subjects, Value) and subjects.kind.type.is_simple and all(map(_is_plain, node.cases)):
        return _switch(b, node, subjects, span)
    names = dict(b.names)
    branches: list[tuple[Expression, tuple[Statement, ...]]] = []
    for case in node.cases:
        condition, bindings = _pattern(b, case.pattern, subjects)
        statements: list[Statement] = []
        for name, value in bindings:
            b.names[name] = value
        if case.guard is not None:
            guard = b.condition(case.guard, "the condition of a case")
            condition = guard if condition is None else and_(condition, guard)
        statements += branch(b, case.body, names)
        for name, _ in bindings:
            b.names.pop(name, None)
        branches.append((condition or boolean(True, span).node, tuple(statements)))
    return [If(span=span, branches=tuple(branches))]


def _subjects(b: Body, node: ast.expr) -> Value | tuple[Value, ...] | None:
    if isinstance(node, ast.Tuple):
        parts = tuple(b.expression(each) for each in node.elts)
        return None if any(each.is_unknown for each in parts) else parts
    value = b.expression(node)
    return None if value.is_unknown else value


def _is_plain(case: ast.match_case) -> bool:
    """Returns whether a case names only values."""
    patterns = case.pattern.patterns if isinstance(case.pattern, ast.MatchOr) else [case.pattern]
    is_last = isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.pattern.name is None
    return case.guard is None and (is_last or all(isinstance(each, ast.MatchValue) for each in patterns))


def _switch(b: Body, node: ast.Match, subject: Value, span: Span) -> list[Statement]:
    cases: list[tuple[tuple[Expression, ...], tuple[Statement, ...]]] = []
    otherwise: list[Statement] = []
    names = dict(b.names)
    for case in node.cases:
        patterns = case.pattern.patterns if isinstance(case.pattern, ast.MatchOr) else [case.pattern]
        labels = tuple(
            b.fitted(b.expression(each.value, subject.kind), subject.kind, "the value")
            for each in patterns
            if isinstance(each, ast.MatchValue)
        )
        body = branch(b, case.body, names)
        if labels:
            cases.append((labels, tuple(body)))
        else:
            otherwise = body
    selector = relaxed(subject.node) if subject.kind.optional else subject.node
    return [Switch(span=span, selector=selector, cases=tuple(cases), otherwise=tuple(otherwise))]


def _pattern(
    b: Body, pattern: ast.pattern, subject: Value | tuple[Value, ...]
) -> tuple[Expression | None, list[tuple[str, Value]]]:
    """Returns when a pattern matches, None for always, and the names that it binds."""
    span = b.span(pattern)
    match pattern:
        case ast.MatchAs(pattern=None):
            if pattern.name is None:
                return None, []
            if isinstance(subject, Value):
                return None, [(pattern.name, subject)]
        case ast.MatchValue() if isinstance(subject, Value):
            return equal(b, subject, b.expression(pattern.value, subject.kind), span), []
        case ast.MatchSingleton() if isinstance(subject, Value):
            if pattern.value is None:
                return is_none(subject, span), []
            return equal(b, subject, boolean(bool(pattern.value), span), span), []
        case ast.MatchOr():
            parts = [_pattern(b, each, subject) for each in pattern.patterns]
            if any(bindings for _, bindings in parts):
                b.error("alternatives of a pattern cannot bind names", pattern, "write one 'case' for each")
            conditions = [condition or boolean(True, span).node for condition, _ in parts]
            outcome = conditions[0]
            for each in conditions[1:]:
                outcome = or_(outcome, each)
            return outcome, []
        case ast.MatchSequence():
            parts_of = _sequence(b, subject, span)
            if parts_of is not None and len(parts_of) == len(pattern.patterns):
                return _all(b, list(zip(pattern.patterns, parts_of, strict=True)))
        case ast.MatchClass() if isinstance(subject, Value):
            return _class_pattern(b, pattern, subject)
    b.error("models do not have this kind of pattern", pattern, "match values, '_', names, tuples and dataclasses")
    return boolean(False, span).node, []


def _sequence(b: Body, subject: Value | tuple[Value, ...], span: Span) -> tuple[Value, ...] | None:
    if isinstance(subject, tuple):
        return subject
    if isinstance(subject.kind, RecordKind) and subject.kind.cls is tuple:
        return tuple(_part(b, subject, at, kind, span) for at, (_, kind) in enumerate(subject.kind.fields))
    return None


def _part(b: Body, subject: Value, number: int, kind: Kind, span: Span) -> Value:
    return b.read(field_place(as_place(subject), kind, number, span), kind, "a part of what is matched")


def _all(b: Body, pairs: list[tuple[ast.pattern, Value]]) -> tuple[Expression | None, list[tuple[str, Value]]]:
    outcome: Expression | None = None
    names: list[tuple[str, Value]] = []
    for pattern, value in pairs:
        condition, bindings = _pattern(b, pattern, value)
        names += bindings
        if condition is not None:
            joined = None if outcome is None else fold_short_circuit(BinaryOperator.AND, outcome, condition)
            outcome = condition if outcome is None else joined or and_(outcome, condition)
    return outcome, names


def _class_pattern(
    b: Body, pattern: ast.MatchClass, subject: Value
) -> tuple[Expression | None, list[tuple[str, Value]]]:
    static, kind, span = b.static(pattern.cls), subject.kind, b.span(pattern)
    if static is None or not isinstance(kind, RecordKind) or static.object is not kind.cls:
        b.error(f"this pattern never matches {kind}", pattern)
        return boolean(False, span).node, []
    names = [name for name, _ in kind.fields]
    pairs = [*zip(names, pattern.patterns, strict=False), *zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True)]
    matched = []
    for name, each in pairs:
        position = kind.position(name)
        if position is None:
            b.error(f"{kind.title} has no field '{name}'", each)
            continue
        matched.append((each, _part(b, subject, position, kind.fields[position][1], span)))
    condition, bindings = _all(b, matched)
    if kind.optional:
        present = not_(is_none(subject, span))
        condition = present if condition is None else and_(present, condition)
    return condition, bindings


STATEMENTS[ast.For] = _for
STATEMENTS[ast.While] = _while
STATEMENTS[ast.Match] = _match

"""Loops over interchangeable values whose outcome depends on the order of their turns.

Symmetry reduction assumes that no rule prefers one value of a Symmetric class. A loop breaks the assumption when one
turn overwrites what another has stored: ``for n in Node: self.last = n`` stores the last value. The analysis finds
assignments and returns of a value that depends on the loop variable, in places that do not. In a loop with ``break``
or ``return`` it finds every change that depends on the loop variable. It accepts accumulation, minima and maxima, and
turns that an equality singles out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from outcrop.ir.nodes import (
    Assign,
    Binary,
    BinaryOperator,
    Bind,
    Call,
    Clear,
    Expression,
    For,
    If,
    Load,
    Local,
    LocalPlace,
    MultisetAdd,
    MultisetRemove,
    Place,
    Return,
    Statement,
    Switch,
    TypeDomain,
    Undefine,
    While,
)
from outcrop.ir.system import Function, has_symmetry
from outcrop.ir.walk import walk
from outcrop.source import Diagnostic, Severity, Span

_ORDER = (BinaryOperator.LESS, BinaryOperator.LESS_EQUAL, BinaryOperator.GREATER, BinaryOperator.GREATER_EQUAL)


def ordered_loops(bodies: Iterable[tuple[Statement, ...]]) -> Iterator[Diagnostic]:
    """Yields a warning for each loop over interchangeable values that depends on their order."""
    for body in bodies:
        loops = [node for node in walk(body) if _is_symmetric(node)]
        inside = {id(node) for loop in loops for node in walk(loop.body)}
        outer = {each.place.local for each in _loads(body) if id(each) not in inside and _is_local(each.place)}
        for loop in loops:
            turn = _Turn({loop.variable}, outer, ends_early=any(map(_ends, walk(loop.body))))
            span = next(turn.dependent(loop.body, ()), None)
            if span is not None:
                yield _warning(loop, span)


def _warning(loop: For, span: Span) -> Diagnostic:
    assert isinstance(loop.domain, TypeDomain)
    message = (
        f"this depends on the order of the values of {loop.domain.type}, which are interchangeable: "
        "only one order is explored, and symmetry is off"
    )
    hint = "to explore every possibility, use a parameter of the rule or choose(...) instead of the loop"
    return Diagnostic(Severity.WARNING, message, span, hint, (("the loop", loop.span),), bears_on_verdict=True)


def _is_symmetric(node: Any) -> bool:
    return isinstance(node, For) and isinstance(node.domain, TypeDomain) and has_symmetry(node.domain.type)


def _ends(node: Any) -> bool:
    """Returns whether a statement ends the loop: a return, or the test of the flag that ``break`` sets."""
    if isinstance(node, If):
        condition, body = node.branches[0]
        return not body and bool(node.otherwise) and isinstance(condition, Load) and _is_local(condition.place)
    return isinstance(node, Return)


def _loads(node: Any) -> Iterator[Any]:
    return (each for each in walk(node) if isinstance(each, Load))


def _is_local(place: Place) -> bool:
    return isinstance(place, LocalPlace) and not place.local.is_reference


@dataclass
class _Turn:
    """One turn of a loop. ``own``: locals that depend on the loop variable. ``outer``: locals read after the loop.
    ``ends_early``: whether a turn can be the last, so that what it stores under its own index depends on the order."""

    own: set[Local]
    outer: set[Local]
    entered: tuple[Function, ...] = ()
    ends_early: bool = False

    def dependent(self, body: tuple[Statement, ...], guards: tuple[Expression, ...]) -> Iterator[Span]:
        """Yields the statements whose effect depends on which turn comes last, or first."""
        for each in body:
            match each:
                case Bind() if self._is_own(each.target):
                    self.own.add(each.local)
                case Assign() if self._is_own(each.value) and not self._is_own(each.target):
                    yield from self._assigned(each, guards)
                case Return() if self._is_own(each.value) and not self.entered and not self._is_single(guards):
                    yield each.span
                case If():
                    for condition, inner in each.branches:
                        yield from self.dependent(inner, (*guards, *_conjuncts(condition)))
                    yield from self.dependent(each.otherwise, guards)
                case Switch():
                    for _, inner in each.cases:
                        yield from self.dependent(inner, guards)
                    yield from self.dependent(each.otherwise, guards)
                case For() | While():
                    yield from self.dependent(each.body, guards)
            if self.ends_early and self._stores_own(each) and not self._is_single(guards):
                yield each.span
            if not isinstance(each, If | Switch | For | While):
                yield from self._called(each, guards)

    def _assigned(self, each: Assign, guards: tuple[Expression, ...]) -> Iterator[Span]:
        if isinstance(each.target, LocalPlace) and _is_local(each.target) and each.target.local not in self.outer:
            self.own.add(each.target.local)
        elif any(load.place == each.target for load in _loads(each.value)):
            return  # accumulates
        elif not self._is_single(guards) and not any(_is_extremum(guard, each) for guard in guards):
            yield each.span

    def _called(self, statement: Statement, guards: tuple[Expression, ...]) -> Iterator[Span]:
        """Enters the helpers that change the state, and yields the place of a call that depends on the order."""
        for call in walk(statement):
            if isinstance(call, Call) and call.function.writes_state and call.function not in self.entered:
                pairs = zip(call.function.formals, call.arguments, strict=True)
                own = {formal.local for formal, argument in pairs if self._is_own(argument)}
                inner = _Turn(own, set(), (*self.entered, call.function), self.ends_early)
                if not self._is_single(guards) and any(True for _ in inner.dependent(call.function.body, ())):
                    yield call.span

    def _stores_own(self, each: Statement) -> bool:
        if isinstance(each, Assign) and _is_local(each.target):
            return False
        return isinstance(each, Assign | Clear | Undefine | MultisetAdd | MultisetRemove) and self._is_own(each)

    def _is_own(self, node: Any) -> bool:
        return any(isinstance(each, LocalPlace) and each.local in self.own for each in walk(node))

    def _is_single(self, guards: tuple[Expression, ...]) -> bool:
        """Returns whether a guard compares the loop variable with one value, so that one turn at most goes on."""
        return any(
            isinstance(guard, Binary)
            and guard.operator is BinaryOperator.EQUAL
            and has_symmetry(guard.left.type)
            and self._is_own(guard.left) != self._is_own(guard.right)
            and any(_is_plain(side) and self._is_own(side) for side in (guard.left, guard.right))
            for guard in guards
        )


def _is_plain(node: Expression) -> bool:
    return isinstance(node, Load) and isinstance(node.place, LocalPlace)


def _conjuncts(condition: Expression) -> Iterator[Expression]:
    if isinstance(condition, Binary) and condition.operator is BinaryOperator.AND:
        yield from _conjuncts(condition.left)
        yield from _conjuncts(condition.right)
    else:
        yield condition


def _is_extremum(guard: Expression, assignment: Assign) -> bool:
    """Returns whether a guard compares the target with the value that replaces it."""
    needed = [assignment.target, *(load.place for load in _loads(assignment.value))]
    for each in walk(guard):
        if isinstance(each, Binary) and each.operator in _ORDER:
            compared = [load.place for load in _loads(each)]
            if all(place in compared for place in needed):
                return True
    return False

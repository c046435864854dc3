"""Loops over interchangeable values whose outcome may depend on the order of their turns.

Symmetry reduction assumes that no rule prefers one value of a Symmetric class. A loop may break the assumption:
``for n in Node: self.last = n`` stores the last value. A loop is accepted if its turns commute (accesses.py), or if
it ends with the first turn that meets a condition and what this turn does is the same for all values.
Every other loop gets a warning, and symmetry is off. Loops over a Bag are treated alike if its elements hold
interchangeable values, because these decide the order of the elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from outcrop.ir.nodes import (
    Assert,
    Assign,
    Assume,
    Bind,
    Call,
    Clear,
    Error,
    Expression,
    For,
    If,
    Load,
    Local,
    LocalPlace,
    MultisetAdd,
    MultisetRemove,
    MultisetRemoveIf,
    Place,
    Return,
    SlotPlace,
    SlotUsed,
    Statement,
    Switch,
    TypeDomain,
    Undefine,
    While,
)
from outcrop.ir.system import Function, has_symmetry
from outcrop.ir.types import Simple
from outcrop.ir.walk import walk, writes_state
from outcrop.lang.python.accesses import Turn, conflict
from outcrop.lang.python.gathering import taken_value
from outcrop.source import Diagnostic, Severity, Span

_CHANGES = (
    Assign,
    Clear,
    Undefine,
    MultisetAdd,
    MultisetRemove,
    MultisetRemoveIf,
    Return,
    Assert,
    Assume,
    Error,
)


def ordered_loops(parts: Sequence[Any]) -> Iterator[Diagnostic]:
    """Yields a warning for each loop over interchangeable values that may depend on their order. ``parts``: bodies of
    rules and conditions. Those of start states do not matter, since any state may be one."""
    for body in [*parts, *(each.body for each in _called(parts))]:
        for loop in walk(body):
            if isinstance(loop, For) and (values := _interchangeable(loop)):
                span = _dependence(loop, body)
                if span is not None:
                    yield _warning(loop, span, values)


def _called(parts: Sequence[Any]) -> list[Function]:
    """Returns the functions that are called, directly or not."""
    found: dict[Function, None] = {}
    pending = list(parts)
    while pending:
        for each in walk(pending.pop()):
            if isinstance(each, Call) and each.function not in found:
                found[each.function] = None
                pending.append(each.function.body)
    return list(found)


def _interchangeable(loop: For) -> str:
    """Returns what a loop runs over, if no order of that is better than another; "" if it has an order."""
    if not isinstance(loop.domain, TypeDomain):
        return ""
    if has_symmetry(loop.domain.type):
        return f"the values of {loop.domain.type}"
    for each in walk(loop.body):
        if isinstance(each, SlotPlace | SlotUsed) and _is_read(each.index, loop.variable):
            kind = each.type if isinstance(each, SlotPlace) else each.place.type
            if any(isinstance(part, Simple) and has_symmetry(part) for part in kind.parts()):
                return "the elements of a Bag"
    return ""


def _is_read(node: Any, local: Local) -> bool:
    return isinstance(node, Load) and isinstance(node.place, LocalPlace) and node.place.local is local


def _warning(loop: For, span: Span, values: str) -> Diagnostic:
    message = (
        f"this may depend on the order of {values}, which are interchangeable: "
        "only one order is explored, and symmetry is off"
    )
    hint = "to explore every possibility, use a parameter of the rule or choose(...) instead of the loop"
    return Diagnostic(Severity.WARNING, message, span, hint, (("the loop", loop.span),), bears_on_verdict=True)


def _dependence(loop: For, body: Any) -> Span | None:
    """Returns the position of something that may depend on the order of the turns; None if nothing does."""
    if taken_value(loop) is not None:
        return None
    turn = Turn(loop.variable, _binds(body), _used_outside(loop, body))
    accesses = turn.run(loop.body)
    flag = _break_flag(loop)
    if flag is not None or any(isinstance(each, Return) for each in walk(loop.body)):
        return _End(turn, flag).dependence(loop.body)
    return conflict(accesses)


def _binds(body: Any) -> dict[Local, Place]:
    return {each.local: each.target for each in walk(body) if isinstance(each, Bind) and isinstance(each.target, Place)}


def _used_outside(loop: For, body: Any) -> set[Local]:
    """Returns the locals that anything but an assignment names outside a loop."""
    inside = {id(node) for node in walk(loop.body)}
    targets = {id(node.target) for node in walk(body) if isinstance(node, Assign)}
    return {
        node.local
        for node in walk(body)
        if isinstance(node, LocalPlace) and id(node) not in inside and id(node) not in targets
    }


def _break_flag(loop: For) -> Local | None:
    """Returns the local that ``break`` sets: every turn tests it first."""
    body = loop.body
    match body:
        case (If(branches=((_, inner),), otherwise=()),):
            body = inner  # the test of whether an element is there
    match body:
        case (If(branches=((Load(place=LocalPlace(local=flag)), ()),), otherwise=rest),) if rest:
            return flag
    return None


@dataclass
class _End:
    """A loop that may end early. It does not depend on an order if all that it changes stands in one place, right
    before its end, and is the same for every turn, or if a guard lets only one turn get there."""

    turn: Turn
    flag: Local | None
    is_pinned: bool = False

    def dependence(self, block: tuple[Statement, ...]) -> Span | None:
        changing = [each for each in block if any(map(self._changes, walk(each)))]
        if len(changing) == 1 and isinstance(changing[0], If | Switch | For | While):
            return self._within(changing[0])
        for each in changing:
            is_same = self.is_pinned or self._raises_flag(each) or self.turn.is_common(each)
            if isinstance(each, If | Switch | For | While | Assert | Assume | Error) or not is_same:
                return each.span
        last = changing[-1]
        return None if isinstance(last, Return) or self._raises_flag(last) else last.span

    def _within(self, each: Statement) -> Span | None:
        """Looks into the only branch that changes something."""
        branches: list[tuple[tuple[Expression, ...], tuple[Statement, ...]]] = []
        match each:
            case If():
                branches = [((condition,), body) for condition, body in each.branches] + [((), each.otherwise)]
            case Switch():
                branches = [*each.cases, ((), each.otherwise)]
            case For() | While():
                branches = [((), each.body)]
        if any(writes_state(conditions) for conditions, _ in branches):
            return each.span
        branches = [pair for pair in branches if any(map(self._changes, walk(pair[1])))]
        if len(branches) != 1:
            return each.span
        conditions, body = branches[0]
        self.is_pinned = self.is_pinned or (isinstance(each, If) and self.turn.is_pinned(conditions))
        return self.dependence(body)

    def _changes(self, node: Any) -> bool:
        if isinstance(node, Assign | Clear | Undefine) and isinstance(node.target, LocalPlace):
            local = node.target.local
            return local is self.flag or local.is_reference or local in self.turn.shared
        if isinstance(node, Call):
            return node.function.writes_state
        return isinstance(node, _CHANGES)

    def _raises_flag(self, node: Statement) -> bool:
        return isinstance(node, Assign) and isinstance(node.target, LocalPlace) and node.target.local is self.flag

"""Diagnostics about states that assumptions exclude from a search, which limit its verdict."""

from __future__ import annotations

from itertools import islice

from outcrop.ir.interpreter import Interpreter
from outcrop.ir.nodes import Assume
from outcrop.ir.system import Function, Property, PropertyKind, Rule, StartState, System
from outcrop.ir.walk import walk
from outcrop.source import Diagnostic, Severity, Span

#: Largest number of start states that are run to find the assumptions that they violate; about a thousand a second.
_MOST_START_STATES = 1_000
#: Longest text of an assumption that a message quotes, in characters.
_LONGEST_TEXT = 60


def why_no_states(system: System) -> Diagnostic:
    """Returns a diagnostic for a complete search that visited no state: the assumptions that its start states
    violate."""
    interpreter = Interpreter(system, symmetry=False)
    broken: dict[Property | None, None] = {}
    for firing in islice(interpreter.start_states(), _MOST_START_STATES):
        if firing.fault is None:
            broken[None if firing.successor is None else interpreter.broken_assumption(firing.successor)] = None
    reasons = list(broken)
    is_certain = sum(start.instance_count for start in system.start_states) <= _MOST_START_STATES
    if is_certain and len(reasons) == 1:
        return _warning(f"every start state violates {_text(reasons[0])}", _place(system, reasons[0]))
    shown = ", ".join(_text(each) for each in reasons)
    return _warning(
        f"every start state violates an assumption: {shown}", _place(system, reasons[0]) if reasons else None
    )


def what_was_left_out(system: System, start_states: int | None, successors: int | None) -> list[Diagnostic]:
    """Returns notes that the verdict covers fewer states than the model has without its assumptions. ``start_states``
    and ``successors`` are the numbers of dropped ones, None if not counted."""
    notes = []
    dropped = None if start_states is None or successors is None else start_states + successors
    assumptions = system.of_kind(PropertyKind.ASSUMPTION)
    if assumptions and dropped != 0:
        kept = _text(assumptions[0]) if len(assumptions) == 1 else f"all {len(assumptions)} assumptions"
        count = "" if dropped is None else f" ({_plural(start_states or 0, successors or 0)} left out)"
        notes.append(_note(f"the verdict covers only states that satisfy {kept}{count}", assumptions[0].span))
    owners: list[StartState | Rule | Function] = [*system.start_states, *system.rules, *system.functions]
    nodes = (node for each in owners for node in walk(each.body))
    statement = next((node for node in nodes if isinstance(node, Assume) and not node.is_guard), None)
    if statement is not None:
        text = "the verdict does not cover what follows a false assume statement, such as this one"
        notes.append(_note(text, statement.span))
    return notes


def _plural(start_states: int, successors: int) -> str:
    parts = [(start_states, "start state"), (successors, "successor")]
    return ", ".join(f"{count:,} {noun}{'' if count == 1 else 's'}" for count, noun in parts if count)


def _text(assumption: Property | None) -> str:
    if assumption is None:
        return "an assume statement"
    text = " ".join(assumption.span.text.split())
    return f"'{text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + ' ...'}'"


def _place(system: System, assumption: Property | None) -> Span:
    if assumption is not None:
        return assumption.span
    starts = system.start_states
    statements = (node for start in starts for node in walk(start.body) if isinstance(node, Assume))
    return next((node.span for node in statements), starts[0].span)


def _warning(text: str, span: Span | None) -> Diagnostic:
    return Diagnostic(Severity.WARNING, text, span, bears_on_verdict=True)


def _note(text: str, span: Span) -> Diagnostic:
    return Diagnostic(Severity.NOTE, text, span, bears_on_verdict=True)

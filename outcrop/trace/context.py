"""The context of the steps of a trace: the text of each rule, its guard with values, and the other enabled rules.

It is for the report. The interpreter replays the trace again, so that the context is as reliable as the trace itself.
"""

from __future__ import annotations

from typing import Any

from outcrop.ir.faults import Abandoned, Fault
from outcrop.ir.interpreter import Firing, Interpreter
from outcrop.ir.layout import State
from outcrop.ir.system import Rule, StartState, System
from outcrop.result import Step, Trace
from outcrop.source import Span
from outcrop.trace.explain import guard_parts

#: Largest number of guards that are evaluated for one trace. Later steps have no list of enabled rules.
_MOST_GUARDS = 1_000_000
#: Largest number of enabled rules that are listed for one state.
_MOST_LISTED = 60


def step_contexts(trace: Trace) -> list[dict[str, Any]]:
    """Returns, for each step, plain data: ``span`` and ``lines`` of its rule in the source, the parts of its ``guard``
    with the values that they read, and what the state that it leads to enables (``enabled``, and ``more`` that are not
    listed)."""
    interpreter = Interpreter(trace.system, symmetry=False)
    instances = max(1, sum(rule.instance_count for rule in trace.system.rules))
    contexts: list[dict[str, Any]] = []
    before: State | None = None
    for number, step in enumerate(trace.steps):
        extent = extent_of(trace.system, step)
        context: dict[str, Any] = {**place_of(extent), "guard": _guard(interpreter, step, before, extent)}
        if (number + 1) * instances <= _MOST_GUARDS:
            context |= _enabled(interpreter, step.state)
        contexts.append(context)
        before = step.state
    return contexts


def extent_of(system: System, step: Step) -> Span:
    """Returns the whole text of the rule or startstate of a step. In Python its span is its name; the guard and the
    statements below belong to it. In languages with processes a statement may stand in the text of a partner, and the
    span is the extent."""
    span = step.span
    origins: tuple[Rule | StartState, ...] = (*system.rules, *system.start_states)
    origin = next((each for each in origins if each.span == span), None)
    if origin is None or any(rule.processes for rule in system.rules):
        return span
    guard = origin.guard if isinstance(origin, Rule) else None
    inside = [each.span for each in origin.body] + ([] if guard is None else [guard.span])
    ends = [each.end for each in inside if each.source is span.source and each.start >= span.start]
    return Span(span.source, span.start, max([span.end, *ends]))


def place_of(span: Span) -> dict[str, Any]:
    """Returns where something stands: offsets into the source, and its first and last line."""
    last, _ = span.source.position(max(span.start, span.end - 1))
    return {"file": span.source.name, "span": [span.start, span.end], "lines": [span.line, last]}


def _guard(interpreter: Interpreter, step: Step, before: State | None, extent: Span) -> list[dict[str, Any]]:
    """Returns the conjuncts of the guard of a step, with the values that they read. ``extent``: the text of its
    rule."""
    firing = None if before is None else _firing(interpreter, step, before)
    if firing is None or before is None or not isinstance(firing.origin, Rule) or firing.origin.guard is None:
        return []
    try:
        found = guard_parts(interpreter, firing.origin, firing.arguments, before)
    except (Fault, Abandoned):
        return []
    # Parts outside the rule only say that a ``choose`` around it has an element.
    inside = [each for each in found if extent.start <= each.span.start and each.span.end <= extent.end]
    return [{"text": each.text, "span": [each.span.start, each.span.end]} for each in inside]


def _firing(interpreter: Interpreter, step: Step, before: State) -> Firing | None:
    """Returns the firing of a step, found by its rule and its arguments."""
    for rule in interpreter.system.rules:
        if rule.span.start != step.span.start or not step.label.startswith(rule.name):
            continue
        for arguments in rule.instances():
            if rule.label(arguments) == step.label:
                return Firing(rule, arguments)
    return None


def _enabled(interpreter: Interpreter, state: State) -> dict[str, Any]:
    found = [
        {"label": each.label, "failure": "" if each.fault is None else each.fault.message}
        for each in interpreter.successors(state)
        if not each.is_abandoned
    ]
    return {"enabled": found[:_MOST_LISTED], "more": max(0, len(found) - _MOST_LISTED)}

"""Traces in ITF, the Informal Trace Format (Apalache's ADR-015), which existing viewers can read.

Records are objects, arrays are maps from index to element, and multisets are maps from element to count (bags). Values
of enumerations, scalarsets and unions are strings, booleans are JSON booleans. ITF has neither reals nor undefined
values; both are ``#unserializable``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from outcrop.ir.layout import Leaf, State
from outcrop.ir.system import System
from outcrop.ir.types import BOOLEAN, Array, Multiset, Range, Real, Record, Simple, Type
from outcrop.result import Step, Trace, Violation
from outcrop.trace.values import elements

_DESCRIPTION = "https://apalache-mc.org/docs/adr/015adr-trace.html"

#: Largest integer that every JSON reader keeps exact; some read numbers as doubles.
_LARGEST_PLAIN = 2**53 - 1


def itf(violation: Violation) -> dict[str, Any] | None:
    """Returns the trace of a violation as an ITF document; None if it has none."""
    trace = violation.trace
    if trace is None:
        return None
    meta: dict[str, Any] = {
        "format": "ITF",
        "format-description": _DESCRIPTION,
        "source": trace.system.name,
        "status": "violation",
        "description": violation.message,
    }
    if violation.failing_step:
        meta["failing_rule"] = violation.failing_step
    if violation.printed:
        meta["failing_printed"] = violation.printed
    if trace.closing is not None:
        meta["closing_rule"] = trace.closing.label
        if trace.closing.printed:
            meta["closing_printed"] = trace.closing.printed
        meta["closing"] = _step(trace.closing)
    return {**trace_document(trace), "#meta": meta}


def trace_document(trace: Trace) -> dict[str, Any]:
    """Returns a trace as an ITF document, with or without a violation at its end."""
    document: dict[str, Any] = {
        "#meta": {"format": "ITF", "format-description": _DESCRIPTION, "source": trace.system.name},
        "vars": [variable.name for variable in trace.system.variables],
        "states": _states(trace),
    }
    if trace.loop_start is not None and trace.closing is not None:
        # The key of ITF, and ours.
        document |= {"loop": trace.loop_start, "loop_start": trace.loop_start}
    return document


def _states(trace: Trace) -> list[dict[str, Any]]:
    states = []
    for number, step in enumerate(trace.steps):
        meta = {"index": number, **_step(step)}
        if trace.propositions:
            meta["propositions"] = dict(zip(trace.propositions, step.truths, strict=True))
        states.append({"#meta": meta, **state_values(trace.system, step.state)})
    return states


def state_values(system: System, state: State) -> dict[str, Any]:
    """Returns the values of a state by the names of its variables."""
    return {
        each.name: value(each.type, state[each.offset : each.offset + each.type.leaf_count])
        for each in system.variables
    }


def _step(step: Step) -> dict[str, Any]:
    """Returns the rule that fired, its place, and its output."""
    meta: dict[str, Any] = {"rule": step.label, "line": step.span.line}
    if step.arguments:
        meta["arguments"] = [asdict(each) for each in step.arguments]
    if step.processes:
        meta["processes"] = list(step.processes)
    if step.messages:
        meta["messages"] = [{"from": each.source, "to": each.target, "text": each.text} for each in step.messages]
    if step.printed:
        meta["printed"] = step.printed
    return meta


def value(kind: Type, row: Sequence[Leaf]) -> Any:
    """Returns a value of a type, given its leaves."""
    if isinstance(kind, Simple):
        return _simple(kind, row[0])
    if isinstance(kind, Record):
        return {
            name: value(each, row[start : start + each.leaf_count])
            for (name, each), start in zip(kind.fields, kind.offsets, strict=True)
        }
    if isinstance(kind, Array):
        step = kind.element.leaf_count
        return {
            "#map": [
                [_simple(kind.index, kind.index.low + at), value(kind.element, row[at * step : (at + 1) * step])]
                for at in range(kind.index.cardinality)
            ]
        }
    assert isinstance(kind, Multiset)
    return {"#map": _bag(kind, row)}


def _bag(kind: Multiset, row: Sequence[Leaf]) -> list[list[Any]]:
    counts: dict[tuple[Leaf, ...], int] = {}
    for element in elements(kind, row):
        counts[tuple(element)] = counts.get(tuple(element), 0) + 1
    return [[value(kind.element, element), count] for element, count in counts.items()]


def _simple(kind: Simple, leaf: Leaf) -> Any:
    if leaf is None:
        return {"#unserializable": "undefined"}
    if kind == BOOLEAN:
        return bool(leaf)
    if isinstance(kind, Real):
        return {"#unserializable": kind.show(leaf)}
    if isinstance(kind, Range):
        return leaf if abs(leaf) <= _LARGEST_PLAIN else {"#bigint": str(leaf)}
    return kind.show(leaf)

"""A result as the JSON document of ``--json``. Its first-level keys are an API (docs/reference/json.md)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from outcrop import __version__
from outcrop.ir.system import ProcessText, PropertyKind
from outcrop.report.layers import layers_document
from outcrop.result import FORMAT, TRUST, FormulaResult, PropertyResult, Result, RuleCoverage, Violation
from outcrop.source import Diagnostic, Span
from outcrop.trace.document import type_tree
from outcrop.trace.itf import itf


def document(result: Result) -> dict[str, Any]:
    """Returns everything in the report, ready for ``json.dumps``."""
    violations = [violation_document(each) for each in result.violations]
    return {
        "format": FORMAT,
        "version": __version__,
        "verdict": str(result.verdict),
        "kind": result.kind,
        "reason": result.reason,
        "guarantee": result.guarantee,
        "trust": TRUST,
        "model": result.model,
        "model_sha256": result.model_sha256,
        "date": result.date,
        "command": result.command,
        "options": result.options,
        "compiler": result.compiler or None,
        "constants": result.constants,
        "variables": [{"name": each.name, "type": type_tree(each.type)} for each in result.variables],
        "deadlock": result.deadlock,
        "states_checked": result.states_checked,
        "fairness": result.fairness,
        "symmetry": result.symmetry,
        "strategy": result.strategy,
        "engine": result.engine,
        "threads": result.threads,
        "device": result.device or "cpu",
        "ranks": result.ranks,
        "per_rank": [asdict(each) for each in result.per_rank],
        "states": result.states,
        "states_visited": result.states_visited,
        "rules_fired": result.rules_fired,
        "levels": result.levels,
        "duplicates": result.duplicates,
        "missed": result.missed,
        "collision_rate": result.collision_rate,
        "diameter": result.diameter,
        "seconds": round(result.seconds, 6),
        "compile_seconds": round(result.compile_seconds, 6),
        "state_bits": result.state_bits,
        "peak_rss_bytes": result.peak_rss_bytes,
        "peak_disk_bytes": result.peak_disk_bytes,
        "samples": result.samples,
        "events": [each.text for each in result.events],
        "layers": layers_document(result.layers, result.generated),
        "compression": None if result.compression is None else asdict(result.compression),
        "reduction": None if result.reduction is None else asdict(result.reduction),
        "properties": [_property(each) for each in result.properties],
        "coverage": [rule_document(each) for each in result.coverage],
        "unreached": [_text_document(each) for each in result.unreached],
        "violations": violations,
        "faults": [{"violation": each.number, "count": each.count} for each in result.faults],
        "notes": [_note(each) for each in result.notes],
        "trace": violations[0]["trace"] if violations else None,
    }


def position(span: Span | None) -> dict[str, Any] | None:
    """Returns a source position: file, line and column."""
    if span is None:
        return None
    return {"file": span.source.name, "line": span.line, "column": span.column}


def _property(each: PropertyResult | FormulaResult) -> dict[str, Any]:
    row = {"kind": each.kind, "name": each.name, "position": position(each.span), "status": each.status}
    vacuous = None if each.vacuous is None else list(each.vacuous)
    if isinstance(each, PropertyResult):
        met = {} if each.met is None else {"met": each.met}
        return row | ({"vacuous": vacuous} if each.kind == PropertyKind.INVARIANT else {}) | met
    return row | {
        "formula": each.formula,
        "instances": each.instances,
        "automaton": {"states": each.automaton_states, "strength": each.automaton_strength},
        "strategy": each.strategy,
        "states": each.states,
        "transitions": each.transitions,
        "seconds": None if each.seconds is None else round(each.seconds, 6),
        "symmetry": each.symmetry,
        "vacuous": vacuous,
    }


def rule_document(each: RuleCoverage) -> dict[str, Any]:
    """Returns a rule with its counts, its parameters and its processes."""
    row = {
        "name": each.name,
        "position": position(each.span),
        "instances": each.instances,
        "fired": each.fired,
        "parameters": [{"name": name, "type": type_tree(kind)} for name, kind in each.parameters],
        "processes": list(each.processes),
        "subsumed": each.is_subsumed,
    }
    return row if each.counts is None else row | asdict(each.counts)


def _text_document(text: ProcessText) -> dict[str, Any]:
    """Returns the unreached places of a process text."""
    places = [
        {"state": each.state, "position": position(each.span), "statements": list(each.statements)}
        for each in text.places
    ]
    return {"process": text.name, "states": text.states, "places": places}


def violation_document(violation: Violation) -> dict[str, Any]:
    """Returns a violation with its trace in ITF."""
    return {
        "kind": str(violation.kind),
        "message": violation.message,
        "hint": violation.hint,
        "property": violation.property,
        "position": position(violation.span),
        "calls": [{"function": name, "position": position(span)} for name, span in violation.calls],
        "because": list(violation.because),
        "condition": _condition(violation),
        "failing_rule": violation.failing_step,
        "printed": violation.printed,
        "trace": itf(violation),
    }


def _condition(violation: Violation) -> dict[str, Any] | None:
    """Returns the text of the condition that should be true, and the ranges of it that are false."""
    whole = violation.condition
    if whole is None:
        return None
    inside = [part for part in violation.false_parts if whole.start <= part.start and part.end <= whole.end]
    return {
        "text": whole.text,
        "position": position(whole),
        "false": [[part.start - whole.start, part.end - whole.start] for part in inside],
    }


def _note(note: Diagnostic) -> dict[str, Any]:
    return {
        "severity": str(note.severity),
        "message": note.message,
        "position": position(note.span),
        "hint": note.hint,
        "bears_on_verdict": note.bears_on_verdict,
    }

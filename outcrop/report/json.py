"""A result as the JSON document of ``--json``. Its first-level keys are an API: docs/json.md describes each."""

from __future__ import annotations

from typing import Any

from outcrop import __version__
from outcrop.result import FORMAT, TRUST, Result, Violation
from outcrop.source import Diagnostic, Span
from outcrop.trace.itf import itf


def document(result: Result) -> dict[str, Any]:
    """Everything in the report, ready for ``json.dumps``."""
    violations = [violation_document(each) for each in result.violations]
    return {
        "format": FORMAT,
        "version": __version__,
        "verdict": str(result.verdict),
        "kind": result.kind,
        "guarantee": result.guarantee,
        "trust": TRUST,
        "model": result.model,
        "constants": result.constants,
        "variables": result.variables,
        "deadlock": result.deadlock,
        "states_checked": result.states_checked,
        "strategy": result.strategy,
        "engine": result.engine,
        "threads": result.threads,
        "device": result.device or "cpu",
        "ranks": result.ranks,
        "per_rank": result.per_rank,
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
        "events": result.events,
        "layers": result.layers,
        "properties": result.properties,
        "coverage": result.coverage,
        "violations": violations,
        "notes": [_note(each) for each in result.notes],
        "trace": violations[0]["trace"] if violations else None,
    }


def position(span: Span | None) -> dict[str, Any] | None:
    """A place in a source: file, line, column."""
    if span is None:
        return None
    return {"file": span.source.name, "line": span.line, "column": span.column}


def violation_document(violation: Violation) -> dict[str, Any]:
    """What is wrong, with its trace in ITF."""
    return {
        "kind": str(violation.kind),
        "message": violation.message,
        "property": violation.property,
        "position": position(violation.span),
        "because": list(violation.because),
        "condition": _condition(violation),
        "failing_rule": violation.failing_step,
        "trace": itf(violation),
    }


def _condition(violation: Violation) -> dict[str, Any] | None:
    """The text of what should be true, and which stretches of it are false."""
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
    }

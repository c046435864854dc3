"""The report of `outcrop recheck`, as text and JSON."""

from __future__ import annotations

from typing import Any

from outcrop import __version__
from outcrop.recheck.recheck import Recheck
from outcrop.report.json import position, violation_document
from outcrop.report.text import Paint, violation_lines
from outcrop.result import Verdict
from outcrop.trace.render import TraceStyle


def text(answer: Recheck, style: TraceStyle, paint: Paint) -> str:
    """Returns the whole report."""
    word = paint.verdict(answer.verdict, str(answer.verdict).upper())
    blocks = [f"{word}: {answer.model}: {_meaning(answer)}"]
    rows = [("states", f"{answer.states:,} kept, in {answer.levels:,} levels"), ("time", f"{answer.seconds:.2f} s")]
    blocks.append("\n".join(f"  {paint.faint(name.ljust(8))} {value}" for name, value in rows))
    blocks.append("\n".join(f"  {each.status:<8} {each.name}" for each in answer.properties))
    blocks += ["\n".join(violation_lines(each, "Violation", style, paint)) for each in answer.violations]
    return "\n\n".join(blocks)


def _meaning(answer: Recheck) -> str:
    if answer.verdict is Verdict.VIOLATED:
        return answer.violations[0].message.rstrip(".") + "."
    if answer.verdict is Verdict.HOLDS:
        states = "any reachable state" if answer.kept.guarantee == "exact" else "any state reached"
        return f"no violation in {states} ({answer.kept.guarantee})."
    return f"no violation in the kept states, but the search was not complete ({answer.kept.kind or 'violation'})."


def document(answer: Recheck) -> dict[str, Any]:
    """Returns the JSON document."""
    violations = [violation_document(each) for each in answer.violations]
    return {
        "version": __version__,
        "verdict": str(answer.verdict),
        "model": answer.model,
        "guarantee": answer.kept.guarantee,
        "complete": answer.kept.is_complete,
        "states": answer.states,
        "levels": answer.levels,
        "seconds": round(answer.seconds, 6),
        "properties": [
            {"kind": each.kind, "name": each.name, "position": position(each.span), "status": each.status}
            for each in answer.properties
        ],
        "violations": violations,
        "trace": violations[0]["trace"] if violations else None,
    }

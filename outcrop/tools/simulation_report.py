"""The report of `outcrop simulate`, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from outcrop.outcome import Stop
from outcrop.report.json import position, violation_document
from outcrop.report.sentences import rule_names
from outcrop.report.table import table
from outcrop.report.text import Paint, violation_lines
from outcrop.result import Verdict
from outcrop.tools.simulate import Simulation
from outcrop.trace.render import TraceStyle


def document(simulation: Simulation) -> dict[str, Any]:
    """Returns the JSON document."""
    violation = None if simulation.violation is None else violation_document(simulation.violation)
    return {
        "verdict": "unknown" if simulation.violation is None else "violated",
        "kind": simulation.stop if simulation.violation is None else str(simulation.violation.kind),
        "model": simulation.model,
        "constants": simulation.constants,
        "seed": simulation.seed,
        "walks": simulation.walks,
        "steps": simulation.steps,
        "dead_ends": simulation.dead_ends,
        "different_states": simulation.different_states,
        "seconds": round(simulation.seconds, 6),
        "walk": simulation.walk,
        "walk_steps": simulation.walk_steps,
        "coverage": [
            {
                "name": each.name,
                "position": position(each.span),
                "instances": each.instances,
                "enabled": each.enabled,
                "taken": each.taken,
            }
            for each in simulation.coverage
        ],
        "violation": violation,
        "trace": violation and violation["trace"],
    }


def text(simulation: Simulation, style: TraceStyle, paint: Paint, coverage: bool = False) -> str:
    """Returns the whole report."""
    blocks = [_verdict(simulation, paint), "\n".join(_figures(simulation, paint))]
    if coverage:
        rows = [
            [each.name, f"{each.instances:,}", f"{each.enabled:,}", f"{each.taken:,}"] for each in simulation.coverage
        ]
        blocks.append("\n".join(table(["rule", "instances", "enabled", "fired"], rows, "lr")))
    never = [each.name for each in simulation.coverage if not each.taken]
    if never and not coverage:
        blocks.append(f"Rules that never fired ({len(never):,} of {len(simulation.coverage):,}): {rule_names(never)}")
    if simulation.violation is not None:
        blocks.append("\n".join(violation_lines(simulation.violation, "Violation", style, paint)))
    return "\n\n".join(blocks)


def _verdict(simulation: Simulation, paint: Paint) -> str:
    violation = simulation.violation
    if violation is not None:
        word = paint.verdict(Verdict.VIOLATED, "VIOLATED")
        return f"{word}: {simulation.model}: {violation.message.rstrip('.')}."
    word = paint.verdict(Verdict.UNKNOWN, "UNKNOWN")
    if simulation.stop == Stop.NO_STATES:
        return f"{word}: {simulation.model}: nothing was checked: no start state satisfies the assumptions."
    return f"{word}: {simulation.model}: {simulation.stop}; no violation found, which proves nothing."


def _figures(simulation: Simulation, paint: Paint) -> Iterator[str]:
    rate = simulation.steps / max(simulation.seconds, 1e-3)
    rows = [
        ("walks", f"{simulation.walks:,}, of which {simulation.dead_ends:,} reached a dead end"),
        ("steps", f"{simulation.steps:,} ({rate:,.0f} per second)"),
        ("states", f"about {simulation.different_states:,} different states"),
        ("time", f"{simulation.seconds:.2f} s"),
        ("seed", f"{simulation.seed}"),
    ]
    if simulation.violation is not None and simulation.violation.trace is not None:
        shrunk = len(simulation.violation.trace) - 1
        rows.append(
            ("found", f"on walk {simulation.walk:,} of {simulation.walk_steps:,} steps, shortened to {shrunk:,}")
        )
    for name, value in rows:
        yield f"  {paint.faint(f'{name:<12}')} {value}"

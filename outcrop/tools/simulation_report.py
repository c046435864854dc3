"""What `outcrop simulate` shows."""

from __future__ import annotations

from collections.abc import Iterator

from outcrop.report.table import table
from outcrop.report.text import Paint, violation_lines
from outcrop.result import Verdict
from outcrop.tools.simulate import Simulation
from outcrop.trace.render import TraceStyle


def text(simulation: Simulation, style: TraceStyle, paint: Paint, coverage: bool = False) -> str:
    """The whole report."""
    blocks = [_verdict(simulation, paint), "\n".join(_figures(simulation, paint))]
    if coverage:
        rows = [
            [each["name"], f"{each['instances']:,}", f"{each['enabled']:,}", f"{each['taken']:,}"]
            for each in simulation.coverage
        ]
        blocks.append("\n".join(table(["rule", "instances", "enabled", "taken"], rows, "lr")))
    never = [each["name"] for each in simulation.coverage if not each["taken"]]
    if never and not coverage:
        blocks.append(f"Rules that were never taken ({len(never)} of {len(simulation.coverage)}): {', '.join(never)}")
    if simulation.violation is not None:
        blocks.append("\n".join(violation_lines(simulation.violation, "Violation", style, paint)))
    return "\n\n".join(blocks)


def _verdict(simulation: Simulation, paint: Paint) -> str:
    violation = simulation.violation
    if violation is not None:
        word = paint.verdict(Verdict.VIOLATED, "VIOLATED")
        return f"{word}: {simulation.model}: {violation.message.rstrip('.')}."
    word = paint.verdict(Verdict.UNKNOWN, "UNKNOWN")
    return f"{word}: {simulation.model}: {simulation.stop}; nothing wrong was met, which proves nothing."


def _figures(simulation: Simulation, paint: Paint) -> Iterator[str]:
    rate = simulation.steps / max(simulation.seconds, 1e-3)
    rows = [
        ("walks", f"{simulation.walks:,}, of which {simulation.dead_ends:,} came to an end of their own"),
        ("steps", f"{simulation.steps:,} ({rate:,.0f} a second)"),
        ("states", f"about {simulation.different_states:,} different ones"),
        ("time", f"{simulation.seconds:.2f} s"),
        ("seed", f"{simulation.seed}"),
    ]
    if simulation.violation is not None and simulation.violation.trace is not None:
        shrunk = len(simulation.violation.trace) - 1
        rows.append(
            ("found", f"on walk {simulation.walk:,}, {simulation.walk_steps:,} steps long; shrunk to {shrunk:,}")
        )
    for name, value in rows:
        yield f"  {paint.faint(f'{name:<12}')} {value}"

"""The trace that is shown for a fault: among the shortest ones, the one with the fewest switches between lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from outcrop.check.engines import EngineOutcome
from outcrop.ir.symmetry import Normaliser
from outcrop.ir.system import System
from outcrop.options import CheckOptions
from outcrop.outcome import MOST_SEARCHED_AGAIN, Ending, Event, EventKind, Finding, FindingKind, ShortestRuns
from outcrop.result import Violation, distinct_faults, fault_of
from outcrop.trace.order import reordered
from outcrop.trace.replay import Replay
from outcrop.trace.switches import Easiest, TooMany

_LOCAL = (
    "the shortest traces are too many to compare, so the trace has its steps in an order with few switches between "
    "lanes, perhaps not the fewest"
)


def with_easiest_traces(
    system: System, options: CheckOptions, searched: EngineOutcome, replay: Replay, violations: Sequence[Violation]
) -> tuple[list[Violation], list[Event]]:
    """Returns the violations, the first of each fault with its easiest trace, and an event where not all shortest
    traces were compared."""
    shown, events = list(violations), []
    listed = searched.outcome.findings
    chosen = [each.number for each in distinct_faults(violations) if each.violation.trace is not None]
    # Faults that occur only beside others have no finding of their own.
    findings = {number: listed[number] for number in chosen if number < len(listed)}
    endings = {
        number: Ending(finding, partial(_has_fault, replay, finding, fault_of(violations[number])))
        for number, finding in findings.items()
        if len(finding.path) > 2 or (len(finding.path) == 2 and finding.kind is FindingKind.RULE)
    }
    runs = _shortest_runs(searched, endings)
    canonical = searched.canonical or Normaliser(system, options.symmetry and system.allows_symmetry)
    easiest = Easiest(system, canonical)
    for number in endings:
        found = violations[number]
        better = _easiest(easiest, replay, findings[number], runs[number])
        if better is not None and fault_of(better) == fault_of(found):
            # Each state is listed once: the violation that is listed for the new end gets the trace of this one.
            shown[_listed(listed, findings[number], easiest.end(better), number)] = found
            shown[number] = better
        else:
            assert found.trace is not None
            shown[number] = replace(found, trace=reordered(found.trace))
            events = [Event(EventKind.REORDERED, _LOCAL)]
    return shown, events


def _listed(findings: Sequence[Finding], like: Finding, end: bytes, default: int) -> int:
    """Returns the number of the finding of the same kind in a state, or the default if none is listed."""
    ends = ((each.kind, each.path[-1:]) for each in findings)
    return next((number for number, each in enumerate(ends) if each == (like.kind, (end,))), default)


def _shortest_runs(searched: EngineOutcome, endings: dict[int, Ending]) -> dict[int, ShortestRuns | None]:
    """Returns the states on shortest runs to each ending, as far as the search can be repeated."""
    levels = searched.outcome.levels
    near = {
        number: each for number, each in endings.items() if sum(levels[: each.last_level + 1]) <= MOST_SEARCHED_AGAIN
    }
    found: dict[int, ShortestRuns | None] = dict.fromkeys(endings)
    if near and searched.shortest_runs is not None:
        found |= zip(near, searched.shortest_runs(list(near.values())), strict=True)
    return found


def _has_fault(replay: Replay, finding: Finding, fault: object, packed: bytes) -> bool:
    return replay.fault_at(finding, packed) == fault


def _easiest(easiest: Easiest, replay: Replay, finding: Finding, runs: ShortestRuns | None) -> Violation | None:
    if runs is None:
        return None
    try:
        firings = easiest.run(runs, fails=finding.kind is FindingKind.RULE)
    except TooMany:
        return None
    return replay.explain_run(finding, firings)

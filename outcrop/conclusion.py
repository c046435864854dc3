"""What the searches of a check come to: the verdict, what is said of each property and rule, and notes."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from outcrop.engines import Searched
from outcrop.errors import InternalError
from outcrop.ir.layout import Layout
from outcrop.ir.system import PropertyKind, System
from outcrop.ir.vacuity import Antecedent, Subject, Vacuity
from outcrop.machine import peak_rss
from outcrop.options import CheckOptions, Deadlock, Engine
from outcrop.report.json import position
from outcrop.report.layers import layers_document
from outcrop.report.types import type_tree
from outcrop.result import Result, Verdict, Violation, ViolationKind
from outcrop.search.outcome import Outcome, Stop
from outcrop.source import Diagnostic, Severity, Span

if TYPE_CHECKING:
    from outcrop.temporal import Checked

#: What stands before an arrow in a property and was never true.
Unmet = dict[Subject | None, list[Antecedent]]


def conclude(
    model: System,
    warnings: Sequence[Diagnostic],
    options: CheckOptions,
    searched: Searched | None,
    violations: list[Violation],
    checked: list[Checked],
    witnesses: Vacuity,
) -> Result:
    """What all searches come to. The figures are those of the search for bad states, or if there was none, of the first
    search for a formula."""
    system, main = model, searched
    if main is None:
        assert checked[0].searched is not None
        system, main = checked[0].check.product, checked[0].searched
    outcome = main.outcome
    states_searched = _search_of_states(model, searched, checked)
    unmet = _unmet(witnesses, searched, checked)
    looked_at = "none" if states_searched is None else "all" if states_searched is searched else "product"
    every = [*([] if searched is None else [searched]), *(each.searched for each in checked if each.searched)]
    found = [*violations, *(violation for each in checked for violation in (*each.violations, *each.failures))]
    missing = [each.outcome.stop for each in every if not each.outcome.stop.is_conclusive]
    if found:
        verdict, kind = Verdict.VIOLATED, str(found[0].kind)
    elif missing or any(each.searched is None for each in checked):
        verdict, kind = Verdict.UNKNOWN, str(missing[0] if missing else Stop.TIME)
    else:
        verdict, kind = Verdict.HOLDS, ""
    return Result(
        verdict=verdict,
        kind=kind,
        guarantee=next((text for each in every if (text := _guarantee(each.outcome)) != "exact"), "exact"),
        model=system.name,
        constants=dict(system.constants),
        strategy=options.strategy,
        engine=str(options.engine),
        threads=_threads(options),
        states=outcome.states,
        states_visited=outcome.visited,
        rules_fired=outcome.rules_fired,
        levels=list(outcome.levels),
        seconds=sum(each.outcome.seconds for each in every),
        compile_seconds=sum(each.compile_seconds for each in every),
        state_bits=Layout(system).bits,
        peak_rss_bytes=sum(each.peak_rss_bytes for each in outcome.ranks) or peak_rss(),
        properties=[
            *_properties(model, states_searched if looked_at == "all" else None, found, unmet),
            *(each.row() | {"vacuous": _texts(unmet.get(each.check.judged.property))} for each in checked),
        ],
        coverage=_coverage(system, options, outcome),
        violations=found,
        ranks=max(1, len(outcome.ranks)),
        per_rank=[dataclasses.asdict(each) for each in outcome.ranks],
        notes=[
            *warnings,
            *_notes(model, options, searched, checked),
            *(each.warning() for each in witnesses.antecedents if each in unmet.get(each.subject, ())),
        ],
        peak_disk_bytes=max(each.outcome.peak_disk_bytes for each in every),
        events=list(dict.fromkeys(event for each in every for event in each.outcome.events)),
        layers=layers_document(outcome),
        duplicates=outcome.duplicates,
        missed=outcome.missed_duplicates,
        collision_rate=outcome.collision_rate,
        samples=outcome.samples,
        variables=[{"name": each.name, "type": type_tree(each.type)} for each in system.variables],
        deadlock=str(options.deadlock if looked_at == "all" else Deadlock.OFF),
        states_checked=looked_at,
        device=outcome.device,
    )


def _notes(
    system: System, options: CheckOptions, searched: Searched | None, checked: list[Checked]
) -> list[Diagnostic]:
    notes: list[Diagnostic] = []
    if searched is not None:
        notes += _undefined_note(system, searched.outcome)
        if options.symmetry and system.scalarsets and not system.allows_symmetry:
            text = "symmetry is off: a liveness property speaks of one value of a scalarset"
            notes.append(Diagnostic(Severity.NOTE, text))
    if checked:
        from outcrop.temporal import memory_notes, symmetry_notes

        notes += symmetry_notes([each.check for each in checked], options)
        notes += memory_notes(checked, options)
    return notes


def _threads(options: CheckOptions) -> int:
    if options.engine is Engine.INTERPRETER:
        return 1
    from outcrop.search.budget import worker_count

    return worker_count(options)


def _guarantee(outcome: Outcome) -> str:
    if not outcome.omission_bound:
        return "exact"
    bound = f"the probability that a state was missed is at most {outcome.omission_bound:.2g}"
    if outcome.signature_coverage is None:
        return bound
    return f"{bound}, expected coverage {outcome.signature_coverage:.2%}"


def violations_of(system: System, options: CheckOptions, searched: Searched) -> list[Violation]:
    """Each finding, replayed and explained; then the cover goals that a complete search never met."""
    violations: list[Violation] = []
    outcome = searched.outcome
    if outcome.findings:
        from outcrop.trace.replay import Replay

        replay = Replay(system, options, searched.canonical)
        violations = [replay.explain(finding) for finding in outcome.findings]
    elif outcome.stop is Stop.VIOLATION:
        raise InternalError("the search stopped for a violation that it does not name")
    if outcome.stop is Stop.COMPLETE:
        violations += [
            Violation(ViolationKind.COVER, f'cover "{goal.name}" is never met', goal.span, None, goal.name)
            for goal, count in zip(system.covers, outcome.covered, strict=True)
            if not count
        ]
    return violations


def _search_of_states(system: System, searched: Searched | None, checked: list[Checked]) -> Searched | None:
    """The search that looked for bad states: one of its own, or that of the product with the model's property process.
    None where only runs were looked at."""
    beside = (each.searched for each in checked if each.check.product.automaton is system.automaton)
    return searched if searched is not None or system.automaton is None else next(beside, None)


def _properties(
    system: System,
    searched: Searched | None,
    violations: list[Violation],
    unmet: Unmet,
) -> list[dict[str, Any]]:
    """What was checked, and how each fared. An assumption is not checked: it narrows what is."""
    rows = []
    for each in system.properties:
        row: dict[str, Any] = {"kind": str(each.kind), "name": each.name, "position": position(each.span)}
        violated = any(
            str(violation.kind) in (str(each.kind), ViolationKind.RUNTIME) and violation.property == each.name
            for violation in violations
        )
        if each.kind is PropertyKind.ASSUMPTION:
            status = "assumed"
        elif violated:
            status = "violated"
        elif searched is not None and searched.outcome.stop is Stop.COMPLETE:
            status = "holds"
        else:
            status = "unknown"
        row["status"] = status
        if each.kind is PropertyKind.INVARIANT:
            row["vacuous"] = _texts(unmet.get(each))
        if each.cover is not None and searched is not None:
            row["met"] = searched.outcome.covered[each.cover]
        rows.append(row)
    return rows


def _coverage(system: System, options: CheckOptions, outcome: Outcome) -> list[dict[str, Any]]:
    """How each rule fared."""
    rows: list[dict[str, Any]] = [
        {"name": rule.name, "position": position(rule.span), "instances": rule.instance_count, "fired": fired}
        for rule, fired in zip(system.rules, outcome.fired, strict=True)
    ]
    if options.coverage:
        for number, row in enumerate(rows):
            row["enabled"] = outcome.enabled[number] if outcome.enabled else None
            row["new"] = outcome.deeper[number] if outcome.deeper else None
    return rows


def _unmet(witnesses: Vacuity, searched: Searched | None, checked: list[Checked]) -> Unmet:
    """What stands before an arrow and was never true, by property; of properties that are violated, or not searched
    for to the end, it is not known."""
    if searched is None or searched.outcome.stop is not Stop.COMPLETE or searched.outcome.findings:
        return {}
    violated = {each.check.judged.property for each in checked if each.violations or each.failures}
    rows: Unmet = {each: [] for each in witnesses.asked if each not in violated}
    for antecedent in witnesses.unmet(searched.outcome.noted):
        if antecedent.subject in rows:
            rows[antecedent.subject].append(antecedent)
    return rows


def _texts(unmet: list[Antecedent] | None) -> list[str] | None:
    return None if unmet is None else [each.text for each in unmet]


def _undefined_note(system: System, outcome: Outcome) -> list[Diagnostic]:
    """One note for all undefined values that were copied or compared: it names the first place in the source."""
    offsets = sorted({note for note in outcome.noted if note >= 0})
    if not offsets:
        return []
    word = re.compile(r"\w+").match(system.source.text, offsets[0])
    span = Span(system.source, offsets[0], word.end() if word else offsets[0] + 1)
    more = len(offsets) - 1
    others = f", and at {more} more place{'s' if more > 1 else ''}" if more else ""
    return [
        Diagnostic(
            Severity.NOTE,
            f"an undefined value is read here{others}",
            span,
            hint="this is permitted, as in CMurphi; --undefined error makes it an error",
        )
    ]

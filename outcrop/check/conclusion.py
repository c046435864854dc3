"""The conclusion of a check: the verdict, the status of each property and rule, and notes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from outcrop.check.engines import EngineOutcome
from outcrop.check.reducing import reduction_notes
from outcrop.errors import InternalError
from outcrop.ir.assumptions import what_was_left_out, why_no_states
from outcrop.ir.layout import Layout
from outcrop.ir.prints import put_note
from outcrop.ir.system import ProcessText, Property, PropertyKind, Rule, System, TextPlace
from outcrop.ir.vacuity import Antecedent, Subject, Vacuity
from outcrop.machine import peak_rss
from outcrop.options import CheckOptions, Deadlock, Engine, TraceOrder
from outcrop.outcome import MOST_FOUND, Finding, FindingKind, Outcome, Stop, most_found
from outcrop.result import (
    PropertyResult,
    Result,
    RuleCounts,
    RuleCoverage,
    Verdict,
    Violation,
    ViolationKind,
    fault_of,
)
from outcrop.source import Diagnostic, Severity, Span

if TYPE_CHECKING:
    from outcrop.check.temporal import Checked
    from outcrop.trace.replay import Replay

#: Findings whose states are looked at again for further faults.
_MOST_LOOKED_AT = 1_000
#: The left sides of implications that were never true, by property.
Unmet = dict[Subject | None, list[Antecedent]]


def conclude(
    model: System,
    warnings: Sequence[Diagnostic],
    options: CheckOptions,
    searched: EngineOutcome | None,
    violations: list[Violation],
    checked: list[Checked],
    witnesses: Vacuity,
) -> Result:
    """Returns the Result of all searches. Its figures are those of the search for bad states or, without one, of the
    first search for a formula."""
    system, main = model, searched
    if main is None:
        assert checked[0].searched is not None
        system, main = checked[0].check.product, checked[0].searched
    outcome = main.outcome
    states_searched = _search_of_states(model, searched, checked)
    unmet = _unmet(witnesses, searched, checked)
    looked_at = "none" if states_searched is None else "all" if states_searched is searched else "product"
    every = [*([] if searched is None else [searched]), *(each.searched for each in checked if each.searched)]
    # The search for a formula meets the errors of the model again.
    known = {fault_of(each) for each in violations}
    found = [*violations, *(each for one in checked for each in one.violations if fault_of(each) not in known)]
    found += [failure for each in checked for failure in each.failures]
    empty = why_no_states(model) if outcome.stop is Stop.NO_STATES and not found else None
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
        engine=str(_engine(every)),
        threads=_threads(options, _engine(every)),
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
            *(each.result(options, _texts(unmet.get(each.check.property_instance.property))) for each in checked),
        ],
        coverage=_coverage(system, options, outcome),
        unreached=_unreached(system, outcome),
        violations=found,
        ranks=max(1, len(outcome.ranks)),
        per_rank=list(outcome.ranks),
        notes=[
            *([] if empty is None else [empty]),
            *warnings,
            *([] if found or empty else _left_out(model, searched)),
            *([] if options.prints else put_note(model, "during a search; use --print")),
            *_notes(model, options, searched, checked),
            *reduction_notes(outcome.reduction),
            *(each.warning() for each in witnesses.antecedents if each in unmet.get(each.subject, ())),
        ],
        peak_disk_bytes=max(each.outcome.peak_disk_bytes for each in every),
        events=list(dict.fromkeys(event for each in every for event in each.outcome.events)),
        layers=outcome.layers,
        compression=outcome.compression,
        reduction=outcome.reduction,
        generated=outcome.generated,
        duplicates=outcome.duplicates,
        missed=outcome.missed_duplicates,
        collision_rate=outcome.collision_rate,
        samples=outcome.samples,
        variables=system.variables,
        deadlock=str(options.deadlock if looked_at == "all" else Deadlock.OFF),
        states_checked=looked_at,
        device=outcome.device,
        reason="" if empty is None else empty.message,
        fairness=str(options.fair),
        symmetry={"asked": options.symmetry, "used": _uses_symmetry(model, options, searched, checked)},
        compiler=main.compiler,
        model_sha256=model.source.sha256,
    )


def _uses_symmetry(
    model: System, options: CheckOptions, searched: EngineOutcome | None, checked: list[Checked]
) -> bool:
    """Returns whether the search whose figures are reported used symmetry reduction."""
    if searched is None:
        return checked[0].check.is_reduced(options)
    return options.symmetry and bool(model.scalarsets) and model.allows_symmetry


def _left_out(system: System, searched: EngineOutcome | None) -> list[Diagnostic]:
    """Returns notes on states that assumptions excluded. Successors that they drop are fired but not generated."""
    if searched is None or searched.outcome.stop is not Stop.COMPLETE or searched.outcome.revisits:
        return what_was_left_out(system, None, None)
    outcome = searched.outcome
    generated = [count for count in outcome.generated if count is not None]
    if len(generated) <= len(outcome.levels) or len(generated) < len(outcome.generated):
        return what_was_left_out(system, None, None)
    starts = sum(start.instance_count for start in system.start_states)
    return what_was_left_out(system, max(0, starts - generated[0]), max(0, outcome.rules_fired - sum(generated[1:])))


def _notes(
    system: System, options: CheckOptions, searched: EngineOutcome | None, checked: list[Checked]
) -> list[Diagnostic]:
    notes: list[Diagnostic] = []
    if searched is not None:
        notes += _undefined_note(system, searched.outcome)
        is_off = not system.allows_symmetry and not system.orders_scalarsets  # a warning tells about orders
        if options.symmetry and system.scalarsets and is_off:
            text = "symmetry is off: a liveness property names a single value of a scalarset"
            notes.append(Diagnostic(Severity.NOTE, text))
    if checked:
        from outcrop.check.temporal import memory_notes, symmetry_notes  # few models have formulas

        notes += symmetry_notes([each.check for each in checked], options)
        notes += memory_notes(checked, options)
    return notes


def _engine(every: list[EngineOutcome]) -> Engine:
    """Returns the engine of a check: native if any of its searches was."""
    return max((each.engine for each in every), key=lambda engine: engine is Engine.NATIVE)


def _threads(options: CheckOptions, engine: Engine) -> int:
    if engine is Engine.INTERPRETER:
        return 1
    from outcrop.explorer.budget import worker_count  # imports numpy, which the interpreter does not need

    return worker_count(options)


def _guarantee(outcome: Outcome) -> str:
    if outcome.stop is Stop.COVERAGE and outcome.signature_coverage is not None:
        return f"about {outcome.signature_coverage:.2%} coverage"
    if not outcome.omission_bound:
        return "exact"
    bound = f"the probability that a state was missed is at most {outcome.omission_bound:.2g}"
    if outcome.signature_coverage is None:
        return bound
    return f"{bound}, expected coverage {outcome.signature_coverage:.2%}"


def violations_of(system: System, options: CheckOptions, searched: EngineOutcome) -> list[Violation]:
    """Returns the violation of each finding, replayed and explained, then the cover goals that a complete search
    missed. Adds an event to the outcome where traces are not those that the options ask for."""
    violations: list[Violation] = []
    outcome = searched.outcome
    if outcome.findings:
        from outcrop.trace.replay import Replay  # needed only for violations

        replay = Replay(system, options, searched.canonical)
        violations = [replay.explain(finding) for finding in outcome.findings]
        violations += _hidden(system, replay, outcome.findings, violations, most_found(options))
        if options.trace_order is TraceOrder.LANES:
            from outcrop.check.easiest import with_easiest_traces  # needed only for violations

            violations, events = with_easiest_traces(system, options, searched, replay, violations)
            outcome.events.extend(events)
    elif outcome.stop is Stop.VIOLATION:
        raise InternalError("the search stopped for a violation that it does not name")
    if outcome.stop is Stop.COMPLETE:
        violations += [
            Violation(ViolationKind.COVER, f'cover "{goal.name}" is never met', goal.span, None, goal.name)
            for goal, count in zip(system.covers, outcome.covered, strict=True)
            if not count
        ]
    return violations


def _hidden(
    system: System, replay: Replay, findings: list[Finding], violations: list[Violation], most: int
) -> list[Violation]:
    """Returns the first violation of each fault that occurs only in states of which a search reports another one."""
    known, found = {fault_of(each) for each in violations}, list[Violation]()
    left = {each.name for each in system.of_kind(PropertyKind.INVARIANT)} - {each.property for each in violations}
    for number, finding in enumerate(findings if most > 1 else ()):
        if not left and number >= _MOST_LOOKED_AT:
            break
        for each in replay.beside(finding):
            if fault_of(each) not in known and len(violations) + len(found) < most:
                known.add(fault_of(each))
                left.discard(each.property)
                found.append(each)
    return found


def _search_of_states(system: System, searched: EngineOutcome | None, checked: list[Checked]) -> EngineOutcome | None:
    """Returns the search for bad states: a separate one, or that of the product with the model's property process. None
    if only runs were searched for."""
    beside = (each.searched for each in checked if each.check.product.automaton is system.automaton)
    return searched if searched is not None or system.automaton is None else next(beside, None)


def _properties(
    system: System,
    searched: EngineOutcome | None,
    violations: list[Violation],
    unmet: Unmet,
) -> list[PropertyResult]:
    """Returns the status of each property. An assumption is not checked, since it restricts the states."""
    rows = []
    for each in system.properties:
        if each.kind is PropertyKind.END:
            continue
        violated = any(
            str(violation.kind) in (str(each.kind), ViolationKind.RUNTIME) and violation.property == each.name
            for violation in violations
        )
        if each.kind is PropertyKind.ASSUMPTION:
            status = "assumed"
        elif violated:
            status = "violated"
        elif searched is not None and _is_decided(each, searched.outcome):
            status = "holds"
        else:
            status = "unknown"
        vacuous = _texts(unmet.get(each)) if each.kind is PropertyKind.INVARIANT else None
        met = searched.outcome.covered[each.cover] if each.cover is not None and searched is not None else None
        rows.append(PropertyResult(str(each.kind), each.name, each.span, status, vacuous, met))
    return rows


def _is_decided(each: Property, outcome: Outcome) -> bool:
    """Returns whether a search would have found a violation of a property. Liveness is decided only where nothing else
    is wrong, and a full list of findings may have left out a state in which the property is false."""
    is_full = len(outcome.findings) >= MOST_FOUND
    is_late = each.kind is PropertyKind.LIVENESS and any(f.kind is not FindingKind.LIVENESS for f in outcome.findings)
    return outcome.stop is Stop.COMPLETE and not is_full and not is_late


def _coverage(system: System, options: CheckOptions, outcome: Outcome) -> list[RuleCoverage]:
    """Returns the counts of each rule."""

    def counts(number: int) -> RuleCounts:
        enabled, deeper = outcome.enabled, outcome.deeper
        return RuleCounts(enabled[number] if enabled else None, deeper[number] if deeper else None)

    executed: set[tuple[int | str, int]] = set()
    for rule, fired in zip(system.rules, outcome.fired, strict=True):
        if fired:
            executed.update(_moves(rule))
    return [
        RuleCoverage(
            rule.name,
            rule.span,
            rule.instance_count,
            fired,
            counts(number) if options.coverage else None,
            tuple((each.local.name, each.type) for each in rule.parameters),
            rule.processes,
            not fired and bool(rule.executed) and executed.issuperset(_moves(rule)),
        )
        for number, (rule, fired) in enumerate(zip(system.rules, outcome.fired, strict=True))
    ]


def _moves(rule: Rule) -> Iterator[tuple[int | str, int]]:
    """Yields the processes and statements of a rule, in languages where a rule may be several statements."""
    return (move for each in rule.executed for move in each.moves)


def _unreached(system: System, outcome: Outcome) -> list[ProcessText]:
    """Returns the texts of processes with those of their places that no fired rule led to."""
    reached = {(each.name, each.start) for each in system.texts if each.starts}
    for rule, fired in zip(system.rules, outcome.fired, strict=True):
        if fired:
            reached |= rule.reaches

    def is_reached(text: ProcessText, place: TextPlace) -> bool:
        return any((text.name, state) in reached for state in (place.state, place.counts_with))

    return [
        replace(text, places=tuple(each for each in text.places if not is_reached(text, each))) for text in system.texts
    ]


def _unmet(witnesses: Vacuity, searched: EngineOutcome | None, checked: list[Checked]) -> Unmet:
    """Returns the left sides of implications that were never true, by property. Leaves out properties that are violated
    or whose search did not complete."""
    if searched is None or searched.outcome.stop is not Stop.COMPLETE or searched.outcome.findings:
        return {}
    violated = {each.check.property_instance.property for each in checked if each.violations or each.failures}
    rows: Unmet = {each: [] for each in witnesses.asked if each not in violated}
    for antecedent in witnesses.unmet(searched.outcome.noted):
        if antecedent.subject in rows:
            rows[antecedent.subject].append(antecedent)
    return rows


def _texts(unmet: list[Antecedent] | None) -> tuple[str, ...] | None:
    return None if unmet is None else tuple(each.text for each in unmet)


def _undefined_note(system: System, outcome: Outcome) -> list[Diagnostic]:
    """Returns one note on all undefined values that were copied or compared. It names the first place in the source."""
    offsets = sorted({note for note in outcome.noted if note >= 0})
    if not offsets:
        return []
    word = re.compile(r"\w+").match(system.source.text, offsets[0])
    span = Span(system.source, offsets[0], word.end() if word else offsets[0] + 1)
    more = len(offsets) - 1
    others = f", and at {more:,} more place{'s' if more > 1 else ''}" if more else ""
    return [
        Diagnostic(
            Severity.NOTE,
            f"an undefined value is read here{others}",
            span,
            hint=system.undefined_hint,
        )
    ]

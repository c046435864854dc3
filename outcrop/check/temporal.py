"""The checks of formulas about runs: which there are, how each is searched, and how it is concluded.

A formula is checked on the product of the model with the automaton of its negation. A formula inside rulesets is
checked once per combination of the parameters. Combinations that differ only in a renaming of scalarset values are
equivalent, so that one stands for all of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from outcrop.check.engines import EngineOutcome, ShowProgress, TakeOutput, search, wants_compression
from outcrop.errors import InternalError, UsageError
from outcrop.ir.automaton import Automaton
from outcrop.ir.formula import negate
from outcrop.ir.product import product, strong_fairness, weak_fairness
from outcrop.ir.symmetry import Normaliser
from outcrop.ir.system import PropertyKind, System, TemporalProperty
from outcrop.ir.types import Scalarset
from outcrop.ltl.binding import bind
from outcrop.ltl.translate import translate
from outcrop.options import CheckOptions, Deadlock, Engine, Fair, LoadOptions
from outcrop.outcome import Event, EventKind, Finding, FindingKind, Stop
from outcrop.result import FormulaResult, Trace, Violation, ViolationKind
from outcrop.source import Diagnostic, Severity, Span
from outcrop.strategies import Compression, OwctyOptions, names
from outcrop.trace.lasso import PropertyInstance, explain_lasso
from outcrop.trace.replay import explain


@dataclass(frozen=True)
class TemporalCheck:
    """The check of one formula instance, or of the property process of the model. Traces show the variables of
    ``shown``. ``counted`` is, under weak fairness, the product with a fairness counter; ``product`` has none."""

    name: str
    span: Span
    product: System
    shown: System
    property_instance: PropertyInstance
    alike: int = 1  #: number of instances that it stands for
    counted: System | None = None

    @property
    def names_scalarset_values(self) -> bool:
        return self.property_instance.property is not None and self.property_instance.property.names_scalarset_values

    def with_counter(self) -> TemporalCheck:
        """Returns this check for strategies that need the fairness counter in the product."""
        if self.counted is None:
            return self
        counted = dataclasses.replace(self.counted, forgives_failures=self.product.forgives_failures)
        return dataclasses.replace(self, product=counted, counted=None)

    def allows_symmetry(self, options: CheckOptions) -> bool:
        """Returns whether symmetry reduction is sound. Fairness distinguishes rule instances that symmetry
        identifies."""
        return options.symmetry and options.fair is Fair.NONE and not self.names_scalarset_values

    def is_reduced(self, options: CheckOptions) -> bool:
        """Returns whether its search uses symmetry reduction."""
        return self.allows_symmetry(options) and bool(self.product.scalarsets) and self.product.allows_symmetry


def plan(system: System, options: CheckOptions) -> list[TemporalCheck]:
    """Returns the checks of formulas that a model and the options ask for."""
    is_compact, is_shared = options.of(OwctyOptions).compact, (options.ranks or 1) > 1
    if options.fair is Fair.STRONG and (options.strategy == "ndfs" or is_compact or is_shared):
        raise UsageError(
            "strong fairness cannot be checked with ndfs, with --compact or over several ranks; leave these options out"
        )
    subjects: list[TemporalProperty | Automaton] = [] if system.automaton is None else [system.automaton]
    subjects += system.temporal
    if options.fair is not Fair.NONE and not subjects:
        raise UsageError("--fair needs a formula; give one with --ltl")
    others = [each.name for each in system.properties if each.kind in (PropertyKind.INVARIANT, PropertyKind.LIVENESS)]
    chosen = _chosen(subjects, options, list(dict.fromkeys(others)))
    return [check for subject in chosen for check in _checks(system, subject, options)]


def _chosen(
    subjects: list[TemporalProperty | Automaton], options: CheckOptions, others: Sequence[str]
) -> list[TemporalProperty | Automaton]:
    """Returns the formulas that --property names, by name or number. ``others``: names of properties of states."""
    if not options.properties:
        return subjects
    chosen = []
    for wanted in options.properties:
        found = [each for each in subjects if each.name == wanted]
        if not found and wanted.isdigit() and 0 < int(wanted) <= len(subjects):
            found = [subjects[int(wanted) - 1]]
        if not found:
            known = [*(f"{number}: {each.name}" for number, each in enumerate(subjects, 1)), *others]
            remedy = f"choose from {'; '.join(known)}" if known else "give one with --ltl"
            raise UsageError(f"the model has no formula or property '{wanted}'; {remedy}")
        chosen += [each for each in found if each not in chosen]
    return chosen


def _checks(system: System, subject: TemporalProperty | Automaton, options: CheckOptions) -> Iterator[TemporalCheck]:
    fairness = None
    if options.fair is not Fair.NONE:
        fairness = (strong_fairness if options.fair is Fair.STRONG else weak_fairness)(system)

    def counted(automaton: Automaton) -> System | None:
        return product(system, automaton, fairness) if options.fair is Fair.WEAK else None

    if isinstance(subject, Automaton):
        both = product(system, subject, fairness, counts=False)
        shown = product(system, subject)
        yield TemporalCheck(subject.name, subject.span, both, shown, PropertyInstance(None), 1, counted(subject))
        return
    automaton = translate(negate(subject.formula))
    instances = _representatives(subject) if options.symmetry else dict.fromkeys(subject.instances(), 1)
    for arguments, alike in instances.items():
        bound = bind(automaton, subject.meaning, subject.span, subject.frame, subject.parameters, arguments)
        both = product(system, bound, fairness, counts=False)
        property_instance = PropertyInstance(subject, arguments)
        yield TemporalCheck(
            subject.label(arguments), subject.span, both, system, property_instance, alike, counted(bound)
        )


def _representatives(subject: TemporalProperty) -> dict[tuple[int, ...], int]:
    """Returns the first instance of each class of equivalent instances, with the size of the class."""
    kinds = [parameter.type for parameter in subject.parameters]
    counts: dict[tuple[int, ...], int] = {}
    for arguments in subject.instances():
        renamed: dict[tuple[int, int], int] = {}
        row = []
        for kind, value in zip(kinds, arguments, strict=True):
            if isinstance(kind, Scalarset) and kind.is_symmetric:
                # Values of a scalarset are numbered in order of appearance.
                turn = sum(uid == kind.uid for uid, _ in renamed)
                value = renamed.setdefault((kind.uid, value), kind.low + turn)
            row.append(value)
        counts[tuple(row)] = counts.get(tuple(row), 0) + 1
    return counts


# --- Searching and concluding ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Checked:
    """The outcome of a check; ``searched`` is None if it was not searched."""

    check: TemporalCheck
    strategy: str
    searched: EngineOutcome | None = None
    violations: tuple[Violation, ...] = ()
    failures: tuple[Violation, ...] = ()  #: failures of steps, in spite of which the formula was decided

    @property
    def is_complete(self) -> bool:
        return self.searched is not None and self.searched.outcome.stop is Stop.COMPLETE

    def result(self, options: CheckOptions, vacuous: tuple[str, ...] | None) -> FormulaResult:
        """Returns the status of the formula. ``vacuous``: left sides of implications in it that were never true."""
        subject = self.check.property_instance.property
        product = self.check.product.product
        assert product is not None
        outcome = None if self.searched is None else self.searched.outcome
        # The search for a property process also finds bad states, which say nothing about runs.
        is_violated = any(each.kind is ViolationKind.LTL for each in self.violations)
        status = "violated" if is_violated else "holds" if self.is_complete else "unknown"
        return FormulaResult(
            name=self.check.name,
            span=self.check.span,
            status=status,
            formula=None if subject is None else str(subject.formula),
            instances=self.check.alike,
            automaton_states=len(product.automaton.states),
            automaton_strength=str(product.automaton.strength),
            strategy=self.strategy,
            states=None if outcome is None else outcome.states,
            transitions=None if outcome is None else outcome.rules_fired,
            seconds=None if outcome is None else outcome.seconds,
            symmetry=self.check.is_reduced(options),
            vacuous=vacuous,
        )


#: The strategies for runs that users can choose.
CYCLE_STRATEGIES = names(finds_cycles=True)
#: The strategy for fair runs, unless the product has a fairness counter.
FAIR = "fair"
#: The fallback of ``auto`` when the states of a product do not fit into memory.
COMPACTED = "owcty --compact"


def cycle_strategy(options: CheckOptions) -> str:
    """Returns the name of the search for runs that violate a formula."""
    if options.engine is Engine.INTERPRETER:
        return "scc"
    counts = options.strategy in CYCLE_STRATEGIES or (options.ranks or 1) > 1
    if options.fair is Fair.STRONG or (options.fair is Fair.WEAK and not counts):
        return FAIR
    return options.strategy if options.strategy in CYCLE_STRATEGIES else "owcty"


def run_check(
    check: TemporalCheck,
    load: LoadOptions,
    options: CheckOptions,
    progress: ShowProgress | None,
    output: TakeOutput | None,
) -> Checked:
    """Searches the product, and replays the findings."""
    strategy = cycle_strategy(options)
    if strategy != FAIR:
        check = check.with_counter()
    chosen = dataclasses.replace(
        options,
        strategy="owcty" if strategy == "scc" else strategy,
        symmetry=check.allows_symmetry(options),
        deadlock=Deadlock.OFF,
        coverage=False,
        max_errors=1,
    )
    events: list[Event] = []
    if strategy == FAIR and wants_compression(chosen):
        chosen = chosen.with_own(compress=Compression.OFF)
        events.append(Event(EventKind.WARNED, "the search for fair runs keeps states in full, without compression"))
    failures: tuple[Violation, ...] = ()
    spent = 0.0

    def look(output: TakeOutput | None) -> EngineOutcome:
        """Searches within the time that is left."""
        nonlocal spent
        searched = search(check.product, load, chosen.after(spent), progress, output)
        spent += searched.outcome.seconds
        told = [*events, *searched.outcome.events]
        return dataclasses.replace(searched, outcome=dataclasses.replace(searched.outcome, seconds=spent, events=told))

    searched = look(output)
    if check.product.error_state is not None and _has_failed(searched):
        # Runs continue from the error state, so that the formula can be decided too.
        failures = _explained(check, searched, chosen)
        check = dataclasses.replace(check, product=dataclasses.replace(check.product, forgives_failures=True))
        searched = look(None)
        if _has_failed(searched):  # the automaton itself fails
            failures = ()
    is_too_large = searched.outcome.stop is Stop.MEMORY and options.strategy == "auto"
    if is_too_large and (strategy == "owcty" or check.counted is not None):
        check = check.with_counter()
        strategy, chosen = (
            COMPACTED,
            dataclasses.replace(chosen, strategy="owcty").with_own(compact=True, compress=Compression.OFF),
        )
        searched = look(output)
    violations = _explained(check, searched, chosen)
    if searched.outcome.stop is Stop.VIOLATION and not violations:
        raise InternalError("the search stopped for a violation that it does not name")
    return Checked(check, strategy, searched, violations, failures)


def _has_failed(searched: EngineOutcome) -> bool:
    return any(each.kind is FindingKind.RULE for each in searched.outcome.findings)


def _explained(check: TemporalCheck, searched: EngineOutcome, options: CheckOptions) -> tuple[Violation, ...]:
    canonical = searched.canonical or Normaliser(check.product, options.symmetry)
    return tuple(_explain(check, each, options, canonical) for each in searched.outcome.findings)


def _explain(check: TemporalCheck, finding: Finding, options: CheckOptions, canonical: Any) -> Violation:
    if finding.kind is FindingKind.LASSO:
        return explain_lasso(check.product, check.shown, finding, check.property_instance, canonical)
    violation = explain(check.product, finding, options, canonical)
    if violation.trace is None:
        return violation
    count = check.shown.leaf_count
    steps = [dataclasses.replace(each, state=each.state[:count]) for each in violation.trace.steps]
    return dataclasses.replace(violation, trace=Trace(check.shown, tuple(steps)))


def run_checks(
    checks: list[TemporalCheck],
    load: LoadOptions,
    options: CheckOptions,
    progress: ShowProgress | None,
    output: TakeOutput | None,
) -> list[Checked]:
    """Runs all checks, since a violated formula says nothing about the next one. The time limit is shared; after Ctrl-C
    the rest is skipped."""
    done: list[Checked] = []
    left = options.time_limit
    for check in checks:
        stops = [each.searched.outcome.stop for each in done if each.searched is not None]
        if Stop.INTERRUPTED in stops or (done and left is not None and left <= 0):
            done.append(Checked(check, cycle_strategy(options)))
            continue
        done.append(run_check(check, load, dataclasses.replace(options, time_limit=left), progress, output))
        searched = done[-1].searched
        if left is not None and searched is not None:
            left -= searched.outcome.seconds
    return done


def memory_notes(checked: list[Checked], options: CheckOptions) -> list[Diagnostic]:
    """Returns notes on the fallback that was used for lack of memory, or that could be used."""
    notes = []
    stops = [(each, each.searched.outcome.stop) for each in checked if each.searched is not None]
    if any(each.strategy == COMPACTED for each, _ in stops):
        notes.append(
            "the states of a product did not fit into memory, so signatures were stored instead, as with --strategy "
            "owcty --compact"
        )
    ends = [each.strategy for each, stop in stops if stop is Stop.MEMORY]
    if any(each in CYCLE_STRATEGIES for each in ends) and not options.of(OwctyOptions).compact:
        notes.append("with --strategy owcty --compact, a state of a product takes only 5 to 9 bytes of memory")
    return [Diagnostic(Severity.NOTE, text) for text in notes]


def symmetry_notes(checks: list[TemporalCheck], options: CheckOptions) -> list[Diagnostic]:
    """Returns notes on formulas whose states could have been reduced by symmetry and were not."""
    if not options.symmetry or not any(each.product.scalarsets for each in checks):
        return []
    if options.fair is not Fair.NONE:
        text = "symmetry is off for formulas: fairness distinguishes rule instances that symmetry identifies"
        return [Diagnostic(Severity.NOTE, text)]
    notes: dict[Span, Diagnostic] = {}
    for each in checks:
        if each.names_scalarset_values and each.span not in notes:
            text = "symmetry is off for this formula: it names a single value of a scalarset"
            notes[each.span] = Diagnostic(Severity.NOTE, text, each.span)
    return list(notes.values())

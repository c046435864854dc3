"""Checks of formulas about runs: which there are, and how each is searched for and concluded.

A formula is checked by the product of the model with the automaton of its negation, a formula inside rulesets once for
each combination of the parameters. Combinations that a renaming of scalarset values turns into each other are alike, so
that one stands for all of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from outcrop.check.engines import EngineOutcome, ShowProgress, TakeOutput, search
from outcrop.errors import InternalError, UsageError
from outcrop.ir.automaton import Automaton
from outcrop.ir.formula import negate
from outcrop.ir.product import product, strong_fairness, weak_fairness
from outcrop.ir.symmetry import Normaliser
from outcrop.ir.system import System, TemporalProperty
from outcrop.ir.types import Scalarset
from outcrop.ltl.binding import bind
from outcrop.ltl.translate import translate
from outcrop.options import CheckOptions, Deadlock, Engine, Fair, LoadOptions
from outcrop.outcome import Finding, FindingKind, Stop
from outcrop.result import FormulaResult, Trace, Violation, ViolationKind
from outcrop.source import Diagnostic, Severity, Span
from outcrop.strategies import OwctyOptions, names
from outcrop.trace.lasso import PropertyInstance, explain_lasso
from outcrop.trace.replay import explain


@dataclass(frozen=True)
class TemporalCheck:
    """One instance of a formula, or the property process of the model. ``shown``: what traces show the variables of.
    ``counted``: with weak fairness, the product with a counter for it, which ``product`` does not have."""

    name: str
    span: Span
    product: System
    shown: System
    property_instance: PropertyInstance
    alike: int = 1  #: instances that it stands for
    counted: System | None = None

    @property
    def names_scalarset_values(self) -> bool:
        return self.property_instance.property is not None and self.property_instance.property.names_scalarset_values

    def with_counter(self) -> TemporalCheck:
        """The same, for searches that leave weak fairness to the product."""
        if self.counted is None:
            return self
        counted = dataclasses.replace(self.counted, forgives_failures=self.product.forgives_failures)
        return dataclasses.replace(self, product=counted, counted=None)

    def allows_symmetry(self, options: CheckOptions) -> bool:
        """Fairness tells instances of rules apart that symmetry takes for one."""
        return options.symmetry and options.fair is Fair.NONE and not self.names_scalarset_values

    def is_reduced(self, options: CheckOptions) -> bool:
        """Whether its search counts states that symmetry maps to each other once."""
        return self.allows_symmetry(options) and bool(self.product.scalarsets) and self.product.allows_symmetry


def plan(system: System, options: CheckOptions) -> list[TemporalCheck]:
    """The checks of formulas that a model and the options ask for."""
    is_compact, is_shared = options.of(OwctyOptions).compact, (options.ranks or 1) > 1
    if options.fair is Fair.STRONG and (options.strategy == "ndfs" or is_compact or is_shared):
        raise UsageError(
            "strongly fair runs are looked for in a way of their own: not by ndfs, nor with --compact or several ranks"
        )
    subjects: list[TemporalProperty | Automaton] = [] if system.automaton is None else [system.automaton]
    subjects += system.temporal
    if options.fair is not Fair.NONE and not subjects:
        raise UsageError("--fair says which runs a formula is about, and there is no formula: see --ltl")
    return [check for subject in _chosen(subjects, options) for check in _checks(system, subject, options)]


def _chosen(subjects: list[TemporalProperty | Automaton], options: CheckOptions) -> list[TemporalProperty | Automaton]:
    """Those that --property names, by name or number."""
    if not options.properties:
        return subjects
    chosen = []
    for wanted in options.properties:
        found = [each for each in subjects if each.name == wanted]
        if not found and wanted.isdigit() and 0 < int(wanted) <= len(subjects):
            found = [subjects[int(wanted) - 1]]
        if not found:
            names = "; ".join(f"{number}: {each.name}" for number, each in enumerate(subjects, 1)) or "it has none"
            raise UsageError(f"the model has no formula '{wanted}' ({names})")
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
    """The first of the instances that are alike, each with their number."""
    kinds = [parameter.type for parameter in subject.parameters]
    counts: dict[tuple[int, ...], int] = {}
    for arguments in subject.instances():
        renamed: dict[tuple[int, int], int] = {}
        row = []
        for kind, value in zip(kinds, arguments, strict=True):
            if isinstance(kind, Scalarset) and kind.is_symmetric:
                # In the order in which the values of a scalarset turn up.
                turn = sum(uid == kind.uid for uid, _ in renamed)
                value = renamed.setdefault((kind.uid, value), kind.low + turn)
            row.append(value)
        counts[tuple(row)] = counts.get(tuple(row), 0) + 1
    return counts


# --- Searching and concluding ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Checked:
    """How a check went; ``searched`` None where it did not come to it."""

    check: TemporalCheck
    strategy: str
    searched: EngineOutcome | None = None
    violations: tuple[Violation, ...] = ()
    failures: tuple[Violation, ...] = ()  #: of steps, where the formula was property_instance all the same

    @property
    def is_complete(self) -> bool:
        return self.searched is not None and self.searched.outcome.stop is Stop.COMPLETE

    def result(self, options: CheckOptions, vacuous: tuple[str, ...] | None) -> FormulaResult:
        """Returns how the formula fared. ``vacuous``: what stands before an arrow in it and was never true."""
        subject = self.check.property_instance.property
        product = self.check.product.product
        assert product is not None
        outcome = None if self.searched is None else self.searched.outcome
        # Beside a property process bad states are found as well: they say nothing about the runs.
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


#: The strategies that users can name for runs that violate a formula.
CYCLE_STRATEGIES = names(finds_cycles=True)
#: The strategy for runs that are fair, unless the product counts.
FAIR = "fair"
#: What ``auto`` does where states do not fit into memory.
COMPACTED = "owcty --compact"


def cycle_strategy(options: CheckOptions) -> str:
    """Which search looks for runs that a formula forbids."""
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
    """Searches the product, and replays what is found."""
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
    failures: tuple[Violation, ...] = ()
    spent = 0.0

    def look(output: TakeOutput | None) -> EngineOutcome:
        """Within the time that is left."""
        nonlocal spent
        searched = search(check.product, load, chosen.after(spent), progress, output)
        spent += searched.outcome.seconds
        return dataclasses.replace(searched, outcome=dataclasses.replace(searched.outcome, seconds=spent))

    searched = look(output)
    if check.product.error_state is not None and _has_failed(searched):
        # Runs go on from the error state, so that the formula can be property_instance beside.
        failures = _explained(check, searched, chosen)
        check = dataclasses.replace(check, product=dataclasses.replace(check.product, forgives_failures=True))
        searched = look(None)
        if _has_failed(searched):  # the automaton itself fails
            failures = ()
    is_too_large = searched.outcome.stop is Stop.MEMORY and options.strategy == "auto"
    if is_too_large and (strategy == "owcty" or check.counted is not None):
        check = check.with_counter()
        strategy, chosen = COMPACTED, dataclasses.replace(chosen, strategy="owcty").with_own(compact=True)
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
    """All of them, whatever the others give: a formula that is violated says nothing about the next one. Time is
    shared; after Ctrl-C the rest is left."""
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
    """What was done when memory was used up, or can be done."""
    notes = []
    stops = [(each, each.searched.outcome.stop) for each in checked if each.searched is not None]
    if any(each.strategy == COMPACTED for each, _ in stops):
        notes.append(
            "the states of a product did not fit into memory: it was searched with signatures instead, like --strategy "
            "owcty --compact"
        )
    ends = [each.strategy for each, stop in stops if stop is Stop.MEMORY]
    if any(each in CYCLE_STRATEGIES for each in ends) and not options.of(OwctyOptions).compact:
        notes.append(
            "with --strategy owcty --compact a state of a product takes 5 to 9 bytes of memory; whole ones are on disk"
        )
    return [Diagnostic(Severity.NOTE, text) for text in notes]


def symmetry_notes(checks: list[TemporalCheck], options: CheckOptions) -> list[Diagnostic]:
    """For which formulas states are not reduced by symmetry, though they could have been."""
    if not options.symmetry or not any(each.product.scalarsets for each in checks):
        return []
    if options.fair is not Fair.NONE:
        text = "symmetry is off for formulas: fairness tells apart what symmetry takes for one"
        return [Diagnostic(Severity.NOTE, text)]
    notes: dict[Span, Diagnostic] = {}
    for each in checks:
        if each.names_scalarset_values and each.span not in notes:
            text = "symmetry is off for this formula: it speaks of one value of a scalarset"
            notes[each.span] = Diagnostic(Severity.NOTE, text, each.span)
    return list(notes.values())

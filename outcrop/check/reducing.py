"""Partial-order reduction in a check: the properties that it would not preserve, and what it tells the user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from outcrop.errors import UsageError
from outcrop.ir.formula import Formula, Operator
from outcrop.ir.system import PropertyKind, System
from outcrop.ltl.stuttering import ignores_repetitions
from outcrop.options import CheckOptions, Fair, Reduce
from outcrop.outcome import ReductionReport
from outcrop.source import Diagnostic, Severity

if TYPE_CHECKING:
    from outcrop.check.temporal import TemporalCheck


def refuse_what_changes(system: System, checks: Sequence[TemporalCheck], options: CheckOptions) -> None:
    """Raises UsageError for properties and options under which reduction could change a verdict."""
    if options.reduce is Reduce.OFF:
        return
    problem = ""
    remedy = "leave out --reduce, or name the other properties with --property"
    if options.fair is not Fair.NONE:
        problem, remedy = "partial-order reduction does not preserve fairness", "leave out --reduce, or --fair"
    elif system.of_kind(PropertyKind.LIVENESS):
        problem = "partial-order reduction does not preserve 'liveness' properties"
    elif checks and system.automaton is not None and not ignores_repetitions(system.automaton):
        problem = f"partial-order reduction changes the number of steps, which '{system.automaton.name}' may count"
        remedy = "leave out --reduce, or the claim with --claims off" if system.texts else "leave out --reduce"
    for each in checks:
        subject = each.property_instance.property
        if subject is not None and _has_next(subject.formula):
            problem = f"partial-order reduction does not preserve X, which formula '{each.name}' contains"
    if problem:
        raise UsageError(f"{problem}; {remedy}")


def _has_next(formula: Formula) -> bool:
    return formula.operator is Operator.NEXT or any(map(_has_next, formula.operands))


def reduction_notes(report: ReductionReport | None) -> list[Diagnostic]:
    """Returns what reduction means for the figures, or why there was none."""
    if report is None:
        return []
    if not report.reason:
        text = (
            "partial-order reduction: states and diameter are those of the reduced system, and a trace need not be "
            "the shortest"
        )
        return [Diagnostic(Severity.NOTE, text, bears_on_verdict=True)]
    blamed = ", ".join(f"'{name}'" for name in report.blamed)
    hint = f"most rules depend on each other through {blamed}" if blamed else ""
    return [Diagnostic(Severity.NOTE, f"the model is searched in full: {report.reason}", hint=hint)]

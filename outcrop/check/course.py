"""The course of a check: the search for bad states, a search for each formula, and the verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from outcrop.check.conclusion import conclude, violations_of
from outcrop.check.engines import EngineOutcome, search, settled
from outcrop.check.kept import keeping, write_kept
from outcrop.check.reducing import refuse_what_changes
from outcrop.check.refusals import refuse_invariants, refuse_unused_options
from outcrop.check.selection import formulas_with_vacuity, select
from outcrop.errors import UsageError
from outcrop.ir.system import System
from outcrop.ir.vacuity import vacuity
from outcrop.options import CheckOptions, Deadlock, Engine, Fair, LoadOptions, given_options, is_remote
from outcrop.outcome import Progress, Stop, announce
from outcrop.result import PropertyResult, Result, Violation
from outcrop.source import Diagnostic
from outcrop.strategies import names

if TYPE_CHECKING:
    from outcrop.check.temporal import Checked, TemporalCheck


@dataclass(frozen=True)
class Course:
    """The check of one System. ``warnings``: those of its front-end. ``output`` is called with the model's output."""

    system: System
    warnings: tuple[Diagnostic, ...]
    loading: LoadOptions
    progress: Callable[[Progress], None] | None
    output: Callable[[str], object]

    def run(self, asked: CheckOptions) -> Result:
        """Checks those properties that the options name."""
        selection = select(self.system, asked.properties)
        chosen = replace(asked, properties=selection.formulas)
        selected = replace(self, system=selection.system, warnings=(*self.warnings, *selection.notes()))
        if is_remote(chosen.checkpoint) or is_remote(chosen.resume):
            from outcrop.check.remote import check_remotely  # few checks need it

            result = check_remotely(chosen, selected._checked)
        else:
            result = selected._checked(chosen)
        result.properties += [
            PropertyResult(str(each.kind), each.name, each.span, "unknown") for each in selection.skipped
        ]
        result.options = given_options(self.loading, asked)
        return result

    def _checked(self, chosen: CheckOptions) -> Result:
        """Checks every property of the System, and of its formulas those that the options name."""
        if self.system.says_where_runs_end and chosen.deadlock is Deadlock.STUTTERING:
            chosen = replace(chosen, deadlock=Deadlock.STUCK)
        chosen, event = settled(keeping(chosen))
        if event is not None:
            announce(self.progress, event)
        if chosen.engine is Engine.INTERPRETER and chosen.strategy in names(finds_cycles=True):
            raise UsageError(f"the interpreter has no strategy {chosen.strategy}; leave out --strategy")
        refuse_invariants(self.system, self.loading, chosen)
        checks = self._planned(chosen)
        refuse_what_changes(self.system, checks, chosen)
        searched = None
        violations: list[Violation] = []
        witnesses = vacuity(self.system, formulas_with_vacuity(checks, chosen), chosen.prints)
        visits_all = not checks or (self.system.automaton is None and chosen.strategy not in names(finds_cycles=True))
        refuse_unused_options(chosen, bool(checks), visits_all)
        if visits_all:
            searched = search(witnesses.system, self.loading, chosen, self.progress, self.output)
            violations = violations_of(self.system, chosen, searched)
            place = chosen.checkpoint or chosen.resume
            if place is not None and searched.outcome.stop.is_final and chosen.keep_states is None:
                # These import numpy, which the interpreter does not need.
                from outcrop.dist.parts import discard
                from outcrop.dist.transport import transport_of

                discard(place, transport_of(chosen.ranks))
        checked = self._check_temporal(checks, chosen, searched, violations)
        result = conclude(self.system, self.warnings, chosen, searched, violations, checked, witnesses)
        result.events[:0] = [] if event is None else [event]
        if chosen.keep_states is not None and searched is not None and searched.outcome.has_begun:
            is_complete = searched.outcome.stop is Stop.COMPLETE
            write_kept(self.system, self.loading, chosen, is_complete, result.guarantee, result.kind)
        return result

    def _planned(self, options: CheckOptions) -> list[TemporalCheck]:
        asked = options.fair is not Fair.NONE or options.properties
        if self.system.automaton is None and not self.system.temporal and not asked:
            return []
        from outcrop.check.temporal import plan  # few models have formulas

        return plan(self.system, options)

    def _check_temporal(
        self,
        checks: list[TemporalCheck],
        options: CheckOptions,
        searched: EngineOutcome | None,
        violations: list[Violation],
    ) -> list[Checked]:
        """Checks the formulas, unless the search for bad states was inconclusive or has found enough violations."""
        if not checks:
            return []
        from outcrop.check.temporal import Checked, cycle_strategy, run_checks  # few models have formulas

        if searched is not None:
            enough = options.max_errors is not None and len(violations) >= options.max_errors
            if enough or not searched.outcome.stop.is_conclusive:
                return [Checked(each, cycle_strategy(options)) for each in checks]
            left = options.after(searched.outcome.seconds)
            # The search for bad states has already printed everything.
            options = replace(left, checkpoint=None, resume=None, keep_states=None, prints=False)
        return run_checks(checks, self.loading, options, self.progress, self.output)

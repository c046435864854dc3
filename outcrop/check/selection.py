"""The properties that --property selects: by name, or by number for formulas. A name after ``!`` skips one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from outcrop.errors import UsageError
from outcrop.ir.system import Property, PropertyKind, System, TemporalProperty
from outcrop.options import CheckOptions, Reduce
from outcrop.source import Diagnostic, Severity

if TYPE_CHECKING:
    from outcrop.check.temporal import TemporalCheck

#: Properties of states that can be selected. Assumptions and cover goals always count.
_SELECTED_KINDS = (PropertyKind.INVARIANT, PropertyKind.LIVENESS)


@dataclass(frozen=True)
class Selection:
    """The model with the properties to check, the names of its formulas to check (empty for all of them), and the
    properties of states that are skipped."""

    system: System
    formulas: tuple[str, ...] = ()
    skipped: tuple[Property, ...] = ()
    skipped_formulas: tuple[str, ...] = ()

    def notes(self) -> tuple[Diagnostic, ...]:
        """Returns a note on what was skipped, which limits the verdict."""
        names = [*(each.name for each in self.skipped), *self.skipped_formulas]
        if not names:
            return ()
        text = f"not checked, because of --property: {', '.join(names)}"
        return (Diagnostic(Severity.NOTE, text, bears_on_verdict=True),)


def select(system: System, names: tuple[str, ...]) -> Selection:
    """Returns what --property selects. Naming a property of states skips all others of states, and all formulas that
    are not named; naming formulas alone skips only formulas. Raises UsageError for an unknown name after ``!``."""
    unwanted = {name[1:] for name in names if name.startswith("!")}
    wanted = [name for name in names if not name.startswith("!")]
    states = [each for each in system.properties if each.kind in _SELECTED_KINDS]
    of_states = {each.name for each in states}
    of_runs = [*([system.automaton.name] if system.automaton else []), *(each.name for each in system.temporal)]
    for name in sorted(unwanted - of_states - set(of_runs)):
        known = "; ".join(sorted({*of_states, *of_runs})) or "none"
        raise UsageError(f"the model has no property '{name}' to skip; its properties: {known}")
    named = [name for name in wanted if name in of_states]
    formulas = [name for name in wanted if name not in of_states]
    if unwanted & set(of_runs):
        formulas = [name for name in formulas or of_runs if name not in unwanted]
    skips_runs = bool(of_runs) and not formulas and bool(named or unwanted & set(of_runs))
    skipped = tuple(each for each in states if each.name in unwanted or (named and each.name not in named))
    kept = tuple(each for each in system.properties if each not in skipped)
    if skips_runs:
        system = replace(system, temporal=(), automaton=None)
    if skipped:
        system = replace(system, properties=kept, skipped=tuple(dict.fromkeys(each.name for each in skipped)))
    return Selection(system, tuple(formulas), skipped, tuple(of_runs) if skips_runs else ())


def formulas_with_vacuity(checks: Sequence[TemporalCheck], options: CheckOptions) -> list[TemporalProperty]:
    """Returns the formulas whose implications the search for bad states looks at. On resuming there are none, since
    nobody knows whether the formulas are those of the checkpoint. Reduction preserves what they read, so that a reduced
    search has none before its checkpoint either: it must go on with the same choices."""
    if options.resume is not None or (options.checkpoint is not None and options.reduce is not Reduce.OFF):
        return []
    formulas = dict.fromkeys(each.property_instance.property for each in checks)
    return [each for each in formulas if each is not None]

"""The reason why a rule is never enabled: the condition of its guard that never joins those before it.

The guard is a conjunction. A search notes, for every condition alone and for every prefix of the conjunction, whether
it was true in some reachable state. The first prefix that never was ends with the condition that keeps the rule
disabled. An answer of a search that was cut short says so.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from outcrop.check.engines import search, settled
from outcrop.ir.nodes import Binary, BinaryOperator, Expression, Let
from outcrop.ir.places import source_text
from outcrop.ir.system import Property, PropertyKind, Rule, System
from outcrop.ir.types import BOOLEAN
from outcrop.options import CheckOptions, Deadlock, LoadOptions
from outcrop.source import Span


@dataclass(frozen=True)
class Condition:
    """A condition of a guard. ``is_met``: true in some state; ``is_joined``: true there with all conditions before."""

    text: str
    span: Span
    is_met: bool
    is_joined: bool


@dataclass(frozen=True)
class Enabling:
    """The answer. ``is_complete``: whether the search has reached every state."""

    rule: str
    conditions: tuple[Condition, ...]
    states: int
    is_complete: bool

    @property
    def is_enabled(self) -> bool:
        return all(each.is_joined for each in self.conditions)

    @property
    def culprit(self) -> Condition | None:
        """The first condition that is never true together with those before it."""
        return next((each for each in self.conditions if not each.is_joined), None)

    def text(self) -> str:
        """Returns the answer in sentences."""
        count = f"{self.states:,} state{'s' * (self.states != 1)}"
        where = f"any of the {count}" if self.is_complete else f"the first {count}; the search was cut short"
        culprit = self.culprit
        if culprit is None:
            return f"The guard of rule '{self.rule}' is true in some state."
        position = self.conditions.index(culprit)
        if not culprit.is_met:
            reason = f"'{culprit.text}' is true in no state"
        elif position == 1:
            reason = f"'{culprit.text}' is true in some states, but in none where '{self.conditions[0].text}' is"
        else:
            reason = (
                f"'{culprit.text}' is true in some states, but in none where the {position} conditions before it are"
            )
        return f"Rule '{self.rule}' is not enabled in {where}: {reason}."


def why_disabled(system: System, load: LoadOptions, rule: Rule, options: CheckOptions) -> Enabling:
    """Searches for states in which the conditions of a rule's guard are true."""
    parts = [] if rule.guard is None else _conditions(rule.guard)
    witnesses: list[Property] = []
    for position, part in enumerate(parts):
        prefix = parts[0]
        for each in parts[1 : position + 1]:
            prefix = Binary(type=BOOLEAN, span=each.span, operator=BinaryOperator.AND, left=prefix, right=each)
        for note, condition in ((_note(position), part), (_note(position, joined=True), prefix)):
            witnesses.append(
                Property(rule.name, rule.parameters, rule.frame, rule.span, PropertyKind.WITNESS, condition, note=note)
            )
    kept = tuple(each for each in system.properties if each.kind is PropertyKind.ASSUMPTION)
    asked = dataclasses.replace(system, properties=(*kept, *witnesses), temporal=(), automaton=None)
    chosen, _ = settled(dataclasses.replace(options, deadlock=Deadlock.OFF, max_errors=None))
    outcome = search(asked, load, chosen).outcome
    conditions = tuple(
        Condition(
            source_text(each.span),
            each.span,
            _note(position) in outcome.noted,
            _note(position, joined=True) in outcome.noted,
        )
        for position, each in enumerate(parts)
    )
    return Enabling(rule.name, conditions, outcome.states or sum(outcome.levels), outcome.stop.is_final)


def _note(position: int, joined: bool = False) -> int:
    return -1 - 2 * position - joined


def _conditions(guard: Expression) -> list[Expression]:
    """Returns the conjuncts of a guard. Each keeps the bindings around the whole."""
    if isinstance(guard, Let):
        return [dataclasses.replace(guard, body=each, span=each.span) for each in _conditions(guard.body)]
    if isinstance(guard, Binary) and guard.operator is BinaryOperator.AND:
        return [*_conditions(guard.left), *_conditions(guard.right)]
    return [guard]

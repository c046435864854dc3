"""Büchi automata over the states of a System, and what it takes to run one beside the System.

``outcrop.ltl`` has automata over the names of propositions; ``outcrop.ltl.binding`` makes those of this file from them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from outcrop.ir.graph import Strength, strength
from outcrop.ir.nodes import Expression, Frame, Variable
from outcrop.source import Span

if TYPE_CHECKING:
    from outcrop.ir.system import Parameter


STUTTER = "(nothing is enabled)"


@dataclass(frozen=True, eq=False)
class Edge:
    """``guard``, None for true, is evaluated in the state that the system leaves."""

    source: int
    target: int
    guard: Expression | None
    span: Span


@dataclass(frozen=True, eq=False)
class Automaton:
    """Accepts the runs that *violate* the property: those with a run of the automaton beside them that meets an
    accepting state infinitely often. States are numbered as in ``states``, which has their names.

    Guards may use the locals of ``frame``, of which ``parameters`` have the values ``arguments``."""

    name: str
    states: tuple[str, ...]
    initial: int
    accepting: frozenset[int]
    edges: tuple[Edge, ...]
    span: Span
    frame: Frame = field(default_factory=Frame)
    parameters: tuple[Parameter, ...] = ()
    arguments: tuple[int, ...] = ()

    def leaving(self, state: int) -> dict[int, list[Expression | None]]:
        """The states that edges lead to from a state, each with the guards of those edges."""
        targets: dict[int, list[Expression | None]] = {}
        for edge in self.edges:
            if edge.source == state:
                targets.setdefault(edge.target, []).append(edge.guard)
        return targets

    @cached_property
    def strength(self) -> Strength:
        """How little a search has to do for it."""
        return strength(
            [[*self.leaving(each)] for each in range(len(self.states))], self.accepting, self._stays_accepting
        )

    def _stays_accepting(self, state: int) -> bool:
        return any(None in guards for target, guards in self.leaving(state).items() if target in self.accepting)

    def label(self, arguments: tuple[int, ...]) -> str:
        """How a trace calls the step of a system that is stuck."""
        return STUTTER


@dataclass(frozen=True, eq=False)
class Fairness:
    """Weak fairness: whoever is able to move from some time on without a break moves again and again. Strong fairness:
    whoever is able to move again and again does so.

    There is one set of steps for each rule instance, or for each process where rules say whose they are. A run is
    weakly fair if for each set, again and again, it makes a step of the set or is in a state that no step of the set
    leaves; strongly fair if again and again it makes a step of the set, or from some time on is in no state that one
    leaves."""

    sets: tuple[str, ...]  #: their names
    of_rules: tuple[tuple[int, ...], ...]  #: for each rule the sets of its steps
    by_instance: bool  #: ... of its first instance; those of the others follow
    is_strong: bool = False

    def sets_of(self, rule: int, instance: int) -> tuple[int, ...]:
        """The sets that a step of a rule instance belongs to."""
        return (self.of_rules[rule][0] + instance,) if self.by_instance else self.of_rules[rule]


@dataclass(frozen=True, eq=False)
class Product:
    """Which hidden variables of a System hold the state of an automaton that runs beside it. If fairness is
    counted, ``counter`` is 0 while an accepting state is waited for, and k while the k-th set is, counted from 1."""

    automaton: Automaton
    location: Variable
    fairness: Fairness | None = None
    counter: Variable | None = None

    @property
    def strength(self) -> Strength:
        """That of the automaton; but a counter cycles through accepting and other states."""
        return self.automaton.strength if self.counter is None else Strength.GENERAL

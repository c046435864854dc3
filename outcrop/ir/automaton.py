"""Büchi automata over the states of a System, and the hidden variables of a product.

``outcrop.ltl`` has automata over names of propositions, from which ``outcrop.ltl.binding`` makes those of this file.
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
    """A transition of an automaton. ``guard``, None for true, is evaluated in the state that the system leaves."""

    source: int
    target: int
    guard: Expression | None
    span: Span


@dataclass(frozen=True, eq=False)
class Automaton:
    """An automaton that accepts the runs that *violate* the property: those on which it can visit an accepting state
    infinitely often. States are numbered as in ``states``, which has their names.

    Guards may use the locals of ``frame``; its ``parameters`` have the values ``arguments``.
    """

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
        """Returns the successors of a state, each with the guards of the edges to it."""
        targets: dict[int, list[Expression | None]] = {}
        for edge in self.edges:
            if edge.source == state:
                targets.setdefault(edge.target, []).append(edge.guard)
        return targets

    @cached_property
    def strength(self) -> Strength:
        """The strength, which decides how much a search has to do."""
        return strength(
            [[*self.leaving(each)] for each in range(len(self.states))], self.accepting, self._stays_accepting
        )

    def _stays_accepting(self, state: int) -> bool:
        return any(None in guards for target, guards in self.leaving(state).items() if target in self.accepting)

    def label(self, arguments: tuple[int, ...]) -> str:
        """Returns the label in traces for a step in which no rule is enabled."""
        return STUTTER


@dataclass(frozen=True, eq=False)
class Fairness:
    """A fairness assumption. Weak: whatever is enabled at all times from some point on moves infinitely often. Strong:
    whatever is enabled infinitely often moves infinitely often.

    There is one set of steps for each rule instance, or for each process if the rules name processes. A run is weakly
    fair if, for each set, it infinitely often takes a step of the set or visits a state in which no step of the set is
    enabled. It is strongly fair if, for each set, it infinitely often takes a step of the set, or from some point on
    visits no state in which one is enabled.
    """

    sets: tuple[str, ...]  #: names of the sets
    of_rules: tuple[tuple[int, ...], ...]  #: for each rule, the sets of its steps
    by_instance: bool  #: the sets of the first instance; those of the others follow
    is_strong: bool = False

    def sets_of(self, rule: int, instance: int) -> tuple[int, ...]:
        """Returns the sets that a step of a rule instance belongs to."""
        return (self.of_rules[rule][0] + instance,) if self.by_instance else self.of_rules[rule]


@dataclass(frozen=True, eq=False)
class Product:
    """The hidden variables of a product, which hold the state of the automaton. If fairness is counted, ``counter`` is
    0 while an accepting state is awaited, and k while set number k, counted from 1, is."""

    automaton: Automaton
    location: Variable
    fairness: Fairness | None = None
    counter: Variable | None = None

    @property
    def strength(self) -> Strength:
        """The strength of the automaton; general with a counter, which cycles through accepting and other states."""
        return self.automaton.strength if self.counter is None else Strength.GENERAL

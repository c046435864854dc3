"""Büchi automata whose transitions carry conjunctions of propositions and negated propositions.

A run begins in the initial state. At each position of the word it takes a transition whose label is true *there*, and
continues with the next position. It accepts if it visits an accepting state infinitely often.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from outcrop.ir.formula import Formula
from outcrop.ir.graph import Strength, components, strength


@dataclass(frozen=True)
class Label:
    """A conjunction that is true where all of ``positive`` hold and none of ``negative``; the empty one is always
    true."""

    positive: tuple[Formula, ...] = ()
    negative: tuple[Formula, ...] = ()

    def holds_in(self, position: Collection[Formula]) -> bool:
        """Returns whether the label is true at a position, given as the collection of true propositions."""
        return all(each in position for each in self.positive) and not any(each in position for each in self.negative)

    def excludes(self, other: Label) -> bool:
        """Returns whether no position satisfies both labels."""
        return bool({*self.positive} & {*other.negative} or {*self.negative} & {*other.positive})

    def __str__(self) -> str:
        literals = [str(each) for each in self.positive] + [f"!{each}" for each in self.negative]
        return " && ".join(literals) or "true"


@dataclass(frozen=True)
class Transition:
    label: Label
    target: int


@dataclass(frozen=True)
class Automaton:
    """A Büchi automaton. States are numbers from 0; ``transitions[s]`` leave ``s``. A state lies on a cycle or is not
    accepting, and every state except perhaps the initial one reaches an accepting cycle."""

    propositions: tuple[Formula, ...]
    initial: int
    transitions: tuple[tuple[Transition, ...], ...]
    accepting: frozenset[int]

    @property
    def size(self) -> int:
        """The number of states."""
        return len(self.transitions)

    @property
    def transition_count(self) -> int:
        return sum(len(each) for each in self.transitions)

    @cached_property
    def components(self) -> list[list[int]]:
        """Strongly connected components, successors before predecessors."""
        return components([[each.target for each in leaving] for leaving in self.transitions])

    @cached_property
    def strength(self) -> Strength:
        targets = [[each.target for each in leaving] for leaving in self.transitions]
        return strength(targets, self.accepting, self._accepts_all)

    def _accepts_all(self, state: int) -> bool:
        return any(each.label == Label() and each.target in self.accepting for each in self.transitions[state])

    @cached_property
    def very_weak(self) -> bool:
        """Whether every cycle is a self-loop."""
        return all(len(component) == 1 for component in self.components)

    @cached_property
    def deterministic(self) -> bool:
        """Whether no two transitions of a state can be taken at once."""
        return all(
            one.label.excludes(other.label)
            for leaving in self.transitions
            for index, one in enumerate(leaving)
            for other in leaving[:index]
        )

    def to_text(self) -> str:
        """Returns one block for each state: its number and role, then its transitions."""
        lines = []
        for state, leaving in enumerate(self.transitions):
            roles = [name for name, has in self._roles(state) if has]
            lines.append(f"state {state}" + (f" ({', '.join(roles)})" if roles else ""))
            width = max((len(str(each.label)) for each in leaving), default=0)
            lines += [f"  {str(each.label).ljust(width)}  -> {each.target}" for each in leaving]
        return "\n".join(lines)

    def _roles(self, state: int) -> list[tuple[str, bool]]:
        return [("initial", state == self.initial), ("accepting", state in self.accepting)]

    def to_dot(self, name: str) -> str:
        """Returns a graph for Graphviz. Accepting states have a double border; transitions between two states share an
        arrow."""
        lines = [
            "digraph automaton {",
            f"  label={_quoted(name)};",
            "  rankdir=LR;",
            '  start [label="", shape=point];',
        ]
        for state in range(self.size):
            rim = "doublecircle" if state in self.accepting else "circle"
            lines.append(f"  {state} [shape={rim}];")
        lines.append(f"  start -> {self.initial};")
        for state, leaving in enumerate(self.transitions):
            labels: dict[int, list[str]] = {}
            for each in leaving:
                labels.setdefault(each.target, []).append(str(each.label))
            lines += [f"  {state} -> {target} [label={_quoted(*texts)}];" for target, texts in labels.items()]
        return "\n".join([*lines, "}"])

    def to_json(self) -> dict[str, object]:
        """Returns the automaton as numbers and strings, for a JSON document."""
        return {
            "propositions": [{"text": each.text, "verbatim": each.verbatim} for each in self.propositions],
            "states": self.size,
            "initial": self.initial,
            "accepting": sorted(self.accepting),
            "transitions": [
                {
                    "source": state,
                    "target": each.target,
                    "true": [self.propositions.index(one) for one in each.label.positive],
                    "false": [self.propositions.index(one) for one in each.label.negative],
                }
                for state, leaving in enumerate(self.transitions)
                for each in leaving
            ],
            "strength": str(self.strength),
            "very_weak": self.very_weak,
            "deterministic": self.deterministic,
        }


def _quoted(*lines: str) -> str:
    escaped = (each.replace("\\", "\\\\").replace('"', '\\"') for each in lines)
    return '"' + "\\n".join(escaped) + '"'

"""A Büchi automaton over the states of a System: what a property to check against all infinite runs becomes."""

from __future__ import annotations

from dataclasses import dataclass

from outcrop.ir.nodes import Expression
from outcrop.source import Span


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
    accepting state infinitely often. States are numbered as in ``states``, which has their names."""

    name: str
    states: tuple[str, ...]
    initial: int
    accepting: frozenset[int]
    edges: tuple[Edge, ...]
    span: Span

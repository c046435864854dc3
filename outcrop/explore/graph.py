"""The state graph of a model, or a part of it: breadth-first from the start states, or around a trace."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from outcrop.errors import UsageError
from outcrop.explore.session import Session
from outcrop.ir.interpreter import Firing, Interpreter
from outcrop.ir.layout import State
from outcrop.ir.system import System
from outcrop.trace.itf import value
from outcrop.trace.values import Item, items, show


@dataclass(frozen=True)
class Node:
    number: int
    state: State
    distance: int  #: number of steps from the start states, or from the trace
    is_start: bool
    trace_step: int | None = None  #: position in the trace that the graph is drawn around
    wrong: str = ""  #: violated property or runtime error in it


@dataclass(frozen=True)
class Link:
    source: int
    target: int
    label: str
    rule: str  #: the label without parameters
    in_trace: bool = False


@dataclass
class Graph:
    """A state graph. ``open_nodes`` were not expanded because of a limit, so that links from them may be missing."""

    system: System
    nodes: list[Node] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    open_nodes: set[int] = field(default_factory=set)

    def labels(self, node: Node, wanted: Iterable[str] | None = None) -> list[str]:
        """Returns one line per variable: all that are defined, or those whose names begin with one of ``wanted``."""
        names = None if wanted is None else list(wanted)
        return [
            f"{item.name} = {show(item.type, item.slice(node.state))}"
            for item in items(self.system)
            if (_is_shown(item, node.state) if names is None else any(_belongs(item.name, name) for name in names))
        ]

    def to_dict(self) -> dict[str, Any]:
        """Returns the JSON document."""
        return {
            "model": self.system.name,
            "constants": dict(self.system.constants),
            "complete": not self.open_nodes,
            "nodes": [self._node(node) for node in self.nodes],
            "links": [
                {"source": link.source, "target": link.target, "rule": link.label, "in_trace": link.in_trace}
                for link in self.links
            ],
        }

    def _node(self, node: Node) -> dict[str, Any]:
        values = {}
        for variable in self.system.variables:
            row = node.state[variable.offset : variable.offset + variable.type.leaf_count]
            values[variable.name] = value(variable.type, row)
        return {
            "id": node.number,
            "distance": node.distance,
            "start": node.is_start,
            "expanded": node.number not in self.open_nodes,
            "trace_step": node.trace_step,
            "wrong": node.wrong,
            "state": values,
        }


def _is_shown(item: Item, state: State) -> bool:
    return any(leaf is not None for leaf in item.slice(state))


def _belongs(name: str, wanted: str) -> bool:
    """Returns whether a leaf called ``name`` is part of the variable, field or element called ``wanted``."""
    return name == wanted or (name.startswith(wanted) and name[len(wanted)] in ".[")


def unknown_names(system: System, wanted: Iterable[str]) -> list[str]:
    """Returns the names that match no variable, field or element of the model."""
    return [name for name in wanted if not any(_belongs(item.name, name) for item in items(system))]


def explore(system: System, symmetry: bool, most_states: int, depth: int | None) -> Graph:
    """Returns the graph from the start states, breadth-first, up to ``most_states`` states or ``depth`` steps."""
    builder = _Builder(system, Interpreter(system, symmetry and system.allows_symmetry), most_states)
    for firing in builder.interpreter.start_states():
        builder.add(firing.successor, 0, is_start=True)
    builder.grow(depth)
    return builder.graph


def around(system: System, document: Any, most_states: int, radius: int) -> Graph:
    """Returns the graph of a saved trace, with all states within ``radius`` steps of it."""
    session = Session(system)
    session.load(document)
    builder = _Builder(system, session.interpreter, most_states)
    for number, step in enumerate(session.steps):
        if step.state not in builder.numbers:
            builder.add(step.state, 0, is_start=number == 0, trace_step=number)
    if len(builder.graph.nodes) < len({step.state for step in session.steps}):
        raise UsageError(f"the trace alone has more than {most_states:,} states; raise the limit with --states")
    pairs = zip(session.steps, session.steps[1:], strict=False)
    builder.trace = {(one.state, other.state, other.label) for one, other in pairs}
    builder.grow(radius)
    return builder.graph


class _Builder:
    def __init__(self, system: System, interpreter: Interpreter, most_states: int) -> None:
        self.interpreter = interpreter
        self.graph = Graph(system)
        self.numbers: dict[State, int] = {}
        self.trace: set[tuple[State, State, str]] = set()
        self._most_states = most_states

    def add(
        self, state: State | None, distance: int, is_start: bool = False, trace_step: int | None = None
    ) -> int | None:
        """Returns the number of a state, new or known; None if an assumption drops it or the graph is full."""
        if state is None:
            return None
        number = self.numbers.get(state)
        if number is not None:
            return number
        check = self.interpreter.check(state)
        if not check.is_kept or len(self.numbers) >= self._most_states:
            return None
        number = self.numbers[state] = len(self.numbers)
        wrong = "" if check.failure is None else check.failure.label
        self.graph.nodes.append(Node(number, state, distance, is_start, trace_step, wrong))
        return number

    def grow(self, depth: int | None) -> None:
        """Expands all states up to a distance. At the last distance only links to known states are added."""
        number = 0
        while number < len(self.graph.nodes):
            node = self.graph.nodes[number]
            is_last = depth is not None and node.distance >= depth
            for firing in self.interpreter.successors(node.state):
                self._link(node, firing, is_last)
            number += 1

    def _link(self, node: Node, firing: Firing, is_last: bool) -> None:
        state = firing.successor
        if state is None:
            return
        if is_last and state not in self.numbers:
            if self.interpreter.check(state).is_kept:
                self.graph.open_nodes.add(node.number)
            return
        target = self.add(state, node.distance + 1)
        if target is not None:
            in_trace = (node.state, state, firing.label) in self.trace
            self.graph.links.append(Link(node.number, target, firing.label, firing.rule, in_trace))
        elif self.interpreter.check(state).is_kept:
            self.graph.open_nodes.add(node.number)

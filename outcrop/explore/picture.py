"""A state graph as it is drawn: labelled shapes and links. Under a quotient a shape stands for many states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from outcrop.explore.graph import Graph

#: Largest number of lines in a label.
_MOST_LINES = 24
#: Rules that are named on a link of a quotient.
_MOST_RULES = 4
#: Fill colours of categories, readable under dark text.
_CATEGORIES = (
    "#dbe9f6",
    "#fde3c8",
    "#dcefd9",
    "#f3d9ea",
    "#e5dff3",
    "#f1e8c4",
    "#d3ecee",
    "#f2d7d3",
    "#e3e3e3",
    "#e6efc8",
)
#: Fill colours of levels, from the start states on.
_LEVELS = ("#ffffff", "#f0f4f8", "#dfe8f1", "#cddbe9", "#b9cde0", "#a3bdd6")


@dataclass
class Shape:
    """A node of the drawing."""

    number: int
    lines: list[str]
    layer: int  #: distance from the start states, or from the trace
    is_start: bool = False
    is_open: bool = False  #: not expanded, or not all of it
    trace_step: int | None = None
    wrong: str = ""
    states: int = 1
    fill: str = ""
    values: dict[str, str] = field(default_factory=dict)  #: for a quotient: the values that its states share


@dataclass
class Line:
    """A link of the drawing."""

    source: int
    target: int
    label: str
    in_trace: bool = False


@dataclass
class Picture:
    """Everything that a drawing shows. ``by``: the parts of the state that a quotient keeps, empty for none."""

    title: str
    shapes: list[Shape]
    lines: list[Line]
    by: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Returns the JSON document of a quotient."""
        return {
            "model": self.title,
            "by": list(self.by),
            "complete": not any(each.is_open for each in self.shapes),
            "nodes": [
                {
                    "id": each.number,
                    "distance": each.layer,
                    "start": each.is_start,
                    "expanded": not each.is_open,
                    "states": each.states,
                    "wrong": each.wrong,
                    "values": each.values,
                }
                for each in self.shapes
            ],
            "links": [{"source": each.source, "target": each.target, "rule": each.label} for each in self.lines],
        }


def picture(graph: Graph, shown: Sequence[str] | None, by: Sequence[str], color: str) -> Picture:
    """Returns the drawing of a graph: every state, or one shape for all states with the same values of ``by``.
    ``color``: ``property``, ``level``, or a part of the state whose values have a colour each."""
    made = _quotient(graph, by) if by else _plain(graph, shown)
    _fill(made, graph, color, by)
    return made


def _plain(graph: Graph, shown: Sequence[str] | None) -> Picture:
    shapes = []
    for node in graph.nodes:
        lines = graph.labels(node, shown)
        if len(lines) > _MOST_LINES:
            lines = [*lines[: _MOST_LINES - 1], f"... {len(lines) - _MOST_LINES + 1} more"]
        is_open = node.number in graph.open_nodes
        shape = Shape(node.number, lines, node.distance, node.is_start, is_open, node.trace_step, node.wrong)
        shapes.append(shape)
    links = [Line(each.source, each.target, each.label, each.in_trace) for each in graph.links]
    return Picture(graph.system.name, shapes, links)


def _quotient(graph: Graph, by: Sequence[str]) -> Picture:
    """Returns the picture in which states with the same values are one shape, and parallel links one line. A line means
    that some state of the first shape has a successor in the second."""
    shapes: dict[tuple[str, ...], Shape] = {}
    of_node: dict[int, Shape] = {}
    for node in graph.nodes:
        lines = graph.labels(node, by)
        key = tuple(lines)
        if key not in shapes:
            values = dict(line.split(" = ", 1) for line in lines)
            shapes[key] = Shape(len(shapes), lines, node.distance, states=0, values=values)
        shape = of_node[node.number] = shapes[key]
        shape.states += 1
        shape.is_start |= node.is_start
        shape.is_open |= node.number in graph.open_nodes
        shape.wrong = shape.wrong or node.wrong
        if shape.trace_step is None:
            shape.trace_step = node.trace_step
    rules: dict[tuple[int, int], dict[str, None]] = {}
    in_trace: set[tuple[int, int]] = set()
    for link in graph.links:
        ends = of_node[link.source].number, of_node[link.target].number
        rules.setdefault(ends, {})[link.rule] = None
        if link.in_trace:
            in_trace.add(ends)
    joined = [Line(*ends, _listed(list(names)), ends in in_trace) for ends, names in rules.items()]
    for shape in shapes.values():
        if shape.states > 1:
            shape.lines = [*shape.lines, f"{shape.states:,} states"]
    return Picture(graph.system.name, list(shapes.values()), joined, tuple(by))


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_RULES
    return ", ".join(names) if more <= 0 else ", ".join([*names[:_MOST_RULES], f"{more} more"])


def _fill(made: Picture, graph: Graph, color: str, by: Sequence[str]) -> None:
    if color == "property":
        return
    if color == "level":
        deepest = max((each.layer for each in made.shapes), default=0)
        for each in made.shapes:
            each.fill = _LEVELS[min(len(_LEVELS) - 1, each.layer * len(_LEVELS) // (deepest + 1))]
        return
    kinds: dict[tuple[str, ...], str] = {}
    firsts: dict[int, tuple[str, ...]] = {}
    for node in graph.nodes:
        number = node.number if not by else _class_of(made, graph, node.number, by)
        firsts.setdefault(number, tuple(graph.labels(node, [color])))
    for each in made.shapes:
        key = firsts.get(each.number, ())
        kinds.setdefault(key, _CATEGORIES[len(kinds) % len(_CATEGORIES)])
        each.fill = kinds[key]


def _class_of(made: Picture, graph: Graph, number: int, by: Sequence[str]) -> int:
    values = dict(line.split(" = ", 1) for line in graph.labels(graph.nodes[number], by))
    return next(each.number for each in made.shapes if each.values == values)

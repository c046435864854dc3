"""The graph around a trace: its states one below the other, and beside them the states that other rules lead to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from outcrop.explore.layout import layered
from outcrop.ir.interpreter import Firing, Interpreter
from outcrop.ir.layout import State
from outcrop.result import Trace

#: Largest number of states of a trace that is drawn.
_LONGEST = 61
#: Largest number of other states that are drawn for one state of the trace.
_MOST_OTHERS = 5
#: Largest number of rule instances that are tried for one state.
_MOST_INSTANCES = 10_000
_LETTER, _HEIGHT, _LONGEST_TEXT = 6.2, 24.0, 34
#: Rows stand closer than in a drawing with labelled links.
_SQUEEZE = 0.52


def neighbours(trace: Trace) -> dict[str, Any] | None:
    """Returns the graph around a trace as plain data with a layout; None for a trace that is too long to be drawn."""
    instances = sum(rule.instance_count for rule in trace.system.rules)
    if not 1 < len(trace.steps) <= _LONGEST or instances > _MOST_INSTANCES:
        return None
    made = _Neighbours(Interpreter(trace.system, symmetry=False))
    for number, step in enumerate(trace.steps):
        made.state(step.state, number, step.label, number)
    for one, other in zip(trace.steps, trace.steps[1:], strict=False):
        made.link(made.numbers[one.state], made.numbers[other.state], other.label, in_trace=True)
    if trace.loop_start is not None and trace.closing is not None:
        last, first = (made.numbers[trace.steps[at].state] for at in (-1, trace.loop_start))
        made.link(last, first, trace.closing.label, in_trace=True)
    for number, step in enumerate(trace.steps):
        node = made.nodes[made.numbers[step.state]]
        if node["step"] == number and not node["wrong"]:  # a violation ends the run
            made.others(step.state, number)
    return made.placed()


@dataclass
class _Neighbours:
    interpreter: Interpreter
    numbers: dict[State, int] = field(default_factory=dict)
    nodes: list[dict[str, Any]] = field(default_factory=list)
    layers: list[int] = field(default_factory=list)
    links: dict[tuple[int, int], dict[str, Any]] = field(default_factory=dict)

    def state(self, state: State, layer: int, label: str, step: int | None = None) -> int:
        """Returns the node of a state, new or known."""
        if state not in self.numbers:
            failure = self.interpreter.check(state).failure
            wrong = "" if failure is None else failure.label
            self.numbers[state] = self.node(layer, label, wrong, step)
        return self.numbers[state]

    def node(self, layer: int, label: str, wrong: str = "", step: int | None = None) -> int:
        short = label if len(label) <= _LONGEST_TEXT else label[: _LONGEST_TEXT - 1] + "…"
        text = short if step is None else f"{step}  {short}"
        self.nodes.append({"text": text, "label": label, "step": step, "wrong": wrong})
        self.layers.append(layer)
        return len(self.nodes) - 1

    def link(self, source: int, target: int, label: str, in_trace: bool = False) -> None:
        whole = {"source": source, "target": target, "label": label, "in_trace": in_trace}
        self.links.setdefault((source, target), whole)

    def others(self, state: State, step: int) -> None:
        """Adds what a state of the trace enables. Links to states that are known need no node."""
        here, room, left_out = self.numbers[state], _MOST_OTHERS, 0
        for firing in self.interpreter.successors(state):
            if firing.successor in self.numbers:
                self.link(here, self.numbers[firing.successor], firing.label)
            elif firing.is_abandoned or not self._is_kept(firing):
                continue
            elif room == 0:
                left_out += 1
            else:
                room -= 1
                self.link(here, self._other(firing, step + 1), firing.label)
        if left_out:
            self.link(here, self.node(step + 1, f"and {left_out} more"), "")

    def _is_kept(self, firing: Firing) -> bool:
        return firing.successor is None or self.interpreter.check(firing.successor).is_kept

    def _other(self, firing: Firing, layer: int) -> int:
        if firing.successor is None:
            return self.node(layer, firing.label, "" if firing.fault is None else firing.fault.message)
        return self.state(firing.successor, layer, firing.label)

    def placed(self) -> dict[str, Any]:
        """Returns the graph with the trace on one vertical line."""
        sizes = [(len(each["text"]) * _LETTER + 16, _HEIGHT) for each in self.nodes]
        boxes = layered(self.layers, list(self.links), sizes)
        spine = {
            layer: box.middle
            for box, layer, node in zip(boxes, self.layers, self.nodes, strict=True)
            if node["step"] is not None
        }
        centre = max(box.x + box.width for box in boxes) / 2
        lefts = [box.x - spine.get(layer, centre) for box, layer in zip(boxes, self.layers, strict=True)]
        edge = min(lefts)
        for node, box, left in zip(self.nodes, boxes, lefts, strict=True):
            node |= {"x": round(left - edge), "y": round(box.y * _SQUEEZE), "width": round(box.width)}
        return {"nodes": self.nodes, "links": list(self.links.values()), "height": _HEIGHT}

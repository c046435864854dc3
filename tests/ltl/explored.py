"""A product as a graph, made by the interpreter, and what weak fairness means on it, by a definition of its own."""

from __future__ import annotations

from cycle_graphs import Graph

from outcrop.ir.graph import components
from outcrop.ir.interpreter import Firing, Interpreter
from outcrop.ir.layout import State
from outcrop.ir.product import weak_fairness
from outcrop.ir.system import Rule, System


class Explored:
    """The product as a graph, with the firing that each edge stands for."""

    def __init__(self, system: System) -> None:
        self.interpreter = Interpreter(system, False)
        (start,) = self.interpreter.start_states()
        assert start.successor is not None
        numbers: dict[State, int] = {start.successor: 0}
        self.firings: list[list[Firing]] = []
        waiting = [start.successor]
        for state in waiting:
            self.firings.append(list(self.interpreter.successors(state)))
            for firing in self.firings[-1]:
                assert firing.successor is not None
                if firing.successor not in numbers:
                    numbers[firing.successor] = len(numbers)
                    waiting.append(firing.successor)
        beside = self.interpreter.beside
        assert beside is not None
        targets = [[numbers[each.successor] for each in firings if each.successor] for firings in self.firings]
        self.graph = Graph(targets, {number for state, number in numbers.items() if beside.is_accepting(state)})


def has_fair_accepting_cycle(system: System, plain: Explored) -> bool:
    """Is there a component with an accepting state in which, for each rule, some step is the rule's or leaves a state
    where the rule cannot move?"""
    rules = set(weak_fairness(system).sets)
    for component in components(plain.graph.successors):
        members, satisfied, has_edge = set(component), set(), False
        for node in component:
            steps = list(zip(plain.firings[node], plain.graph.successors[node], strict=True))
            enabled = {each.origin.label(each.arguments) for each, _ in steps if isinstance(each.origin, Rule)}
            for firing, target in steps:
                if target in members:
                    has_edge = True
                    satisfied |= rules - enabled
                    if isinstance(firing.origin, Rule):
                        satisfied.add(firing.origin.label(firing.arguments))
        if has_edge and members & plain.graph.accepting and satisfied >= rules:
            return True
    return False

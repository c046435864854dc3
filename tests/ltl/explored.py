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
        assert start.fault is None
        # The automaton may have no way to begin: then there is no run to look at.
        waiting = [] if start.successor is None else [start.successor]
        numbers: dict[State, int] = dict.fromkeys(waiting, 0)
        self.firings: list[list[Firing]] = []
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
    """Is there a component with an accepting state in which, for each mover, some step is its own or leaves a state
    where it cannot move? Movers are the processes of a model that has any, else the instances of rules."""
    movers = set(weak_fairness(system).sets)
    for component in components(plain.graph.successors):
        members, satisfied, has_edge = set(component), set(), False
        for node in component:
            steps = list(zip(plain.firings[node], plain.graph.successors[node], strict=True))
            enabled = {mover for firing, _ in steps for mover in _movers(firing)}
            for firing, target in steps:
                if target in members:
                    has_edge = True
                    satisfied |= movers - enabled
                    satisfied.update(_movers(firing))
        if has_edge and members & plain.graph.accepting and satisfied >= movers:
            return True
    return False


def _movers(firing: Firing) -> tuple[str, ...]:
    if not isinstance(firing.origin, Rule):
        return ()
    return firing.origin.processes or (firing.origin.label(firing.arguments),)

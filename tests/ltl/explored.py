"""A product as a graph, made by the interpreter, and independent definitions of fairness on it."""

from __future__ import annotations

from cycle_graphs import Graph

from outcrop.ir.graph import components
from outcrop.ir.interpreter import Firing, Interpreter
from outcrop.ir.layout import State
from outcrop.ir.product import strong_fairness, weak_fairness
from outcrop.ir.system import Rule, System

Sets = frozenset[int]


class Explored:
    """The product as a graph, with the firing of each edge."""

    def __init__(self, system: System) -> None:
        self.interpreter = Interpreter(system, False)
        (start,) = self.interpreter.start_states()
        assert start.fault is None
        # The automaton may have no start: then there is no run.
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
        product_steps = self.interpreter.product_steps
        assert product_steps is not None
        targets = [[numbers[each.successor] for each in firings if each.successor] for firings in self.firings]
        self.graph = Graph(targets, {number for state, number in numbers.items() if product_steps.is_accepting(state)})


def has_fair_accepting_cycle(system: System, plain: Explored) -> bool:
    """Returns whether some component has an accepting state and, for each mover, a step of it or a state in which it
    cannot move. Movers are the processes of a model that has any, otherwise the rule instances."""
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


def steps_of(system: System, plain: Explored) -> list[list[Sets]]:
    """Returns, for each edge, the sets that its step belongs to."""
    names = strong_fairness(system).sets
    return [[frozenset(map(names.index, _movers(firing))) for firing in firings] for firings in plain.firings]


def has_strongly_fair_cycle(graph: Graph, sets: list[list[Sets]]) -> bool:
    """Returns whether there is a strongly fair cycle, by the definition: some sets are no longer enabled, and all
    others take steps again and again. Exponential in the number of sets. ``sets``: sets of each edge."""
    successors, accepting = graph.successors, graph.accepting
    possible = [frozenset().union(*each) for each in sets]
    every = sorted(frozenset().union(*possible))
    reachable = graph.reachable()
    for choice in range(1 << len(every)):
        never = {each for number, each in enumerate(every) if choice >> number & 1}
        nodes = [node for node in sorted(reachable) if not possible[node] & never]
        numbers = {node: number for number, node in enumerate(nodes)}
        for component in components([[numbers[to] for to in successors[node] if to in numbers] for node in nodes]):
            members = {nodes[number] for number in component}
            inner = [
                its for node in members for to, its in zip(successors[node], sets[node], strict=True) if to in members
            ]
            if inner and members & accepting and frozenset().union(*inner) >= set(every) - never:
                return True
    return False


def _movers(firing: Firing) -> tuple[str, ...]:
    if not isinstance(firing.origin, Rule):
        return ()
    return firing.origin.processes or (firing.origin.label(firing.arguments),)

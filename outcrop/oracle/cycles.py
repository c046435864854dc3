"""The oracle for searches that look for accepting cycles: all states of a product, then its strongly connected
components (Tarjan 1972).

A component with an edge and an accepting state is a violation. Under strong fairness, states with steps that are
enabled but never taken in their component are removed, and the rest is searched again.

Exact, and as slow as the interpreter. It returns a lasso with a shortest path to an accepting state on a cycle, and
from there a shortest cycle. Under strong fairness the cycle takes a step of each set, by shortest paths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

from outcrop.ir.graph import components
from outcrop.ir.layout import State
from outcrop.ir.system import System
from outcrop.options import CheckOptions
from outcrop.oracle.search import ReferenceSearch
from outcrop.outcome import Finding, FindingKind, Outcome, Progress
from outcrop.reduction.stubborn import Reduction


def search(
    system: System,
    options: CheckOptions,
    progress: Callable[[Progress], None] | None = None,
    output: Callable[[str], object] | None = None,
    reduction: Reduction | None = None,
) -> Outcome:
    """Searches a product. ``output`` receives the output of ``put`` statements."""
    return _CycleSearch(system, options, progress or (lambda snapshot: None), output, reduction).run()


class _CycleSearch(ReferenceSearch):
    def check_cycles(self) -> None:
        assert self.interpreter.product_steps is not None
        fairness = self.interpreter.product_steps.product.fairness
        if fairness is not None and fairness.is_strong:
            self._check_fair_cycles()
        else:
            self._check_accepting_cycles()

    def _check_fair_cycles(self) -> None:
        product_steps = self.interpreter.product_steps
        assert product_steps is not None
        steps: Steps = {state: [] for state in self.parents}
        for state in steps:
            for firing in self.interpreter.successors(state):
                if firing.successor in steps:
                    steps[state].append((firing.successor, product_steps.sets_of([(firing.origin, firing.arguments)])))
        fair = list(_fair_components(steps, {state for state in steps if product_steps.is_accepting(state)}))
        for level in self.levels:
            for state in sorted(level, key=self.layout.pack):
                within = next((each for each in fair if state in each), None)
                if within is None or not product_steps.is_accepting(state):
                    continue
                prefix = self.path(state)
                cycle = _fair_cycle(state, within, steps)
                path = (*prefix, *map(self.layout.pack, cycle[1:-1]))
                self.lassos.append(Finding(FindingKind.LASSO, path, loop_start=len(prefix) - 1))
                return

    def _check_accepting_cycles(self) -> None:
        successors: dict[State, list[State]] = {state: [] for state in self.parents}
        for state, predecessors in self.predecessors.items():
            for predecessor in predecessors:
                successors[predecessor].append(state)
        order = list(successors)
        numbers = {state: number for number, state in enumerate(order)}
        found = components([[numbers[each] for each in targets] for targets in successors.values()])
        component = {state: number for number, members in enumerate(found) for state in members}
        product_steps = self.interpreter.product_steps
        assert product_steps is not None
        for level in self.levels:
            for state in sorted(level, key=self.layout.pack):
                if not product_steps.is_accepting(state):
                    continue
                members = found[component[numbers[state]]]
                cycle = _shortest_cycle(state, {order[number] for number in members}, successors)
                if cycle is not None:
                    prefix = self.path(state)
                    path = (*prefix, *map(self.layout.pack, cycle[1:]))
                    self.lassos.append(Finding(FindingKind.LASSO, path, loop_start=len(prefix) - 1))
                    return


#: Steps from each state: the successor, with the fairness sets that the step belongs to.
Steps = dict[State, list[tuple[State, frozenset[int]]]]


def _fair_components(steps: Steps, accepting: set[State]) -> Iterator[set[State]]:
    waiting = [set(steps)]
    while waiting:
        among = list(waiting.pop())
        numbers = {state: number for number, state in enumerate(among)}
        found = components([[numbers[to] for to, _ in steps[state] if to in numbers] for state in among])
        for component in found:
            members = {among[number] for number in component}
            inner = [sets for state in members for to, sets in steps[state] if to in members]
            if not inner or not members & accepting:
                continue
            taken = frozenset().union(*inner)
            kept = {state for state in members if all(sets <= taken for _, sets in steps[state])}
            if kept == members:
                yield members
            elif kept:
                waiting.append(kept)


def _fair_cycle(start: State, within: set[State], steps: Steps) -> list[State]:
    """Returns a cycle of a fair component through ``start``, given twice, with a step of each set that has one."""
    cycle = [start]
    wanted = sorted(frozenset().union(*(sets for state in within for _, sets in steps[state])))
    for number in [*wanted, None]:
        done = {each for one, to in pairwise(cycle) for target, sets in steps[one] if target == to for each in sets}
        if number in done or (number is None and len(cycle) > 1 and cycle[-1] == start):
            continue
        ways, seen = [cycle], {cycle[-1]}
        for way in ways:
            steps_on = [(to, sets) for to, sets in steps[way[-1]] if to in within]
            last = next((to for to, sets in steps_on if (to == start if number is None else number in sets)), None)
            if last is not None:
                cycle = [*way, last]
                break
            following = dict.fromkeys(to for to, _ in steps_on if to not in seen)
            seen.update(following)
            ways += [[*way, to] for to in following]
    return cycle


def _shortest_cycle(start: State, within: set[State], successors: dict[State, list[State]]) -> list[State] | None:
    """Returns a shortest cycle through ``start``, given once; None if there is none."""
    before: dict[State, State] = {}
    level = [start]
    while level:
        reached: list[State] = []
        for state in level:
            for successor in successors[state]:
                if successor == start:
                    way = [state]
                    while way[-1] != start:
                        way.append(before[way[-1]])
                    return way[::-1]
                if successor in within and successor not in before:
                    before[successor] = state
                    reached.append(successor)
        level = reached
    return None

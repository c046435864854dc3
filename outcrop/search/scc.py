"""The reference for searches that look for accepting cycles: all states of a product, then its strongly connected
components (Tarjan 1972). A component with an edge and an accepting state is a violation.

Exact, with the interpreter, and as slow as that. Of all lassos it gives one with the shortest way to an accepting state
on a cycle, and from there a shortest cycle.
"""

from __future__ import annotations

from collections.abc import Callable

from outcrop.ir.execute import ignore
from outcrop.ir.graph import components
from outcrop.ir.layout import State
from outcrop.ir.system import System
from outcrop.options import CheckOptions
from outcrop.search.outcome import Finding, FindingKind, Outcome, Progress
from outcrop.search.reference import ReferenceSearch


def search(
    system: System,
    options: CheckOptions,
    progress: Callable[[Progress], None] | None = None,
    output: Callable[[str], None] | None = None,
) -> Outcome:
    """Explores a product. ``output`` takes what ``put`` statements print."""
    return _CycleSearch(system, options, progress or (lambda snapshot: None), output or ignore).run()


class _CycleSearch(ReferenceSearch):
    def check_cycles(self) -> None:
        successors: dict[State, list[State]] = {state: [] for state in self.parents}
        for state, predecessors in self.predecessors.items():
            for predecessor in predecessors:
                successors[predecessor].append(state)
        order = list(successors)
        numbers = {state: number for number, state in enumerate(order)}
        found = components([[numbers[each] for each in targets] for targets in successors.values()])
        component = {state: number for number, members in enumerate(found) for state in members}
        beside = self.interpreter.beside
        assert beside is not None
        for level in self.levels:
            for state in sorted(level, key=self.layout.pack):
                if not beside.is_accepting(state):
                    continue
                members = found[component[numbers[state]]]
                cycle = _shortest_cycle(state, {order[number] for number in members}, successors)
                if cycle is not None:
                    prefix = self.path(state)
                    path = (*prefix, *map(self.layout.pack, cycle[1:]))
                    self.lassos.append(Finding(FindingKind.LASSO, path, loop_start=len(prefix) - 1))
                    return


def _shortest_cycle(start: State, within: set[State], successors: dict[State, list[State]]) -> list[State] | None:
    """From a state back to it, which is given once; None if there is none."""
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

"""Acceptance conditions: simplified component by component, then reduced to one set of states.

Only the infinite part of a run matters, and that lies within one strongly connected component. So each component has
its own promises, as few as possible, and transitions outside the accepting components have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from outcrop.ir.graph import components
from outcrop.ltl.simulation import Edges, reachable
from outcrop.ltl.tableau import Edge, Generalised


def _component_of(edges: Edges) -> tuple[list[int], list[list[int]]]:
    found = components([[each.target for each in leaving] for leaving in edges])
    component = [0] * len(edges)
    for number, members in enumerate(found):
        for state in members:
            component[state] = number
    return component, found


def _within(edges: Edges, members: list[int], component: list[int]) -> list[Edge]:
    """Returns the transitions that stay in a component."""
    return [each for state in members for each in edges[state] if component[each.target] == component[state]]


def prune(edges: Edges, live: Sequence[bool], component: list[int], found: list[list[int]]) -> Edges:
    """Drops transitions into states from which no live component can be reached."""
    useful = [False] * len(found)
    for number, members in enumerate(found):
        useful[number] = live[number] or any(
            useful[component[each.target]] for state in members for each in edges[state]
        )
    return [[each for each in leaving if useful[component[each.target]]] for leaving in edges]


def clean(automaton: Generalised, filler: int) -> Generalised:
    """Keeps in each accepting component only the promises that matter, numbered from 0. Transitions between components,
    on which nothing depends, get the promises ``filler``. Any choice is correct, but some let more states merge."""
    component, found = _component_of(automaton.edges)
    renamings: list[dict[int, int] | None] = []
    for members in found:
        inside = _within(automaton.edges, members, component)
        broken = automaton.promises
        for each in inside:
            broken &= each.promises
        renamings.append(None if broken or not inside else _needed(inside))
    live = [renaming is not None for renaming in renamings]
    edges = prune(automaton.edges, live, component, found)
    # At least one, which components that do not accept never fulfil.
    count = max((len(renaming) for renaming in renamings if renaming), default=1)
    everything = (1 << count) - 1

    def promises(state: int, edge: Edge) -> int:
        renaming = renamings[component[state]]
        if component[edge.target] != component[state]:
            return filler & everything
        if renaming is None:
            return everything
        return sum(1 << new for old, new in renaming.items() if edge.promises >> old & 1)

    edges = [[each._replace(promises=promises(state, each)) for each in leaving] for state, leaving in enumerate(edges)]
    return Generalised(reachable(edges), everything)


def _needed(inside: list[Edge]) -> dict[int, int]:
    """Returns the promises that an accepting component needs, with their new numbers. A promise that only occurs
    together with another is fulfilled whenever that one is."""
    made: dict[frozenset[int], int] = {}
    count = max(each.promises.bit_length() for each in inside)
    for promise in range(count):
        where = frozenset(index for index, each in enumerate(inside) if each.promises >> promise & 1)
        if where:
            made.setdefault(where, promise)
    needed = [promise for where, promise in made.items() if not any(where < other for other in made)]
    return {promise: number for number, promise in enumerate(needed)}


@dataclass
class Buchi:
    """A Büchi automaton. ``promises`` of a transition is 0 if its source is accepting, otherwise 1. State 0 is
    initial."""

    edges: Edges
    accepting: list[bool]


def degeneralise(automaton: Generalised, order: Sequence[int], enter_accepting: bool) -> Buchi:
    """Returns an automaton with one set of accepting states instead of several promises (Gastin and Oddoux, CAV 2001).

    A copy of a state at level i waits for a transition free of the i-th promise in ``order``; the last level accepts
    and starts again. A transition may climb several levels. A component without promises has one accepting level; one
    that does not accept has one level too.
    """
    component, found = _component_of(automaton.edges)
    needed: list[list[int] | None] = []
    for members in found:
        inside = _within(automaton.edges, members, component)
        every, common = 0, automaton.promises
        for each in inside:
            every |= each.promises
            common &= each.promises
        needed.append([promise for promise in order if every >> promise & 1] if inside and not common else None)

    def entry(state: int) -> int:
        promises = needed[component[state]]
        return len(promises) if promises and enter_accepting else 0

    numbers = {(0, entry(0)): 0}
    waiting = [(0, entry(0))]
    edges: Edges = []
    for state, level in waiting:
        leaving = []
        promises = needed[component[state]]
        for each in automaton.edges[state]:
            if component[each.target] != component[state]:
                copy = (each.target, entry(each.target))
            elif promises is None:
                copy = (each.target, 0)
            else:
                copy = (each.target, _climb(each.promises, promises, level))
            if copy not in numbers:
                numbers[copy] = len(numbers)
                waiting.append(copy)
            leaving.append(Edge(each.label, 0, numbers[copy]))
        edges.append(leaving)
    accepting = []
    for state, level in waiting:
        promises = needed[component[state]]
        accepting.append(promises is not None and level == len(promises))
    return settle(Buchi(_redirected(edges, [state for state, _ in waiting]), accepting))


def _climb(promises: int, needed: list[int], level: int) -> int:
    level %= len(needed) or 1
    if not needed:
        return 0
    while level < len(needed) and not promises >> needed[level] & 1:
        level += 1
    return level


def _redirected(edges: Edges, states: list[int]) -> Edges:
    """Returns the transitions with those between components redirected to the copy of their target that lies deepest.
    Levels may be changed finitely often, and copies that only lead there become superfluous."""
    component, _ = _component_of(edges)
    deepest: dict[int, int] = {}
    for copy, state in enumerate(states):
        if state not in deepest or component[copy] < component[deepest[state]]:
            deepest[state] = copy
    return [
        [
            each if component[each.target] == component[copy] else each._replace(target=deepest[states[each.target]])
            for each in leaving
        ]
        for copy, leaving in enumerate(edges)
    ]


def settle(automaton: Buchi) -> Buchi:
    """Decides acceptance where it does not matter: states on no accepting cycle do not accept, and in a component
    without other cycles all states do. Drops states that reach no accepting cycle."""
    edges, accepting = automaton.edges, [*automaton.accepting]
    component, found = _component_of(edges)
    live = []
    for members in found:
        inside = _within(edges, members, component)
        live.append(bool(inside) and any(accepting[state] for state in members))
        whole = live[-1] and not _has_cycle(edges, [state for state in members if not accepting[state]])
        for state in members:
            accepting[state] = whole or (live[-1] and accepting[state])
    edges = prune(edges, live, component, found)
    coloured = [
        [each._replace(promises=int(not accepting[state])) for each in leaving] for state, leaving in enumerate(edges)
    ]
    return from_edges(reachable(coloured))


def _has_cycle(edges: Edges, states: list[int]) -> bool:
    numbers = {state: number for number, state in enumerate(states)}
    graph = [[numbers[each.target] for each in edges[state] if each.target in numbers] for state in states]
    found = components(graph)
    return len(found) < len(states) or any(number in successors for number, successors in enumerate(graph))


def from_edges(edges: Edges) -> Buchi:
    """Returns the automaton whose states accept if their transitions say so."""
    return Buchi(edges, [bool(leaving) and not leaving[0].promises for leaving in edges])


def merge_transient(automaton: Buchi) -> Buchi:
    """Merges states on no cycle with other states that have the same transitions, accepting or not."""
    edges = automaton.edges
    component, found = _component_of(edges)
    first: dict[frozenset[tuple[int, int]], int] = {}
    meaning = [frozenset((each.label, each.target) for each in leaving) for leaving in edges]
    transient = [not _within(edges, found[component[state]], component) for state in range(len(edges))]
    for state in sorted(range(len(edges)), key=lambda state: transient[state]):
        first.setdefault(meaning[state], state)
    leader = [first[meaning[state]] if transient[state] else state for state in range(len(edges))]
    moved = [sorted({each._replace(target=leader[each.target]) for each in leaving}) for leaving in edges]
    if leader[0] != 0:
        # The initial state is number 0: it takes the place of its double, which nothing enters any more.
        swap = {leader[0]: 0, 0: leader[0]}
        moved[0], moved[leader[0]] = moved[leader[0]], moved[0]
        moved = [[each._replace(target=swap.get(each.target, each.target)) for each in leaving] for leaving in moved]
    return from_edges(reachable(moved))

"""Strongly connected components of a small directed graph, and what they say about an automaton that it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from enum import StrEnum


def components(successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """The strongly connected components (Tarjan 1972), each after all that it leads to."""
    order: dict[int, int] = {}
    low = [0] * len(successors)
    stack: list[int] = []
    on_stack = [False] * len(successors)
    found: list[list[int]] = []
    for root in range(len(successors)):
        if root in order:
            continue
        # The recursion is spelled out: an automaton may be deeper than Python's stack.
        path = [(root, iter(successors[root]))]
        order[root] = low[root] = len(order)
        stack.append(root)
        on_stack[root] = True
        while path:
            node, rest = path[-1]
            for successor in rest:
                if successor not in order:
                    order[successor] = low[successor] = len(order)
                    stack.append(successor)
                    on_stack[successor] = True
                    path.append((successor, iter(successors[successor])))
                    break
                if on_stack[successor]:
                    low[node] = min(low[node], order[successor])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == order[node]:
                    at = stack.index(node)
                    for member in stack[at:]:
                        on_stack[member] = False
                    found.append(stack[at:])
                    del stack[at:]
    return found


class Strength(StrEnum):
    """How little a search for an accepting cycle has to do."""

    #: An accepting state, once reached, accepts whatever follows: reachability is enough.
    TERMINAL = "terminal"
    #: No cycle mixes accepting and other states: any cycle through an accepting state will do.
    WEAK = "weak"
    GENERAL = "general"


def strength(
    successors: Sequence[Sequence[int]], accepting: Collection[int], stays_accepting: Callable[[int], bool]
) -> Strength:
    """Of an automaton. ``stays_accepting``: whatever comes, the state leads to an accepting one."""
    for component in components(successors):
        count = sum(state in accepting for state in component)
        if count and count < len(component):
            return Strength.GENERAL
    return Strength.TERMINAL if all(map(stays_accepting, accepting)) else Strength.WEAK

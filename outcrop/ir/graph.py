"""Strongly connected components of a small directed graph, and the strength of an automaton."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from enum import StrEnum


def components(successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """Returns the strongly connected components (Tarjan 1972), each after all components that it leads to."""
    order: dict[int, int] = {}
    low = [0] * len(successors)
    stack: list[int] = []
    on_stack = [False] * len(successors)
    found: list[list[int]] = []
    for root in range(len(successors)):
        if root in order:
            continue
        # An explicit stack, since an automaton may be deeper than the stack of Python.
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
    """Classes of automata by the effort of a search for an accepting cycle."""

    #: An accepting state, once reached, accepts every continuation: reachability is enough.
    TERMINAL = "terminal"
    #: No cycle mixes accepting and other states: any cycle through an accepting state is accepting.
    WEAK = "weak"
    GENERAL = "general"


def strength(
    successors: Sequence[Sequence[int]], accepting: Collection[int], stays_accepting: Callable[[int], bool]
) -> Strength:
    """Returns the strength of an automaton. ``stays_accepting``: the state always leads to an accepting one."""
    for component in components(successors):
        count = sum(state in accepting for state in component)
        if count and count < len(component):
            return Strength.GENERAL
    return Strength.TERMINAL if all(map(stays_accepting, accepting)) else Strength.WEAK

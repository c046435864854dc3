"""Strongly connected components of a small directed graph."""

from __future__ import annotations

from collections.abc import Sequence


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

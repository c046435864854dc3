"""Lassos: a path to a cycle with an accepting state, and the cycle, each as short as the states at hand allow.

Nothing is remembered of how a state was reached. A breadth-first search among states known already goes from a state to
another, or back to itself; then, from the end to the beginning, the least predecessor in each step is taken.
"""

from __future__ import annotations

import numpy as np

from outcrop.errors import InternalError
from outcrop.kernels import Search, States
from outcrop.kernels_cycles import Indexes, Paths
from outcrop.search.outcome import Finding, FindingKind


def one(index: int) -> Indexes:
    return np.array([index], dtype=np.uint32)


def shortest_path(
    paths: Paths, sources: Indexes, target: int, limit: int, *, within_s: bool = False, keeps_marks: bool = False
) -> list[bytes] | None:
    """From one of ``sources`` to ``target``, at least one step away, through states below ``limit`` (and in S). With
    ``keeps_marks`` no later search passes the states that this one did."""
    levels = [sources]
    paths.mark_passed(sources, True)
    is_hit = False
    while not is_hit and len(levels[-1]):
        reached, is_hit = paths.step(levels[-1], limit, within_s, target)
        levels.append(reached)
    if not keeps_marks:
        for level in levels:
            paths.mark_passed(level, False)
    if not is_hit:
        return None
    state = paths.states(one(target))
    path = [state.tobytes()]
    for level in reversed(levels[:-1]):
        state = least_predecessor(paths.search, paths.states(level), state)
        path.append(state.tobytes())
    return path[::-1]


def least_predecessor(search: Search, among: States, state: States) -> States:
    least, is_found = search.native.states(1), np.zeros(1, dtype=np.uint8)
    search.find_predecessors_among(0, among, state, least, is_found)
    if not is_found[0]:
        raise InternalError("a state has lost its predecessors")
    return least


def lasso(prefix: tuple[bytes, ...], cycle: list[bytes]) -> Finding:
    """``prefix`` ends with the state that ``cycle`` begins with."""
    return Finding(FindingKind.LASSO, (*prefix, *cycle[1:]), loop_start=len(prefix) - 1)

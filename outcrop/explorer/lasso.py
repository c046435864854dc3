"""Lassos: a path to a cycle with an accepting state, and the cycle, each as short as the states at hand allow.

Nothing is remembered of how a state was reached. A breadth-first search among states known already goes from a state to
another, or back to itself; then, from the end to the beginning, the least predecessor in each step is taken. With
several ranks each searches among its own states, and all agree on each step.
"""

from __future__ import annotations

import numpy as np

from outcrop.errors import InternalError
from outcrop.explorer.explorer import Explorer
from outcrop.explorer.paths import PathFinder
from outcrop.kernels import States
from outcrop.kernels.cycles import Indexes, Paths
from outcrop.kernels.route import Message
from outcrop.outcome import Finding, FindingKind

#: States that are expanded before a look at what has arrived.
_STATES_A_PART = 8192
#: No state lies here.
_NOWHERE = 2**32 - 2
_NO_STATES = np.empty(0, dtype=np.uint32)


def indexes_of(paths: Paths, state: bytes) -> Indexes:
    """Returns where a state lies, if this rank has it."""
    index = paths.index(state)
    return _NO_STATES if index is None else np.array([index], dtype=np.uint32)


def shortest_path(
    explorer: Explorer,
    paths: Paths,
    sources: Indexes,
    target: bytes,
    limit: int,
    *,
    within_s: bool = False,
    keeps_marks: bool = False,
) -> list[bytes] | None:
    """Returns a path from one of ``sources`` to ``target``, at least one step away, through states below ``limit`` (and
    in S). With ``keeps_marks`` no later search passes the states that this one did."""
    index = paths.index(target)
    levels, is_hit = [sources], False
    paths.mark_passed(sources, True)
    while not is_hit and explorer.exchange.any(len(levels[-1]) > 0):
        reached, is_hit_here = _step(explorer, paths, levels[-1], limit, within_s, _NOWHERE if index is None else index)
        levels.append(reached)
        is_hit = explorer.exchange.any(is_hit_here)
    if not keeps_marks:
        for level in levels:
            paths.mark_passed(level, False)
    if not is_hit:
        return None
    path = [target]
    for level in reversed(levels[:-1]):
        path.append(_least_predecessor(explorer, paths.states(level), path[-1]))
    return path[::-1]


def _step(
    explorer: Explorer, paths: Paths, indexes: Indexes, limit: int, within_s: bool, target: int
) -> tuple[Indexes, bool]:
    """Returns the successors of some states that this rank has, and whether ``target`` is one."""
    reached: list[Indexes] = []
    hits: list[bool] = []
    parts = iter([indexes[at : at + _STATES_A_PART] for at in range(0, len(indexes), _STATES_A_PART)])

    def take(step: tuple[Indexes, bool]) -> None:
        reached.append(step[0])
        hits.append(step[1])

    def expand(worker: int) -> bool:
        part = next(parts, None)
        if part is not None:
            take(paths.step(np.ascontiguousarray(part), limit, within_s, target))
        return part is not None

    def add(worker: int, message: Message) -> None:
        take(paths.step_to(message, limit, within_s, target))

    explorer.exchange.work_round(expand, add, workers=1)
    return np.concatenate([*reached, _NO_STATES]), any(hits)


def _least_predecessor(explorer: Explorer, among: States, state: bytes) -> bytes:
    search = explorer.search
    least, is_found = search.native.states(1), np.zeros(1, dtype=np.uint8)
    row = np.frombuffer(state, dtype=np.uint8).reshape(1, -1)
    if len(among):
        search.find_predecessors_among(0, among, row, least, is_found)
    found = [each for each in explorer.exchange.gather(least.tobytes() if is_found[0] else None) if each is not None]
    if not found:
        raise InternalError("a state has lost its predecessors")
    return min(found)


def way_to(explorer: Explorer, state: bytes, level: int) -> tuple[bytes, ...]:
    """Returns a shortest path from a start state to a state of a level."""
    return PathFinder(explorer.look()).paths([(state, level)])[0]


def lasso(prefix: tuple[bytes, ...], cycle: list[bytes]) -> Finding:
    """Returns the finding of a cycle. ``prefix`` ends with the state that ``cycle`` begins with."""
    return Finding(FindingKind.LASSO, (*prefix, *cycle[1:]), loop_start=len(prefix) - 1)


def closest_lasso(explorer: Explorer, cycle: list[tuple[int, bytes]]) -> Finding:
    """Returns the lasso of a cycle, from where that is closest to a start state. Each state comes with its level."""
    level, state = min(cycle)
    at = [each for _, each in cycle].index(state)
    states = [each for _, each in cycle]
    return lasso(way_to(explorer, state, level), states[at:] + states[:at])

"""Lassos: a path to a cycle with an accepting state, and the cycle, both as short as the known states allow.

No parents are recorded. A breadth-first search among known states goes from a state to another, or back to itself.
Then, from the end to the start, each step takes the least predecessor. With several ranks, each rank searches among its
own states, and all agree on each step.
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

#: Number of states expanded before messages of other ranks are handled.
_STATES_A_PART = 8192
#: An index at which there is no state.
_NOWHERE = 2**32 - 2
_NO_STATES = np.empty(0, dtype=np.uint32)


def indexes_of(paths: Paths, state: bytes) -> Indexes:
    """Returns the index of a state, if this rank owns it."""
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
    """Returns a path of at least one step from one of ``sources`` to ``target``, through states below ``limit`` (and in
    S). With ``keeps_marks``, later searches do not pass the states of this one."""
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
    """Returns the successors of some states that this rank owns, and whether ``target`` is one of them."""
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
    """Returns the least predecessor of a state in the level before, over all ranks."""
    search = explorer.search
    least, is_found = search.native.packed_states(1), np.zeros(1, dtype=np.uint8)
    row = np.frombuffer(state, dtype=np.uint8).reshape(1, -1)
    if len(among):
        search.find_predecessors_among(0, search.kept_form(among), row, least, is_found)
    found = [each for each in explorer.exchange.gather(least.tobytes() if is_found[0] else None) if each is not None]
    if not found:
        raise InternalError("a state on the path has no predecessor")
    return min(found)


def way_to(explorer: Explorer, state: bytes, level: int) -> tuple[bytes, ...]:
    """Returns a shortest path from a start state to a state of a level."""
    return PathFinder(explorer.look()).paths([(state, level)])[0]


def lasso(prefix: tuple[bytes, ...], cycle: list[bytes]) -> Finding:
    """Returns the finding for a cycle. ``prefix`` ends with the state that ``cycle`` starts with."""
    return Finding(FindingKind.LASSO, (*prefix, *cycle[1:]), loop_start=len(prefix) - 1)


def closest_lasso(explorer: Explorer, cycle: list[tuple[int, bytes]]) -> Finding:
    """Returns the lasso of a cycle, entered at the state closest to a start state. Each state comes with its level."""
    level, state = min(cycle)
    at = [each for _, each in cycle].index(state)
    states = [each for _, each in cycle]
    return lasso(way_to(explorer, state, level), states[at:] + states[:at])

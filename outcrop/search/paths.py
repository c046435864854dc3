"""From findings back to start states, without parent links: the level before is expanded again, and of the
predecessors of a state the one with the least bytes is taken. So the path to a state depends on nothing but the model.

Costs at most as much as the search did, and no memory; all findings are followed back at the same time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from outcrop.errors import InternalError
from outcrop.kernels import Search, States

_Predecessors = tuple[States, NDArray[np.bool_]]

#: States of a level that are worth a worker of their own.
_STATES_A_WORKER = 4096


class PathFinder:
    """``levels``: the sizes of the levels, which lie in the arena one after the other."""

    def __init__(self, search: Search, levels: list[int], together: Callable[..., list[_Predecessors]]) -> None:
        self._search = search
        self._ends = list(accumulate(levels))
        self._together = together

    def paths(self, goals: list[tuple[bytes, int]]) -> list[tuple[bytes, ...]]:
        """A shortest path to each goal, a state and its level."""
        steps: list[dict[bytes, bytes]] = []  # from the deepest level on: each state with its predecessor
        deepest = max((level for _, level in goals), default=0)
        wanted: set[bytes] = set()
        for level in range(deepest, 0, -1):
            wanted |= {state for state, its_level in goals if its_level == level}
            step = self._step(sorted(wanted), level - 1)
            steps.append(step)
            wanted = set(step.values())
        paths = []
        for state, level in goals:
            path = [state]
            for step in steps[deepest - level :]:
                path.append(step[path[-1]])
            paths.append(tuple(reversed(path)))
        return paths

    def _step(self, states: list[bytes], level: int) -> dict[bytes, bytes]:
        """The least predecessor in ``level`` of each of some states of the next one."""
        begin = self._ends[level - 1] if level else 0
        end = self._ends[level]
        targets = np.frombuffer(b"".join(states), dtype=np.uint8).reshape(len(states), -1)
        workers = max(1, min(self._search.workers, (end - begin) // _STATES_A_WORKER))
        cuts = [begin + (end - begin) * number // workers for number in range(workers + 1)]
        found = self._together(
            *(
                partial(self._search.find_predecessors, worker, cuts[worker], cuts[worker + 1], targets)
                for worker in range(workers)
            )
        )
        step = {}
        for number, state in enumerate(states):
            candidates = [least[number].tobytes() for least, is_found in found if is_found[number]]
            if not candidates:
                raise InternalError(f"no predecessor found for a state of level {level + 1}")
            step[state] = min(candidates)
        return step

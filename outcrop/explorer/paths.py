"""Paths from findings back to start states, without parent links.

The previous level is expanded again, and of the predecessors of a state the one with the least bytes is taken. The path
to a state therefore depends on the model alone. Costs at most the time of the search, and no memory. All findings are
followed back at the same time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import partial
from itertools import accumulate, chain

import numpy as np
from numpy.typing import NDArray

from outcrop.errors import InternalError
from outcrop.kernels import Search, States

#: For each target, its least predecessor that was found, and whether any was found.
Predecessors = tuple[States, NDArray[np.bool_]]
#: Expands a level again, and finds predecessors of the targets. Several parts of the level may each give a result.
Look = Callable[[int, States], list[Predecessors]]
#: Runs tasks in threads, and returns their results.
Parallel = Callable[..., list[Predecessors]]

#: Smallest number of states for which another worker pays.
_STATES_A_WORKER = 4096


def look_in_arena(search: Search, levels: list[int], parallel: Parallel) -> Look:
    """Returns a lookup in the arena. ``levels``: the sizes of the levels, which lie one after the other."""
    ends = [0, *accumulate(levels)]

    def look(level: int, targets: States) -> list[Predecessors]:
        begin, end = ends[level], ends[level + 1]
        workers = max(1, min(search.workers, (end - begin) // _STATES_A_WORKER))
        cuts = [begin + (end - begin) * number // workers for number in range(workers + 1)]
        return parallel(
            *(
                partial(search.find_predecessors, worker, cuts[worker], cuts[worker + 1], targets)
                for worker in range(workers)
            )
        )

    return look


def look_in_blocks(search: Search, read_level: Callable[[int], Iterable[States]], parallel: Parallel) -> Look:
    """Returns a lookup in blocks of states. ``read_level`` yields the blocks of a level."""

    def look(level: int, targets: States) -> list[Predecessors]:
        blocks = iter(read_level(level))
        first: list[States] = []
        while sum(map(len, first)) < _STATES_A_WORKER and (block := next(blocks, None)) is not None:
            first.append(block)
        # Waking several threads for a few states would take most of the time of a long path.
        workers = search.workers if sum(map(len, first)) >= _STATES_A_WORKER else 1
        blocks = chain(first, blocks)
        reading = threading.Lock()

        def work(worker: int) -> Predecessors:
            least = search.native.packed_states(len(targets))
            is_found = np.zeros(len(targets), dtype=np.uint8)
            while True:
                with reading:
                    block = next(blocks, None)
                if block is None:
                    return least, is_found.astype(np.bool_)
                search.find_predecessors_among(worker, block, targets, least, is_found)

        return parallel(*(partial(work, worker) for worker in range(workers)))

    return look


class PathFinder:
    """A finder of paths. ``look`` finds the predecessors in a level."""

    def __init__(self, look: Look) -> None:
        self._look = look

    def paths(self, goals: list[tuple[bytes, int]]) -> list[tuple[bytes, ...]]:
        """Returns a shortest path to each goal, which is a state and its level."""
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
        """Returns the least predecessor in ``level`` of each of the states, which are in the next level."""
        targets = np.frombuffer(b"".join(states), dtype=np.uint8).reshape(len(states), -1)
        found = self._look(level, targets)
        step = {}
        for number, state in enumerate(states):
            candidates = [least[number].tobytes() for least, is_found in found if is_found[number]]
            if not candidates:
                raise InternalError(f"no predecessor found for a state of level {level + 1}")
            step[state] = min(candidates)
        return step

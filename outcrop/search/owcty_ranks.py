"""Where accepting cycles are, when the states of a search lie with several ranks.

Each rank takes the same steps at the same time. A state is looked up by its owner, and what only that knows (its level,
where it lies) is gathered. So all agree on the state whose cycle is looked for next, and report the same lasso.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np

from outcrop.errors import InternalError
from outcrop.kernels import Found, States
from outcrop.kernels_cycles import Indexes
from outcrop.kernels_route import Message
from outcrop.search.lasso import one

if TYPE_CHECKING:
    from outcrop.search.owcty import Owcty
    from outcrop.search.sharing import Sharing

#: States that are expanded before a look at what has arrived.
_STATES_A_PART = 8192
#: No state lies here.
_NOWHERE = 2**32 - 2
_NO_STATES = np.empty(0, dtype=np.uint32)


class SharedCycles:
    def __init__(self, run: Owcty, sharing: Sharing) -> None:
        self._run = run
        self._sharing = sharing

    def _gather(self, value: bytes | None) -> list[bytes]:
        """What each rank has, if any."""
        everyone = self._sharing.exchange.gather(value, self._run.look_at_clock)
        return [each for each in everyone if each is not None]

    def candidates(self) -> list[bytes]:
        """States that probably lie on a cycle, of all ranks."""
        return self._sharing.found_by_all(self._run.search.take_found(Found.CYCLE))

    def level(self, state: bytes) -> int:
        """That its owner knows."""
        index = self._run.cycles.index(state)
        own = -1 if index is None else bisect_right(self._run.levels.ends[1:], index)
        return int(self._sharing.exchange.gather_numbers([own], self._run.look_at_clock).max())

    def least_accepting(self, begin: int, end: int) -> bytes | None:
        """Of S, in the same level of all ranks."""
        cycles = self._run.cycles
        index = cycles.least_accepting(begin, end)
        own = None if index is None else cycles.states(one(index)).tobytes()
        return min(self._gather(own), default=None)

    def shortest_cycle(
        self, state: bytes, limit: int, *, within_s: bool = False, keeps_marks: bool = False
    ) -> list[bytes] | None:
        """From a state back to it, as ``shortest_path`` finds it. ``limit``: of the states of this rank."""
        cycles = self._run.cycles
        index = cycles.index(state)
        target = _NOWHERE if index is None else index
        levels = [_NO_STATES if index is None else one(index)]
        cycles.mark_passed(levels[0], True)
        while True:
            reached, is_hit = self._step(levels[-1], limit, within_s, target)
            levels.append(reached)
            hits, sizes = self._sharing.exchange.gather_numbers([is_hit, len(reached)], self._run.look_at_clock).T
            if hits.any() or not sizes.any():
                break
        if not keeps_marks:
            for level in levels:
                cycles.mark_passed(level, False)
        return self._way_back(state, levels[:-1]) if hits.any() else None

    def _step(self, indexes: Indexes, limit: int, within_s: bool, target: int) -> tuple[Indexes, bool]:
        run = self._run
        reached: list[Indexes] = []
        hits: list[bool] = []
        parts = iter([indexes[at : at + _STATES_A_PART] for at in range(0, len(indexes), _STATES_A_PART)])

        def take(step: tuple[Indexes, bool]) -> None:
            reached.append(step[0])
            hits.append(step[1])

        def expand(worker: int) -> bool:
            part = next(parts, None)
            if part is not None:
                take(run.cycles.step(np.ascontiguousarray(part), limit, within_s, target))
            return part is not None

        def add(worker: int, message: Message) -> None:
            take(run.cycles.step_to(message, limit, within_s, target))

        with self._sharing.round(1) as round:
            run.together(lambda: round.work(0, expand, add, run.search.is_stopping))
        self._sharing.agree_to_go_on()
        return np.concatenate([*reached, _NO_STATES]), any(hits)

    def _way_back(self, state: bytes, levels: list[Indexes]) -> list[bytes]:
        path = [state]
        for level in reversed(levels):
            path.append(self._least_predecessor(self._run.cycles.states(level), path[-1]))
        return path[::-1]

    def _least_predecessor(self, among: States, state: bytes) -> bytes:
        search = self._run.search
        least, is_found = search.native.states(1), np.zeros(1, dtype=np.uint8)
        row = np.frombuffer(state, dtype=np.uint8).reshape(1, -1)
        if len(among):
            search.find_predecessors_among(0, among, row, least, is_found)
        found = self._gather(least.tobytes() if is_found[0] else None)
        if not found:
            raise InternalError("a state has lost its predecessors")
        return min(found)

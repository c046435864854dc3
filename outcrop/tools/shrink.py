"""Makes the path to something wrong shorter: loops are cut out, then shortcuts are looked for, first between the states
of the path itself and then through states near it.

Only what lies near the path is looked at, so the result need not be a shortest path, which `outcrop check` finds. Takes
as long as it is allowed to.
"""

from __future__ import annotations

import time

import numpy as np

from outcrop.kernels import Found, Search, States
from outcrop.outcome import FindingKind

Path = list[bytes]

#: States near a state of the path through which a shortcut may lead.
_MOST_STATES = 2_000

_FOUND = {
    FindingKind.DEADLOCK: Found.DEADLOCK,
    FindingKind.STATE: Found.STATE,
    FindingKind.RULE: Found.RULE,
}


def shrink(search: Search, kind: FindingKind, path: Path, seconds: float) -> Path:
    """A path from the same start state to a state where something of the same kind is wrong."""
    if not path:
        return path
    return _Shrinking(search, kind, time.monotonic() + seconds).run(path)


class _Shrinking:
    def __init__(self, search: Search, kind: FindingKind, deadline: float) -> None:
        self._search = search
        self._found = _FOUND[kind]
        self._deadline = deadline

    def run(self, path: Path) -> Path:
        path = self._along_itself(_without_loops(path))
        begin = 0
        while begin < len(path) - 1 and not self._is_late():
            shorter = self._through_neighbours(path, begin)
            if len(shorter) < len(path):
                path = self._along_itself(_without_loops(shorter))
                begin = 0
            else:
                begin += 1
        return path

    def _is_late(self) -> bool:
        return time.monotonic() >= self._deadline

    def _along_itself(self, path: Path) -> Path:
        """The shortest way from the first state to the last that uses states of the path alone."""
        numbers = {state: number for number, state in enumerate(path)}
        steps = [0, *([len(path)] * (len(path) - 1))]  # from the first state
        before = [0] * len(path)
        for number, state in enumerate(path[:-1]):
            for successor in dict.fromkeys(self._successors(state)) | {path[number + 1]: None}:
                target = numbers.get(successor)
                if target is not None and target > number and steps[number] + 1 < steps[target]:
                    steps[target], before[target] = steps[number] + 1, number
            if self._is_late():
                return path
        kept = [len(path) - 1]
        while kept[-1]:
            kept.append(before[kept[-1]])
        return [path[number] for number in reversed(kept)]

    def _through_neighbours(self, path: Path, begin: int) -> Path:
        """A breadth-first search from a state of the path, until it comes to a later one by fewer steps, or to another
        state where something is wrong."""
        later = {state: number for number, state in enumerate(path) if number > begin}
        parents: dict[bytes, bytes | None] = {path[begin]: None}
        level = [path[begin]]
        best: tuple[int, Path] = (0, path)
        for depth in range(1, len(path) - begin):
            following: list[bytes] = []
            for state in level:
                for successor in self._successors(state):
                    if successor in parents:
                        continue
                    parents[successor] = state
                    following.append(successor)
                    target = later.get(successor)
                    gain = 0 if target is None else target - begin - depth
                    if target is not None and gain > best[0]:
                        best = (gain, path[:begin] + _way(parents, successor) + path[target + 1 :])
                    elif self._is_wrong(successor) and len(path) - 1 - begin - depth > best[0]:
                        return path[:begin] + _way(parents, successor)
                if len(parents) > _MOST_STATES or self._is_late():
                    return best[1]
            if best[0]:
                return best[1]
            level = following
        return best[1]

    def _successors(self, state: bytes) -> list[bytes]:
        successors, _ = self._search.expand_block(0, _rows([state]))
        self._take_found()
        return [row.tobytes() for row in successors]

    def _is_wrong(self, state: bytes) -> bool:
        """Whether the same kind of thing is wrong in a state."""
        self._take_found()
        if self._found is Found.STATE:
            self._search.check_block(0, _rows([state]))
        else:
            self._search.expand_block(0, _rows([state]))
        return bool(self._take_found())

    def _take_found(self) -> list[bytes]:
        found = {kind: self._search.take_found(kind) for kind in Found}
        return found[self._found]


def _rows(states: Path) -> States:
    return np.frombuffer(b"".join(states), dtype=np.uint8).reshape(len(states), -1).copy()


def _way(parents: dict[bytes, bytes | None], state: bytes) -> Path:
    way: Path = []
    at: bytes | None = state
    while at is not None:
        way.append(at)
        at = parents[at]
    return way[::-1]


def _without_loops(path: Path) -> Path:
    """Where a state comes again, what lies between is left out."""
    last = {state: number for number, state in enumerate(path)}
    kept, number = [], 0
    while number < len(path):
        number = last[path[number]]
        kept.append(path[number])
        number += 1
    return kept

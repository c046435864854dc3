"""Shortens the path to a violation: it cuts out loops, then searches for shortcuts between states of the path, and then
through neighbouring states.

Only states near the path are searched, so that the result need not be a shortest path, which `outcrop check` finds. The
search takes all the time that it is given.
"""

from __future__ import annotations

import time

import numpy as np

from outcrop.kernels import Found, Search, States
from outcrop.outcome import FindingKind

Path = list[bytes]

#: Largest number of neighbouring states that a search for a shortcut visits.
_MOST_STATES = 2_000

_FOUND = {
    FindingKind.DEADLOCK: Found.DEADLOCK,
    FindingKind.STATE: Found.STATE,
    FindingKind.RULE: Found.RULE,
}


def shrink(search: Search, kind: FindingKind, path: Path, seconds: float) -> Path:
    """Returns a path from the same start state to a state with a violation of the same kind."""
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
        """Returns the shortest path from the first state to the last that uses only states of the path."""
        numbers = {state: number for number, state in enumerate(path)}
        steps = [0, *([len(path)] * (len(path) - 1))]  # distance from the first state
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
        """Searches breadth-first from a state of the path for a later one in fewer steps, or for another state with a
        violation. Returns the shortened path."""
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
        """Returns whether a state has a violation of the same kind."""
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
    """Returns the path without loops: the states between two visits of a state are left out."""
    last = {state: number for number, state in enumerate(path)}
    kept, number = [], 0
    while number < len(path):
        number = last[path[number]]
        kept.append(path[number])
        number += 1
    return kept

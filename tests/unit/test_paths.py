"""Paths back to start states: shortest, and through least predecessors, however a level is divided into parts."""

from __future__ import annotations

import numpy as np
import pytest

from outcrop.explorer.paths import Look, PathFinder, Predecessors
from outcrop.kernels import States

#: For each state its predecessors, in the order in which parts of a level find them.
PREDECESSORS = {b"d": [b"c", b"b"], b"c": [b"a", b"z"], b"b": [b"z", b"y", b"a"]}


def look_in(parts: int) -> Look:
    """Returns a lookup in levels of ``parts`` parts. Each knows one predecessor of a state, or none."""

    def look(level: int, targets: States) -> list[Predecessors]:
        found: list[Predecessors] = []
        for part in range(parts):
            least, is_found = np.zeros_like(targets), np.zeros(len(targets), dtype=np.bool_)
            for number, target in enumerate(targets):
                known = PREDECESSORS[target.tobytes()][part::parts]
                if known:
                    least[number], is_found[number] = np.frombuffer(min(known), dtype=np.uint8), True
            found.append((least, is_found))
        return found

    return look


@pytest.mark.parametrize("parts", (1, 2, 3))
def test_least_predecessors_of_all_parts(parts: int) -> None:
    assert PathFinder(look_in(parts)).paths([(b"d", 2)]) == [(b"a", b"b", b"d")]


def test_goals_in_different_levels() -> None:
    goals = [(b"c", 1), (b"d", 2), (b"b", 1), (b"a", 0)]
    expected = [(b"a", b"c"), (b"a", b"b", b"d"), (b"a", b"b"), (b"a",)]
    assert PathFinder(look_in(2)).paths(goals) == expected

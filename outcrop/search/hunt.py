"""A path to a state that is known to be reachable: for a search with signatures that came upon it by a detour."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import accumulate

import numpy as np

from outcrop.kernels import Search, States
from outcrop.search.driver import Exploration, Stopped
from outcrop.search.outcome import Stop
from outcrop.search.paths import PathFinder

#: States that are looked at together.
_BLOCK_STATES = 4096


def read_arena(search: Search, begin: int, end: int) -> Iterator[States]:
    for at in range(begin, end, _BLOCK_STATES):
        yield search.read_block(at, min(end, at + _BLOCK_STATES))


def find_level(search: Search, levels: list[int], state: bytes, first: int = 0) -> int | None:
    """The level that a state is in, from level ``first`` on; None if in none."""
    ends = [0, *accumulate(levels)]
    wanted = np.frombuffer(state, dtype=np.uint8)
    for level in range(first, len(levels)):
        for states in read_arena(search, ends[level], ends[level + 1]):
            if (states == wanted).all(axis=1).any():
                return level
    return None


class Hunt(Exploration):
    """Searches on behalf of another search, within what is left of its time."""

    def __init__(self, search: Search, client: Exploration) -> None:
        super().__init__(search, dataclasses.replace(client.options, owners="hash"))
        self._client = client

    def path(self, state: bytes) -> tuple[bytes, ...]:
        """Raises Stopped when it does not find the state."""
        self.create_start_states()
        looked = 0
        while self.totals[-1]:
            level = find_level(self.search, self.levels, state, looked)
            if self.sharing is not None:
                level = self.sharing.level_of(level)
            if level is not None:
                look = self.look() if self.sharing is None else self.sharing.look(self.look())
                return PathFinder(look).paths([(state, level)])[0]
            looked = len(self.levels)
            self.expand()
        raise Stopped(Stop.MEMORY)

    def look_at_clock(self) -> None:
        self._client.look_at_clock()
        if self._client.asked is not None:
            self._ask_to_stop(self._client.asked)

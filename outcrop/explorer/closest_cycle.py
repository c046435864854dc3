"""The closest cycle of accepting states behind a state. It completes a run whose prefix already decides the formula.

A breadth-first search, one state at a time, records the parent of each state. A transition to a state on the path to
its source closes a cycle. Python is fast enough: cycles lie in the neighbourhood of the state, unless runs end.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from outcrop.kernels import Search
from outcrop.kernels.cycles import accepting_states, successors

#: Number of states after which the search gives up.
_MOST_STATES = 20_000


def closest_cycle(search: Search, start: bytes) -> tuple[list[bytes], list[bytes]] | None:
    """Returns a path to the first state of a cycle, and the cycle; None if there is none near."""
    parents: dict[bytes, bytes | None] = {start: None}
    waiting = deque([start])
    while waiting and len(parents) < _MOST_STATES:
        state = waiting.popleft()
        for successor in _successors(search, state):
            if successor not in parents:
                parents[successor] = state
                waiting.append(successor)
                continue
            way = _way(parents, state)
            if successor in way:
                at = way.index(successor)
                return way[: at + 1], way[at:]
    return None


def _way(parents: dict[bytes, bytes | None], state: bytes) -> list[bytes]:
    way = [state]
    while (parent := parents[way[-1]]) is not None:
        way.append(parent)
    return way[::-1]


def _successors(search: Search, state: bytes) -> list[bytes]:
    rows = successors(search, np.frombuffer(state, dtype=np.uint8).reshape(1, -1))
    return sorted({row.tobytes() for row in accepting_states(search, rows)})

"""Paths to a state that is known to be reachable, for a search with signatures that has missed the state."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import accumulate

import numpy as np

from outcrop.explorer.arena import Arena
from outcrop.explorer.context import Context
from outcrop.explorer.explorer import Explorer
from outcrop.explorer.lasso import way_to
from outcrop.kernels import Search, States
from outcrop.outcome import Stop, Stopped

#: Number of states read at a time.
_BLOCK_STATES = 4096


def read_arena(search: Search, begin: int, end: int) -> Iterator[States]:
    """Yields a range of the arena, block by block."""
    for at in range(begin, end, _BLOCK_STATES):
        yield search.read_block(at, min(end, at + _BLOCK_STATES))


def find_level(search: Search, levels: list[int], state: bytes, first: int = 0) -> int | None:
    """Returns the level of a state, from level ``first`` on; None if it is in none."""
    ends = [0, *accumulate(levels)]
    wanted = np.frombuffer(state, dtype=np.uint8)
    for level in range(first, len(levels)):
        for states in read_arena(search, ends[level], ends[level + 1]):
            if (states == wanted).all(axis=1).any():
                return level
    return None


def path_by_search(search: Search, state: bytes, client: Explorer) -> tuple[bytes, ...]:
    """Returns a path to a state. Runs a search on behalf of ``client``, within its remaining time. Raises Stopped if it
    does not find the state."""
    options = dataclasses.replace(client.options, owners="hash")
    explorer = Explorer(search, options, Context(tuning=client.tuning))
    arena = explorer.frontier = Arena(explorer)

    def watch_client() -> None:
        client.watch.look()
        if client.watch.asked is not None:
            explorer.watch.ask_to_stop(client.watch.asked)

    explorer.watch.on_look.append(watch_client)
    try:
        arena.start()
        looked = 0
        while explorer.totals[-1]:
            level = explorer.exchange.level_of(find_level(search, explorer.levels, state, looked))
            if level is not None:
                return way_to(explorer, state, level)
            looked = len(explorer.levels)
            arena.expand()
        raise Stopped(Stop.MEMORY)
    finally:
        explorer.watch.close()

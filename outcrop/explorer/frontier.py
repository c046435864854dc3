"""Frontiers: the levels of a search. The newest is still to be expanded; the others are read for traces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from outcrop.explorer.paths import Look
from outcrop.kernels import States

#: Expands some states in a worker. Returns whether there may be more.
ExpandPart = Callable[[int], bool]


@dataclass(frozen=True)
class Position:
    """The position of a search, for the progress line."""

    level: int
    states: int  #: visited
    expanded: int


class Frontier(Protocol):
    """The levels of a search, as the Explorer uses them."""

    @property
    def is_arena(self) -> bool:
        """Whether all levels lie in the arena, one after the other. The liveness check requires it."""

    def start(self) -> None:
        """Creates the start states as the first level."""

    def restore(self, blocks: Iterator[States]) -> None:
        """Takes the next level from a snapshot. Its states are packed as the model packs them."""

    def look(self) -> Look:
        """Returns a function that finds predecessors in a level."""

    def position(self) -> Position: ...

    def memory(self) -> int:
        """Returns the memory of states and visited set, in bytes."""

    def go_past_memory(self, expand: ExpandPart) -> ExpandPart | None:
        """Frees memory in the middle of a level. Returns a function that expands the rest, or None if it cannot."""


class LevelsInArena(Protocol):
    """Levels that lie in the arena, as an Exchange expands them."""

    def expand_levels(self) -> None:
        """Expands many levels in one kernel call."""

    def expand_level(self, expand: ExpandPart) -> None:
        """Expands the newest level, block by block."""

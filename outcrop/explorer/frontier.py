"""Frontiers: the levels of a search, of which the newest is still to be expanded and the others are read for traces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from outcrop.explorer.paths import Look
from outcrop.kernels import States

#: Makes a worker expand some states. Returns whether there may be more.
ExpandPart = Callable[[int], bool]


@dataclass(frozen=True)
class Position:
    """Where a search stands, for the progress line."""

    level: int
    states: int  #: visited
    expanded: int


class Frontier(Protocol):
    """What an Explorer asks of a frontier."""

    @property
    def is_arena(self) -> bool:
        """Whether all levels lie in the arena, one after the other, as the liveness check needs them."""

    def start(self) -> None:
        """Makes the start states the first level."""

    def restore(self, blocks: Iterator[States]) -> None:
        """Takes the next level from a snapshot; states are as the model packs them."""

    def look(self) -> Look:
        """Returns a function that finds predecessors in a level."""

    def position(self) -> Position: ...

    def memory(self) -> int:
        """Returns the bytes that states and visited set take in RAM."""

    def go_past_memory(self, expand: ExpandPart) -> ExpandPart | None:
        """Makes room in the middle of a level, and returns what expands the rest of it. None: it cannot."""


class LevelsInArena(Protocol):
    """Levels that lie in the arena: what an Exchange asks to expand them."""

    def expand_levels(self) -> None:
        """Expands many levels in one kernel call."""

    def expand_level(self, expand: ExpandPart) -> None:
        """Expands the newest level, part by part."""

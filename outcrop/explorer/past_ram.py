"""What a search past RAM consists of: how a level is made, and where all levels are kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from outcrop.explorer.frontier import ExpandPart
from outcrop.explorer.paths import Look
from outcrop.explorer.visited import Visited
from outcrop.kernels import States
from outcrop.outcome import LayerReport


class LevelStore(Visited, Protocol):
    """All levels of a search past RAM: a visited set, most of it on disk."""

    @property
    def states(self) -> int:
        """States visited so far."""

    @property
    def expanded(self) -> int:
        """States expanded so far."""

    def take_over(self) -> None:
        """Takes what the arena holds, all of it visited."""

    def look(self) -> Look:
        """Returns a function that finds predecessors in a level."""

    def read_level(self, level: int) -> Iterator[States]: ...

    def check_files(self) -> None:
        """Raises DamagedFile if what was read here and there is not what was written."""

    def keep_only_levels(self) -> None:
        """Gives back what is needed to look states up; levels that are complete can still be read."""

    def report(self) -> LayerReport | None: ...

    def close(self) -> None: ...


class PastRam(Protocol):
    """How a level is made past RAM: successors that the arena does not have are candidates, to be resolved later."""

    @property
    def medium(self) -> str:
        """What is kept on disk, in a word."""

    @property
    def store(self) -> LevelStore: ...

    def parts(self, begin: int, end: int) -> tuple[ExpandPart, int]:
        """Returns what has a worker expand some of these states, counted from the first of all, and the number of
        pieces that they make."""

    def make_room(self) -> None:
        """Drops part of the arena, having seen to it that nothing is lost, and adds what the workers carry."""

    def resolve(self) -> None:
        """Finds out which candidates are new, at the end of a level."""

"""The protocols of a search past RAM: how it makes a level, and where it keeps all levels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from outcrop.explorer.frontier import ExpandPart
from outcrop.explorer.paths import Look
from outcrop.explorer.visited import Visited
from outcrop.kernels import States
from outcrop.outcome import LayerReport


class LevelStore(Visited, Protocol):
    """All levels of a search past RAM: a visited set that is mostly on disk."""

    @property
    def states(self) -> int:
        """Number of states visited."""

    @property
    def expanded(self) -> int:
        """Number of states expanded."""

    def take_over(self) -> None:
        """Takes over the content of the arena, which is all visited."""

    def look(self) -> Look:
        """Returns a function that finds predecessors in a level."""

    def read_level(self, level: int) -> Iterator[States]: ...

    def check_files(self) -> None:
        """Raises DamagedFile if the parts read so far differ from what was written."""

    def keep_only_levels(self) -> None:
        """Frees the structures for lookups. Complete levels can still be read."""

    def report(self) -> LayerReport | None: ...

    def close(self) -> None: ...


class PastRam(Protocol):
    """Expansion of a level past RAM: successors that are not in the arena are candidates, resolved later."""

    @property
    def medium(self) -> str:
        """The kind of files on disk, as messages name it."""

    @property
    def store(self) -> LevelStore: ...

    def parts(self, begin: int, end: int) -> tuple[ExpandPart, int]:
        """Returns a function that expands some states of a range in a worker, and the number of blocks in the range.
        States are counted from the first start state."""

    def make_room(self) -> None:
        """Drops part of the arena, after saving it, and adds the states that the workers carry."""

    def resolve(self) -> None:
        """Finds the new states among the candidates, at the end of a level."""

"""The sizes of the levels of a search, with running totals.

Adding the sizes up at every level would dominate a search through a hundred thousand levels."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import SupportsIndex


class Levels(list[int]):
    """A list of level sizes that changes at its end only. ``ends``: the running totals, starting with 0.

    >>> levels = Levels([1, 4])
    >>> levels += [7]
    >>> levels, levels.ends, levels.states
    ([1, 4, 7], [0, 1, 5, 12], 12)
    """

    def __init__(self, sizes: Iterable[int] = ()) -> None:
        super().__init__(sizes)
        self.ends = [0, *accumulate(self)]

    @property
    def states(self) -> int:
        """Number of states in all levels."""
        return self.ends[-1]

    def append(self, size: int) -> None:
        super().append(size)
        self.ends.append(self.states + size)

    def extend(self, sizes: Iterable[int]) -> None:
        for size in sizes:
            self.append(size)

    def __iadd__(self, sizes: Iterable[int]) -> Levels:  # type: ignore[override, misc]
        self.extend(sizes)
        return self

    def pop(self, index: SupportsIndex = -1) -> int:
        """Removes and returns the last level."""
        assert index == -1
        self.ends.pop()
        return super().pop()

    def set(self, sizes: Iterable[int]) -> None:
        """Replaces all levels."""
        self.clear()
        self.ends[1:] = []
        self.extend(sizes)

    def __reduce__(self) -> tuple[type[Levels], tuple[list[int]]]:
        return Levels, (list(self),)

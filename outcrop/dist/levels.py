"""The sizes of the levels of a search, and where each begins: to add them up at every level would take a search through
a hundred thousand levels longer than all else that it does."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import SupportsIndex


class Levels(list[int]):
    """Changes at its end only. ``ends``: where each level ends, in a row of all states, and before them a 0.

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
        """In all levels."""
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
        """The last one only."""
        assert index == -1
        self.ends.pop()
        return super().pop()

    def set(self, sizes: Iterable[int]) -> None:
        """Other levels instead."""
        self.clear()
        self.ends[1:] = []
        self.extend(sizes)

    def __reduce__(self) -> tuple[type[Levels], tuple[list[int]]]:
        return Levels, (list(self),)

"""The sizes of levels, and the position at which each level ends."""

from __future__ import annotations

import copy
import pickle
from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from outcrop.dist.levels import Levels

SIZES = st.lists(st.integers(0, 10**12))


@given(st.lists(st.one_of(st.integers(0, 9), SIZES, st.none(), st.tuples(SIZES))))
def test_ends_are_sums_of_sizes(changes: list[int | list[int] | tuple[list[int]] | None]) -> None:
    levels, sizes = Levels(), list[int]()
    for change in changes:
        if isinstance(change, int):
            levels.append(change)
            sizes.append(change)
        elif isinstance(change, list):
            levels += change
            sizes += change
        elif isinstance(change, tuple):
            levels.set(*change)
            sizes = list(*change)
        elif sizes:
            assert levels.pop() == sizes.pop()
        assert levels == sizes and levels.ends == [0, *accumulate(sizes)] and levels.states == sum(sizes)
    for other in (Levels(sizes), copy.deepcopy(levels), pickle.loads(pickle.dumps(levels))):
        assert other == levels and other.ends == levels.ends

"""How many states there will be, from the shape of the levels so far; and when memory or disk will run out.

Levels grow, then shrink. How they stand now, against how they stood a little earlier, says where on that curve a search
is, and nothing else that was tried says more. What follows from it is read off the level profiles of some sixty models:
how many times more states than now they came to have in the end when they stood like this. The range that is given
held nine in ten of them. While levels still grow fast it would be too wide to be of use: there is no basis.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass

#: Before there are so many levels, nothing is said.
LEAST_LEVELS = 12
#: Two stretches of levels are compared, each the last so many-th part of them.
_PART = 8

#: The logarithm of the growth from one stretch to the next; and the least, middle and greatest number of states in the
#: end as a multiple of those now. (tests/data/level_profiles.json; a test says how often the range holds.)
_SHAPES = (
    (-0.80, 1.005, 1.04, 1.25),
    (-0.45, 1.015, 1.09, 1.80),
    (-0.23, 1.025, 1.18, 2.50),
    (-0.06, 1.040, 1.40, 5.00),
    (0.06, 1.080, 1.90, 8.00),
    (0.23, 1.120, 2.50, 13.00),
)


@dataclass(frozen=True)
class Forecast:
    """Of all states there will be."""

    least: int
    middle: int
    most: int


def forecast(levels: Sequence[int]) -> Forecast | None:
    """From the sizes of the levels that are complete. None: there is no basis yet."""
    width = max(2, len(levels) // _PART)
    width += width % 2  # many models alternate from level to level
    if len(levels) < max(LEAST_LEVELS, 2 * width):
        return None
    recent, earlier = sum(levels[-width:]), sum(levels[-2 * width : -width])
    if not recent or not earlier:
        return None
    growth = math.log(recent / earlier)
    if growth > _SHAPES[-1][0]:
        return None
    states = sum(levels)
    least, middle, most = (int(states * multiple) for multiple in _multiples(growth))
    return Forecast(least, middle, most)


def _multiples(growth: float) -> tuple[float, float, float]:
    """Between two shapes, what lies between theirs."""
    at = bisect(_SHAPES, growth, key=lambda shape: shape[0])
    if at == 0:
        return _SHAPES[0][1:]
    if at == len(_SHAPES):
        return _SHAPES[-1][1:]
    below, above = _SHAPES[at - 1], _SHAPES[at]
    part = (growth - below[0]) / (above[0] - below[0])
    least, middle, most = (
        math.exp((1 - part) * math.log(one) + part * math.log(other))
        for one, other in zip(below[1:], above[1:], strict=True)
    )
    return least, middle, most


def seconds_until(used: float, limit: float | None, rate: float) -> float | None:
    """When something that grows at a rate (a second) reaches its limit; None: never, or nobody knows."""
    if limit is None or rate <= 0:
        return None
    return max(0.0, limit - used) / rate

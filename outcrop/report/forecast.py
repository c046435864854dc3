"""A forecast of the number of states from the sizes of the levels so far, and of the time when a resource is full.

Levels grow, then shrink. The growth between two recent stretches of levels shows where on that curve a search stands;
no other measure that was tried predicts more. The multiples in ``_SHAPES`` are read off the level profiles of about
sixty models: the final number of states divided by the current one, at each growth. The range holds for nine in ten of
them. While levels grow fast, the range would be too wide to be useful, and there is no forecast.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass

#: Smallest number of levels for a forecast.
LEAST_LEVELS = 12
#: Divisor of the number of levels that gives the length of each of the two stretches that are compared.
_PART = 8

#: Logarithm of the growth from one stretch to the next, then the smallest, median and largest final number of states as
#: a multiple of the current one. (Data: tests/data/level_profiles.json; a test measures how often the range holds.)
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
    """Range of the final number of states."""

    least: int
    middle: int
    most: int


def forecast(levels: Sequence[int]) -> Forecast | None:
    """Returns a forecast from the sizes of the complete levels; None if there is no basis for one yet."""
    width = max(2, len(levels) // _PART)
    width += width % 2  # even, since many models alternate from level to level
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
    """Returns the multiples for a growth, interpolated between two shapes."""
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
    """Returns the time until something that grows at ``rate`` per second reaches its limit; None: never, or unknown."""
    if limit is None or rate <= 0:
        return None
    return max(0.0, limit - used) / rate

"""What to sweep over: ranges of constants, and every combination of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from outcrop.errors import UsageError

#: 2..6, or 2..10..2 in steps of two.
_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)(?:\.\.(\d+))?")
#: More cells than this are a slip of the finger.
MOST_CELLS = 10_000


@dataclass(frozen=True)
class Axis:
    """A name and the values that it takes."""

    name: str
    values: tuple[str, ...]


def axis(name: str, text: str) -> Axis:
    """``2..6``, ``2..10..2``, ``1,2,4`` or a mixture; anything else is one value.

    >>> axis("N", "1..3,8").values
    ('1', '2', '3', '8')
    """
    values: list[str] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            values.append(part.strip())
            continue
        first, last, step = int(match[1]), int(match[2]), int(match[3] or 1)
        if step and (last - first) // step >= MOST_CELLS:
            raise UsageError(f"'{part}' has too many values: a sweep makes at most {MOST_CELLS:,} checks")
        if not step or first > last:
            raise UsageError(f"'{part}' is no range; write it like 2..6, or 2..10..2 in steps of two")
        values += map(str, range(first, last + 1, step))
    if not all(values):
        raise UsageError(f"'{name}={text}' has an empty value")
    return Axis(name, tuple(dict.fromkeys(values)))


def combinations(axes: Sequence[Axis]) -> list[dict[str, str]]:
    """One choice of values a cell; the last axis varies fastest."""
    count = 1
    for each in axes:
        count *= len(each.values)
    if count > MOST_CELLS:
        raise UsageError(f"that makes {count:,} checks; at most {MOST_CELLS:,} are done at once")
    names = [each.name for each in axes]
    return [dict(zip(names, values, strict=True)) for values in product(*(each.values for each in axes))]

"""The plan of a sweep: ranges of constants, and their combinations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from outcrop.errors import UsageError

#: 2..6, or 2..10..2 in steps of two.
_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)(?:\.\.(\d+))?")
#: Largest number of checks in a sweep; more are probably a typing error.
MOST_CELLS = 10_000


@dataclass(frozen=True)
class Axis:
    """A name and its values."""

    name: str
    values: tuple[str, ...]


def axis(name: str, text: str) -> Axis:
    """Reads ``2..6``, ``2..10..2``, ``1,2,4`` or a mixture; any other text is one value.

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
            raise UsageError(f"'{part}' has too many values; a sweep makes at most {MOST_CELLS:,} checks")
        if not step or first > last:
            raise UsageError(f"'{part}' is not a range; write it like 2..6, or 2..10..2 in steps of two")
        values += map(str, range(first, last + 1, step))
    if not all(values):
        raise UsageError(f"'{name}={text}' has an empty value; write it like {name}=2..6")
    return Axis(name, tuple(dict.fromkeys(values)))


def combinations(axes: Sequence[Axis]) -> list[dict[str, str]]:
    """Returns one choice of values per check; the last axis varies fastest."""
    count = 1
    for each in axes:
        count *= len(each.values)
    if count > MOST_CELLS:
        raise UsageError(
            f"the sweep would make {count:,} checks, and the largest number is {MOST_CELLS:,}; give fewer values"
        )
    names = [each.name for each in axes]
    return [dict(zip(names, values, strict=True)) for values in product(*(each.values for each in axes))]

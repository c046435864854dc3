"""The option of languages that have ``while`` loops."""

from __future__ import annotations

from dataclasses import dataclass

from outcrop.declared import option
from outcrop.units import parse_count


def parse_limit(text: str) -> int | None:
    """Reads a limit; 0 means none.

    >>> parse_limit("1,000"), parse_limit("0")
    (1000, None)
    """
    return parse_count(text) or None


@dataclass(frozen=True)
class LoopOptions:
    while_limit: int | None = option(
        1_000_000,
        "largest number of iterations of a while loop (default: 1,000,000); 0: no limit",
        convert=parse_limit,
    )

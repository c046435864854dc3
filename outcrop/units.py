"""Sizes, durations and counts in the form that people write ("8G", "30m", "1,000") and read."""

from __future__ import annotations

import re

from outcrop.errors import UsageError

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|d)?", re.IGNORECASE)


def parse_size(text: str) -> int:
    """Returns the bytes of a size, in units of 1024.

    >>> parse_size("8G") == 8 * 2**30
    True
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"'{text}' is not a size; write it like 500M or 8G")
    exponent = " KMGT".index(match[2].upper() or " ")
    return int(float(match[1]) * 1024**exponent)


def parse_duration(text: str) -> float:
    """Returns the seconds of a duration.

    >>> parse_duration("1.5h")
    5400.0
    """
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"'{text}' is not a duration; write it like 90s, 30m or 2h")
    return float(match[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[(match[2] or "s").lower()]


def parse_count(text: str) -> int:
    """Returns a number that may be written in groups of digits.

    >>> parse_count("1_000,000")
    1000000
    """
    digits = text.replace("_", "").replace(",", "")
    if not digits.isascii() or not digits.isdigit() or len(digits) > 18:
        raise UsageError(f"'{text}' is not a number")
    return int(digits)


def size(count: int) -> str:
    """Returns a number of bytes as a text with a unit.

    >>> size(3 * 2**30)
    '3.0 GiB'
    """
    amount = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit in ("B", "KiB") else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TiB"

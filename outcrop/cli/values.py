"""What the values of options look like on the command line: each function reads one kind."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from outcrop.errors import UsageError


def constant(text: str) -> tuple[str, str]:
    name, equals, value = (part.strip() for part in text.partition("="))
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form NAME=VALUE")
    return name, value


def count(text: str) -> int:
    digits = text.replace("_", "").replace(",", "")
    if not digits.isascii() or not digits.isdigit() or len(digits) > 18:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number")
    return int(digits)


def weight(text: str) -> tuple[str, int]:
    """The last equals sign counts: names of rules may have some."""
    name, equals, value = text.rpartition("=")
    if not (name.strip() and equals):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form RULE=N")
    return name.strip(), count(value.strip())


def names(text: str) -> list[str]:
    found = [part.strip() for part in text.split(",")]
    if not all(found):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form NAME,NAME")
    return found


def fraction(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number") from None


def curve(text: str) -> tuple[tuple[float, float], ...]:
    points = tuple(tuple(fraction(part) for part in point.split(":")) for point in text.split(","))
    if len(points) != 2 or any(len(point) != 2 for point in points):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form A:B,A:B")
    return tuple((a, b) for a, b in points)


def unit(parse: Callable[[str], float]) -> Callable[[str], float]:
    def convert(text: str) -> float:
        try:
            return parse(text)
        except UsageError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert

"""Converters of option values: each function reads one kind of value from the command line."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Callable
from typing import TypeVar

from outcrop import strategies as registry
from outcrop.errors import UsageError
from outcrop.units import parse_count

_Value = TypeVar("_Value")

_BREADTH = "auto and ram search breadth-first"
_SIGNATURES = "compact stores a signature of each state instead of the state"
_WALKS = "'outcrop simulate' takes random walks"
_CYCLES = "ndfs and owcty search for runs that violate a formula"
#: Strategy names of other tools, without hyphens, with the counterpart in Outcrop.
_OTHER_STRATEGIES = {
    **dict.fromkeys(("bfs", "breadthfirst", "breadth", "exact", "full", "default", "memory"), _BREADTH),
    **dict.fromkeys(
        ("dfs", "depthfirst", "depth"), f"{_BREADTH}; ndfs searches depth-first for runs that violate a formula"
    ),
    **dict.fromkeys(("hash", "hashcompact", "hashcompaction", "hc"), _SIGNATURES),
    **dict.fromkeys(("supertrace", "bloom", "bitmap"), "bitstate stores a few bits of each state"),
    **dict.fromkeys(("random", "walk", "walks", "simulate", "simulation"), _WALKS),
    **dict.fromkeys(("scc", "tarjan", "nesteddfs", "cndfs", "map", "ltl", "liveness"), _CYCLES),
    **dict.fromkeys(
        ("external", "swap"), "disk and locality store visited states on disk; auto does so when RAM is full"
    ),
}
#: Several values of a constant, as ``sweep`` reads them.
_SEVERAL = re.compile(r"\d\s*\.\.|,")


def unit(parse: Callable[[str], _Value]) -> Callable[[str], _Value]:
    """Returns a reader whose complaints argparse reports as errors of usage."""

    def convert(text: str) -> _Value:
        try:
            return parse(text)
        except UsageError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


count = unit(parse_count)


def constant(text: str) -> tuple[str, str]:
    name, equals, value = (part.strip() for part in text.partition("="))
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form NAME=VALUE")
    return name, value


def single_constant(text: str) -> tuple[str, str]:
    """Reads a constant with one value. A range or a list of values belongs to a sweep."""
    name, value = constant(text)
    if _SEVERAL.search(value):
        raise argparse.ArgumentTypeError(
            f"'{text}' is more than one value; check the model for each of them with 'outcrop sweep MODEL -D {text}'"
        )
    return name, value


def strategy(text: str) -> str:
    known = registry.names()
    if text in known:
        return text
    meant = _OTHER_STRATEGIES.get(text.lower().replace("-", "").replace("_", ""))
    close = difflib.get_close_matches(text.lower(), known, 1)
    hint = meant or (f"did you mean {close[0]}?" if close else f"choose from {', '.join(known)}")
    raise argparse.ArgumentTypeError(f"there is no strategy '{text}': {hint}")


def weight(text: str) -> tuple[str, int]:
    """Reads a weight. The last equals sign separates it from the name, which may contain others."""
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

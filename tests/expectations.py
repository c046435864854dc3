"""Expectations that a model carries in its own header, and a way to hold a check against them.

A header line reads ``-- key: value``, in DVE and Promela ``// key: value``, and stands before the first declaration:

* ``expect``: ``holds``, ``unknown``, ``rejected``, or ``violated KIND`` with an optional ``"NAME"`` of the property
* ``message``: a part of the violation's message, or of the diagnostics; may be repeated
* ``options``: as on the command line
* ``states``, ``rules``, ``diameter``: with the default options, that is with symmetry reduction
* ``states without symmetry``, ``rules without symmetry``: where the model has scalarsets
* ``trace``: how many states the trace has, the start state included
* ``interpreter``: ``too slow`` where only the native engine should run the model
"""

from __future__ import annotations

import re
import shlex
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from optimisation import optimised

import outcrop
from outcrop.cli.check import check_options
from outcrop.cli.parser import build_parser
from outcrop.cli.parser_declared import language_values
from outcrop.options import Engine
from outcrop.result import Result

REPOSITORY = Path(__file__).parent.parent
EXAMPLES, TEST_MODELS = (
    tuple(sorted(path for suffix in ("m", "dve", "pml") for path in (REPOSITORY / folder).glob(f"*.{suffix}")))
    for folder in ("examples", "tests/models")
)

#: Every engine that must give the same answers.
ENGINES = (Engine.INTERPRETER, Engine.NATIVE)

#: The interpreter explores some 5,000 states a second, fewer under symmetry.
MOST_STATES_INTERPRETED = 3_000

#: Nothing fits: a few entries in the cache and in M, blocks of a few states, a cloud that misses most of D.
TINY: dict[str, Any] = {
    "state_memory": 400,
    "block_states": 3,
    "block_size": 4,
    "blocks": 7,
    "calibration": 3,
    "cloud": 0.2,
    "chain": 4,
    "collision_limit": 0.999,
    "threshold": 0.05,
}

_HEADER_LINE = re.compile(r"(?:--|//)\s*(?:([a-z][a-z ]*): (.*))?")
_EXPECT = re.compile(r'(holds|unknown|rejected|violated (\w+)(?: "(.*)")?)')


@dataclass(frozen=True)
class Counts:
    """None: not said."""

    states: int | None
    rules: int | None
    diameter: int | None


@dataclass(frozen=True)
class Expectation:
    path: Path
    verdict: str
    kind: str  #: kind of the violation
    property: str
    messages: tuple[str, ...]
    options: tuple[str, ...]
    with_symmetry: Counts
    without_symmetry: Counts
    trace_length: int | None
    is_too_slow_to_interpret: bool

    def counts(self, symmetry: bool) -> Counts:
        return self.with_symmetry if symmetry else self.without_symmetry

    def suits(self, engine: Engine, symmetry: bool) -> bool:
        """Is it quick enough?"""
        if engine is not Engine.INTERPRETER:
            return True
        return not self.is_too_slow_to_interpret and (self.counts(symmetry).states or 0) <= MOST_STATES_INTERPRETED


def read_header(path: Path) -> dict[str, list[str]]:
    """The values of each key."""
    found: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith(("--", "//")):
            break
        match = _HEADER_LINE.fullmatch(line)
        if match and match[1]:
            found.setdefault(match[1], []).append(match[2].strip())
    return found


@cache
def expectation(path: Path) -> Expectation:
    header = read_header(path)

    def number(key: str) -> int | None:
        return int(header[key][0].replace(",", "")) if key in header else None

    expect = _EXPECT.fullmatch(header["expect"][0])
    assert expect, f"{path.name}: cannot read 'expect: {header['expect'][0]}'"
    counts = Counts(number("states"), number("rules"), number("diameter"))
    without = counts
    if "states without symmetry" in header:
        without = replace(counts, states=number("states without symmetry"), rules=number("rules without symmetry"))
    return Expectation(
        path=path,
        verdict=expect[1].split()[0],
        kind=expect[2] or "",
        property=expect[3] or "",
        messages=tuple(header.get("message", ())),
        options=tuple(shlex.split(" ".join(header.get("options", ())))),
        with_symmetry=counts,
        without_symmetry=without,
        trace_length=number("trace"),
        is_too_slow_to_interpret="interpreter" in header,
    )


def check(path: Path, *options: str, quick: bool = True) -> Result:
    """Checks a model with options as the command line takes them. ``quick``: compiling it fast matters more than
    running it fast."""
    arguments = build_parser().parse(["check", str(path), *options])
    model = outcrop.load(
        path,
        dict(arguments.constants),
        **language_values(arguments),
    )
    with nullcontext() if quick else optimised():
        return model.check(check_options(arguments))


def compare(expected: Expectation, result: Result, symmetry: bool) -> None:
    """Asserts that a result is as the header says."""
    counts = expected.counts(symmetry)
    first = result.violations[0] if result.violations else None
    assert str(result.verdict) == expected.verdict, first and first.message
    if expected.kind:
        assert first is not None
        assert (str(first.kind), first.property if expected.property else "") == (expected.kind, expected.property)
        for part in expected.messages:
            assert part in first.message
        if expected.trace_length is not None:
            assert first.trace is not None
            assert len(first.trace) == expected.trace_length
    for name, wanted, got in (
        ("states", counts.states, result.states),
        ("rules fired", counts.rules, result.rules_fired),
        ("diameter", counts.diameter, result.diameter),
    ):
        assert wanted is None or (name, got) == (name, wanted)

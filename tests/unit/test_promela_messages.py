"""Messages about Promela models: mistakes in their text, and what a report says of processes."""

from __future__ import annotations

import pytest

import outcrop
from outcrop.api import Model
from outcrop.result import ViolationKind

STUCK = """chan c = [0] of { byte };
active [3] proctype P() { byte x; c?x; c?x }
active proctype Q() { c!1; false }
active proctype E() { end: false }
"""


def model(text: str, **options: bool) -> Model:
    return outcrop.loads(text, "m.pml", **options)


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (STUCK, "3 processes P wait at line 2, Q at line 3"),
        ("byte x;\nactive proctype P() { x == 1 }", "P waits at line 2"),
        ("byte x;\nactive [2] proctype P() { if :: _pid ->\nx == 1 :: else fi }", "P[1] waits at line 3"),
        (
            "byte x;\n" + "".join(f"active proctype P{each}() {{ x == 1 }}\n" for each in range(6)),
            "P0 waits at line 2, P1 at line 3, P2 at line 4, P3 at line 5, and others at 2 more places",
        ),
    ],
)
def test_a_deadlock_says_where_processes_wait(text: str, places: str) -> None:
    for found in (model(text), model(text, process_symmetry=True)):
        (violation,) = found.check(engine="interpreter").violations
        assert (violation.kind, violation.message) == (
            ViolationKind.DEADLOCK,
            f"deadlock (invalid end state): {places}",
        )
        assert violation.span is not None and f"line {violation.span.line}" in places
        assert "label that begins with 'end'" in violation.hint


def test_a_timeout_is_one_rule() -> None:
    text = "byte x; active proctype P() { do :: x < 2 -> x++ :: timeout -> break od }"
    names = [each.name for each in model(text).check(engine="interpreter").coverage]
    assert names.count("P:1 timeout") == 1
    # A condition that may fail is tested while others can move, too.
    text = "byte x; active proctype P() { do :: x < 2 -> x++ :: x / (1 - x) == 0 && timeout -> break od }"
    assert model(text).check(engine="interpreter").verdict == "violated"

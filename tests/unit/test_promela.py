"""The Promela front-end: what it refuses, and state spaces that SPIN has counted."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

import outcrop
from outcrop.errors import ModelError
from outcrop.lang import load_text
from outcrop.options import LoadOptions

MODELS = Path(os.environ.get("OUTCROP_MODELS", "/nowhere")) / "models" / "promela"
#: Rows that SPIN counts otherwise: with an automaton beside the model, or past an assertion that fails. Where a
#: run of werkplaats ends, SPIN counts a transition of the never claim.
OTHERWISE = (
    "p116",
    "p123",
    "p248",
    "p312",
    "ex_3a",
    "diskhead",
    "zune",
    "test_mtype",
    "LTL/",
    "leader_trace",
    "werkplaats",
)
MOST_STATES = 2_000


def counted() -> list[tuple[str, int, int]]:
    if not (MODELS / "EXPECTED.csv").exists():
        return []
    with (MODELS / "EXPECTED.csv").open() as file:
        rows = [each for each in csv.DictReader(file) if each["complete"] == "yes"]
    small = [each for each in rows if int(each["states"]) <= MOST_STATES]
    return [
        (each["file"], int(each["states"]), int(each["transitions"]))
        for each in small
        if not any(word in each["file"] for word in OTHERWISE)
    ]


@pytest.mark.parametrize(("name", "states", "transitions"), counted() or [("none", 0, 0)])
def test_state_spaces_are_those_of_spin(name: str, states: int, transitions: int) -> None:
    if name == "none":
        pytest.skip("no models")
    result = outcrop.load(MODELS / name).check(deadlock="off", strategy="ram")
    # SPIN counts the arrival at the initial state as a transition.
    assert (result.states, result.rules_fired + 1) == (states, transitions)


def messages(text: str) -> str:
    with pytest.raises(ModelError) as caught:
        load_text(text, "model.pml", LoadOptions())
    return "\n".join(each.render() for each in caught.value.diagnostics)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("active proctype P() { x = 1 }", "unknown name 'x'"),
        ("byte count; active proctype P() { cuont = 1 }", "did you mean 'count'"),
        ("active proctype P() { c_code { x++; } }", "it is C, not Promela"),
        ("active proctype P() { goto nowhere }", "there is no label 'nowhere'"),
        ("active proctype P() { break }", "outside of any 'do' loop"),
        ("byte x; active proctype P() { if :: x = 1 }", "'fi' at the end of 'if'"),
        ("byte x; active proctype P() { (x = 1) }", "a comparison is written '=='"),
        ("chan q = [1] of { byte }; active proctype P() { q!1,2 }", "carries 1 values, not 2"),
        ("byte x;", "the model has no process"),
        ("#if N\nbyte x;\nactive proctype P() { skip }", "end it with #endif"),
        ('#include "missing.h"\nactive proctype P() { skip }', "included files lie beside the model"),
        ("notrace { a!b }", "not supported"),
        ("byte x\nactive proctype P() { x = $ }", "cannot contain '$'"),
        ("inline f() { f() } active proctype P() { f() }", "calls itself"),
        ("active proctype P() { run Q() }", "unknown proctype 'Q'"),
        ("byte x; never { do :: x = 1 od } active proctype P() { x = 1 }", "a never claim can only test"),
    ],
)
def test_mistakes_are_named(text: str, part: str) -> None:
    assert part in messages(text)


def test_constants_replace_macros(tmp_path: Path) -> None:
    path = tmp_path / "m.pml"
    path.write_text("#define N 2\nbyte x;\nactive proctype P() { do :: x < N -> x++ :: else -> break od }\n")
    assert outcrop.load(path).check(engine="interpreter").states == 7
    larger = outcrop.load(path, N=4).check(engine="interpreter")
    assert (larger.states, larger.constants) == (11, {"N": 4})


def test_processes_past_the_limit_are_an_error_that_names_the_option(tmp_path: Path) -> None:
    path = tmp_path / "m.pml"
    path.write_text("proctype P(byte n) { if :: n < 12 -> run P(n + 1) :: else fi } init { run P(0) }\n")
    result = outcrop.load(path).check(engine="interpreter")
    assert str(result.verdict) == "violated"
    assert "--processes" in result.violations[0].message
    assert str(outcrop.load(path, processes=20).check(engine="interpreter").verdict) == "holds"


def test_a_never_claim_is_an_automaton(tmp_path: Path) -> None:
    path = tmp_path / "m.pml"
    model = "byte x; active proctype P() { do :: x = 1 - x od }\n"
    path.write_text(model + "never { do :: x == 0 -> goto accept :: true od; accept: do :: x < 2 od }")
    assert result_of(path) == ("violated", "ltl")
    path.write_text(model + "never { do :: x == 2 -> goto accept :: x != 2 od; accept: do :: true od }")
    assert result_of(path) == ("holds", "")


def result_of(path: Path) -> tuple[str, str]:
    result = outcrop.load(path).check()
    return str(result.verdict), result.kind

"""Random Promela models have the counts that SPIN finds; tests/fuzz/promela.py tries more of them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from compare_spin import Comparison, Limits, NotAccepted, Verifier, counts_in, has_spin
from promela import COUNTED
from promela_claims import CLAIMS
from promela_labels import LABELS
from promela_words import read_words

import outcrop
from outcrop.explore.saved import read
from outcrop.explore.session import Session

#: Seeds whose models SPIN accepts and counts in a moment, by what the models are about.
SEEDS = {
    "counts": (101, 104, 110),
    "starting": (3, 4),
    "passing": (3, 11),
    "sequences": (11, 24),
    "rings": (2,),
}


@pytest.mark.skipif(not has_spin(), reason="SPIN is not installed")
@pytest.mark.parametrize(("what", "seed"), [(what, seed) for what, seeds in SEEDS.items() for seed in seeds])
def test_counts_are_those_of_spin(what: str, seed: int, tmp_path: Path) -> None:
    try:
        comparison = Comparison(tmp_path, COUNTED[what](seed))
        assert [comparison.counts(), comparison.verdicts(), comparison.unreached()] == ["", "", ""]
    except NotAccepted:
        pytest.skip("this version of SPIN does not accept the model")


@pytest.mark.skipif(not has_spin(), reason="SPIN is not installed")
def test_the_recorded_counts_are_those_of_spin(tmp_path: Path) -> None:
    for number, word in enumerate(read_words()):
        folder = tmp_path / str(number)
        folder.mkdir()
        verifier = Verifier(folder, word.text)
        assert counts_in(verifier.run("-A", "-E")) == (word.states, word.transitions), word.name
        assert verifier.finds("-E") == word.fails, word.name
        assert word.hides_ends or verifier.finds("-A") == word.blocks, word.name


@pytest.mark.skipif(not has_spin(), reason="SPIN is not installed")
def test_claims_are_violated_where_spin_says_so(tmp_path: Path) -> None:
    for number, each in enumerate(CLAIMS):
        folder = tmp_path / str(number)
        folder.mkdir()
        verifier = Verifier(folder, each.text)
        found = verifier.finds("-E", flags=("-DSAFETY", "-UNOREDUCE"))
        assert found == (each.is_violated != each.differs), each.name


@pytest.mark.skipif(not has_spin(), reason="SPIN is not installed")
def test_accept_labels_count_where_spin_says_so(tmp_path: Path) -> None:
    for number, each in enumerate(LABELS):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert Verifier(folder, each.text).finds("-a", "-E") == each.is_violated, each.name


TRAILS = (
    """byte x, n; chan c = [0] of { byte }; chan d = [2] of { byte };
proctype W(byte k) { byte v; c?v; atomic { n++; x = x + v; d!v };
  if :: x > 2 -> d_step { v = 1; v = 2 } :: else fi; assert(x < 3) }
init { byte i; atomic { do :: i < 2 -> run W(i); i++ :: else -> break od }; c!1; c!2; d?x }
""",
    """byte x; chan c = [0] of { byte };
active [2] proctype P() { byte t; t = x; atomic { x = t + 1; x > 0 -> skip }; c?t; t = 1; t = 2; x == 9 }
active proctype S() { c!1; c!2; goto L; x = 3; L: x != 1 }
""",
)


@pytest.mark.skipif(not has_spin(), reason="SPIN is not installed")
@pytest.mark.parametrize("text", TRAILS)
@pytest.mark.parametrize("options", ["-o1 -o2 -o3", ""])
def test_trails_of_spin_lead_to_the_violation(text: str, options: str, tmp_path: Path) -> None:
    model = tmp_path / "m.pml"
    model.write_text(text)
    for command in (f"spin -a {options} m.pml", "gcc -w -DSAFETY -o pan pan.c", "./pan"):
        subprocess.run(command.split(), cwd=tmp_path, check=True, capture_output=True, timeout=60)
    session = Session(outcrop.load(model).system)
    session.load(read(f"{model}.trail"))
    assert session.state is not None
    fails = any(each.failure for each in session.choices())
    assert fails if "assert" in text else not session.choices() and not session.interpreter.may_end(session.state)


REPOSITORY = Path(__file__).parents[2]
_MODEL = re.compile(r'```promela(?: title="([\w.]+)")?\n(.*?)```', re.DOTALL)


def _models() -> Iterator[Any]:
    """Yields the models of the examples and of the manual, one for each block."""
    for path in sorted((REPOSITORY / "examples").rglob("*.pml")):
        yield pytest.param(path.read_text(), id=path.name)
    for page in (REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))):
        for name, model in _MODEL.findall(page.read_text(encoding="utf-8")):
            yield pytest.param(model, id=f"{page.stem}-{name}")


@pytest.mark.skipif(not has_spin(), reason="SPIN is not installed")
@pytest.mark.parametrize("text", list(_models()))
def test_models_of_the_manual_have_the_verdicts_and_counts_of_spin(text: str, tmp_path: Path) -> None:
    comparison = Comparison(tmp_path, text)
    verifier = comparison.spin
    has_claim = "ltl " in text or "never " in text
    found = verifier.finds(*(("-a",) if has_claim else ()), flags=("-UNOREDUCE",))  # as users run it
    model = outcrop.load(tmp_path / "m.pml")
    if any("--acceptance" in each.hint for each in model.warnings):  # the documented difference
        model = outcrop.load(tmp_path / "m.pml", acceptance=True)
    assert (str(model.check(engine="interpreter").verdict) == "violated") == found
    counted = comparison.check(loading={"assertions": False, "claims": False}, deadlock="off")
    assert counts_in(verifier.run("-A", "-E", flags=("-DSAFETY", "-DNOCLAIM"))) == (
        counted.states,
        counted.rules_fired + 1,
    )
    if counted.states <= Limits().interpreted_cycles:
        assert comparison.cycles() == ""

"""Formulas on the command line: options, reports, exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run

from outcrop.strategies import names

Cli = Callable[..., Run]

LIGHT = """
var red, broken: boolean;
startstate begin red := true; broken := false; end;
rule "switch" !broken ==> red := !red; end;
rule "break" red & !broken ==> broken := true; end;
rule "repair" broken ==> broken := false; end;
rule "stay" begin end;
ltl "again" : G F red;
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "light.m"
    path.write_text(LIGHT, encoding="utf-8")
    return path


@pytest.mark.parametrize("strategy", ["auto", *names(finds_cycles=True)])
def test_a_lasso(cli: Cli, model: Path, strategy: str) -> None:
    run = cli("check", model, "--strategy", strategy, "--ltl", "F broken", "--property", "F broken", "--json")
    document = json.loads(run.out)
    assert (run.code, document["verdict"], document["kind"]) == (1, "violated", "ltl")
    assert document["trace"]["loop"] == document["trace"]["loop_start"] == 0
    assert document["trace"]["#meta"]["closing_rule"] in ("stay", "switch")
    assert document["trace"]["states"][0]["#meta"]["propositions"] == {"broken": False}
    (row,) = (row for row in document["properties"] if row["kind"] == "ltl")
    assert (row["name"], row["status"], row["formula"]) == ("F broken", "violated", "F broken")
    assert row["strategy"] == ("owcty" if strategy == "auto" else strategy)


@pytest.mark.parametrize("strategy", ["auto", *names(finds_cycles=True)])
def test_formulas_that_hold(cli: Cli, model: Path, strategy: str) -> None:
    fair = ("--ltl", "F red", "--ltl", "G (!red -> F red)", "--fair", "weak", "--property", "2", "--property", "3")
    run = cli("check", model, "--strategy", strategy, *fair, "--json")
    document = json.loads(run.out)
    assert (run.code, document["verdict"], document["guarantee"]) == (0, "holds", "exact")
    assert [row["status"] for row in document["properties"]] == ["holds", "holds"]
    assert document["states"] == 3 if strategy == "auto" else document["states"] > 0


def test_the_text_marks_the_loop(cli: Cli, model: Path) -> None:
    run = cli("check", model, "--engine", "interpreter")
    assert run.code == 1
    assert run.out.splitlines()[0].endswith('ltl "again" is violated.')
    assert "--- the cycle starts here: state 1 repeats forever ---\n1  Rule switch fired." in run.out
    assert "   Rule stay fired: back to 1.\nThis cycle repeats forever: ltl" in run.out
    assert "propositions: !red" in run.out


def test_a_bad_state_comes_first(cli: Cli, model: Path) -> None:
    model.write_text(LIGHT + 'invariant "never broken" !broken;', encoding="utf-8")
    document = json.loads(cli("check", model, "--engine", "interpreter", "--json").out)
    assert document["kind"] == "invariant"
    assert [row["status"] for row in document["properties"]] == ["violated", "unknown"]
    every = json.loads(cli("check", model, "--engine", "interpreter", "--json", "--continue").out)
    assert [each["kind"] for each in every["violations"]] == ["invariant", "ltl"]


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_a_formula_is_checked_after_a_deadlock(cli: Cli, tmp_path: Path, engine: str) -> None:
    model = tmp_path / "stuck.m"
    model.write_text(
        """var x: 0..4; startstate begin x := 0; end;
        rule "turn" x < 2 ==> begin x := 1 - x; end;
        rule "fall" x < 2 ==> begin x := 3; end;
        invariant "small" x < 3;
        ltl "falls" : F {x = 3};
        ltl "never four" : G {x != 4};"""
    )
    for skipped, kind in (((), "invariant"), (("--property", "!small"), "deadlock")):
        run = cli("check", model, "--engine", engine, "--json", "--continue", *skipped)
        assert run.code == 1
        document = json.loads(run.out)
        assert {each["kind"] for each in document["violations"]} == {kind, "deadlock", "ltl"}
        status = {row["name"]: row["status"] for row in document["properties"] if row["kind"] == "ltl"}
        assert status == {"falls": "violated", "never four": "holds"}


def test_mistakes(cli: Cli, model: Path) -> None:
    run = cli("check", model, "--ltl", "G (red -> F {brokn})")
    assert run.code == 2
    assert run.err == (
        "--ltl:1:14: error: unknown name 'brokn'\n  G (red -> F {brokn})\n               ^^^^^\n"
        "  hint: did you mean 'broken'?\n"
    )
    run = cli("check", model, "--property", "agian")
    assert run.code == 2 and "the model has no formula or property 'agian'; choose from 1: again" in run.err
    assert "with ndfs" in cli("check", model, "--fair", "strong", "--strategy", "ndfs").err
    plain = model.with_name("plain.m")
    plain.write_text(LIGHT.replace('ltl "again" : G F red;', ""), encoding="utf-8")
    run = cli("check", plain, "--strategy", "ndfs")
    assert run.code == 2 and "there is no formula; give one with --ltl" in run.err


def test_a_file_of_formulas(cli: Cli, model: Path, tmp_path: Path) -> None:
    file = tmp_path / "other.ltl"
    file.write_text("#define dark !red\n#property G F dark\n#property F dark -> F {red}\n", encoding="utf-8")
    run = cli("check", model, "--engine", "interpreter", "--ltl-file", file, "--json")
    rows = json.loads(run.out)["properties"]
    assert [(row["name"], row["status"]) for row in rows] == [
        ("again", "violated"),
        ("G F dark", "violated"),
        ("F dark -> F {red}", "holds"),
    ]
    file.write_text("#property G (dark\n", encoding="utf-8")
    assert "other.ltl:1:13: error" in cli("check", model, "--ltl-file", file).err

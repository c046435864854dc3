"""Invariants on the command line count like those that a model declares."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run

import outcrop

Cli = Callable[..., Run]

MURPHI = """
const Most: 9;
type Node: scalarset(2);
var a, b: 0 .. Most; last: Node;
startstate begin a := 0; b := 0; end;
rule "a" a < Most ==> a := a + 1; end;
rule "b" b < Most ==> b := b + 1; end;
ruleset n: Node do rule "pass" last != n ==> last := n; end; end;
invariant "declared" a <= Most;
"""
DVE = """
byte a;
process P {
  state low, high;
  init low;
  trans low -> low { guard a < 5; effect a = a + 1; }, low -> high { guard a == 5; };
}
system async;
"""
OPTIONS = ("--deadlock", "off", "--json")


@pytest.fixture
def murphi(tmp_path: Path) -> Path:
    path = tmp_path / "two.m"
    path.write_text(MURPHI, encoding="utf-8")
    return path


@pytest.fixture
def dve(tmp_path: Path) -> Path:
    path = tmp_path / "one.dve"
    path.write_text(DVE, encoding="utf-8")
    return path


@pytest.mark.parametrize("how", [("--engine", "interpreter"), ("--strategy", "auto"), ("--strategy", "disk")])
def test_the_shortest_way_to_where_it_is_false(cli: Cli, murphi: Path, how: tuple[str, str]) -> None:
    run = cli(
        "check", murphi, "--invariant", "a < 2", "--invariant", "a + b\n!= 3", *how, *OPTIONS, "--max-errors", "2"
    )
    document = json.loads(run.out)
    assert (run.code, document["verdict"], document["kind"]) == (1, "violated", "invariant")
    assert document["violations"][0]["property"] == "a < 2"
    assert len(document["trace"]["states"]) == 3
    rows = {row["name"]: row for row in document["properties"]}
    assert list(rows) == ["declared", "a < 2", "a + b != 3"]
    assert rows["a < 2"]["position"] == {"file": "--invariant", "line": 1, "column": 1}


def test_one_that_holds_in_every_state(cli: Cli, murphi: Path) -> None:
    run = cli("check", murphi, "--invariant", "forall n: Node do last = n -> a <= Most end", *OPTIONS)
    document = json.loads(run.out)
    assert (run.code, [row["status"] for row in document["properties"]]) == (0, ["holds", "holds"])


def test_states_of_processes(cli: Cli, dve: Path) -> None:
    run = cli("check", dve, "--invariant", "not P.high", *OPTIONS)
    document = json.loads(run.out)
    assert (run.code, document["kind"], len(document["trace"]["states"])) == (1, "invariant", 7)
    assert outcrop.load(dve, invariants="a <= 5").check(deadlock="off").verdict == "holds"


def test_searches_that_do_not_look_at_all_states_refuse_it(cli: Cli, murphi: Path, repository: Path) -> None:
    run = cli("check", repository / "examples" / "peterson.dve", "--invariant", "true")
    assert run.code == 2
    assert "the property process 'starvation' excludes some" in run.err
    run = cli("check", murphi, "--invariant", "true", "--ltl", "true", "--strategy", "owcty")
    assert run.code == 2
    assert "owcty searches only for runs" in run.err


def test_mistakes_in_it_are_shown_where_they_are(cli: Cli, murphi: Path, dve: Path) -> None:
    for model in (murphi, dve):
        run = cli("check", model, "--invariant", "a < 2", "--invariant", "a + missing")
        assert run.code == 2
        assert "--invariant:1:5: error" in run.err
        assert "\n  a + missing\n      ^^^^^^^\n" in run.err
        run = cli("check", model, "--invariant", "(a")
        assert run.code == 2
        assert "--invariant:1:3: error: expected" in run.err
    assert "must be a boolean" in cli("check", murphi, "--invariant", "a + 1").err


def test_notes_are_places_in_the_model(cli: Cli, murphi: Path) -> None:
    """An undefined value may be compared, and is noted once. An offset in the text of an option is not one in the
    model."""
    texts = [note["message"] for note in json.loads(cli("check", murphi, *OPTIONS).out)["notes"]]
    run = cli("check", murphi, "--invariant", "last = last", *OPTIONS)
    assert [note["message"] for note in json.loads(run.out)["notes"]] == texts
    assert len(texts) == 1


def test_other_verbs_look_at_it_too(cli: Cli, murphi: Path) -> None:
    run = cli("simulate", murphi, "--invariant", "a < 2", "--json")
    assert (run.code, json.loads(run.out)["kind"]) == (1, "invariant")
    run = cli("sweep", murphi, "-D", "Most=1..2", "--invariant", "a < 2", "--deadlock", "off", "--json")
    assert [row["verdict"] for row in json.loads(run.out)["rows"]] == ["holds", "violated"]
    assert 'VIOLATION: invariant "a < 1" is false' in cli("explore", murphi, "--invariant", "a < 1", "-c", "1").out


def test_a_search_without_it_is_another_search(cli: Cli, murphi: Path, tmp_path: Path) -> None:
    """The visited states of the checkpoint were not checked for it."""
    place = tmp_path / "checkpoint"
    cli("check", murphi, "--deadlock", "off", "--depth", "4", "--checkpoint", place)
    run = cli("check", murphi, "--deadlock", "off", "--resume", place, "--invariant", "a != 1")
    assert run.code == 2
    assert "is of another search: --invariant" in run.err
    assert cli("check", murphi, "--deadlock", "off", "--resume", place).code == 0

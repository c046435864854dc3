"""Verdicts that cannot mislead: a check of nothing is not *holds*, and a verdict states its conditions."""

from __future__ import annotations

import functools
import hashlib
import json
import re
import shutil
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY, Run

import outcrop
from outcrop.gpu import choose
from outcrop.gpu.choose import search_somewhere
from outcrop.gpu.standin import StandIn
from outcrop.report.text import report
from outcrop.strategies import names

Command = Callable[..., Run]
COATS = REPOSITORY / "examples" / "coat_check.m"
NO_STATES = REPOSITORY / "tests" / "models" / "assume_no_states.m"
NO_STATEMENT = REPOSITORY / "tests" / "models" / "assume_statement_no_states.m"
ASSUMES = REPOSITORY / "tests" / "models" / "assume_property.m"
FORMULA = ("--ltl", "F {x = 99}")
REASON = "every start state violates 'assume \"begun\" x > 0'"
NATIVE = names(finds_cycles=False)


def statuses(document: dict[str, Any]) -> set[str]:
    return {row["status"] for row in document["properties"] if row["kind"] != "assume"}


# --- Nothing checked -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        ("--engine", "interpreter"),
        ("--engine", "interpreter", *FORMULA),
        *(("--strategy", strategy) for strategy in NATIVE),
        ("--strategy", "owcty", *FORMULA),
        ("--strategy", "ndfs", *FORMULA),
        FORMULA,
        (*FORMULA, "--fair", "weak", "--continue"),
        (*FORMULA, "--fair", "strong"),
    ],
    ids=" ".join,
)
def test_a_search_without_states_is_unknown(cli: Command, options: tuple[str, ...]) -> None:
    run = cli("check", NO_STATES, "--json", *options)
    document = json.loads(run.out)
    assert (run.code, document["verdict"], document["kind"]) == (3, "unknown", "no-states")
    assert document["reason"] == REASON
    assert statuses(document) == {"unknown"}


@pytest.mark.skipif(not (shutil.which("g++") or shutil.which("clang++")), reason="needs a C++ compiler")
def test_a_search_without_states_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "search_somewhere", functools.partial(search_somewhere, open_device=StandIn))
    result = outcrop.load(NO_STATES).check(device="gpu")
    assert (result.verdict, result.kind) == ("unknown", "no-states")


def test_the_sentence_says_why_nothing_was_checked(cli: Command) -> None:
    run = cli("check", NO_STATES, "--engine", "interpreter", "--quiet")
    assert run.out == f"UNKNOWN: {NO_STATES}: nothing was checked: {REASON}.\n"
    run = cli("check", NO_STATEMENT, "--engine", "interpreter", "--quiet")
    assert "nothing was checked: every start state violates an assume statement." in run.out


def test_several_assumptions_that_leave_no_state(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "m.m").write_text(
        "var x: 0..1; ruleset i: 0..1 do startstate begin x := i; end; end; rule begin x := 1 - x; end;"
        "assume x = 1; assume x = 0;"
    )
    run = cli("check", tmp_path / "m.m", "--engine", "interpreter", "--quiet")
    assert run.code == 3
    assert "every start state violates an assumption: 'assume x = 1', 'assume x = 0'" in run.out


def test_no_report_of_a_search_without_states_is_green(cli: Command, tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("junit", "report", "sarif")}
    words = [word for name, path in files.items() for word in (f"--{name}", path)]
    assert cli("check", NO_STATES, *words).code == 3
    cases = ElementTree.parse(files["junit"]).getroot().findall("testsuite/testcase")
    assert cases and all(case.find("error") is not None for case in cases)
    assert all(REASON in (each.get("message") or "") for case in cases for each in case)
    assert "Nothing was checked: every start state violates" in files["report"].read_text()
    (found,) = json.loads(files["sarif"].read_text())["runs"][0]["results"]
    assert (found["ruleId"], found["level"], found["message"]["text"]) == ("unknown", "warning", REASON)


def test_an_error_in_a_startstate_leaves_properties_open() -> None:
    path = REPOSITORY / "tests" / "models" / "error_in_startstate.m"
    result = outcrop.load(path, invariants="x = 0").check(engine="interpreter", max_errors=None)
    assert (result.verdict, result.reason) == ("violated", "")
    assert statuses(result.to_dict()) == {"unknown"}


@pytest.mark.parametrize("reduce", ["off", "por"])
def test_no_property_is_said_to_hold_because_another_one_fails_too(reduce: str, tmp_path: Path) -> None:
    """A search reports one invariant that is false in a state, and checks liveness only where nothing else fails."""
    rules = 'rule "a" x = 0 ==> x := 1; end; rule "b" y = 0 ==> y := 1; end;'
    properties = 'invariant "x" x = 0; invariant "also x" x != 1; invariant "y" y = 0; invariant "sound" x < 2;'
    properties += 'liveness "back" x = 0;' if reduce == "off" else ""
    model = tmp_path / "model.m"
    model.write_text(f"var x, y: 0..1; startstate begin x := 0; y := 0; end; {rules} {properties}")
    result = outcrop.load(model).check(engine="interpreter", max_errors=None, deadlock="off", reduce=reduce)
    found = {each.name: each.status for each in result.properties}
    assert found.pop("back", "unknown") == "unknown"
    assert found == {"x": "violated", "also x": "violated", "y": "violated", "sound": "holds"}
    assert {each.property for each in result.violations} == {"x", "also x", "y"}
    assert ("shortest traces" in report(result)) == (reduce == "off")


@pytest.mark.parametrize("reduce", ["off", "por"])
@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_a_cover_goal_is_counted_where_another_one_fails(engine: str, reduce: str, tmp_path: Path) -> None:
    rules = 'rule "a" a = 0 ==> a := 1; end; rule "b" a = 1 & b = 0 ==> b := 1; end;'
    model = tmp_path / "model.m"
    model.write_text(
        "var a, b: 0..1; t: array [0..0] of 0..1; startstate begin a := 0; b := 0; t[0] := 1; end;"
        f'{rules} cover "fails" t[a] = 1; cover "met" b = 1; cover "never" b = 1 & t[0] = 0;'
    )
    result = outcrop.load(model).check(engine=engine, max_errors=None, deadlock="off", reduce=reduce)
    assert {each.name: each.status for each in result.properties} == {
        "fails": "violated",
        "met": "holds",
        "never": "violated",
    }


def test_a_cover_goal_that_fails_is_seen_behind_a_false_invariant(tmp_path: Path) -> None:
    model = tmp_path / "model.m"
    model.write_text(
        "var a: 0..1; t: array [0..0] of 0..1; startstate begin a := 0; t[0] := 1; end;"
        'rule "a" a = 0 ==> a := 1; end; invariant "before" a = 0; cover "fails" t[a] = 1;'
    )
    result = outcrop.load(model).check(engine="interpreter", max_errors=None, deadlock="off")
    assert {each.property for each in result.violations} == {"before", "fails"}


def test_a_checkpoint_of_nothing_is_removed(cli: Command, tmp_path: Path) -> None:
    assert cli("check", NO_STATES, "--checkpoint", tmp_path / "saved", "--checkpoint-every", "0").code == 3
    left = tmp_path / "saved"
    assert not left.exists() or not list(left.iterdir())


def test_walks_without_states(cli: Command) -> None:
    run = cli("simulate", NO_STATES, "--walks", "3")
    assert run.code == 3 and "nothing was checked: no start state" in run.out
    assert json.loads(cli("simulate", NO_STATES, "--walks", "3", "--json").out)["kind"] == "no-states"


def test_a_sweep_says_why_nothing_was_checked(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "m.m").write_text(
        "const N: 1; var x: 0..1; startstate begin x := 0; end; rule begin x := 1 - x; end; assume x < N;"
    )
    run = cli("sweep", tmp_path / "m.m", "-D", "N=0..1", "--engine", "interpreter", "--deadlock", "off")
    assert run.code == 3
    assert "N=0: unknown: every start state violates 'assume x < N'" in run.out
    assert "N=1: the verdict covers only states that satisfy 'assume x < N' (1 successor left out)" in run.out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the model is empty"),
        ("\ufeff \n\n", "the model is empty"),
        ("-- nothing\n/* at all */", "it has only comments"),
        ("-- nothing\rvar x: 0..1;\rstartstate begin x := 0; end;\r", "carriage returns"),
        ("var x: 0..1;\rrule begin x := 0; end;", "no startstate"),
        ("const N: 3; type T: 0..N;", "no startstate"),
        ("var x: 0..1; ruleset i: enum {} do startstate begin x := 0; end; end;", "has no instances"),
    ],
)
@pytest.mark.parametrize("verb", ["check", "simulate"])
def test_models_without_a_start_state_are_refused(
    cli: Command, tmp_path: Path, verb: str, text: str, message: str
) -> None:
    (tmp_path / "m.m").write_bytes(text.encode())
    run = cli(verb, tmp_path / "m.m")
    assert (run.code, run.out) == (2, "")
    assert message in run.err and f"{tmp_path / 'm.m'}:1:" in run.err and "\r" not in run.err


def test_an_empty_dve_model_is_refused(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "m.dve").write_text("")
    assert cli("check", tmp_path / "m.dve").code == 2


# --- What limits a verdict -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [("--engine", "interpreter"), (), ("--strategy", "cached")], ids=" ".join)
def test_assumptions_limit_a_verdict(cli: Command, tmp_path: Path, options: tuple[str, ...]) -> None:
    note = "the verdict covers only states that satisfy 'assume \"small\" x <= 2' (1 start state, 1 successor left out)"
    files = {name: tmp_path / name for name in ("junit", "report", "sarif")}
    words = [word for name, path in files.items() for word in (f"--{name}", path)]
    run = cli("check", ASSUMES, "--quiet", *options, *words)
    first, second = run.out.splitlines()
    assert run.code == 0 and first.startswith("HOLDS") and second == f"{ASSUMES}:11:1: note: {note}"
    assert note in (ElementTree.parse(files["junit"]).getroot().findtext("testsuite/system-out") or "")
    heading = files["report"].read_text().split("</header>")[0]
    assert "1 start state, 1 successor left out" in heading
    assert [each["message"]["text"] for each in json.loads(files["sarif"].read_text())["runs"][0]["results"]] == [note]
    notes = json.loads(cli("check", ASSUMES, "--json", *options).out)["notes"]
    assert [each["message"] for each in notes if each["bears_on_verdict"]] == [note]


def test_assumptions_that_drop_nothing_limit_nothing(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "m.m").write_text(
        "var x: 0..1; startstate begin x := 0; end; rule begin x := 1 - x; end; assume x < 2;"
    )
    run = cli("check", tmp_path / "m.m", "--engine", "interpreter", "--quiet")
    assert run.code == 0 and run.out.count("\n") == 1


def test_assume_statements_limit_a_verdict(cli: Command) -> None:
    path = REPOSITORY / "tests" / "models" / "assume_statement.m"
    run = cli("check", path, "--engine", "interpreter", "--quiet")
    assert run.code == 0 and "what follows a false assume statement" in run.out


def test_properties_that_say_nothing_are_named_in_quiet(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "m.m").write_text(
        'var x: 0..1; startstate begin x := 0; end; rule begin x := 1 - x; end; invariant "odd" x > 1 -> x = 3;'
    )
    run = cli("check", tmp_path / "m.m", "--engine", "interpreter", "--quiet", "--junit", tmp_path / "run.xml")
    assert run.code == 0 and 'warning: invariant "odd" holds vacuously' in run.out.splitlines()[1]
    assert 'invariant "odd" holds vacuously' in (tmp_path / "run.xml").read_text()


# --- Under what a verdict was reached ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--property served --fair weak", "no weakly fair run violates the formula"),
        ("--fair strong", "no strongly fair run violates any of the 2 formulas"),
        ("--ltl true --ltl G!false --property 3 --property 4", "no run violates any of the 2 formulas"),
    ],
)
def test_the_sentence_names_the_runs(cli: Command, tmp_path: Path, words: str, sentence: str) -> None:
    run = cli("check", COATS, "--engine", "interpreter", "-q", "--report", tmp_path / "run.html", *words.split())
    assert run.code == 0 and f", and {sentence} (exact)." in run.out
    assert f", and {sentence}." in (tmp_path / "run.html").read_text()


def test_a_document_can_be_audited_and_repeated(cli: Command) -> None:
    words = f"check {COATS} -D GUESTS=3 --ltl true --fair weak --undefined error --engine interpreter --json".split()
    document = json.loads(cli(*words).out)
    assert document["command"] == ["outcrop", *words]
    assert document["model_sha256"] == hashlib.sha256(COATS.read_bytes()).hexdigest()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["date"])
    assert document["version"] == outcrop.__version__
    assert document["fairness"] == "weak"
    assert document["symmetry"] == {"asked": True, "used": True}
    assert [row["symmetry"] for row in document["properties"] if row["kind"] == "ltl"] == [False] * 3
    assert document["options"] == {
        "constants": {"GUESTS": "3"},
        "undefined": "error",
        "ltl": ["true"],
        "engine": "interpreter",
        "fair": "weak",
    }
    given = dict(document["options"])
    of_load = {name: given.pop(name) for name in ("constants", "undefined", "ltl")}
    again = outcrop.load(COATS, **of_load).check(**given).to_dict()
    assert again["command"] is None
    for key in ("verdict", "states", "rules_fired", "levels", "options", "fairness", "symmetry", "model_sha256"):
        assert again[key] == document[key], key


def test_a_document_names_the_compiler() -> None:
    assert re.search(r"\d", outcrop.load(ASSUMES).check().to_dict()["compiler"])


def test_a_page_shows_how_it_was_checked(cli: Command, tmp_path: Path) -> None:
    cli("check", ASSUMES, "--engine", "interpreter", "--quiet", "--report", tmp_path / "run.html")
    text = (tmp_path / "run.html").read_text()
    assert "How it was checked" in text and hashlib.sha256(ASSUMES.read_bytes()).hexdigest() in text


@pytest.mark.parametrize(
    ("path", "words", "expected"),
    [
        ("examples/coat_check.m", "--symmetry off", {"asked": False, "used": False}),
        ("examples/bounded_buffer.m", "", {"asked": True, "used": False}),
        ("tests/models/liveness_symmetry.m", "", {"asked": True, "used": False}),
    ],
)
def test_symmetry_that_was_asked_for_and_used(cli: Command, path: str, words: str, expected: dict[str, bool]) -> None:
    run = cli("check", REPOSITORY / path, "--engine", "interpreter", "--json", *words.split())
    document = json.loads(run.out)
    assert document["symmetry"] == expected
    assert document["compiler"] is None

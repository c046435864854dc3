"""``--report``, ``--junit``, ``outcrop report``, and the annotations for GitHub Actions."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY, Run

from outcrop.report.annotations import of_document
from outcrop.report.junit import junit

Command = Callable[..., Run]
BUFFER = REPOSITORY / "examples" / "bounded_buffer.m"
RING = REPOSITORY / "examples" / "ring_election.m"


def carried(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    begin = text.index('id="document">') + len('id="document">')
    found: dict[str, Any] = json.loads(text[begin : text.index("</script>", begin)])
    return found


# --- HTML ----------------------------------------------------------------------------------------------------------


def test_a_check_writes_its_report(cli: Command, tmp_path: Path) -> None:
    assert (
        f"\n  report       {tmp_path / 'run.html'} (open" in cli("check", BUFFER, "--report", tmp_path / "run.html").out
    )
    run = cli("check", BUFFER, "--report", tmp_path / "run.html", "--quiet")
    assert run.code == 1 and run.out.startswith("VIOLATED") and run.out.count("\n") == 1
    assert carried(tmp_path / "run.html")["coverage"][0]["new"] == 6  # counted without --coverage


def test_a_report_is_made_later_from_the_json_alone(cli: Command, tmp_path: Path) -> None:
    run = cli("check", BUFFER, "--json", "--report", tmp_path / "now.html")
    result = tmp_path / "result.json"
    result.write_text(run.out)
    later = cli("report", result, "-o", tmp_path / "later.html")
    assert (later.code, later.err) == (0, "") and "violated" in later.out
    assert (tmp_path / "later.html").read_text() == (tmp_path / "now.html").read_text()


def test_the_default_name(cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "result.json").write_text(cli("check", RING, "--json", "-D", "Size=3").out)
    assert cli("report", "result.json").code == 0
    assert carried(tmp_path / "result.html")["verdict"] == "holds"


def test_locality_is_added(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(cli("check", RING, "--json", "-D", "Size=3").out)
    (tmp_path / "locality.json").write_text(cli("locality", RING, "--json", "-D", "Size=3").out)
    cli("report", tmp_path / "result.json", "--locality", tmp_path / "locality.json", "-o", tmp_path / "run.html")
    later = carried(tmp_path / "run.html")["locality"]
    cli("check", RING, "-D", "Size=3", "--report", tmp_path / "run.html")
    at_once = carried(tmp_path / "run.html")["locality"]
    assert 0 < at_once["sum_avg"] <= 1 and at_once == {name: later[name] for name in at_once}


@pytest.mark.parametrize("content", ["", "{", "[]", '{"verdict": "holds"}'])
def test_what_is_no_result_is_refused(cli: Command, tmp_path: Path, content: str) -> None:
    (tmp_path / "result.json").write_text(content)
    run = cli("report", tmp_path / "result.json", "-o", tmp_path / "run.html")
    assert run.code == 2 and "JSON" in run.err
    assert not (tmp_path / "run.html").exists()
    assert cli("report", tmp_path / "nothing.json").code == 2


def test_places_that_cannot_be_written_are_found_out_before_the_search(cli: Command, tmp_path: Path) -> None:
    run = cli("check", BUFFER, "--report", tmp_path / "no" / "run.html")
    assert run.code == 2 and run.out == "" and "cannot write" in run.err


def test_a_refused_model_leaves_no_report(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "bad.m").write_text("var x: nothing;")
    (tmp_path / "run.html").write_text("of an earlier run")
    run = cli("check", tmp_path / "bad.m", "--report", tmp_path / "run.html", "--junit", tmp_path / "run.xml")
    assert run.code == 2
    assert not (tmp_path / "run.html").exists()
    (case,) = ElementTree.parse(tmp_path / "run.xml").getroot().iter("testcase")
    error = case.find("error")
    assert error is not None and "nothing" in (error.get("message") or "")


# --- JUnit ---------------------------------------------------------------------------------------------------------


def cases(path: Path) -> dict[str, str]:
    """Returns the status of each test case, after checking the counts."""
    root = ElementTree.parse(path).getroot()
    (suite,) = root.findall("testsuite")
    found = {case.get("name") or "": (case[0].tag if len(case) else "passed") for case in suite.findall("testcase")}
    outcomes = list(found.values())
    counts = [len(outcomes), *(outcomes.count(each) for each in ("failure", "error", "skipped"))]
    assert [int(suite.get(name) or -1) for name in ("tests", "failures", "errors", "skipped")] == counts
    # The elements that the schema of Jenkins allows, and no others.
    assert set(root.attrib) == {"name", "time", "tests", "failures", "errors"}
    assert set(suite.attrib) == {"name", "file", "time", "tests", "failures", "errors", "skipped"}
    assert all(set(case.attrib) == {"classname", "name", "time"} for case in suite.findall("testcase"))
    return found


def test_junit_of_what_holds(cli: Command, tmp_path: Path) -> None:
    cli("check", RING, "-D", "Size=3", "--junit", tmp_path / "run.xml")
    found = cases(tmp_path / "run.xml")
    assert set(found.values()) == {"passed"}
    assert {"deadlock", "assertions and runtime errors"} < set(found) and any("invariant" in name for name in found)


def test_junit_of_a_violation(cli: Command, tmp_path: Path) -> None:
    cli("check", BUFFER, "--junit", tmp_path / "run.xml")
    assert cases(tmp_path / "run.xml") == {
        "invariant the oldest item is still there": "failure",
        "deadlock": "skipped",
        "assertions and runtime errors": "skipped",
    }
    (failure,) = ElementTree.parse(tmp_path / "run.xml").getroot().iter("failure")
    assert "Rule produce fired." in (failure.text or "") and failure.get("type") == "invariant"


def test_junit_of_an_undecided_search_is_not_green(cli: Command, tmp_path: Path) -> None:
    assert cli("check", RING, "--depth", "2", "--deadlock", "off", "--junit", tmp_path / "run.xml").code == 3
    found = cases(tmp_path / "run.xml")
    assert set(found.values()) == {"error"} and "deadlock" not in found


def test_junit_of_a_runtime_error(cli: Command, tmp_path: Path) -> None:
    model = REPOSITORY / "tests" / "models" / "division_by_zero.m"
    cli("check", model, "--junit", tmp_path / "run.xml")
    assert cases(tmp_path / "run.xml")["assertions and runtime errors"] == "failure"


BAD_STATES = """
var x: 0..3;
startstate begin x := 0; end;
rule "up" x < 3 ==> begin x := x + 1; end;
invariant "small" x < 2;
ltl "moves": F {x = 1};
"""


@pytest.mark.parametrize("strategy", ["owcty", "ndfs"])
def test_a_search_for_runs_alone_does_not_speak_for_states(cli: Command, tmp_path: Path, strategy: str) -> None:
    (tmp_path / "bad.m").write_text(BAD_STATES)
    files = ("--junit", tmp_path / "run.xml", "--report", tmp_path / "run.html")
    run = cli("check", tmp_path / "bad.m", "--strategy", strategy, "--quiet", *files)
    assert run.code == 0
    assert run.out.endswith("no run violates the formula (exact); no other property was checked.\n")
    found = cases(tmp_path / "run.xml")
    assert found == {
        "invariant small": "skipped",
        "ltl moves": "passed",
        "assertions and runtime errors": "skipped",
    }
    document = carried(tmp_path / "run.html")
    assert (document["deadlock"], document["states_checked"]) == ("off", "none")
    assert [each["status"] for each in document["properties"]] == ["unknown", "holds"]
    assert "No other property was checked." in (tmp_path / "run.html").read_text()


def test_a_violated_formula_leaves_the_states_green(cli: Command, tmp_path: Path) -> None:
    cli("check", REPOSITORY / "examples" / "coat_check.m", "--property", "2", "--junit", tmp_path / "run.xml")
    found = cases(tmp_path / "run.xml")
    assert (found["ltl the queue moves"], found["deadlock"]) == ("failure", "passed")


def test_a_bad_state_beside_a_property_process_says_nothing_of_runs(cli: Command, tmp_path: Path) -> None:
    text = (REPOSITORY / "examples" / "peterson.dve").read_text()
    (tmp_path / "bad.dve").write_text(text.replace("assert critical: not P_1.critical", "assert waiting: not P_1.idle"))
    document = json.loads(cli("check", tmp_path / "bad.dve", "--json").out)
    assert (document["deadlock"], document["states_checked"]) == ("off", "product")
    assert [each["status"] for each in document["properties"]] == ["violated", "unknown", "unknown"]
    whole = json.loads(cli("check", REPOSITORY / "examples" / "peterson.dve", "--json").out)
    assert [each["status"] for each in whole["properties"]] == ["unknown", "unknown", "holds"]


def test_junit_holds_any_text(cli: Command) -> None:
    document = json.loads(cli("check", BUFFER, "--json").out)
    document["violations"][0]["message"] = 'a <b> & "c" \x00\x1b\ud800\ufffe'
    (failure,) = ElementTree.fromstring(junit(document)).iter("failure")
    assert failure.get("message") == 'a <b> & "c" ' + 4 * "\ufffd"


# --- GitHub Actions ------------------------------------------------------------------------------------------------


def test_annotations_of_violations(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "::" not in cli("check", BUFFER).err
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(REPOSITORY))
    run = cli("check", BUFFER, "--json")
    json.loads(run.out)  # stdout holds only the document
    (line,) = run.err.splitlines()
    assert line.startswith("::error file=examples/bounded_buffer.m,title=outcrop,line=57,col=1::invariant ")
    assert "%0Afalse: used() > 0" in line and line.endswith("%0Aafter 4 steps from a start state")


def test_annotations_of_diagnostics(cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    model = tmp_path / "a,b%.m"
    model.write_text("var x: nothing;\nvar y: nobody;\n")
    lines = [line for line in cli("check", model).err.splitlines() if line.startswith("::")]
    assert [line.split("::")[1].split(",")[-2:] for line in lines] == [["line=1", "col=8"], ["line=2", "col=8"]]
    assert "a%2Cb%25.m" in lines[0] and all(line.startswith("::error file=") for line in lines)


def test_annotation_of_an_undecided_search(cli: Command) -> None:
    document = json.loads(cli("check", RING, "--depth", "2", "--json").out)
    assert of_document(document)[-1].endswith("::unknown: depth bound reached")


def test_every_report_says_where_the_promise_is_explained(cli: Command, tmp_path: Path) -> None:
    page, xml = tmp_path / "report.html", tmp_path / "junit.xml"
    text = cli("check", RING, "--engine", "interpreter", "--report", page, "--junit", xml).out
    document = cli("check", RING, "--engine", "interpreter", "--json").out
    for report in (text, document, page.read_text(encoding="utf-8"), xml.read_text(encoding="utf-8")):
        assert "outcrop docs trust" in report

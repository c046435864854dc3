"""A verdict is never lost: it is printed before files are written, and stands if one cannot be written."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import REPOSITORY, Run

from outcrop.cli import files

Command = Callable[..., Run]
pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")

HOLDS = "const N: 1; var x: 0..1; startstate begin x := 0; end; rule begin x := 1 - x; end; invariant x < 2;"
TEXTS = {"HOLDS": HOLDS, "VIOLATED": HOLDS.replace("x < 2", "x < 1"), "UNKNOWN": HOLDS + "assume x > 0;"}
CODES = {"HOLDS": 2, "VIOLATED": 1, "UNKNOWN": 3}
COMPLAINT = "outcrop: cannot write '/dev/full': No space left on device; name another file\n"


@pytest.fixture(params=TEXTS)
def verdict(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Returns a verdict; its model is ``model.m``."""
    (tmp_path / "model.m").write_text(TEXTS[request.param])
    return str(request.param)


@pytest.mark.parametrize("option", ["--report", "--junit", "--sarif"])
def test_a_full_disk_leaves_the_verdict(cli: Command, tmp_path: Path, verdict: str, option: str) -> None:
    run = cli("check", tmp_path / "model.m", "--engine", "interpreter", option, "/dev/full")
    assert run.out.startswith(f"{verdict}: ")
    assert (run.code, run.err) == (CODES[verdict], COMPLAINT)


def test_a_full_disk_leaves_the_verdict_without_its_trace(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "model.m").write_text(TEXTS["VIOLATED"])
    run = cli("check", tmp_path / "model.m", "--engine", "interpreter", "--trace-json", "/dev/full")
    assert run.out.startswith("VIOLATED: ") and (run.code, run.err) == (1, COMPLAINT)


def test_other_files_are_written_all_the_same(cli: Command, tmp_path: Path, verdict: str) -> None:
    model, sarif = tmp_path / "model.m", tmp_path / "run.sarif"
    run = cli("check", model, "--engine", "interpreter", "--json", "--junit", "/dev/full", "--sarif", sarif)
    assert json.loads(run.out)["verdict"] == verdict.lower()
    assert json.loads(sarif.read_text())["version"] == "2.1.0"
    assert run.code == CODES[verdict]


def test_a_full_stdout_keeps_the_files_and_the_code(tmp_path: Path, verdict: str) -> None:
    words = ["check", "model.m", "--engine", "interpreter", "--junit", "run.xml"]
    command = [sys.executable, "-m", "outcrop", *words]
    with Path("/dev/full").open("w") as full:
        run = subprocess.run(command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert run.returncode == CODES[verdict]
    assert run.stderr == "outcrop: cannot write to stdout: No space left on device\n"
    assert (tmp_path / "run.xml").read_text().startswith("<?xml")


def test_a_disk_that_is_full_before_the_search(
    cli: Command, tmp_path: Path, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk may have space later, so that a full disk is no reason to refuse the search."""

    def refuse(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", refuse)
    run = cli("check", tmp_path / "model.m", "--engine", "interpreter", "--junit", tmp_path / "run.xml")
    assert run.out.startswith(f"{verdict}: ") and run.err == ""
    assert (tmp_path / "run.xml").is_file()


def test_half_a_file_is_not_left(cli: Command, tmp_path: Path, verdict: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill_up(self: Path, data: str, **options: object) -> int:
        self.write_bytes(data[:10].encode())
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", fill_up)
    run = cli("check", tmp_path / "model.m", "--engine", "interpreter", "--junit", tmp_path / "run.xml")
    assert run.code == CODES[verdict] and f"cannot write '{tmp_path / 'run.xml'}'" in run.err
    assert not (tmp_path / "run.xml").exists()


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
def test_what_ends_the_making_of_a_file(
    cli: Command, tmp_path: Path, verdict: str, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: Path, text: str) -> None:
        raise error

    monkeypatch.setattr(files, "write", fail)
    run = cli("check", tmp_path / "model.m", "--engine", "interpreter", "--junit", tmp_path / "run.xml")
    assert run.out.startswith(f"{verdict}: ")
    assert run.code == CODES[verdict] and f"'{tmp_path / 'run.xml'}'" in run.err


def test_a_refusal_is_told_when_its_files_cannot_be_written(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "bad.m").write_text("var x: nothing;")
    run = cli("check", tmp_path / "bad.m", "--junit", "/dev/full")
    assert run.code == 2 and COMPLAINT in run.err and "nothing" in run.err.replace(COMPLAINT, "")


def test_a_sweep_prints_its_table_first(cli: Command, tmp_path: Path, verdict: str) -> None:
    words = ["-D", "N=1", "--engine", "interpreter", "--csv", "/dev/full", "--svg", "/dev/full"]
    run = cli("sweep", tmp_path / "model.m", *words)
    assert verdict.lower() in run.out
    assert (run.code, run.err) == (CODES[verdict], COMPLAINT * 2)


def test_a_simulation_prints_its_report_first(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "model.m").write_text(TEXTS["VIOLATED"])
    run = cli("simulate", tmp_path / "model.m", "--walks", "3", "--trace-json", "/dev/full")
    assert run.out.startswith("VIOLATED") and (run.code, run.err) == (1, COMPLAINT)


# --- SARIF ---------------------------------------------------------------------------------------------------------


def sarif(cli: Command, path: Path, *options: str) -> dict[str, object]:
    goal = path.parent / "run.sarif"
    cli("check", path, "--engine", "interpreter", "--sarif", goal, *options)
    document = json.loads(goal.read_text(encoding="utf-8"))
    assert (document["version"], len(document["runs"])) == ("2.1.0", 1)
    (run,) = document["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "Outcrop"
    for each in run["results"]:
        assert driver["rules"][each["ruleIndex"]]["id"] == each["ruleId"]
        assert each["message"]["text"] and each["level"] in ("error", "warning", "note")
        assert each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    return dict(run)


def test_sarif_of_a_violation(cli: Command, tmp_path: Path) -> None:
    model = tmp_path / "a model.m"
    model.write_text((REPOSITORY / "examples" / "bounded_buffer.m").read_text())
    run = sarif(cli, model)
    (found,) = run["results"]  # type: ignore[misc]
    place = found["locations"][0]["physicalLocation"]
    assert found["ruleId"] == "invariant/the oldest item is still there" and found["level"] == "error"
    assert place["region"] == {"startLine": 57, "startColumn": 1}
    assert place["artifactLocation"]["uri"] == model.as_uri()
    assert "after 4 steps from a start state" in found["message"]["text"]
    assert run["invocations"][0]["exitCode"] == 1  # type: ignore[index]


def test_sarif_of_what_holds_of_a_limit_and_of_a_refusal(cli: Command, tmp_path: Path) -> None:
    model = tmp_path / "model.m"
    model.write_text(HOLDS)
    run = sarif(cli, model)
    assert run["results"] == []
    assert [each["id"] for each in run["tool"]["driver"]["rules"]] == ["invariant/Invariant 1"]  # type: ignore[index]
    (found,) = sarif(cli, model, "--depth", "0")["results"]  # type: ignore[misc]
    assert (found["ruleId"], found["level"]) == ("unknown", "warning")
    model.write_text("var x: nothing;")
    (found,) = sarif(cli, model)["results"]  # type: ignore[misc]
    assert (found["ruleId"], found["level"]) == ("model", "error")
    assert found["locations"][0]["physicalLocation"]["region"]["startColumn"] == 8


def test_sarif_of_a_formula_and_a_deadlock(cli: Command, tmp_path: Path) -> None:
    model = tmp_path / "model.m"
    model.write_text("var x: 0..1; startstate begin x := 0; end; rule x = 0 ==> begin x := 1; end;")
    results = sarif(cli, model, "--ltl", "G {x = 0}", "--continue")["results"]
    assert [each["ruleId"] for each in results] == ["deadlock", "ltl/G {x = 0}"]  # type: ignore[attr-defined]

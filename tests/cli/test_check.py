"""``outcrop check`` from the outside."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run

Cli = Callable[..., Run]

COUNTER = """
const N: 3; LIMIT: 2;
type Cell: record full: boolean; level: 0..N; end;
var cell: array [1..2] of Cell;
startstate "empty" begin
  for i: 1..2 do cell[i].full := false; cell[i].level := 0; end;
end;
ruleset i: 1..2 do
  rule "fill" cell[i].level < N ==> begin
    cell[i].level := cell[i].level + 1;
    cell[i].full := cell[i].level = N;
  end;
  rule "drain" cell[i].level > 0 ==> begin
    cell[i].level := 0; cell[i].full := false;
  end;
  rule "never" cell[i].level > N ==> begin end;
end;
invariant "below the limit" forall i: 1..2 do cell[i].level <= LIMIT end;
"""


@pytest.fixture
def counter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # The name is always the same, so that the native engine compiles it once.
    monkeypatch.chdir(tmp_path)
    path = Path("counter.m")
    path.write_text(COUNTER)
    return path


@pytest.fixture(params=["interpreter", "native"])
def check(cli: Cli, counter: Path, request: pytest.FixtureRequest) -> Cli:
    return lambda *arguments: cli("check", counter, "--engine", request.param, *arguments)


def test_holds(check: Cli) -> None:
    run = check("-D", "LIMIT=3")
    assert run.code == 0
    assert run.out.startswith("HOLDS: ")
    assert "states       16\n" in run.out
    assert "Rules that never fired (1 of 3): never" in run.out
    assert run.err == ""


def test_violated_with_a_shortest_trace(check: Cli) -> None:
    run = check()
    assert run.code == 1
    assert run.out.startswith("VIOLATED: ")
    assert "below the limit" in run.out.splitlines()[0]
    assert "counter.m:18:" in run.out
    assert "Trace (3 steps from the start state)" in run.out
    assert re.search(r"Rule fill, i: \d fired\.\n +cell\[\d\]\.level: 1 -> 2\n", run.out)
    assert re.search(r"cell\[\d\]\.full: false -> true\n", run.out)


def test_trace_styles(check: Cli) -> None:
    assert check("--trace", "full").out.count("cell[2].full: ") == 4
    assert "Startstate" not in check("--trace", "off").out


def test_quiet_is_one_line(check: Cli) -> None:
    assert len(check("--quiet").out.splitlines()) == 1


@pytest.mark.parametrize(
    ("limit", "reason"), [(("--depth", "2"), "depth bound reached"), (("--states", "3"), "state bound reached")]
)
def test_limits_end_in_unknown(check: Cli, limit: tuple[str, str], reason: str) -> None:
    run = check("-D", "LIMIT=3", *limit)
    assert run.code == 3
    assert run.out.startswith("UNKNOWN: ")
    assert reason in run.out.splitlines()[0]


def test_going_on_after_a_violation(check: Cli) -> None:
    one, all_of_them = check("--json"), check("--json", "--continue")
    assert len(json.loads(one.out)["violations"]) == 1
    assert len(json.loads(all_of_them.out)["violations"]) == 7
    assert json.loads(all_of_them.out)["states"] == 16


def test_json(check: Cli, tmp_path: Path) -> None:
    file = tmp_path / "trace.itf.json"
    run = check("--json", "--trace-json", file)
    document = json.loads(run.out)
    assert run.code == 1
    assert (document["verdict"], document["kind"], document["guarantee"]) == ("violated", "invariant", "exact")
    assert document["constants"] == {"N": 3, "LIMIT": 2}
    assert document["properties"][0]["status"] == "violated"
    assert document["trace"] == json.loads(file.read_text())
    assert [state["#meta"]["index"] for state in document["trace"]["states"]] == [0, 1, 2, 3]
    assert json.loads(check("--json", "--trace", "off").out)["trace"] is None


def test_a_trace_file_is_there_only_with_a_trace(check: Cli, tmp_path: Path) -> None:
    file = tmp_path / "trace.itf.json"
    file.write_text("from yesterday")
    assert check("-D", "LIMIT=3", "--trace-json", file).code == 0
    assert not file.exists()
    assert check("--trace-json", tmp_path / "no" / "where").code == 2


def test_the_same_run_prints_the_same(check: Cli) -> None:
    def stable(text: str) -> str:
        return re.sub(r"(time|memory) .*", "", text)

    assert stable(check().out) == stable(check().out)


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_put_does_not_disturb_the_document(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    monkeypatch.chdir(tmp_path)
    text = 'var x: boolean; startstate begin x := true; put "hello"; end; rule begin x := !x; end;'
    Path("chatty.m").write_text(text)
    run = cli("check", "chatty.m", "--json", "--print", "--engine", engine)
    assert json.loads(run.out)["states"] == 2
    assert "hello" in run.err
    assert cli("check", "chatty.m", "--print", "--engine", engine).out.startswith("hello\nHOLDS: ")


def test_put_prints_when_it_is_asked_to(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = 'var x: boolean; startstate begin x := true; put "hello\\n"; end; rule begin x := !x; end;'
    Path("chatty.m").write_text(text)
    run = cli("check", "chatty.m")
    assert run.code == 0 and "hello" not in run.out + run.err
    assert "note: 1 put statement prints nothing during a search; use --print to see its output" in run.out
    run = cli("check", "chatty.m", "--print", "-q")
    assert run.out.startswith("hello\nHOLDS: ")
    walk = "simulate", "chatty.m", "--walks", "2", "--steps", "3", "--threads", "1"
    assert cli(*walk).out.startswith("hello\nhello\nUNKNOWN: ")
    assert cli(*walk, "-q").out.startswith("UNKNOWN: ")
    run = cli("simulate", "chatty.m", "--time-limit", "0.1s")
    assert "hello" not in run.out and "note: 1 put statement prints nothing without a number of walks" in run.err
    run = cli(*walk, "--json")
    assert run.err == "hello\nhello\n" and json.loads(run.out)["walks"] == 2
    assert "    prints: hello" in cli("explore", "chatty.m", "-c", "state").out


def test_a_reader_that_has_gone_is_no_error(tmp_path: Path) -> None:
    """The output of the model exceeds the capacity of a pipe."""
    model = tmp_path / "loud.m"
    model.write_text("var x: 0..1; startstate begin x := 0; for i: 0..99999 do put i + 0; end; end; rule begin end;")
    command = f"{sys.executable} -m outcrop check {model} --print --engine interpreter | head -c 5"
    run = subprocess.run(
        ["bash", "-c", f"{command}; echo ${{PIPESTATUS[0]}}"], capture_output=True, text=True, check=False
    )
    assert (run.stdout, run.stderr) == ("012341\n", "")


SYMMETRIC = """
type P: scalarset(3);
var owner: P; want: array [P] of boolean; count: 0..3;
startstate begin for p: P do want[p] := false; end; count := 0; end;
ruleset p: P do
  rule "want" !want[p] ==> want[p] := true; count := count + 1; end;
  rule "take" want[p] & count = 2 ==> owner := p; end;
end;
invariant "nobody" isundefined(owner);
"""


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_a_trace_under_symmetry_is_a_run_of_the_model(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("symmetric.m").write_text(SYMMETRIC)
    run = cli("check", "symmetric.m", "--engine", engine)
    assert run.code == 1
    wanting = re.findall(r"Rule want, p: (P_\d) fired\.\n +want\[(P_\d)\]: false -> true", run.out)
    assert len(wanting) == 2 and all(one == other for one, other in wanting)
    owner = re.search(r"Rule take, p: (P_\d) fired\.\n +owner: undefined -> (P_\d)", run.out)
    assert owner is not None and owner[1] == owner[2]
    assert owner[1] in {one for one, _ in wanting}


@pytest.mark.parametrize("name", ["peterson", "bounded_buffer"])
def test_examples_run_from_a_process(process: Cli, repository: Path, name: str) -> None:
    model = repository / "examples" / f"{name}.m"
    expected = {"holds": 0, "violated": 1}[re.search(r"expect: (\w+)", model.read_text())[1]]  # type: ignore[index]
    assert process("check", model, "--engine", "interpreter").code == expected


ENDLESS = """
var x: 0..10000000; startstate begin x := 0; end;
rule x < 10000000 ==> begin x := x + 1; end;
"""


def start(tmp_path: Path, *arguments: str) -> subprocess.Popen[str]:
    model = tmp_path / "endless.m"
    model.write_text(ENDLESS + 'startstate begin x := 0; put "searching\\n"; end;')
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "outcrop", "check", str(model), "--engine", "interpreter", "--print", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "searching\n"
    return process


def test_interrupt_reports_what_is_known(tmp_path: Path) -> None:
    process = start(tmp_path)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert out.startswith("UNKNOWN: ") and "interrupted" in out.splitlines()[0]
    assert err == ""


SLOW_TO_STOP = """
import time
from outcrop.cli.check import _second_interrupt_kills
with _second_interrupt_kills():
    try:
        print("running", flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        print("stopping", flush=True)
        time.sleep(60)
"""


def test_a_second_interrupt_ends_at_once() -> None:
    process = subprocess.Popen([sys.executable, "-c", SLOW_TO_STOP], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    for word in (b"running\n", b"stopping\n"):
        assert process.stdout.readline() == word
        process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (3, b"outcrop: interrupted\n")


def test_an_interrupt_while_importing_ends_with_a_line(tmp_path: Path) -> None:
    interrupted = "try:\n    signal.raise_signal(signal.SIGINT)\nexcept KeyboardInterrupt:\n    raise ImportError\n"
    (tmp_path / "slow.py").write_text(f"import signal\n{interrupted}")
    importing = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nfrom outcrop.interrupts import listen\n"
    importing += "listen()\nimport slow"
    ended = subprocess.run([sys.executable, "-c", importing], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "outcrop: interrupted\n")


def test_a_reader_that_leaves_is_no_error(counter: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "outcrop", "check", str(counter), "--engine", "interpreter"],
            stdout=write,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (1, "")

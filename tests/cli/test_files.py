"""Files that commands read and write, and streams that cannot be written to."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import REPOSITORY

import outcrop

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY)}


def run(*words: str, cwd: Path, **streams: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "outcrop", *words]
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    return subprocess.run(command, cwd=cwd, env=ENVIRONMENT, text=True, check=False, **given)  # type: ignore[call-overload, no-any-return]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return Path(shutil.copy(REPOSITORY / "examples" / "peterson.m", tmp_path / "model.m"))


@pytest.mark.parametrize(
    "words",
    [
        "check model.m --engine interpreter --report model.m",
        "check model.m --engine interpreter --trace-json ./model.m",
        "check model.m --engine interpreter --junit link.m",
        "check model.m --engine interpreter --junit model.ltl",
        "check model.m --engine interpreter --junit new --report ./new",
        "sweep model.m -D N=2,3 --csv model.m",
        "graph model.m --format dot -o model.m",
        "simulate model.m --trace-json model.m",
        "locality model.m --svg model.m",
        "report result.json -o result.json",
    ],
)
def test_what_is_read_is_not_overwritten(words: str, model: Path) -> None:
    (model.parent / "link.m").symlink_to(model)
    (model.parent / "model.ltl").write_text("")
    (model.parent / "result.json").write_text("{}")
    before = {path.name: path.read_text() for path in model.parent.iterdir()}
    done = run(*words.split(), cwd=model.parent)
    assert done.returncode == 2
    assert "name " in done.stderr  # the remedy: name another file
    assert {path.name: path.read_text() for path in model.parent.iterdir()} == before


def test_a_closed_stdout(model: Path) -> None:
    command = f"{sys.executable} -m outcrop check {model} --engine interpreter >&-"
    done = subprocess.run(["sh", "-c", command], env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_full_stdout(more: list[str], model: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = run("check", "model.m", "--engine", "interpreter", *more, cwd=model.parent, stdout=full)
    assert done.returncode == 2
    assert done.stderr == "outcrop: cannot write to stdout: No space left on device\n"


def test_an_interrupt_that_reaches_only_the_sweep(tmp_path: Path) -> None:
    (tmp_path / "m.m").write_text(
        "const N: 1; var x: 0..N; startstate begin x := 0; end; rule true ==> begin x := (x + 1) % (N + 1); end;"
    )
    command = [sys.executable, "-m", "outcrop", "sweep", "m.m", "-D", "N=1..300", "--engine", "interpreter", "--json"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    document = json.loads(output)
    assert document["missing"] > 0
    assert len(document["rows"]) + document["missing"] == 300


def test_an_assertion_that_fails_to_be_evaluated_is_violated(tmp_path: Path) -> None:
    path = tmp_path / "m.dve"
    path.write_text(
        "byte x; byte a[2]; process P { state s,t; init s; assert t: a[x+2]==0; trans s->t{}, t->s{}; } system async;"
    )
    for max_errors in (1, None):
        result = outcrop.load(path).check(engine="interpreter", max_errors=max_errors)
        assert [row.status for row in result.properties] == ["violated"]


def test_what_is_not_looked_at_everywhere_is_unknown(tmp_path: Path) -> None:
    """A property process may exclude states."""
    path = tmp_path / "m.dve"
    path.write_text("""
        byte x;
        process P { state a, b; init a; assert b: x == 5; trans a -> b { effect x = 1; }, b -> a { effect x = 0; }; }
        process Q { state q, r; init q; accept r; trans q -> r { guard P.b; }; }
        system async property Q;
    """)
    result = outcrop.load(path).check(engine="interpreter")
    assert result.states_checked == "product"
    assert [row.status for row in result.properties if row.kind == "invariant"] == ["unknown"]


def test_constants_out_of_range_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.dve"
    path.write_text(
        "const byte N = 3; byte x; process P { state a; init a; trans a -> a { effect x = N; }; } system async;"
    )
    assert outcrop.load(path, N=255).check(engine="interpreter", deadlock="off").states == 2
    for value in (256, -1):
        with pytest.raises(outcrop.ModelError, match="does not fit into byte"):
            outcrop.load(path, N=value)


def test_long_chains_of_operators(tmp_path: Path) -> None:
    path = tmp_path / "m.m"
    chain = " | ".join(f"x = {number % 3}" for number in range(390))
    path.write_text(
        f"var x: 0..2; startstate begin x := 0; end; rule {chain} ==> begin x := (x + 1) % 3; end; invariant {chain};"
    )
    assert outcrop.load(path).check().states == 3


def test_what_a_walk_has_found_is_not_lost_when_time_is_up(tmp_path: Path) -> None:
    path = tmp_path / "m.dve"
    path.write_text("""
        byte x;
        process P { state a, b, c, bad, worse; init a; assert worse: x == 5;
          trans a -> b {}, a -> bad {}, b -> c {}, c -> b {}, bad -> worse {}; }
        system async;
    """)
    found = [
        run(
            "simulate",
            "m.dve",
            "--seed",
            str(seed),
            "--steps",
            "100000000",
            "--time-limit",
            "0.3s",
            "--threads",
            "2",
            cwd=tmp_path,
        )
        for seed in range(6, 12)
    ]
    assert {each.returncode for each in found} <= {1, 3}
    assert 1 in {each.returncode for each in found}


def test_symmetry_that_is_off_is_told(tmp_path: Path) -> None:
    path = tmp_path / "m.m"
    path.write_text("""
        type P: scalarset(2); var x: array [P] of 0..1;
        startstate begin for p: P do x[p] := 0; end; end;
        ruleset p: P do rule begin x[p] := 1 - x[p]; end; liveness "one" x[p] = 1; end;
    """)
    result = outcrop.load(path).check(engine="interpreter")
    assert result.states == 4
    assert any("symmetry is off" in note.message for note in result.notes)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("graph model.m --states 0", "at least 1"),
        ("graph model.m --show nothing", "'nothing' to show"),
        ("explore model.m --load model.m -c 1", "is not JSON"),
        ("sweep model.m -D N=1..1000000000", "too many values"),
    ],
)
def test_what_cannot_be_done_is_refused(words: str, message: str, model: Path) -> None:
    done = run(*words.split(), cwd=model.parent)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_formula_named_twice_is_checked_once(model: Path) -> None:
    result = outcrop.load(model, ltl=["G F {true}"]).check(engine="interpreter", properties=("1", "1"))
    assert [row.kind for row in result.properties].count("ltl") == 1

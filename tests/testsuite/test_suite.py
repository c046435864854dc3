"""``outcrop tests``: runs that cover a model, and tests that find a bug."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from generator import generate

import outcrop
from outcrop.ir.interpreter import Interpreter
from outcrop.ir.layout import State
from outcrop.ir.system import System
from outcrop.lang import load_text
from outcrop.lang.while_limit import LoopOptions
from outcrop.options import LoadOptions
from outcrop.testsuite.suite import Suite, make_suite

Cli = Callable[..., Any]


def shortest(system: System) -> tuple[dict[str, int], int]:
    """Returns the least number of steps after which each rule has fired, and the number of states."""
    interpreter = Interpreter(system, symmetry=False)

    def kept(state: State | None) -> bool:
        return state is not None and interpreter.check(state).is_kept

    level = {each.successor for each in interpreter.start_states() if kept(each.successor)}
    seen, found, depth = set(level), dict[str, int](), 0
    while level:
        depth += 1
        following = set()
        for state in level:
            for each in interpreter.successors(state):
                if kept(each.successor):
                    found.setdefault(each.origin.name, depth)
                    following.add(each.successor)
        level = following - seen
        seen |= following
    return found, len(seen)


def fired(suite: Suite) -> set[str]:
    return {step.label.partition(", ")[0] for run in suite.runs for step in run.steps[1:]}


def test_every_rule_of_random_models_is_reached_on_a_shortest_run() -> None:
    compared = 0
    for seed in range(30, 42):
        system, _ = load_text(generate(Random(seed)), "generated.m", LoadOptions(own=(LoopOptions(while_limit=50),)))
        needed, states = shortest(system)
        if len({rule.name for rule in system.rules}) < len(system.rules) or not needed:
            continue
        suite = make_suite(system, "rules", 10**6)
        assert set(suite.missed) == {rule.name for rule in system.rules} - needed.keys(), seed
        assert suite.covered == len(needed), seed
        assert max(len(run) - 1 for run in suite.runs) <= max(needed.values()), seed
        assert [len(run) for run in suite.runs] == sorted(len(run) for run in suite.runs)
        if suite.is_complete:
            assert suite.states == states, seed
        compared += 1
    assert compared > 4


@pytest.mark.parametrize(
    ("cover", "goals"), [("rules", 3), ("instances", 3), ("values:holder", 6), ("edges:holder", 10), ("edges", 48)]
)
def test_goals_are_counted_and_reached(repository: Path, cover: str, goals: int) -> None:
    suite = make_suite(outcrop.load(repository / "examples/lock_server.m").system, cover, 10**6)
    assert suite.covered == goals
    assert suite.missed == ()
    assert fired(suite) == {"request", "grant", "release"}


def test_values_change_on_the_runs(repository: Path) -> None:
    suite = make_suite(outcrop.load(repository / "examples/lock_server.m").system, "values:holder", 10**6)
    changes = {
        (before.holder, after.holder)
        for run in suite.runs
        for before, after in zip(run.states, run.states[1:], strict=False)
        if before.holder != after.holder
    }
    clients = [f"Client_{number}" for number in (1, 2, 3)]
    assert changes == {("None", each) for each in clients} | {(each, "None") for each in clients}


def test_a_limit_is_unknown(cli: Cli, repository: Path, tmp_path: Path) -> None:
    model = repository / "examples/lock_server.m"
    assert cli("tests", model, "-o", tmp_path / "a", "--states", "1").code == 3
    assert cli("tests", model, "-o", tmp_path / "b", "--cover", "values:nothing").code == 2
    assert cli("tests", model, "-o", tmp_path / "b", "--cover", "everything").code == 2


def test_an_unreachable_rule_is_named(cli: Cli, tmp_path: Path) -> None:
    text = 'var x: 0..1; startstate begin x := 0; end; rule "go" begin x := 1 - x; end; rule "no" x > 1 ==> begin end;'
    (tmp_path / "m.m").write_text(text)
    done = cli("tests", tmp_path / "m.m", "-o", tmp_path / "runs", "--json")
    assert (done.code, json.loads(done.out)["missed"]) == (0, ["no"])


@pytest.mark.parametrize("layout", ["itf", "jsonl"])
def test_runs_conform_to_the_model(cli: Cli, repository: Path, tmp_path: Path, layout: str) -> None:
    model = repository / "examples/german_cache.m"
    done = cli("tests", model, "-o", tmp_path / "runs", "--format", layout, "--json")
    assert done.code == 0
    assert cli("validate", model, *json.loads(done.out)["files"]).code == 0


def test_the_pytest_file_finds_the_bug_of_the_example(cli: Cli, repository: Path, tmp_path: Path) -> None:
    for name in ("ring_buffer.py", "ring_buffer_adapter.py"):
        shutil.copy(repository / "examples/programs" / name, tmp_path)
    options = ("--cover", "edges:first,length", "--format", "pytest", "--adapter", "ring_buffer_adapter")
    done = cli("tests", repository / "examples/ring_buffer.m", "-o", tmp_path / "test_ring.py", *options)
    assert done.code == 0
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_ring.py"]
    good = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert good.returncode == 0, good.stdout
    bug = {**os.environ, "RING_BUFFER_BUG": "1"}
    bad = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=bug)
    assert bad.returncode == 1
    assert "put" in bad.stdout


def test_an_adapter_is_written_once(cli: Cli, repository: Path, tmp_path: Path) -> None:
    arguments = ("tests", repository / "examples/german_cache.m", "--format", "pytest", "-o", tmp_path / "test_it.py")
    assert cli(*arguments).code == 0
    adapter = tmp_path / "adapter.py"
    names: dict[str, Any] = {}
    exec(compile(adapter.read_text(), "adapter.py", "exec"), names)
    assert {"start", "state", "ask_for_a_shared_copy"} <= set(dir(names["Adapter"]))
    adapter.write_text("mine")
    assert cli(*arguments).code == 0
    assert adapter.read_text() == "mine"

"""Accepting cycles are found, and shown, alike by any number of ranks."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from outcrop.dist.launch import find_mpiexec

pytestmark = pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not installed")

HERE = Path(__file__).parent


@cache
def results(ranks: int) -> list[str]:
    command = [sys.executable, str(HERE / "check_graphs.py"), "owcty", "7", "60"]
    if ranks > 1:
        command = [find_mpiexec(), "-n", str(ranks), *command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_verdicts_levels_and_lassos_are_those_of_one_rank(ranks: int) -> None:
    assert len(results(1)) == 60
    assert results(ranks) == results(1)


def test_both_verdicts_are_met() -> None:
    violated = sum('"VIOLATION"' in line for line in results(1))
    assert 10 < violated < 50


def test_searches_that_cannot_be_shared_say_so(tmp_path: Path) -> None:
    model = tmp_path / "toggle.m"
    model.write_text("var a: boolean; startstate begin a := false; end; rule begin a := !a; end;\nltl \"on\" : G F {a};\n")
    for options, words in (
        (["--strategy", "ndfs"], "owcty runs over several ranks"),
        (["--strategy", "owcty", "--compact"], "not over several ranks"),
    ):
        command = [find_mpiexec(), "-n", "2", sys.executable, "-m", "outcrop", "check", str(model), *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 2
        assert words in done.stderr, done.stderr

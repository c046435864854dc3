"""Accepting cycles: every number of ranks finds and shows the same ones."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from outcrop.dist.launch import find_mpiexec

pytestmark = pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not installed")

HERE = Path(__file__).parent


@cache
def results(ranks: int, name: str = "owcty", count: int = 60) -> list[str]:
    command = [sys.executable, str(HERE / "check_graphs.py"), name, "7", str(count)]
    if ranks > 1:
        command = [find_mpiexec(), "-n", str(ranks), *command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_verdicts_levels_and_lassos_are_those_of_one_rank(ranks: int) -> None:
    assert len(results(1)) == 60
    assert results(ranks) == results(1)


@pytest.mark.parametrize("ranks", [2, 3])
def test_verdicts_and_levels_are_those_of_one_rank_with_compaction(ranks: int) -> None:
    """With compaction, the order of discovery decides which of several cycles is shown."""
    alone, together = ([json.loads(line)[:3] for line in results(each, "owcty --compact", 30)] for each in (1, ranks))
    assert len(alone) == 30
    assert together == alone


def test_both_verdicts_are_met() -> None:
    violated = sum('"VIOLATION"' in line for line in results(1))
    assert 10 < violated < 50


def test_searches_that_cannot_be_shared_say_so(tmp_path: Path) -> None:
    model = tmp_path / "toggle.m"
    model.write_text(
        'var a: boolean; startstate begin a := false; end; rule begin a := !a; end;\nltl "on" : G F {a};\n'
    )
    command = [find_mpiexec(), "-n", "2", sys.executable, "-m", "outcrop", "check", str(model), "--strategy", "ndfs"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert "cannot use several ranks; use owcty" in done.stderr, done.stderr

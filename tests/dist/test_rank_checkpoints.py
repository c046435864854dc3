"""Checkpoints of several ranks: a search resumes with any number of ranks, and with any strategy."""

from __future__ import annotations

import importlib.util
import itertools
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from outcrop.dist.launch import find_mpiexec
from outcrop.outcome import EventKind
from outcrop.strategies import names

pytestmark = pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not installed")

HERE = Path(__file__).parent
MODEL = str(HERE / "grid.m")
#: Each strategy resumes from the checkpoint of another one.
STRATEGIES = names(ranks=True, checkpoints=True, finds_cycles=False)


def check_all(ranks: int, jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    listed = [(MODEL, {}, {"max_errors": None, "threads": 1, **options}) for options in jobs]
    command = [sys.executable, str(HERE / "check_many.py"), json.dumps(listed)]
    if ranks > 1:
        command = [find_mpiexec(), "-n", str(ranks), *command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_going_on_with_another_number_of_ranks(tmp_path: Path) -> None:
    (alone,) = check_all(1, [{"strategy": "ram"}])
    for ranks in (1, 2, 3):
        saves = [{"strategy": each, "depth": 9, "checkpoint": str(tmp_path / f"{each}-{ranks}")} for each in STRATEGIES]
        for result in check_all(ranks, saves):
            assert result["same"]["kind"] == "depth bound reached"
    for ranks, numbers in ((1, (3,)), (2, (2, 3)), (3, (1, 2))):
        resumes = []
        for before, (first, second) in itertools.product(
            numbers, zip(STRATEGIES, [*STRATEGIES[1:], STRATEGIES[0]], strict=True)
        ):
            # Saves another checkpoint on the way, which removes the parts that it resumed from.
            again = str(tmp_path / f"{first}-{before}-{ranks}")
            shutil.copytree(tmp_path / f"{first}-{before}", again)
            resumes.append({"strategy": second, "depth": 15, "resume": again})
            resumes.append({"strategy": first, "resume": again})
        for result in check_all(ranks, resumes)[1::2]:
            for name in ("verdict", "states", "rules_fired", "levels", "traces"):
                assert result["same"][name] == alone["same"][name], (name, result["events"])
        for job in resumes:
            assert list(Path(str(job["resume"])).iterdir()) == []


def test_the_checkpoint_that_all_ranks_have(tmp_path: Path) -> None:
    """Resumes after a search died while only some ranks had saved."""
    (alone,) = check_all(1, [{"strategy": "ram"}])
    place, older = tmp_path / "place", tmp_path / "older"
    check_all(2, [{"strategy": "ram", "depth": 5, "checkpoint": str(place)}])
    shutil.copytree(place, older)
    check_all(2, [{"strategy": "ram", "depth": 9, "resume": str(place)}])
    shutil.rmtree(place / "1-of-2")
    shutil.copytree(older / "1-of-2", place / "1-of-2")
    (result,) = check_all(3, [{"strategy": "ram", "resume": str(place)}])
    assert result["same"]["levels"] == alone["same"]["levels"]
    assert result["same"]["rules_fired"] == alone["same"]["rules_fired"]
    assert [event["level"] for event in result["events"] if event["kind"] == EventKind.RESUMED] == [5]

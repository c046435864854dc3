"""bench/turns.py, with programs in place of two checkouts that print the document of a check."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TURNS = Path(__file__).resolve().parents[2] / "bench" / "turns.py"
DOCUMENT: dict[str, Any] = {
    "verdict": "violated",
    "kind": "invariant",
    "states": 30,
    "rules_fired": 90,
    "levels": [10, 20],
    "diameter": 1,
    "seconds": 1.0,
    "peak_rss_bytes": 1000,
    "state_bits": 20,
    "trace": {"states": [{}, {}]},
}


def checkout(directory: Path, changes: dict[str, Any]) -> Path:
    """Makes a checkout whose checks print the document with these changes, and note their arguments."""
    package = directory / "outcrop"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text(
        "import pathlib, sys\n"
        f"with pathlib.Path({str(directory.parent / 'runs')!r}).open('a') as runs:\n"
        f"    print({directory.name!r}, *sys.argv[1:], file=runs)\n"
        f"print({json.dumps(DOCUMENT | changes)!r})\n"
        "sys.exit(1)\n"
    )
    return directory


def turns(directory: Path, changes: dict[str, Any], *options: str) -> subprocess.CompletedProcess[str]:
    """Compares the original document with a changed one."""
    old, new = checkout(directory / "old", {}), checkout(directory / "new", changes)
    command = [sys.executable, str(TURNS), str(old), str(new), "--models", str(directory), "--quick", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=TURNS.parent.parent)


def row(printed: str, first: str) -> list[str]:
    return next(line.strip("| ").split(" | ") for line in printed.splitlines() if line.startswith(f"| {first} |"))


def test_order_is_swapped_after_a_run_of_each(tmp_path: Path) -> None:
    done = turns(tmp_path, {}, "--only", "ram1", "--repeat", "2")
    assert done.returncode == 0, done.stderr
    runs = [line.split()[0] for line in (tmp_path / "runs").read_text().splitlines()]
    assert runs == ["old", "new", "old", "new", "new", "old"]


def test_ratios_are_marked(tmp_path: Path) -> None:
    done = turns(tmp_path, {"seconds": 1.1, "peak_rss_bytes": 1030}, "--only", "ndfs", "--repeat", "1")
    assert done.returncode == 0, done.stderr
    _, _, verdict, *times, least, median, _, memory, marks = row(done.stdout, "ndfs")
    assert verdict == "violated"
    assert times == ["1.000", "1.100", "1.000", "1.100"]
    assert (least, median, memory, marks) == ("1.100", "1.100", "1.030", "time, median, memory")
    assert row(done.stdout, "all")[-1] == "time, median, memory"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"verdict": "holds"}, "verdict 'holds', expected 'violated'"),
        ({"states": None}, "states None, expected 30"),
        ({"levels": [10, 21]}, "levels (2) with 21 at 1, expected (2) with 20 at 1"),
        ({"trace": None}, "trace length None, expected 2"),
    ],
)
def test_another_result_is_an_error(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    done = turns(tmp_path, changes, "--only", "ram1", "--repeat", "1")
    assert done.returncode == 1
    assert f"ram1, sci 2: new has {said}" in done.stderr


def test_memory_is_a_part_of_what_the_paper_computes(tmp_path: Path) -> None:
    turns(tmp_path, {}, "--only", "auto", "--repeat", "1")
    first, second = (tmp_path / "runs").read_text().splitlines()[:2]
    assert "--strategy ram" in first
    assert f"--state-memory {(30 + 20) * 4 // 10} " in second


def test_a_directory_that_is_no_checkout_is_refused(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(TURNS), str(tmp_path), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert str(tmp_path) in done.stderr

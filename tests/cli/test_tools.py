"""The verbs beside `check`, as commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from conftest import Run

Cli = Callable[..., Run]


def test_locality(cli: Cli, repository: Path, tmp_path: Path) -> None:
    model = repository / "examples/peterson.m"
    shown = cli("locality", model, "--svg", tmp_path / "chart.svg")
    assert shown.code == 0
    assert "SumAvg" in shown.out
    assert (tmp_path / "chart.svg").read_text().startswith("<svg")
    document = json.loads(cli("locality", model, "--json").out)
    assert document["sum_avg"] == sum(row["mean"] for row in document["distances"] if abs(row["k"]) <= 1)
    assert set(document["distances"][0]) == {"k", "transitions", "mean", "stddev"}


def test_simulate(cli: Cli, repository: Path, tmp_path: Path) -> None:
    model = repository / "tests/models/assertion.m"
    shown = cli("simulate", model, "--walks", "50", "--trace-json", tmp_path / "trace.json")
    assert shown.code == 1
    assert shown.out.startswith("VIOLATED")
    assert json.loads((tmp_path / "trace.json").read_text())["states"]
    document = json.loads(cli("simulate", model, "--walks", "50", "--json").out)
    assert document["verdict"] == "violated"
    assert document["violation"]["kind"] == "assertion"
    quiet = cli("simulate", repository / "examples/peterson.m", "--walks", "5", "--coverage")
    assert quiet.code == 3
    assert "nothing wrong was met" in quiet.out


def test_simulate_names_what_is_misspelt(cli: Cli, repository: Path) -> None:
    wrong = cli("simulate", repository / "examples/peterson.m", "--weight", "entr=3")
    assert wrong.code == 2
    assert "did you mean 'enter'?" in wrong.err
    assert cli("simulate", repository / "examples/peterson.m", "--weight", "enter").code == 2

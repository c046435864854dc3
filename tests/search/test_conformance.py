"""The conformance suite of another Murphi checker: refusals, verdicts and counts."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest
from expectations import ENGINES, check

from outcrop.errors import ModelError
from outcrop.options import Engine
from outcrop.outcome import Stop
from outcrop.result import Verdict


def _rows() -> list[dict[str, str]]:
    table = Path(os.environ.get("OUTCROP_MODELS", ""), "conformance", "EXPECTED.csv")
    if not table.is_file():
        return []
    with table.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


_ROWS = _rows()


@pytest.mark.parametrize("row", [row for row in _ROWS if row["expect"] == "reject"], ids=lambda row: row["file"])
def test_is_refused(row: dict[str, str], shared: Path) -> None:
    with pytest.raises(ModelError):
        check(shared / "conformance" / "murphi" / row["file"], "--undefined", "error")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("row", [row for row in _ROWS if row["expect"] != "reject"], ids=lambda row: row["file"])
def test_verdict_and_counts(row: dict[str, str], engine: Engine, shared: Path) -> None:
    bound = ["--depth", row["bound"]] if row["bound"] else []
    result = check(
        shared / "conformance" / "murphi" / row["file"],
        *("--engine", engine, "--undefined", "error", "--deadlock", row["deadlock"], *bound),
    )
    # If the suite stops at its bound, it says "pass"; we say *unknown*.
    is_bounded = result.verdict is Verdict.UNKNOWN and result.kind == Stop.DEPTH
    passed = result.verdict is Verdict.HOLDS or (bool(bound) and is_bounded)
    assert passed == (row["expect"] == "pass"), result.violations and result.violations[0].message
    if row["states"]:
        assert (result.states, result.rules_fired) == (int(row["states"]), int(row["rules_fired"]))

"""The protocols of the CMurphi distribution: counts on which CMurphi and rumur agree."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest
from expectations import ENGINES, check

from outcrop.options import Engine

#: Largest model, in states. Larger ones belong to the benchmarks.
_MOST_STATES = {Engine.INTERPRETER: 5_000, Engine.NATIVE: 300_000}


def _rows() -> list[dict[str, str]]:
    # Parameters are needed before fixtures run. Without the models there is nothing to parametrise over.
    table = Path(os.environ.get("OUTCROP_MODELS", ""), "models", "murphi", "EXPECTED.csv")
    if not table.is_file():
        return []
    with table.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _suits(row: dict[str, str], engine: Engine) -> bool:
    if row["canonical"] == "heuristic?" and row["verdict"] == "holds":
        return False  # counts of a normal form that is not canonical differ from ours
    if row["verdict"] == "violated":
        return engine is Engine.NATIVE or row["file"].startswith(("toy/", "others/"))
    if engine is Engine.INTERPRETER and row["symmetry"] == "on":
        return False
    return int(row["states"]) <= _MOST_STATES[engine]


_RUNS = [
    pytest.param(row, engine, id=f"{row['file']}-{row['constants'] or 'plain'}-{row['symmetry']}-{engine}")
    for row in _rows()
    for engine in ENGINES
    if _suits(row, engine)
]


@pytest.mark.parametrize(("row", "engine"), _RUNS)
def test_counts(row: dict[str, str], engine: Engine, shared: Path) -> None:
    constants = [part for each in row["constants"].split() for part in ("-D", each)]
    options = ["--engine", engine, "--deadlock", "off", "--symmetry", row["symmetry"], *constants]
    is_small = int(row["states"] or 0) <= 20_000
    result = check(shared / "models" / "murphi" / row["file"], *options, quick=is_small)
    assert str(result.verdict) == row["verdict"], result.violations and result.violations[0].message
    if row["verdict"] == "holds":
        assert (result.states, result.rules_fired) == (int(row["states"]), int(row["rules_fired"]))
        if row["diameter"]:
            assert result.diameter == int(row["diameter"])


def test_every_model_is_accepted(shared: Path) -> None:
    import outcrop

    paths = sorted((shared / "models" / "murphi").rglob("*.m"))
    assert paths
    for path in paths:
        assert outcrop.load(path).system.rules, path

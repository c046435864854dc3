"""The property processes of small BEEM models, and the formulas they were made from: BEEM's verdicts."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

import outcrop

_MOST_STATES = 2_000
#: Formulas of such properties, by model and number.
_FORMULAS = {
    ("anderson.2", "2"): "G ({P_0.p1 or P_0.p2 or P_0.p3} -> F {P_0.CS})",
    ("anderson.2", "3"): "G ((!{P_0.CS}) -> F {P_0.CS})",
}


def _rows() -> list[dict[str, str]]:
    """Returns the properties of models that the interpreter explores in seconds."""
    folder = Path(os.environ.get("OUTCROP_MODELS", ""), "models", "dve")
    if not (folder / "PROPERTIES.csv").is_file():
        return []
    with (folder / "EXPECTED.csv").open(encoding="utf-8") as file:
        states = {row["file"]: int(row["states"]) for row in csv.DictReader(file) if row["states"]}
    with (folder / "PROPERTIES.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] == "ltl"]
    return [row for row in rows if states.get(row["file"].split(".prop")[0] + ".dve", _MOST_STATES) < _MOST_STATES]


@pytest.mark.parametrize("row", _rows(), ids=lambda row: Path(row["file"]).stem)
def test_verdict(row: dict[str, str], shared: Path) -> None:
    result = outcrop.load(shared / "models" / "dve" / row["file"]).check(engine="interpreter")
    assert (str(result.verdict), result.kind) == (row["verdict"], "ltl" if row["verdict"] == "violated" else "")


@pytest.mark.parametrize(("name", "number"), _FORMULAS)
def test_the_formula_and_its_automaton_agree(name: str, number: str, shared: Path) -> None:
    (row,) = (row for row in _rows() if row["file"].endswith(f"{name}.prop{number}.dve"))
    path = shared / "models" / "dve" / name.split(".")[0] / f"{name}.dve"
    result = outcrop.load(path, ltl=_FORMULAS[name, number]).check(engine="interpreter", deadlock="off")
    assert str(result.verdict) == row["verdict"]

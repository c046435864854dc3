"""The search on a real GPU. ``pytest -m gpu`` runs these alone; without a GPU and CuPy they are skipped."""

from __future__ import annotations

import csv
import dataclasses
import os
from pathlib import Path
from random import Random

import pytest
from devices import TINY, TINY_TUNING, compare, load_program, program, reduced_program
from expectations import EXAMPLES, TEST_MODELS, expectation
from generator import generate
from generator.rare import generate_rare

from outcrop.api import Model, load
from outcrop.gpu.device import CudaDevice, Device, is_there
from outcrop.lang import load_text
from outcrop.lang.while_limit import LoopOptions
from outcrop.options import CheckOptions, Deadlock, LoadOptions
from outcrop.oracle import search as reference

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not is_there(), reason="needs a GPU and CuPy")]

_SMALL = [path for path in (*EXAMPLES, *TEST_MODELS) if expectation(path).verdict != "rejected"]
#: Largest model of EXPECTED.csv that counts as small, in states.
_MOST_STATES = 30_000_000


@pytest.fixture(scope="module")
def device() -> Device:
    return CudaDevice()


@pytest.mark.parametrize("strategy", ["ram", "compact"])
@pytest.mark.parametrize("symmetry", [True, False])
@pytest.mark.parametrize("path", _SMALL, ids=lambda path: path.stem)
def test_every_small_model(path: Path, device: Device, strategy: str, symmetry: bool) -> None:
    made = load_program(path, symmetry=symmetry)
    if made.why_not is None:
        options = CheckOptions(strategy=strategy, symmetry=symmetry, max_errors=None)
        compare(made, device, options)
        compare(made, device, dataclasses.replace(options, max_errors=1), None, None)


@pytest.mark.parametrize("seed", range(60))
def test_generated_models(seed: int, device: Device) -> None:
    random = Random(seed)
    options = LoadOptions(own=(LoopOptions(while_limit=100),))
    system, warnings = load_text(generate(random), "generated.m", options)
    made = program(Model(system, tuple(warnings), options), symmetry=False)
    if made.why_not is not None:
        return
    chosen = CheckOptions(
        strategy=random.choice(["ram", "compact"]),
        symmetry=False,
        depth=6,
        max_errors=random.choice([1, None]),
        deadlock=random.choice(list(Deadlock)),
    )
    got = compare(made, device, chosen, *random.choice([(None, None), (TINY, TINY_TUNING)]))
    expected = reference.search(system, chosen)
    assert (got.levels, got.fired, got.findings) == (expected.levels, expected.fired, expected.findings)


@pytest.mark.parametrize("path", _SMALL, ids=lambda path: path.stem)
def test_reduced_searches_of_every_small_model(path: Path, device: Device) -> None:
    made = reduced_program(load(path), symmetry=True)
    if made is not None and made.why_not is None:
        compare(made, device, CheckOptions(strategy="ram", max_errors=None))


@pytest.mark.parametrize("language", ["m", "dve", "pml"])
@pytest.mark.parametrize("seed", range(20))
def test_reduced_searches_of_generated_models(seed: int, language: str, device: Device) -> None:
    system, _ = load_text(generate_rare(Random(seed), language), f"generated.{language}", LoadOptions())
    made = reduced_program(Model(system, (), LoadOptions()), symmetry=False)
    if made is not None and made.why_not is None:
        compare(made, device, CheckOptions(strategy="ram", max_errors=None))


def _known() -> list[dict[str, str]]:
    """Returns the expected results of the models in OUTCROP_MODELS."""
    path = Path(os.environ.get("OUTCROP_MODELS", "")) / "models/murphi/EXPECTED.csv"
    if not path.exists():
        return []
    with path.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["states"] and int(row["states"]) <= _MOST_STATES]
    return [row for row in rows if row["symmetry"] == "off" or row["canonical"] == "yes"]


@pytest.mark.parametrize("row", _known(), ids=lambda row: "-".join([row["file"], row["constants"], row["symmetry"]]))
def test_outside_models_give_what_is_known_of_them(row: dict[str, str], shared: Path) -> None:
    constants = dict(each.split("=") for each in row["constants"].split(";") if each)
    model = load(shared / "models/murphi" / row["file"], constants)
    for strategy in ("ram", "compact"):
        result = model.check(device="gpu", strategy=strategy, symmetry=row["symmetry"] == "on", deadlock="off")
        assert str(result.verdict) == row["verdict"]
        assert (result.states, result.rules_fired) == (int(row["states"]), int(row["rules_fired"]))

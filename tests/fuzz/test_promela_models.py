"""Random Promela models have the counts that SPIN finds; tests/fuzz/promela.py tries more of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from compare_spin import NotAccepted, disagreement, has_spin
from generator.promela import PromelaModel

#: Seeds whose models SPIN accepts and counts in a moment.
SEEDS = (101, 104, 110)


@pytest.mark.skipif(not has_spin(), reason="SPIN is not installed")
@pytest.mark.parametrize("seed", SEEDS)
def test_counts_are_those_of_spin(seed: int, tmp_path: Path) -> None:
    try:
        assert disagreement(PromelaModel(seed).text(), tmp_path, cycles=False) == ""
    except NotAccepted:
        pytest.skip("this version of SPIN does not accept the model")

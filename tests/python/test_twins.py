"""The examples in Python have the states, the rules and the packed size of their twins in Murphi."""

from __future__ import annotations

from pathlib import Path

import pytest
from expectations import expectation
from python_oracle import compare

import outcrop

EXAMPLES = Path(__file__).parents[2] / "examples"
TWINS = sorted(path for path in EXAMPLES.glob("*.py") if path.with_suffix(".m").exists())


def test_there_are_twins() -> None:
    assert len(TWINS) >= 6


@pytest.mark.parametrize("path", TWINS, ids=lambda path: path.stem)
def test_counts_and_sizes_are_equal(path: Path) -> None:
    twin = outcrop.load(path.with_suffix(".m"))
    expected = expectation(path.with_suffix(".m")).counts(symmetry=True)
    result = outcrop.load(path).check()
    assert (result.states, result.rules_fired, result.diameter) == (expected.states, expected.rules, expected.diameter)
    assert result.state_bits == twin.check(engine="interpreter", depth=0).state_bits


@pytest.mark.parametrize("path", TWINS, ids=lambda path: path.stem)
def test_cpython_agrees(path: Path) -> None:
    assert compare(path, most_states=60) >= 24

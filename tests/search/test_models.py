"""Every example, and every one-idea model under tests/models: the result of its header, with every engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from expectations import ENGINES, EXAMPLES, TEST_MODELS, check, compare, expectation

from outcrop.errors import OutcropError
from outcrop.options import Engine

_ALL = [expectation(path) for path in (*EXAMPLES, *TEST_MODELS)]
_REJECTED = [each.path for each in _ALL if each.verdict == "rejected"]
_RUNS = [
    pytest.param(each.path, engine, symmetry, id=f"{each.path.stem}-{engine}-{'on' if symmetry else 'off'}")
    for each in _ALL
    if each.verdict != "rejected"
    for engine in ENGINES
    for symmetry in (True, False)
    if each.suits(engine, symmetry)
]


@pytest.mark.parametrize(("path", "engine", "symmetry"), _RUNS)
def test_runs_as_its_header_says(path: Path, engine: Engine, symmetry: bool) -> None:
    expected = expectation(path)
    options = ("--engine", engine, "--symmetry", "on" if symmetry else "off", *expected.options)
    result = check(path, *options)
    compare(expected, result, symmetry)


@pytest.mark.parametrize("path", _REJECTED, ids=lambda path: path.stem)
def test_is_refused_as_its_header_says(path: Path) -> None:
    expected = expectation(path)
    with pytest.raises(OutcropError) as refused:
        check(path, *expected.options)
    assert refused.value.exit_code == 2
    for part in expected.messages:
        assert part in str(refused.value)


def test_every_example_states_its_counts() -> None:
    for path in EXAMPLES:
        counts = expectation(path).with_symmetry
        assert counts.states and counts.rules and counts.diameter, path.name

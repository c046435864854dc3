"""The seeded bugs still find the text that they replace. ``./dev mutants`` tells whether the suite notices them."""

from __future__ import annotations

import pytest
from mutants import LIKELY, REPOSITORY
from seeded import MUTANTS, Mutant


@pytest.mark.parametrize("number", range(len(MUTANTS)))
def test_a_mutant_finds_its_place(number: int) -> None:
    mutant: Mutant = MUTANTS[number]
    text = (REPOSITORY / "outcrop" / mutant.path).read_text(encoding="utf-8")
    assert text.count(mutant.text) == 1, mutant
    assert mutant.instead != mutant.text


@pytest.mark.parametrize("path", LIKELY)
def test_likely_tests_are_those_of_some_file(path: str) -> None:
    assert list((REPOSITORY / "outcrop").glob(path + "*"))
    assert all((REPOSITORY / tests.partition("::")[0]).exists() for tests in LIKELY[path])


def test_there_are_enough() -> None:
    assert len(MUTANTS) >= 50

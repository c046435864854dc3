"""The meaning of each operator, by hand, on words small enough to see."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ltl_random import PROPOSITIONS, formulas, random_words

from outcrop.ir.formula import Formula
from outcrop.ltl.parser import parse
from outcrop.ltl.words import Lasso, holds, truth

p, q, _ = PROPOSITIONS
NONE: frozenset[Formula] = frozenset()


def word(stem: str, loop: str) -> Lasso:
    """Returns a word, with one letter for each position: p, q, b for both, . for none."""
    meaning = {"p": {p}, "q": {q}, "b": {p, q}, ".": set()}
    return Lasso([meaning[each] for each in stem], [meaning[each] for each in loop])


@pytest.mark.parametrize(
    ("text", "stem", "loop", "expected"),
    [
        ("p", "p", ".", "10"),
        ("X p", "..", ".p", "0010"),
        ("F p", "p.", "q", "100"),
        ("F p", "..", ".p", "1111"),
        ("G p", ".p", "pb", "0111"),
        ("G p", "p", "p.", "000"),
        ("p U q", "ppq", ".", "1110"),
        ("p U q", "pp", "p", "000"),
        ("p W q", "pp", "p", "111"),
        ("p W q", "p.", "q", "001"),
        ("p R q", "qqb", ".", "1110"),
        ("p R q", "q", "q", "11"),
        ("p R q", "qq", ".", "000"),
        ("p M q", "qqb", ".", "1110"),
        ("p M q", "q", "q", "00"),
        ("p V q", "q", "q", "11"),
        ("GF p", "..", ".p", "1111"),
        ("FG p", "p.", "p", "111"),
        ("p ^ q", "pqb", ".", "1100"),
        ("p <-> q", "pqb", ".", "0011"),
        ("p -> q", "pqb", ".", "0111"),
        ("p U q", ".", "pq", "011"),
        ("true", "", ".", "1"),
        ("false", "", ".", "0"),
    ],
)
def test_operators(text: str, stem: str, loop: str, expected: str) -> None:
    assert truth(parse(text).formula, word(stem, loop)) == [each == "1" for each in expected]


@given(formulas(), st.integers(0, 1_000))
@settings(max_examples=100)
def test_unrolling_changes_nothing(formula: Formula, seed: int) -> None:
    for lasso in random_words(Random(seed), PROPOSITIONS, 10):
        assert holds(formula, Lasso([*lasso.stem, *lasso.loop], [*lasso.loop, *lasso.loop])) == holds(formula, lasso)


def test_a_loop_is_needed() -> None:
    with pytest.raises(ValueError, match="at least one position"):
        Lasso([NONE], [])

"""Random formulas and random lasso words."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from hypothesis import strategies as st

from outcrop.ir.formula import FALSE, TRUE, UNARY, Formula, Operator, proposition
from outcrop.ltl.words import Lasso

PROPOSITIONS = tuple(proposition(name) for name in "pqr")
BINARY = [each for each in Operator if each not in UNARY and each not in (Operator.TRUE, Operator.FALSE)]
BINARY.remove(Operator.PROPOSITION)


def _larger(smaller: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    return st.one_of(
        st.builds(Formula, st.sampled_from(sorted(UNARY)), smaller),
        st.builds(Formula, st.sampled_from(BINARY), smaller, smaller),
    )


def formulas(leaves: int = 8) -> st.SearchStrategy[Formula]:
    """Returns a strategy for formulas over p, q, r with all operators."""
    return st.recursive(st.sampled_from([*PROPOSITIONS, *PROPOSITIONS, TRUE, FALSE]), _larger, max_leaves=leaves)


def random_formula(random: Random, depth: int, operators: Sequence[Operator]) -> Formula:
    if depth == 0 or random.random() < 0.1:
        return random.choice(PROPOSITIONS)
    operator = random.choice(operators)
    count = 1 if operator in UNARY else 2
    return Formula(operator, *(random_formula(random, depth - 1, operators) for _ in range(count)))


def random_words(random: Random, propositions: Sequence[Formula], count: int) -> list[Lasso]:
    """Returns words with propositions that are often true in some and rarely in others, so that U and R are decided."""

    def stretch(least: int, often: float) -> list[frozenset[Formula]]:
        length = random.randrange(least, 5)
        return [frozenset(each for each in propositions if random.random() < often) for _ in range(length)]

    return [
        Lasso(stretch(0, often), stretch(1, often)) for often in (random.choice((0.2, 0.5, 0.8)) for _ in range(count))
    ]

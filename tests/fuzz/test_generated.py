"""Generated models: the front-end accepts every one, and symmetry reduction changes the counts but not the verdict."""

from __future__ import annotations

import sys
from random import Random

import pytest
from generator import generate
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outcrop.api import Model
from outcrop.lang import load_text
from outcrop.lang.while_limit import LoopOptions
from outcrop.options import Engine, LoadOptions
from outcrop.result import Result, Verdict

#: Depth at which rules build on one another, and a search still takes milliseconds.
DEPTH = 6

# The interpreter raises the limit, and hypothesis objects if that happens during a test.
sys.setrecursionlimit(100_000)

quick = settings(max_examples=60, suppress_health_check=list(HealthCheck))
thorough = settings(quick, max_examples=2_000)


def load(text: str) -> Model:
    options = LoadOptions(own=(LoopOptions(while_limit=1_000),))
    system, warnings = load_text(text, "generated.m", options)
    return Model(system, tuple(warnings), options)


def check(model: Model, engine: Engine, *, symmetry: bool, **options: object) -> Result:
    return model.check(engine=engine, symmetry=symmetry, depth=DEPTH, **options)


def compare_symmetry(text: str) -> None:
    model = load(text)
    whole = check(model, Engine.INTERPRETER, symmetry=False)
    reduced = check(model, Engine.INTERPRETER, symmetry=True)
    assert (reduced.verdict, reduced.kind) == (whole.verdict, whole.kind)
    assert len(reduced.levels) == len(whole.levels)
    assert all(fewer <= more for fewer, more in zip(reduced.levels, whole.levels, strict=True))
    if not model.system.scalarsets:
        assert (reduced.levels, reduced.rules_fired) == (whole.levels, whole.rules_fired)


@given(st.randoms(use_true_random=False))
@quick
def test_symmetry_changes_no_answer(random: Random) -> None:
    compare_symmetry(generate(random))


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
@thorough
def test_symmetry_changes_no_answer_thoroughly(random: Random) -> None:
    compare_symmetry(generate(random))


def test_the_generator_is_worth_its_time() -> None:
    """Enough of the models hold, enough are violated, and enough have more than a few states."""
    models = [load(generate(Random(seed))) for seed in range(100)]
    results = [check(model, Engine.INTERPRETER, symmetry=False, deadlock="off", max_errors=None) for model in models]
    violated = sum(result.verdict is Verdict.VIOLATED for result in results)
    assert 20 <= violated <= 80
    assert sum(result.states >= 5 for result in results) >= 30
    assert len({result.kind for result in results}) >= 5

"""Python models: CPython, the interpreter and native code agree about every one of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from python_oracle import compare
from random_models import Generator

import outcrop

MODELS = sorted((Path(__file__).parent / "models").glob("*.py"))


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_cpython_agrees_with_the_interpreter(path: Path) -> None:
    assert compare(path, most_states=250) > 25


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_native_code_agrees_with_the_interpreter(path: Path) -> None:
    model = outcrop.load(path)
    results = [
        model.check(engine=engine, max_errors=None, depth=3, symmetry=False) for engine in ("native", "interpreter")
    ]
    native, interpreted = ((each.verdict, each.levels, each.rules_fired, len(each.violations)) for each in results)
    assert native == interpreted


@pytest.mark.parametrize("seed", range(30))
def test_engines_agree_on_random_models(seed: int, tmp_path: Path) -> None:
    path = tmp_path / f"random_{seed}.py"
    path.write_text(Generator(seed).model())
    assert compare(path, most_states=30) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30, 400))
def test_native_code_agrees_on_random_models(seed: int, tmp_path: Path) -> None:
    path = tmp_path / f"random_{seed}.py"
    path.write_text(Generator(seed).model())
    compare(path, most_states=100)
    model = outcrop.load(path)
    results = [model.check(engine=engine, max_errors=None, depth=4) for engine in ("native", "interpreter")]
    native, interpreted = ((each.verdict, each.levels, each.rules_fired, len(each.violations)) for each in results)
    assert native == interpreted

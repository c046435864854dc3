"""Generated models: the compiled code compared with the interpreter, with every strategy and number of threads; and
with formulas about their runs, every search for cycles.

The suite tries a few models. ``pytest -m slow tests/fuzz/test_differential.py`` tries a thousand, and ``./dev fuzz
--minutes N`` as many as time allows. Models on which it found something are tried again here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from campaign import FOUND, KINDS

from outcrop.codegen import compiler


@pytest.fixture(scope="module", autouse=True)
def private_cache() -> Iterator[None]:
    """Uses a separate cache, because compiled generated models are not worth keeping."""
    with TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiler, "cache_directory", lambda: Path(directory))
        yield


def check(name: str, seed: int) -> None:
    kind = KINDS[name]
    text = kind.generate(Random(seed))
    found = kind.disagreement(text, kind.file_name, seed)
    assert not found, f"{found}\n{text}"


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("name", ["m", "dve"])
def test_engines_agree(name: str, seed: int) -> None:
    check(name, seed)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["m_ltl", "dve_ltl"])
def test_searches_for_cycles_agree(name: str, seed: int) -> None:
    check(name, seed)


@pytest.mark.parametrize("path", sorted(FOUND.glob("*.*")), ids=lambda path: path.stem)
def test_what_was_found_once_stays_fixed(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    seed = int(text.split("seed:")[1].split()[0])
    found = KINDS[path.stem.rsplit("_", 1)[0]].disagreement(text, path.name, seed)
    assert not found, found


@pytest.mark.slow
@pytest.mark.parametrize("block", range(100))
def test_engines_agree_on_a_thousand_models(block: int) -> None:
    for seed in range(1_000 + block * 10, 1_010 + block * 10):
        check(("m", "dve", "m_ltl", "dve_ltl")[seed % 4], seed)

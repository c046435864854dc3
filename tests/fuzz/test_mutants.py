"""Damaged models: the result for every text is a diagnostic or a verdict, never another exception, never a hang.

The suite tries a few hundred mutants. ``pytest -m slow tests/fuzz/test_mutants.py`` tries 10,000, and

    python tests/fuzz/test_mutants.py [COUNT [SEED]]

as many as you like, printing each one that fails.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random

import pytest

from outcrop.api import Model
from outcrop.errors import ModelError
from outcrop.lang import load_text
from outcrop.lang.while_limit import LoopOptions
from outcrop.options import Engine, LoadOptions
from outcrop.source import Severity

_REPOSITORY = Path(__file__).parent.parent.parent
_TOKEN = re.compile(r'--[^\n]*|"[^"\n]*"|\w+|==>|:=|\.\.|[<>!=]=|->|\s+|.', re.DOTALL)
_SECONDS = 20

#: Characters that a flipped byte can become: mostly meaningful ones.
_BYTES = "\0\t\r\n\"'\\;:.,()[]{}<>=!&|^~?+-*/%_0129azAZ\x7f\x80é∀“\U0001f40d"


@cache
def seeds() -> list[str]:
    """Returns the texts from which mutants are made."""
    paths = [*(_REPOSITORY / "examples").glob("*.m"), *(_REPOSITORY / "tests" / "models").glob("*.m")]
    outside = Path(os.environ.get("OUTCROP_MODELS", ""))
    if outside.is_absolute():
        paths += [path for path in outside.rglob("*.m") if path.stat().st_size < 30_000]
    return [path.read_text(encoding="utf-8", errors="replace") for path in sorted(paths)]


def mutant(random: Random) -> str:
    text = random.choice(seeds())
    for _ in range(random.choice((1, 1, 1, 2, 4, 16))):
        text = _mutate(random, text)
    return text


def _mutate(random: Random, text: str) -> str:
    kind = random.randint(0, 6)
    if kind == 0:
        return text[: random.randint(0, len(text))]
    if kind == 1:
        at = random.randint(0, max(0, len(text) - 1))
        return text[:at] + random.choice(_BYTES) + text[at + random.randint(0, 1) :]
    tokens = _TOKEN.findall(text) or [";"]
    words = [at for at, token in enumerate(tokens) if not token.isspace() and not token.startswith("--")] or [0]
    at = random.choice(words)
    if kind == 2:
        del tokens[at]
    elif kind == 3:
        tokens.insert(at, tokens[at] + " ")
    elif kind == 4:
        other = random.choice(words)
        tokens[at], tokens[other] = tokens[other], tokens[at]
    elif kind == 5:
        tokens[at] = random.choice(_TOKEN.findall(random.choice(seeds())) or [""])
    else:
        del tokens[at : at + random.randint(1, 40)]
    return "".join(tokens)


def answer(text: str) -> str:
    """Returns the verdict on a text, or "rejected". Anything else is an exception."""
    options = LoadOptions(own=(LoopOptions(while_limit=100),))
    try:
        system, warnings = load_text(text, "mutant.m", options)
    except ModelError as error:
        assert any(each.severity is Severity.ERROR for each in error.diagnostics)
        assert str(error)
        return "rejected"
    model = Model(system, tuple(warnings), options)
    limits = {"states": 20, "depth": 3, "time_limit": 2.0}
    result = model.check(engine=Engine.INTERPRETER, symmetry=False, **limits)
    result.to_dict()
    return str(result.verdict)


@contextmanager
def alarm(seconds: int) -> Iterator[None]:
    def ring(*_: object) -> None:
        raise TimeoutError(f"no answer within {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def answer_in_time(seed: int) -> str:
    text = mutant(Random(seed))
    try:
        with alarm(_SECONDS):
            return answer(text)
    except Exception as error:
        raise AssertionError(f"mutant {seed} ends in {type(error).__name__}: {error}\n{text}") from error


@pytest.mark.parametrize("block", range(5))
def test_mutants_get_an_answer(block: int) -> None:
    answers = {answer_in_time(seed) for seed in range(block * 60, (block + 1) * 60)}
    assert len(answers) > 1  # not all of them are rejected


@pytest.mark.slow
@pytest.mark.parametrize("block", range(100))
def test_ten_thousand_mutants_get_an_answer(block: int) -> None:
    for seed in range(block * 100, (block + 1) * 100):
        answer_in_time(seed)


def main(count: int, first: int) -> int:
    failures = 0
    for seed in range(first, first + count):
        try:
            answer_in_time(seed)
        except AssertionError as failure:
            failures += 1
            print(failure, end="\n\n")
    print(f"{count} mutants, {failures} without an answer")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, [*sys.argv[1:], *(["1000", "0"][len(sys.argv) - 1 :])])))

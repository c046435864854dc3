"""German's protocol in four languages: one set of states and steps, by mapping files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run

Cli = Callable[..., Run]
#: The constants with which models have two nodes, as the others have.
SIZES = {"m": "NodeCount=2", "py": "NODES=2"}
#: A part of a guard, and what is left of it to plant an error.
ERRORS = {
    "dve": ("client == 0 and serving == 1 and exclusive == 0", "client == 0 and serving == 1"),
    "pml": ("serving == shared && !exclusive_granted &&", "serving == shared &&"),
}


def compared(cli: Cli, repository: Path, first: Path, other: str, *options: str) -> tuple[int, dict[str, object]]:
    examples = repository / "examples"
    mapping = examples / "maps" / f"german_cache_{first.suffix.removeprefix('.')}.json"
    second = (examples / f"german_cache.{other}", "--second", SIZES[other])
    ran = cli("compare", first, *second, "--map", mapping, "--json", *options)
    return ran.code, json.loads(ran.out)


@pytest.mark.parametrize(
    ("language", "other"),
    [
        ("dve", "m"),
        ("pml", "py"),
        *(pytest.param(*pair, marks=pytest.mark.slow) for pair in (("dve", "py"), ("pml", "m"))),
    ],
)
def test_the_protocol_is_the_same_in_all_languages(cli: Cli, repository: Path, language: str, other: str) -> None:
    model = repository / f"examples/german_cache.{language}"
    code, document = compared(cli, repository, model, other, "--labels", "instances")
    assert (code, document["renamed"]) == (0, {})


@pytest.mark.parametrize("language", ["dve", "pml"])
def test_an_error_in_one_language_is_found(cli: Cli, repository: Path, tmp_path: Path, language: str) -> None:
    text = (repository / f"examples/german_cache.{language}").read_text()
    good, bad = ERRORS[language]
    assert text.count(good) == 1
    wrong = tmp_path / f"wrong.{language}"
    wrong.write_text(text.replace(good, bad))
    code, document = compared(cli, repository, wrong, "m", "--labels", "instances", "--relation", "inclusion")
    assert code == 1 and document["difference"]

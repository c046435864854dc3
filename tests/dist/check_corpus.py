"""Checks every small model with every strategy and prints each result as JSON. Runs under mpiexec, or alone.

``test_small_corpus.py`` runs it. By hand, for the models whose names contain a word:

    mpiexec -n 3 python tests/dist/check_corpus.py peterson
"""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parent.parent))

from check_many import SMALL, begin, summary
from expectations import EXAMPLES, TEST_MODELS, expectation

import outcrop
from outcrop.cli.check import check_options
from outcrop.cli.parser import build_parser
from outcrop.cli.parser_declared import language_values
from outcrop.codegen import c
from outcrop.errors import UsageError
from outcrop.explorer.tuning import tuned
from outcrop.strategies import STRATEGIES, CachedOptions, names

#: Names of subdirectories of OUTCROP_MODELS.
MOST_STATES = 20_000
#: Strategies that visit the same states for every total memory of the ranks. A cache evicts others.
SAME = [name for name in names(ranks=True, finds_cycles=False) if CachedOptions not in STRATEGIES[name].options]
#: Memory for all states, and for very few.
STATE_SEARCHES: dict[str, tuple[str, ...]] = {
    **{name: ("--strategy", name) for name in SAME},
    **{f"{name}, 8K": ("--strategy", name, "--state-memory", "8K") for name in SAME if STRATEGIES[name].past_ram},
}
CYCLE_SEARCHES: dict[str, tuple[str, ...]] = {
    "owcty": ("--strategy", "owcty"),
    "owcty --compact": ("--strategy", "owcty", "--compact"),
}
#: A model, with its printed name and its options.
_Subject = tuple[str, Path, tuple[str, ...]]


def _rows(*names: str) -> list[dict[str, str]]:
    path = Path(os.environ.get("OUTCROP_MODELS", ""), "models", *names)
    if not path.is_file():
        return []
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _is_small(states: str) -> bool:
    return states.isdigit() and int(states) <= MOST_STATES


def _outside(*names: str) -> Path:
    return Path(os.environ.get("OUTCROP_MODELS", ""), "models", *names).resolve()


def state_subjects() -> Iterator[_Subject]:
    """Yields the models that are searched for bad states."""
    for path in (*EXAMPLES, *TEST_MODELS):
        expected = expectation(path)
        if expected.verdict != "rejected":
            yield path.name, path, expected.options
            if expected.with_symmetry != expected.without_symmetry:
                yield f"{path.name}, symmetry off", path, (*expected.options, "--symmetry", "off")
    for row in _rows("murphi", "EXPECTED.csv"):
        if _is_small(row["states"] or "0"):
            constants = [part for each in row["constants"].split() for part in ("-D", each)]
            options = ("--deadlock", "off", "--symmetry", row["symmetry"], *constants)
            yield " ".join([row["file"], *options]), _outside("murphi", row["file"]), options
    for row in _rows("dve", "EXPECTED.csv"):
        if _is_small(row["states"]):
            yield row["file"], _outside("dve", row["file"]), ("--deadlock", "off")


def cycle_subjects() -> Iterator[_Subject]:
    """Yields the models that are searched for accepting cycles."""
    small = {row["file"] for row in _rows("dve", "EXPECTED.csv") if _is_small(row["states"])}
    for row in _rows("dve", "PROPERTIES.csv"):
        if row["kind"] == "ltl" and row["file"].split(".prop")[0] + ".dve" in small:
            yield row["file"], _outside("dve", row["file"]), ()
    for path in EXAMPLES:
        if outcrop.load(path).system.temporal:
            yield path.name, path, ()


def jobs() -> Iterator[tuple[str, str, Path, tuple[str, ...]]]:
    """Yields each search: its name, its strategy, the model and the options."""
    for subjects, searches in ((state_subjects(), STATE_SEARCHES), (cycle_subjects(), CYCLE_SEARCHES)):
        for name, path, options in subjects:
            for search, words in searches.items():
                yield name, search, path, (*options, *words)


@cache
def _load(path: Path, **options: Any) -> outcrop.Model:
    return outcrop.load(path, dict(options.pop("constants")), **options)


def _emit_once() -> Callable[..., c.Emitted]:
    """Returns an ``emit`` that translates a model once for all strategies.

    It keeps the System as well, so that no other gets the same id.
    """
    kept: dict[tuple[int, object], tuple[object, c.Emitted]] = {}
    emit = c.emit

    def emitted(system: Any, *rest: Any, prints: bool) -> c.Emitted:
        return kept.setdefault((id(system), (*rest, prints)), (system, emit(system, *rest, prints=prints)))[1]

    return emitted


def check(path: Path, words: tuple[str, ...], threads: int, ranks: int) -> dict[str, Any]:
    arguments = build_parser().parse(["check", str(path), *words])
    options = check_options(arguments)
    model = _load(
        path,
        constants=tuple(dict(arguments.constants).items()),
        **language_values(arguments),
    )
    printed: list[str] = []
    try:
        with tuned(**SMALL):
            result = model.check(options, ranks=ranks, threads=threads, prints=True, output=printed.append)
    except UsageError as error:
        return {"refused": str(error)}
    return {**summary(result), "printed": sorted("".join(printed).split("\n"))}


def main() -> None:
    ranks, transport = begin()
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    with patch.object(c, "emit", _emit_once()):
        for number, (name, search, path, words) in enumerate(jobs()):
            if wanted in name:
                row = {"subject": name, "search": search, **check(path, words, 1 + number % 2, ranks)}
                if transport.rank == 0:
                    print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()

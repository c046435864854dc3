"""Verdicts with and without partial-order reduction on a corpus: ``python tests/fuzz/reduced_corpus.py MODELS``.

MODELS is a directory with dve, murphi and promela, each with an EXPECTED.csv. Every row of up to ``--most-states``
states is searched in full and reduced, the smallest first, by compiled code without optimisation. Printed are the rows
on which the two differ in the verdict, the kinds of violations, the status of properties, or the rules that fire. With
``--formulas N``, N random formulas about each model are decided in full and reduced as well."""

from __future__ import annotations

import argparse
import csv
import sys
import time
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent))

from optimisation import compile_quickly
from random_formulas import formulas_about

from outcrop.api import load
from outcrop.errors import OutcropError
from outcrop.result import Result

Row = tuple[int, Path, dict[str, str], bool]


def rows_of(models: Path, most: int, least: int = 0) -> list[Row]:
    """Returns the size, the file, the constants and the use of symmetry of each row, the smallest first."""
    found: dict[tuple[Path, str, bool], Row] = {}
    for language in ("dve", "murphi", "promela"):
        with (models / language / "EXPECTED.csv").open(encoding="utf-8") as file:
            for row in csv.DictReader(file):
                path, constants = models / language / row["file"], row.get("constants") or ""
                if row["states"].isdigit() and least <= int(row["states"]) <= most and path.exists():
                    pairs = dict(each.split("=") for each in constants.split() if "=" in each)
                    symmetry = row.get("symmetry", "on") != "off"
                    found[path, constants, symmetry] = int(row["states"]), path, pairs, symmetry
    return sorted(found.values(), key=lambda each: (each[0], str(each[1])))


def seen(result: Result) -> dict[str, object]:
    """Returns what reduction preserves."""
    return {
        "verdict": str(result.verdict),
        "violations": sorted({(str(each.kind), str(each.property)) for each in result.violations}),
        "properties": [(each.name, each.status) for each in result.properties],
        "rules": [each.fired > 0 for each in result.coverage],
    }


def _formulas(path: Path, constants: dict[str, str], wanted: int, seed: int) -> list[str]:
    """Returns random formulas about a model."""

    def loads(formulas: list[str]) -> bool:
        try:
            load(path, constants=constants, ltl=formulas)
        except OutcropError:
            return False
        return True

    text = path.read_text(encoding="utf-8", errors="replace")
    return formulas_about(text, path.name, loads, Random(f"{seed} {path.name}"), wanted) if wanted else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=Path)
    parser.add_argument("--most-states", type=int, default=50_000)
    parser.add_argument("--least-states", type=int, default=0)
    parser.add_argument("--formulas", type=int, default=0, help="random formulas for each row")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--only", default="", help="words in the names of files, with commas")
    chosen = parser.parse_args()
    compile_quickly()
    begun = time.monotonic()
    compared = reduced = different = refused = formulas = 0
    states = [0, 0]
    largest = 0
    for size, path, constants, symmetry in rows_of(chosen.models, chosen.most_states, chosen.least_states):
        if not any(word in str(path) for word in chosen.only.split(",")):
            continue
        if time.monotonic() > begun + 60 * chosen.minutes:
            print(f"stopped before the rows of {size:,} states")
            break
        options = {"max_errors": None, "threads": 1, "device": "cpu", "symmetry": symmetry, "engine": "native"}
        try:
            model = load(path, constants=constants, ltl=_formulas(path, constants, chosen.formulas, chosen.seed))
            formulas += len(model.system.temporal)
            full, part = (model.check(reduce=each, **options) for each in ("off", "por"))
        except OutcropError as error:
            refused += 1
            print(f"{path.name} {constants}: refused: {str(error).splitlines()[0]}", flush=True)
            continue
        assert part.reduction is not None
        compared += 1
        reduced += not part.reduction.reason
        largest = max(largest, full.states or 0)
        states = [states[0] + (full.states or 0), states[1] + (part.states or 0)]
        if seen(full) != seen(part):
            different += 1
            print(f"{path.name} {constants}: {seen(full)} in full, {seen(part)} reduced", flush=True)
    print(
        f"{compared} rows compared, {reduced} of them reduced, {refused} refused, {different} different, {formulas} "
        f"formulas; at most {largest:,} states, {states[0]:,} in full and {states[1]:,} reduced in all"
    )
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())

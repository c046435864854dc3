"""Partial-order reduction: the states that are left, and the time per state, by turns with the full search in one run.

    python bench/reduction.py MODELS [--language dve|murphi|promela] [--most-states N] [--repeat N] [--only WORD,...]

MODELS is a directory with dve, murphi and promela, each with an EXPECTED.csv. Of each BEEM model the largest instance
up to N states is taken, of Promela all rows for which SPIN's states with and without reduction are known. All
violations are searched for. A model on which the two searches differ in what is violated is printed, and the exit code
is 1. The columns: states in full, reduced, and in percent, for Promela those of SPIN in percent; the share of states
that fired a part; microseconds of processor time per state in full and reduced, the least of N searches on one thread,
and their ratio, if the reduced search is long enough. Loading, analysis, compilation and traces do not count.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OUTCROP_ENGINE", "native")

from clock import Clock

from outcrop.api import load
from outcrop.errors import OutcropError
from outcrop.result import Result
from outcrop.search import auto

#: Reduced states from which on times are compared: a search takes a millisecond or two to begin and to end.
FEWEST_TIMED = 10_000


@dataclass(frozen=True)
class Row:
    path: Path
    constants: dict[str, str]
    states: int
    spin: float | None = None  #: states that SPIN's reduction leaves, as a share
    symmetry: bool = True

    @property
    def name(self) -> str:
        constants = " ".join(f"{name}={value}" for name, value in self.constants.items())
        return f"{self.path.parent.name}/{self.path.stem} {constants}".strip()


def rows_of(models: Path, language: str, most: int) -> Iterator[Row]:
    """Yields the models of a language that are small enough."""
    with (models / language / "EXPECTED.csv").open(encoding="utf-8") as file:
        rows = [each for each in csv.DictReader(file) if each["states"].isdigit() and int(each["states"]) <= most]
    if language == "dve":
        largest: dict[str, dict[str, str]] = {}
        for row in rows:
            name = row["file"].split("/")[0]
            is_larger = name not in largest or int(row["states"]) > int(largest[name]["states"])
            if "prop" not in row["file"] and row["complete"] == "yes" and is_larger:
                largest[name] = row
        rows = [largest[name] for name in sorted(largest)]
    for row in rows:
        spin = None
        if language == "promela":
            if row["complete"] != "yes" or not row["states_por"].isdigit() or int(row["states"]) < 10:
                continue
            spin = int(row["states_por"]) / int(row["states"])
        pairs = (each.split("=") for each in (row.get("constants") or "").split() if "=" in each)
        symmetry = row.get("symmetry", "on") != "off"
        yield Row(models / language / row["file"], dict(pairs), int(row["states"]), spin, symmetry)


def searched(row: Row, repeat: int, clock: Clock) -> dict[str, tuple[Result, float]]:
    """Returns the full and the reduced search of a model, each with its least time."""
    model = load(row.path, constants=row.constants)
    best: dict[str, tuple[Result, float]] = {}
    options: dict[str, Any] = {"max_errors": None, "threads": 1, "device": "cpu", "symmetry": row.symmetry}
    for _ in range(repeat):
        for reduce in ("off", "por"):
            found = model.check(reduce=reduce, **options)
            if reduce not in best or clock.seconds < best[reduce][1]:
                best[reduce] = found, clock.seconds
    return best


def violated(result: Result) -> set[tuple[str, str | None]]:
    return {(str(each.kind), each.property) for each in result.violations}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=Path)
    parser.add_argument("--language", choices=["dve", "murphi", "promela"], default="dve")
    parser.add_argument("--most-states", type=int, default=500_000)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--only", default="")
    chosen = parser.parse_args()
    clock = Clock(auto)
    left: list[float] = []
    spins: list[tuple[float, float]] = []
    times: list[float] = []
    differences = 0
    print("| model | states | reduced | % left | SPIN % | fired a part | µs a state | reduced | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    for row in rows_of(chosen.models, chosen.language, chosen.most_states):
        if chosen.only and not any(word in row.name for word in chosen.only.split(",")):
            continue
        try:
            found = searched(row, chosen.repeat, clock)
        except OutcropError as error:
            print(f"{row.name}: {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        (full, full_seconds), (reduced, reduced_seconds) = found["off"], found["por"]
        assert full.states and reduced.states and reduced.reduction is not None
        if violated(full) != violated(reduced):
            differences += 1
            print(f"{row.name}: {violated(full)} in full, {violated(reduced)} reduced", file=sys.stderr)
        share = reduced.states / full.states
        left.append(share)
        micro = [1e6 * full_seconds / full.states, 1e6 * reduced_seconds / reduced.states]
        ratio = ""
        if reduced.states >= FEWEST_TIMED:
            times.append(micro[1] / micro[0])
            ratio = f"{times[-1]:.2f}"
        is_comparable = row.spin is not None and full.states == row.states
        if is_comparable:
            spins.append((share, row.spin or 1))
        spin = f"{row.spin:.1%}" if row.spin is not None and is_comparable else ""
        part = reduced.reduction.reduced / max(1, reduced.reduction.states)
        print(
            f"| {row.name} | {full.states:,} | {reduced.states:,} | {share:.1%} | {spin} | {part:.0%} | "
            f"{micro[0]:.2f} | {micro[1]:.2f} | {ratio} |",
            flush=True,
        )
    print(f"\n{len(left)} models, geometric means: {mean(left):.1%} of the states, time per state {mean(times):.2f}")
    if spins:
        better = sum(ours <= theirs for ours, theirs in spins)
        ours, theirs = mean([each for each, _ in spins]), mean([each for _, each in spins])
        print(f"{len(spins)} with SPIN's counts: {ours:.1%}, SPIN {theirs:.1%}; no larger than SPIN's for {better}")
    return 1 if differences else 0


def mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else 1.0


if __name__ == "__main__":
    sys.exit(main())

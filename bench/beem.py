"""Checks the BEEM models, the smallest first: their numbers of states, the verdicts of their LTL properties by all
three searches, and the reachability of their goals.

    python bench/beem.py ../shared --minutes 10 --processes 8

Each check runs in its own process, with one thread. Prints what differs from BEEM, and how much was decided.

A goal is reachable if the invariant that it is never reached is violated. Some models define goals with macros.
Only "more than one process is in its critical section" is expanded here, and the others are left out.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outcrop.machine import available_cores
from outcrop.sweep.cell import Cell, run

SEARCHES: dict[str, dict[str, Any]] = {
    "owcty": {"strategy": "owcty"},
    "ndfs": {"strategy": "ndfs"},
    "owcty --compact": {"strategy": "owcty", "compact": True, "disk": "3G"},
}
#: Options of counts. Transitions that fail lead to a state too, and BEEM counts it.
COUNT = {"strategy": "ram", "max_errors": None}
#: Options of reachability. The search ends at the first violation, because explaining all of them can take longer.
GOAL = {"strategy": "auto"}
VERDICTS = {"reachable": "violated", "unreachable": "holds"}


@dataclass(frozen=True)
class Row:
    """BEEM's result for a model: a verdict, or its number of states. ``goal``: states to be reached."""

    file: str
    expected: str
    is_count: bool = False
    goal: str = ""

    @property
    def kind(self) -> str:
        return "states" if self.is_count else "reachability" if self.goal else "ltl"

    @property
    def searches(self) -> dict[str, dict[str, Any]]:
        return {"states": {"states": COUNT}, "reachability": {"reachability": GOAL}, "ltl": SEARCHES}[self.kind]

    def said(self, document: dict[str, Any]) -> str:
        if self.is_count and document["verdict"] != "unknown":
            return str(document["states"])
        if self.goal:
            return str(next(row["status"] for row in document["properties"] if row["name"] == never(self.goal)))
        return str(document["verdict"])


def never(goal: str) -> str:
    return f"not ({goal})"


def goals(directory: Path) -> Iterator[Row]:
    """Yields the reachability properties whose verdict is known."""
    atoms: dict[tuple[str, str], str] = {}
    for row in read(directory / "ATOMS.csv"):
        if row["has_m4_macros"] == "no" or "P_`'i.CS" in row["expression"]:
            atoms[row["model"], row["proposition"]] = row["expression"]
    formulas = {(row["model"], row["property"]): row["formula"] for row in read(directory / "FORMULAS.csv")}
    for row in read(directory / "PROPERTIES.csv"):
        if row["kind"] != "reachability" or row["verdict"] not in VERDICTS:
            continue
        model = row["file"].split("/")[0]
        words = re.findall(r"\w+|&&|\|\||!", formulas[model, row["property"]])
        meaning = [OPERATORS.get(word) or atoms.get((model, word)) for word in words]
        if None not in meaning:
            text = (directory / row["file"]).read_text(encoding="utf-8")
            critical = " + ".join(f"{name}.CS" for name in re.findall(r"^process (P_\d+)", text, re.MULTILINE))
            whole = " ".join(
                word if word in OPERATORS.values() else f"({critical}) > 1" if "`" in str(word) else f"({word})"
                for word in meaning
            )
            yield Row(row["file"], VERDICTS[row["verdict"]], goal=whole)


OPERATORS = {"&&": "and", "||": "or", "!": "not"}


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as table:
        return list(csv.DictReader(table))


def rows(directory: Path) -> list[Row]:
    counts = {row["file"]: row for row in read(directory / "EXPECTED.csv")}
    found = [Row(file, row["states"], is_count=True) for file, row in counts.items() if row["complete"] == "yes"]
    found += [
        Row(row["file"], row["verdict"])
        for row in read(directory / "PROPERTIES.csv")
        if row["kind"] == "ltl" and row["verdict"] != "unknown"
    ]
    found += goals(directory)

    def size(row: Row) -> tuple[int, str]:
        of_model = counts.get(re.sub(r"\.prop\d+", "", row.file))
        return int(of_model["states"] or 0) if of_model else sys.maxsize, row.file

    return sorted(found, key=size)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=Path, help="directory that contains models/dve")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--processes", type=int, default=available_cores())
    parser.add_argument("--seconds", type=float, default=60, help="time limit of each search (default: %(default)s)")
    parser.add_argument("--only", choices=("states", "ltl", "reachability"), help="run only one kind of check")
    parser.add_argument("--memory", default="3G", help="memory of each search (default: %(default)s)")
    chosen = parser.parse_args()
    directory = chosen.shared / "models" / "dve"
    end = time.monotonic() + 60 * chosen.minutes
    usual = {"threads": 1, "deadlock": "off", "memory": chosen.memory, "time_limit": chosen.seconds}
    told: Counter[str] = Counter()

    def attempt(row: Row) -> None:
        for name, options in row.searches.items():
            if time.monotonic() > end:
                told[f"{name}: no time"] += 1
                continue
            load = {"invariants": [never(row.goal)]} if row.goal else {}
            answer = run(Cell(str(directory / row.file), {}, load, {**usual, **options}))
            said = answer.verdict if answer.document is None else row.said(answer.document)
            outcome = "as BEEM" if said == row.expected else "unknown" if said == "unknown" else "different"
            told[f"{name}: {outcome}"] += 1
            if outcome == "different":
                print(f"{row.file}, {name}: {said}{answer.error}, BEEM has {row.expected}", flush=True)

    with ThreadPoolExecutor(chosen.processes) as pool:
        chosen_rows = [row for row in rows(directory) if chosen.only is None or row.kind == chosen.only]
        list(pool.map(attempt, chosen_rows))
    for name, count in sorted(told.items()):
        print(f"{name}: {count}")
    return 1 if any(name.endswith("different") for name in told) else 0


if __name__ == "__main__":
    sys.exit(main())

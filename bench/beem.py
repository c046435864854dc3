"""The BEEM models: state counts, and the verdicts of their LTL properties by all three searches, smallest models first.

    python bench/beem.py ../shared --minutes 10 --processes 8

Each check has a process of its own and one thread. Prints what differs from what BEEM says, and how much was decided.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
import time
from collections import Counter
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
#: Transitions that fail lead to a state as well, and BEEM counts it.
COUNT = {"strategy": "ram", "max_errors": None}


@dataclass(frozen=True)
class Row:
    """What BEEM says of a model: a verdict, or how many states it has."""

    file: str
    expected: str
    is_count: bool


def rows(directory: Path) -> list[Row]:
    with (directory / "EXPECTED.csv").open(encoding="utf-8") as table:
        counts = {row["file"]: row for row in csv.DictReader(table)}
    found = [Row(file, row["states"], True) for file, row in counts.items() if row["complete"] == "yes"]
    with (directory / "PROPERTIES.csv").open(encoding="utf-8") as table:
        found += [
            Row(row["file"], row["verdict"], False)
            for row in csv.DictReader(table)
            if row["kind"] == "ltl" and row["verdict"] != "unknown"
        ]

    def size(row: Row) -> tuple[int, str]:
        of_model = counts.get(re.sub(r"\.prop\d+", "", row.file))
        return int(of_model["states"] or 0) if of_model else sys.maxsize, row.file

    return sorted(found, key=size)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=Path, help="where models/dve lies")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--processes", type=int, default=available_cores())
    parser.add_argument("--seconds", type=float, default=60, help="for each search (default: %(default)s)")
    parser.add_argument("--memory", default="3G", help="for each search (default: %(default)s)")
    chosen = parser.parse_args()
    directory = chosen.shared / "models" / "dve"
    end = time.monotonic() + 60 * chosen.minutes
    usual = {"threads": 1, "deadlock": "off", "memory": chosen.memory, "time_limit": chosen.seconds}
    told: Counter[str] = Counter()

    def attempt(row: Row) -> None:
        for name, options in ({"states": COUNT} if row.is_count else SEARCHES).items():
            if time.monotonic() > end:
                told[f"{name}: no time"] += 1
                continue
            answer = run(Cell(str(directory / row.file), {}, check={**usual, **options}))
            said = str(answer.figure("states")) if row.is_count and answer.verdict != "unknown" else answer.verdict
            outcome = "as BEEM" if said == row.expected else "unknown" if said == "unknown" else "different"
            told[f"{name}: {outcome}"] += 1
            if outcome == "different":
                print(f"{row.file}, {name}: {said}{answer.error}, BEEM has {row.expected}", flush=True)

    with ThreadPoolExecutor(chosen.processes) as pool:
        list(pool.map(attempt, rows(directory)))
    for name, count in sorted(told.items()):
        print(f"{name}: {count}")
    return 1 if any(name.endswith("different") for name in told) else 0


if __name__ == "__main__":
    sys.exit(main())

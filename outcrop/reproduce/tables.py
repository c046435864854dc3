"""The published tables, read from the files under data/: their figures, and the experiments for ours."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from outcrop.errors import UsageError

_DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Entry:
    """A row: a model with constants, and the figures of the paper by measure and column."""

    name: str
    figures: dict[str, list[str]]
    model: str = ""  #: path below the directory of Murphi models
    constants: dict[str, Any] | None = None
    reason: str = ""  #: reason why it cannot be reproduced
    note: str = ""
    states: int = 0  #: approximate number, to run small models first
    bits: int = 0


@dataclass(frozen=True)
class Table:
    """A table. ``experiment`` names a function in experiments.py; ``settings`` are its arguments."""

    name: str  #: such as 000/table8
    paper: str
    title: str
    experiment: str
    entries: tuple[Entry, ...]
    columns: tuple[str, ...]  #: empty if each measure has one figure
    chart: str  #: the figure of the paper that shows it
    settings: dict[str, Any]

    @property
    def can_run(self) -> int:
        """Number of rows that can be reproduced."""
        return 0 if self.experiment == "none" else sum(not entry.reason for entry in self.entries)

    def only(self, names: Iterable[str]) -> Table:
        """Returns the table with only the given rows: each name is that of a row, or the beginning of some. Raises
        UsageError for a name without a row."""
        chosen: set[str] = set()
        known = [entry.name for entry in self.entries]
        for name in names:
            found = [name] if name in known else [each for each in known if each.startswith(name)]
            if not found:
                rows = ", ".join(f"'{each}'" for each in known)
                raise UsageError(f"{self.name} has no row that begins with '{name}'; its rows are {rows}")
            chosen.update(found)
        return replace(self, entries=tuple(entry for entry in self.entries if entry.name in chosen))


@cache
def tables() -> dict[str, Table]:
    """Returns all tables by name."""
    found: dict[str, Table] = {}
    for path in sorted(_DATA.glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        for name, table in document["tables"].items():
            found[f"{path.stem}/{name}"] = _table(f"{path.stem}/{name}", document["paper"], table)
    return found


def table(name: str) -> Table:
    known = tables()
    if name not in known:
        guesses = difflib.get_close_matches(name, known, 1)
        hint = f"; did you mean '{guesses[0]}'?" if guesses else ""
        raise UsageError(f"there is no table '{name}'{hint or '; `outcrop reproduce` lists all tables'}")
    return known[name]


def _table(name: str, paper: str, raw: dict[str, Any]) -> Table:
    known = ("title", "experiment", "rows", "columns", "chart")
    return Table(
        name=name,
        paper=paper,
        title=raw["title"],
        experiment=raw["experiment"],
        entries=tuple(_entry(row) for row in raw["rows"]),
        columns=tuple(raw.get("columns", ())),
        chart=raw.get("chart", ""),
        settings={key: value for key, value in raw.items() if key not in known},
    )


def _entry(row: dict[str, Any]) -> Entry:
    states = row.get("expected_states") or _states(row["name"])
    own = ("name", "figures", "model", "constants", "reason", "note", "bits")
    return Entry(states=states, **{key: row[key] for key in own if key in row})


@cache
def _sizes() -> dict[str, int]:
    """Returns the numbers of states of the models in Tables 3 and 4 of the 2004 paper."""
    document = json.loads((_DATA / "000.json").read_text(encoding="utf-8"))
    rows = [row for name in ("table3", "table4") for row in document["tables"][name]["rows"]]
    return {row["name"]: int(row["figures"]["states"][0]) for row in rows}


def _states(name: str) -> int:
    return _sizes().get(name, 0)

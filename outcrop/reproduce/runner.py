"""Runs checks for a table within a time budget, and gives the reason if one cannot be run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from outcrop.errors import UsageError
from outcrop.reproduce.results import Results
from outcrop.reproduce.tables import Entry
from outcrop.sweep.cell import Answer, Cell, run

#: Shortest time limit of a check in seconds, so that a small rest of a budget does not make everything fail.
_LEAST_SECONDS = 2.0


class NotRun(Exception):
    """Raised with the reason why a figure is not available."""


@dataclass
class Runner:
    """Runs checks within a budget. ``say`` receives lines of progress. Each row may take half of the time that is
    left."""

    models: Path  #: directory of Murphi models
    deadline: float  #: on the clock of time.monotonic
    threads: int | None
    say: Callable[[str], None]
    results: Results = field(default_factory=Results)
    rows_left: int = 1
    notes: list[str] = field(default_factory=list)
    #: Figures from other methods, by the name of the method and by row.
    others: dict[str, dict[str, dict[str, list[str]]]] = field(default_factory=dict)
    #: Values of each measure over many models, for tables of ranges.
    population: dict[str, list[float]] | None = None
    _row_ends: float = 0.0

    def begin_row(self) -> None:
        """Begins a row. Rows come in order of size, since time that a small one is denied would hardly help a large
        one."""
        left = max(0.0, self.deadline - time.monotonic())
        self._row_ends = time.monotonic() + left / max(1, min(2, self.rows_left))
        self.rows_left -= 1

    def seconds_left(self) -> float:
        """Returns the time that is left of the row's share."""
        return self._row_ends - time.monotonic()

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def path(self, entry: Entry) -> Path:
        path = self.models / entry.model
        if not path.is_file():
            raise NotRun(f"there is no file {path}")
        return path

    def check(self, entry: Entry, what: str, **options: Any) -> Answer:
        """Checks the model of a row, unless an earlier result is known. Raises NotRun if no time is left, or if the
        check fails."""
        chosen = {"deadlock": "off", "max_errors": None, "threads": self.threads, **options}
        constants = {name: str(value) for name, value in (entry.constants or {}).items()}
        cell = Cell(str(self.path(entry)), constants, check=chosen)
        known = self.results.find(cell)
        if known is not None:
            return known
        limit = self.seconds_left()
        if limit < _LEAST_SECONDS and time.monotonic() > self.deadline - _LEAST_SECONDS:
            raise NotRun("the budget is used up")
        limit = max(_LEAST_SECONDS, limit)
        self.say(f"{entry.name}: {what}, at most {limit:.0f} s ...")
        answer = run(replace(cell, check={"time_limit": limit, **chosen}))
        if answer.document is None:
            raise NotRun(answer.error)
        if answer.document["kind"] == "interrupted":
            raise KeyboardInterrupt
        self.results.add(cell, answer)
        return answer


def murphi_models(directory: str) -> Path:
    """Returns the directory of Murphi models in a given directory: itself, or a part of it."""
    base = Path(directory)
    for candidate in (base / "models" / "murphi", base / "murphi", base):
        if (candidate / "mux").is_dir() or (candidate / "others").is_dir():
            return candidate
    raise UsageError(f"'{directory}' has no Murphi models; it, or its folder murphi/, must contain mux/ or others/")

"""Runs checks for a table within a budget of time, and says why where it cannot."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from outcrop.errors import UsageError
from outcrop.reproduce.tables import Entry
from outcrop.sweep.cell import Answer, Cell, run

#: The least that a check gets, so that a small rest of a budget does not make everything fail.
_LEAST_SECONDS = 2.0


class NotRun(Exception):
    """A figure cannot be had; the text says why."""


@dataclass
class Runner:
    """``say`` takes a line of progress. Each row may take half of the time that is left."""

    models: Path  #: of Murphi models
    deadline: float  #: as time.monotonic has it
    threads: int | None
    say: Callable[[str], None]
    rows_left: int = 1
    notes: list[str] = field(default_factory=list)
    #: Figures that were got in other ways: by what the way is called and by the row.
    others: dict[str, dict[str, dict[str, list[str]]]] = field(default_factory=dict)
    #: Values of each measure over many models, for tables of ranges.
    population: dict[str, list[float]] | None = None
    _row_ends: float = 0.0

    def begin_row(self) -> None:
        """Rows come in the order of their size: what a small one is denied would hardly help a large one."""
        left = max(0.0, self.deadline - time.monotonic())
        self._row_ends = time.monotonic() + left / max(1, min(2, self.rows_left))
        self.rows_left -= 1

    def seconds_left(self) -> float:
        """Of the row's share."""
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
        """Checks a row's model. Raises NotRun when there is no time left, or nothing comes of it."""
        limit = self.seconds_left()
        if limit < _LEAST_SECONDS and time.monotonic() > self.deadline - _LEAST_SECONDS:
            raise NotRun("the budget is used up")
        limit = max(_LEAST_SECONDS, limit)
        self.say(f"{entry.name}: {what}, at most {limit:.0f} s ...")
        chosen = {"deadlock": "off", "max_errors": None, "threads": self.threads, "time_limit": limit, **options}
        constants = {name: str(value) for name, value in (entry.constants or {}).items()}
        answer = run(Cell(str(self.path(entry)), constants, check=chosen))
        if answer.document is None:
            raise NotRun(answer.error)
        if answer.document["kind"] == "interrupted":
            raise KeyboardInterrupt
        return answer


def murphi_models(directory: str) -> Path:
    """The directory of Murphi models in one that was given: itself, or a part of it."""
    base = Path(directory)
    for candidate in (base / "models" / "murphi", base / "murphi", base):
        if (candidate / "mux").is_dir() or (candidate / "others").is_dir():
            return candidate
    raise UsageError(f"'{directory}' has no Murphi models: neither mux/ nor others/, in it or in its murphi/")

"""Finished searches in a file, so that a table can be completed in several calls and tables can share searches."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import outcrop
from outcrop.errors import UsageError
from outcrop.outcome import Stop
from outcrop.sweep.cell import Answer, Cell


class Results:
    """Finished searches in a file of JSON Lines. A search is identified by the version of Outcrop, the text of the
    model, its constants and all options but the time limit. Without a path nothing is kept."""

    def __init__(self, path: str | Path | None = None) -> None:
        self._path = None if path is None else Path(path)
        self._known: dict[str, dict[str, Any]] = {}
        self.used = 0  #: number of searches whose result came from the file
        if self._path is not None:
            self._read(self._path)

    def find(self, cell: Cell) -> Answer | None:
        """Returns the result of a search, or None if the file does not have it."""
        found = self._known.get(_identity(cell)) if self._path else None
        if found is None:
            return None
        self.used += 1
        return Answer(found)

    def add(self, cell: Cell, answer: Answer) -> None:
        """Appends a finished search. Searches that ended for lack of time, memory or disk might end otherwise the next
        time, and are not kept."""
        document = answer.document
        if self._path is None or document is None:
            return
        if document["verdict"] == "unknown" and document["kind"] not in (Stop.COLLISIONS, Stop.REDUNDANT):
            return
        identity = _identity(cell)
        self._known[identity] = document
        line = json.dumps({"search": json.loads(identity), "document": document}, ensure_ascii=False)
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError as error:
            raise _cannot("written", self._path, error) from None

    def _read(self, path: Path) -> None:
        """Reads the file, or creates it. The last line may be cut off, if the process was killed while writing it."""
        try:
            with path.open("a+", encoding="utf-8") as file:
                file.seek(0)
                text = file.read()
                if text and not text.endswith("\n"):
                    file.write("\n")
        except (OSError, ValueError) as error:
            raise _cannot("read", path, error) from None
        lines = text.splitlines()
        for number, line in enumerate(lines, 1):
            try:
                entry = json.loads(line)
                self._known[_text(entry["search"])] = entry["document"]
            except (ValueError, KeyError, TypeError):
                if line and number < len(lines):
                    raise UsageError(
                        f"line {number} of '{path}' is not the result of a search; name a file that "
                        "`outcrop reproduce --results` wrote, or a new one"
                    ) from None


def _identity(cell: Cell) -> str:
    options = {name: value for name, value in cell.check.items() if name != "time_limit"}
    model = hashlib.sha256(Path(cell.model).read_bytes()).hexdigest()
    return _text(
        {
            "outcrop": outcrop.__version__,
            "model": Path(cell.model).name,
            "sha256": model,
            "constants": cell.constants,
            "options": options,
        }
    )


def _text(search: dict[str, Any]) -> str:
    return json.dumps(search, sort_keys=True, ensure_ascii=False)


def _cannot(what: str, path: Path, error: Exception) -> UsageError:
    reason = error.strerror if isinstance(error, OSError) else error
    return UsageError(f"the results in '{path}' cannot be {what}: {reason}; name another file with --results")

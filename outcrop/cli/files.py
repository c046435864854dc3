"""Writing the files that a verb was asked for."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from outcrop.errors import UsageError


def keep_apart(read: Iterable[str | Path | None], written: Iterable[str | Path | None]) -> None:
    """Refuses to write to a file that is read, or to one twice."""
    taken = {_identity(path): "is read, and would be overwritten" for path in read if path}
    for path in written:
        place = _identity(path) if path else None
        if not path or (isinstance(place, tuple) and not Path(path).is_file()):
            continue  # a terminal, say
        if place in taken:
            raise UsageError(f"'{path}' {taken[place]}")
        taken[place] = "would be written twice"


def _identity(path: str | Path) -> object:
    try:
        status = Path(path).stat()
        return status.st_dev, status.st_ino
    except OSError:
        return Path(path).resolve()
    except ValueError:  # no name that a file can have, which whoever opens it says
        return path


def write(path: str | Path, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(f"cannot write '{path}': {error.strerror}") from None


def dump(document: dict[str, Any]) -> str:
    """JSON with one first-level key a line."""
    rows = [f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in document.items()]
    return "{\n" + ",\n".join(rows) + "\n}\n"

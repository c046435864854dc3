"""Writing the files that a verb was asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from outcrop.errors import UsageError


def write(path: str | Path, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(f"cannot write '{path}': {error.strerror}") from None


def dump(document: dict[str, Any]) -> str:
    """JSON with one first-level key a line."""
    rows = [f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in document.items()]
    return "{\n" + ",\n".join(rows) + "\n}\n"

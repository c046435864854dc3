"""Results that were saved as JSON documents."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from outcrop.errors import UsageError
from outcrop.report.page import check_document, page


class SavedResult:
    """A result that was saved: the keys of its JSON document are its attributes."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self.document:
            raise AttributeError(f"the saved result has no '{name}'")
        return self.document[name]

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes the HTML report."""
        Path(path).write_text(page(self.document), encoding="utf-8")

    def __repr__(self) -> str:
        return f"<SavedResult {self.document['verdict']}: {self.document['model']}, {self.document['date']}>"


def load_result(path: str | os.PathLike[str]) -> SavedResult:
    """Reads what ``Result.save`` or ``--json`` wrote. Raises UsageError for any other document."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read the result '{os.fspath(path)}': {error}") from None
    check_document(document)
    return SavedResult(document)

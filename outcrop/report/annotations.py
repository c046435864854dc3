"""Messages in the form that GitHub Actions shows as annotations of source lines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from outcrop.source import Diagnostic, Severity

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def wanted(environment: Mapping[str, str] = os.environ) -> bool:
    """Returns whether this process runs in GitHub Actions."""
    return environment.get("GITHUB_ACTIONS") == "true"


def of_diagnostics(diagnostics: Iterable[Diagnostic]) -> list[str]:
    """Returns one annotation for each diagnostic of a model."""
    lines = []
    for each in diagnostics:
        place = None
        if each.span is not None:
            place = {"file": each.span.source.name, "line": each.span.line, "column": each.span.column}
        hint = f"\nhint: {each.hint}" if each.hint else ""
        lines.append(_line(_COMMANDS[each.severity], each.message + hint, place))
    return lines


def of_document(document: dict[str, Any]) -> list[str]:
    """Returns one annotation for each violation and note of a check, and one if its verdict is unknown."""
    model = {"file": document["model"]}
    lines = [
        _line(_COMMANDS[Severity(note["severity"])], note["message"], note["position"] or model)
        for note in document["notes"]
    ]
    for violation in document["violations"]:
        parts = [violation["message"], *(f"false: {part}" for part in violation["because"])]
        if violation["trace"]:
            steps = len(violation["trace"]["states"]) - 1
            parts.append(f"after {steps:,} step{'' if steps == 1 else 's'} from a start state")
        place = violation["position"] or model
        # A formula of the command line is in no file.
        lines.append(_line("error", "\n".join(parts), model if place["file"].startswith("--") else place))
    if document["verdict"] == "unknown":
        lines.append(_line("warning", f"unknown: {document.get('reason') or document['kind']}", model))
    return lines


def _line(command: str, message: str, place: Mapping[str, Any] | None) -> str:
    properties = {"title": "outcrop"}
    if place is not None:
        properties = {"file": _from_workspace(place["file"]), **properties}
        if "line" in place:
            properties |= {"line": str(place["line"]), "col": str(place["column"])}
    shown = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in properties.items())
    return f"::{command} {shown}::{_escaped(message)}"


def _escaped(text: str, more: str = "") -> str:
    """Escapes a text. ``more`` holds further characters that would end the value of a property."""
    return "".join(f"%{ord(each):02X}" if each in "%\r\n" + more else each for each in text)


def _from_workspace(path: str) -> str:
    """Returns a path relative to the top of the repository, as GitHub expects it."""
    top = os.environ.get("GITHUB_WORKSPACE")
    whole = os.path.abspath(path)  # noqa: PTH100 - links are not followed, to keep the path that the user wrote
    if top and whole.startswith(os.path.join(top, "")):  # noqa: PTH118
        return os.path.relpath(whole, top)
    return path

"""Messages in the form that GitHub Actions turns into annotations of the lines they speak of."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from outcrop.source import Diagnostic, Severity

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def wanted(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this process runs there."""
    return environment.get("GITHUB_ACTIONS") == "true"


def of_diagnostics(diagnostics: Iterable[Diagnostic]) -> list[str]:
    """One line for each message about a model."""
    lines = []
    for each in diagnostics:
        place = None
        if each.span is not None:
            place = {"file": each.span.source.name, "line": each.span.line, "column": each.span.column}
        hint = f"\nhint: {each.hint}" if each.hint else ""
        lines.append(_line(_COMMANDS[each.severity], each.message + hint, place))
    return lines


def of_document(document: dict[str, Any]) -> list[str]:
    """One line for each violation and note of a check, and one when it is undecided."""
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
        # A formula of the command line stands in no file.
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
    """``more``: what would end the value of a property."""
    return "".join(f"%{ord(each):02X}" if each in "%\r\n" + more else each for each in text)


def _from_workspace(path: str) -> str:
    """Paths there count from the top of the repository, which need not be where we run."""
    top = os.environ.get("GITHUB_WORKSPACE")
    whole = os.path.abspath(path)  # noqa: PTH100 - as the user wrote it: links are not followed
    if top and whole.startswith(os.path.join(top, "")):  # noqa: PTH118
        return os.path.relpath(whole, top)
    return path

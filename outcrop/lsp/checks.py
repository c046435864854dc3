"""Checks that an editor asks for. Each runs in a process of its own, within a time limit, and can be cancelled."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsprotocol import types

from outcrop.lsp.texts import Text

#: Time for compilation and reports on top of the search, in seconds.
_EXTRA_SECONDS = 120


@dataclass
class Verdict:
    """The result of the last check of a text."""

    text: str  #: the text that was checked
    document: Mapping[str, Any] = field(default_factory=dict)
    diagnostics: list[types.Diagnostic] = field(default_factory=list)
    fired: dict[int, int] = field(default_factory=dict)  #: how often the rules of a line have fired
    status: dict[int, str] = field(default_factory=dict)  #: the verdict on the property of a line


async def run(arguments: Sequence[str], seconds: float) -> tuple[int, str, str]:
    """Runs Outcrop; returns its exit code, output and messages. The process ends with the caller."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", *arguments),  # -P: no module of the workspace takes the place of ours
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "NO_COLOR": "1", "GITHUB_ACTIONS": ""},
    )
    try:
        output, messages = await asyncio.wait_for(process.communicate(), seconds)
    except TimeoutError:
        return 3, "", f"no answer after {seconds:.0f} seconds"
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return process.returncode or 0, output.decode(errors="replace"), messages.decode(errors="replace")


class Copy:
    """The text of the editor as a file: the file itself, or a copy if the user has not saved the text."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Path:
        path = self._text.path
        with suppress(OSError, ValueError):
            if path.read_bytes() == self._text.source.text.encode():
                return path
        self._folder = tempfile.TemporaryDirectory(prefix="outcrop-")
        copy = Path(self._folder.name) / path.name
        copy.write_bytes(self._text.source.text.encode())
        formulas = path.with_suffix(".ltl")
        with suppress(OSError):
            copy.with_suffix(".ltl").write_bytes(formulas.read_bytes())
        return copy

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()


async def check(text: Text, part: str, limit: str, seconds: float, report: Path | None) -> Verdict:
    """Checks a text, or the model ``part`` in it."""
    with Copy(text) as path:
        model = f"{path}:{part}" if part else str(path)
        extra = ["--report", str(report)] if report is not None else []
        words = ["outcrop", "check", model, "--json", "-q", "--coverage", "--time-limit", limit, *extra]
        code, output, messages = await run(words, seconds + _EXTRA_SECONDS)
    return _verdict(text, code, output, messages)


async def simulate(text: Text, part: str, limit: str, seconds: float) -> dict[str, Any]:
    """Takes random walks through a model."""
    with Copy(text) as path:
        model = f"{path}:{part}" if part else str(path)
        words = ["outcrop", "simulate", model, "--json", "--time-limit", limit]
        code, output, messages = await run(words, seconds + _EXTRA_SECONDS)
    document = _document(output)
    if document is None:
        return {"verdict": "error" if code == 2 else "unknown", "message": messages.strip()}
    steps = f"{document.get('walks', 0):,} walks, {document.get('steps', 0):,} steps"
    found = "violation found" if document["verdict"] == "violated" else "no violation found, which proves nothing"
    message = f"{found}: {document['kind']} ({steps})" if document["verdict"] == "violated" else f"{found} ({steps})"
    return {"verdict": document["verdict"], "message": message, "document": document}


async def why(text: Text, line: int, limit: str, seconds: float) -> dict[str, Any]:
    """Asks why the rule on a line, counted from 1, is never enabled."""
    with Copy(text) as path:
        code, output, messages = await run(["outcrop.lsp.why", str(path), str(line), limit], seconds + _EXTRA_SECONDS)
    document = _document(output)
    if document is None:
        return {"message": messages.strip() or f"no answer (exit code {code})"}
    return dict(document)


def _document(output: str) -> Mapping[str, Any] | None:
    try:
        found = json.loads(output)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _verdict(text: Text, code: int, output: str, messages: str) -> Verdict:
    document = _document(output)
    if document is None:
        verdict = "error" if code == 2 else "unknown"
        return Verdict(text.source.text, {"verdict": verdict, "kind": "", "message": messages.strip()})
    made = Verdict(text.source.text, document)
    error, information = types.DiagnosticSeverity.Error, types.DiagnosticSeverity.Information
    for each in document["violations"]:
        line = (each["position"] or {}).get("line", 1)
        steps = max(len((each["trace"] or {}).get("states", ())) - 1, 0)
        message = f"{each['message']} (trace of {steps} step{'s' * (steps != 1)})"
        made.diagnostics.append(
            types.Diagnostic(text.line_range(line), message, severity=error, source="outcrop check")
        )
    for each in document["properties"]:
        if each["position"] is not None:
            made.status[each["position"]["line"]] = each["status"]
    for each in document["coverage"]:
        line = each["position"]["line"]
        made.fired[line] = made.fired.get(line, 0) + each["fired"]
        if each["fired"] == 0 and not each["subsumed"] and document["verdict"] == "holds":
            message = f"rule '{each['name']}' never fires"
            made.diagnostics.append(
                types.Diagnostic(text.line_range(line), message, severity=information, source="outcrop check")
            )
    return made


def summary(verdict: Verdict) -> str:
    """Returns the result of a check in a line."""
    document = verdict.document
    if "states" not in document:
        return str(document.get("message", ""))
    kind = f" ({document['kind']})" if document["kind"] else ""
    count = document["states"] if document["states"] is not None else document["states_visited"]
    states = f"{count or 0:,} state{'s' * (count != 1)}"
    return f"{document['verdict']}{kind}: {states}, {document['seconds']:.1f} s"

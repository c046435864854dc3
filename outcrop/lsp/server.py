"""The language server: features of the protocol, answered by the modules beside this one.

A change of a text is answered with diagnostics after a pause, so that many changes at once cost one analysis. Checks
run in processes of their own. A text whose check would execute it (a program) is only analysed without executing it;
its front-end runs when the user saves the file.
"""

from __future__ import annotations

import asyncio
import gc
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from outcrop import __version__
from outcrop.lang.editing import Kind
from outcrop.lsp import answers, checks
from outcrop.lsp.texts import Text
from outcrop.units import parse_duration

#: Pause after a change before the text is analysed, in seconds.
_PAUSE = 0.05
#: Pause after which garbage is collected, in seconds, and the largest number of analyses without a collection. Garbage
#: collection would take 90 ms in the middle of an analysis of 40 ms (bench/RESULTS.md).
_IDLE, _MOST_UNCOLLECTED = 1.0, 20
#: Time for the front-end of a program, in seconds.
_DIAGNOSE_SECONDS = 30

_Answer = TypeVar("_Answer")


class Server(LanguageServer):
    """The state of the server: the texts that are open, and the verdicts on them."""

    def __init__(self, limit: str) -> None:
        super().__init__("outcrop", __version__)
        self.limit = limit
        self.seconds = parse_duration(limit)
        self.verdicts: dict[str, checks.Verdict] = {}
        self.reports: tempfile.TemporaryDirectory[str] | None = None
        self._texts: dict[str, Text] = {}
        self._pauses: dict[str, asyncio.TimerHandle] = {}
        self._executed: dict[str, list[types.Diagnostic]] = {}
        self.tasks: set[asyncio.Task[None]] = set()
        self._collection: asyncio.TimerHandle | None = None
        self._uncollected = 0

    # --- Texts -----------------------------------------------------------------------------------------------

    def text(self, uri: str) -> Text:
        """Returns the present version of a text."""
        document = self.workspace.get_text_document(uri)
        known = self._texts.get(uri)
        version = document.version or 0
        if known is None or known.version != version or known.source.text is not document.source:
            encoding = self.workspace.position_encoding or types.PositionEncodingKind.Utf16
            known = self._texts[uri] = Text(uri, document.source, version, encoding)
        return known

    def answer(self, uri: str, find: Callable[[Text], _Answer]) -> _Answer | None:
        text = self.text(uri)
        return None if text.services is None else find(text)

    def close(self, uri: str) -> None:
        for known in (self._texts, self.verdicts, self._executed):
            known.pop(uri, None)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    # --- Diagnostics -----------------------------------------------------------------------------------------

    def changed(self, uri: str) -> None:
        """Analyses a text after a pause without changes."""
        pause = self._pauses.pop(uri, None)
        if pause is not None:
            pause.cancel()
        self._pauses[uri] = asyncio.get_running_loop().call_later(_PAUSE, self.publish, uri)

    def publish(self, uri: str) -> None:
        """Sends the diagnostics of a text: mistakes, and what the last check of this very text has found."""
        text = self.text(uri)
        found = [answers.diagnostic(text, each) for each in text.diagnostics]
        verdict = self.verdicts.get(uri)
        if verdict is not None and verdict.text == text.source.text:
            found += verdict.diagnostics
        found += self._executed.get(uri, []) if not found else []
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, text.version))

        self._collect_later()

    def _collect_later(self) -> None:
        """Postpones garbage collection until the user pauses."""
        gc.disable()
        self._uncollected += 1
        if self._collection is not None:
            self._collection.cancel()
        delay = _IDLE if self._uncollected < _MOST_UNCOLLECTED else 0.0
        self._collection = asyncio.get_running_loop().call_later(delay, self._collect)

    def _collect(self) -> None:
        self._uncollected = 0
        gc.collect()

    async def execute_saved(self, uri: str) -> None:
        """Runs the front-end of a program, in a process of its own."""
        text = self.text(uri)
        if text.services is None or not text.services.executes or not text.index.declarations:
            return
        code, output, _ = await checks.run(["outcrop.lsp.diagnose", str(text.path)], _DIAGNOSE_SECONDS)
        found = json.loads(output) if code == 0 else []
        self._executed[uri] = [
            types.Diagnostic(
                text.range(each["start"], each["end"]),
                each["message"],
                severity=types.DiagnosticSeverity(each["severity"]),
                source="outcrop",
            )
            for each in found
        ]
        self.publish(uri)

    # --- Commands --------------------------------------------------------------------------------------------

    async def check(self, uri: str, part: str = "", with_report: bool = False) -> dict[str, Any]:
        text = self.text(uri)
        report = self._report_file(text) if with_report else None
        verdict = await checks.check(text, part, self.limit, self.seconds, report)
        self.verdicts[uri] = verdict
        self.publish(uri)
        self._refresh_lenses()
        shown = report if report is not None and report.exists() else None
        return {
            "verdict": verdict.document["verdict"],
            "kind": verdict.document.get("kind", ""),
            "message": checks.summary(verdict),
            "report": None if shown is None else str(shown),
            "result": dict(verdict.document),
        }

    def _report_file(self, text: Text) -> Path:
        if self.reports is None:
            self.reports = tempfile.TemporaryDirectory(prefix="outcrop-reports-")
        return Path(self.reports.name) / f"{text.path.stem}.html"

    def _refresh_lenses(self) -> None:
        workspace = self.client_capabilities.workspace
        if workspace is not None and workspace.code_lens is not None and workspace.code_lens.refresh_support:
            self.workspace_code_lens_refresh(None)


def lenses(server: Server, text: Text) -> list[types.CodeLens]:
    """Returns the lenses of a text: its commands at the top, verdicts and counts where a check has found them."""
    found: list[types.CodeLens] = []

    def add(line: int, title: str, command: str = "", *arguments: object) -> None:
        place = types.Range(types.Position(line - 1, 0), types.Position(line - 1, 0))
        found.append(types.CodeLens(place, types.Command(title, command, arguments=list(arguments) or None)))

    verdict = server.verdicts.get(text.uri)
    current = verdict if verdict is not None and verdict.text == text.source.text else None
    models = [(1, "")]
    if text.services is not None and text.services.executes:
        models = [(each.span.line, each.name) for each in text.index.declarations if each.kind is Kind.PROCESS]
    for line, part in models:
        add(line, "check", "outcrop.check", text.uri, part)
        add(line, "simulate", "outcrop.simulate", text.uri, part)
        if current is not None:
            add(line, checks.summary(current).partition("\n")[0])
    if current is None:
        return found
    for line, count in sorted(current.fired.items()):
        if count:
            add(line, f"fired {count:,} times" if count > 1 else "fired once")
        else:
            add(line, f"{silence(current)}: why is this rule never enabled?", "outcrop.why", text.uri, line)
    for line, status in sorted(current.status.items()):
        add(line, status)
    return found


def silence(verdict: checks.Verdict) -> str:
    """Returns what a check says of a rule without steps. Only a complete search can say "never"."""
    return "never fired" if verdict.document["verdict"] == "holds" else "not fired before the search stopped"


def code_actions(text: Text, place: types.Range) -> list[types.CodeAction]:
    """Returns the question about the rule around a position."""
    offset = text.offset(place.start)
    rules = [each for each in answers.titled(text, Kind.RULE) if each.extent.start <= offset <= each.extent.end]
    return [
        types.CodeAction(
            f"Why is rule '{each.name}' never enabled?",
            command=types.Command("why", "outcrop.why", arguments=[text.uri, each.extent.line]),
        )
        for each in rules[-1:]
    ]


def require(made: types.WorkspaceEdit | str) -> types.WorkspaceEdit:
    """Returns the edits of a renaming, or raises the error that tells the user why there are none."""
    if isinstance(made, str):
        raise JsonRpcInvalidParams(made)
    return made

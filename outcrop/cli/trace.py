"""``outcrop trace``: draws the trace of a violation as a message chart."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from outcrop.cli.files import keep_apart, write
from outcrop.cli.output import chart_width, emit
from outcrop.cli.report import read_document
from outcrop.errors import UsageError
from outcrop.report.chart_mermaid import chart_mermaid
from outcrop.report.chart_svg import chart_svg
from outcrop.report.chart_text import chart_text
from outcrop.report.page import check_document, page
from outcrop.trace.chart import chart

_SUFFIXES = {".svg": "svg", ".mmd": "mermaid", ".html": "html", ".htm": "html", ".txt": "text"}


def run(arguments: argparse.Namespace) -> int:
    """Draws the chart that was asked for; prints it, or writes it to a file."""
    keep_apart((arguments.result,), (arguments.output,))
    document = read_document(arguments.result)
    check_document(document)
    violation = _violation(document, arguments.violation)
    text = _text(arguments, document, violation)
    if arguments.output:
        write(arguments.output, text)
    else:
        emit(text)
    return 0


def _violation(document: dict[str, Any], number: int) -> dict[str, Any]:
    """Returns the violation with a number, counted from 1. Raises UsageError if it has no trace."""
    found = document["violations"]
    if not found:
        raise UsageError(f"'{document['model']}' has no violation in this document, and so no trace to draw")
    if not 1 <= number <= len(found):
        raise UsageError(f"there is no violation {number}; the document has {len(found):,}")
    violation: dict[str, Any] = found[number - 1]
    if not violation.get("trace") or not violation["trace"].get("states"):
        raise UsageError(f"violation {number} has no trace in this document; check again without --trace off")
    return violation


def _format_of(output: str | None) -> str:
    """Returns the format that the suffix of a file names. Raises UsageError for an unknown suffix."""
    suffix = Path(output or "").suffix.lower()
    if suffix and suffix not in _SUFFIXES:
        raise UsageError(f"'{output}' has an unknown suffix; use one of {', '.join(_SUFFIXES)}, or give --format")
    return _SUFFIXES.get(suffix, "text")


def _text(arguments: argparse.Namespace, document: dict[str, Any], violation: dict[str, Any]) -> str:
    layout = arguments.format or _format_of(arguments.output)
    drawn = chart(document, violation, arguments.lanes, arguments.message)
    match layout:
        case "mermaid":
            return chart_mermaid(drawn)
        case "svg":
            return chart_svg(drawn)
        case "html":
            alone = {**document, "violations": [violation], "faults": []}
            return page(alone, arguments.lanes, arguments.message)
    return chart_text(drawn, chart_width())

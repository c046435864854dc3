"""Explanations for models without a start state."""

from __future__ import annotations

import re

from outcrop.ir.system import System
from outcrop.source import Diagnostic, Severity, Source, Span

_COMMENT = re.compile(r"--[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_ADD_ONE = "add one that gives the variables their first values: startstate ... end;"
_CONVERT = "its lines end in carriage returns alone, which end no line in Murphi: convert them with tr '\\r' '\\n'"


def explain_no_start(system: System) -> Diagnostic:
    """Returns the error for a model without any start state, with the reason."""
    source = system.source
    if system.start_states:
        first = system.start_states[0]
        message = f"the model has no start state: startstate '{first.name}' has no instances"
        return Diagnostic(
            Severity.ERROR,
            message,
            first.span,
            "a parameter of it has no values; make the range of that parameter larger",
        )
    place = Span(source, 0, 0)
    if _is_one_line(source):
        message = "the model has no startstate: all that follows its first '--' is one comment"
        return Diagnostic(Severity.ERROR, message, place, _CONVERT)
    if not source.text.strip("\ufeff \t\r\n\f\v"):
        return Diagnostic(Severity.ERROR, "the model is empty", place, _ADD_ONE)
    if not _COMMENT.sub("", source.text).strip("\ufeff \t\r\n\f\v"):
        return Diagnostic(Severity.ERROR, "the model is empty: it has only comments", place, _ADD_ONE)
    return Diagnostic(Severity.ERROR, "the model has no startstate: there is nothing to check", place, _ADD_ONE)


def _is_one_line(source: Source) -> bool:
    """Returns whether a text with a comment has only carriage returns as line ends, which do not end a comment."""
    return "\r" in source.text and "\n" not in source.text and "--" in source.text

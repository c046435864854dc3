"""The diagnostics of one model, collected by its front-end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches

from outcrop.ir.nodes import Expression, Frame
from outcrop.source import Diagnostic, Severity, Span

#: Function that lowers a text from outside the model to an expression, with the locals that it needs.
LowerExpression = Callable[[Span], tuple[Expression, Frame]]

#: Largest number of errors that are reported. Later ones are likely to be consequences of earlier ones.
MAX_ERRORS = 20


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """Returns a hint with names of similar spelling, "" if there are none."""
    pool = set(candidates)
    close = sorted(each for each in pool if each.lower() == name.lower() and each != name)
    close += [each for each in get_close_matches(name, sorted(pool), n=3, cutoff=0.7) if each not in close]
    if not close:
        return ""
    return "did you mean " + " or ".join(f"'{each}'" for each in close[:3]) + "?"


def counted(number: int, noun: str) -> str:
    """Returns a number with a noun.

    >>> counted(1, "value"), counted(0, "value")
    ('1 value', '0 values')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


class TooManyErrors(Exception):
    """Raised to end the analysis. The errors found so far are reported."""


class Report:
    """Collects diagnostics. A message that is repeated at one place, as copies of a ruleset do, counts once."""

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.error_count = 0
        self._seen: set[tuple[object, int, str]] = set()

    def add(
        self, severity: Severity, message: str, span: Span | None, hint: str = "", *others: tuple[str, Span]
    ) -> None:
        key = (None, -1, message) if span is None else (span.source, span.start, message)
        if key in self._seen:
            return
        self._seen.add(key)
        self.diagnostics.append(Diagnostic(severity, message, span, hint, others))
        if severity is Severity.ERROR:
            self.error_count += 1
            if self.error_count >= MAX_ERRORS:
                raise TooManyErrors

    def take(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Adds diagnostics that another part has found."""
        for each in diagnostics:
            self.add(each.severity, each.message, each.span, each.hint, *each.related)

    def error(self, message: str, span: Span | None, hint: str = "", *others: tuple[str, Span]) -> None:
        self.add(Severity.ERROR, message, span, hint, *others)

    def warning(self, message: str, span: Span | None, hint: str = "", *others: tuple[str, Span]) -> None:
        self.add(Severity.WARNING, message, span, hint, *others)

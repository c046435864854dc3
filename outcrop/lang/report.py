"""The diagnostics of one model, as its front-end gathers them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches

from outcrop.ir.nodes import Expression, Frame
from outcrop.source import Diagnostic, Severity, Span

#: Makes an expression, with the locals that it needs, of a stretch of text that does not stand in the model.
LowerExpression = Callable[[Span], tuple[Expression, Frame]]

#: After this many mistakes the rest is more likely a consequence than news.
MAX_ERRORS = 20


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """A hint that names what is spelt almost alike, "" if nothing is."""
    pool = set(candidates)
    close = sorted(each for each in pool if each.lower() == name.lower() and each != name)
    close += [each for each in get_close_matches(name, sorted(pool), n=3, cutoff=0.7) if each not in close]
    if not close:
        return ""
    return "did you mean " + " or ".join(f"'{each}'" for each in close[:3]) + "?"


class TooManyErrors(Exception):
    """Ends the analysis; what was found so far is reported."""


class Report:
    """Collects diagnostics. The same message at the same place, which ruleset copies would repeat, counts once."""

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
        """Those that somebody else has found."""
        for each in diagnostics:
            self.add(each.severity, each.message, each.span, each.hint, *each.related)

    def error(self, message: str, span: Span | None, hint: str = "", *others: tuple[str, Span]) -> None:
        self.add(Severity.ERROR, message, span, hint, *others)

    def warning(self, message: str, span: Span | None, hint: str = "", *others: tuple[str, Span]) -> None:
        self.add(Severity.WARNING, message, span, hint, *others)

"""The position of a parser in the tokens of a model, and its reaction to mistakes.

A mistake is recorded and raises ``Abandoned``. The nearest list of items catches it, skips to the start of the next
item and continues.
"""

from __future__ import annotations

from typing import NoReturn

from outcrop.lang.report import MAX_ERRORS
from outcrop.source import Diagnostic, Severity, Source, Span

#: Kinds of tokens that messages describe in words.
STRING = "string"
END_OF_FILE = "end of file"

#: Largest height of an expression tree. Long chains of operators make high trees, and later passes recurse.
MAX_HEIGHT = 400

_LONGEST_QUOTE = 40  #: longest text of a token in a message, in characters


class Abandoned(Exception):
    """Raised when a construct cannot be parsed; its diagnostic is recorded."""


class GivenUp(Exception):
    """Raised when parsing further is pointless."""


class Cursor:
    """The common part of cursors. A language adds its tokens: ``kind``, ``text``, ``here`` and ``hint``.

    Further mistakes on ``broken_lines`` are not reported, because they are probably consequences. ``nesting_limit`` is
    the largest number of nesting levels; each takes a few Python frames of the 1,000 that there are.
    """

    def __init__(
        self,
        source: Source,
        diagnostics: list[Diagnostic],
        nesting_limit: int,
        broken_lines: frozenset[int] = frozenset(),
    ) -> None:
        self.source = source
        self.diagnostics = diagnostics
        self.error_count = sum(each.severity is Severity.ERROR for each in diagnostics)
        self.at = 0
        self.nesting = 0
        self._nesting_limit = nesting_limit
        self._broken_lines = broken_lines

    # --- Tokens --------------------------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        raise NotImplementedError

    @property
    def text(self) -> str:
        raise NotImplementedError

    def here(self) -> Span:
        raise NotImplementedError

    def hint(self) -> str:
        """Returns a hint at what the author may have meant, from the tokens around the mistake."""
        raise NotImplementedError

    def accept(self, kind: str) -> bool:
        if self.kind == kind:
            self.at += 1
            return True
        return False

    def expect(self, kind: str, where: str, hint: str = "", *notes: tuple[str, Span]) -> None:
        """Takes a token of this kind, or fails with "expected 'kind' <where>, found ..."."""
        if not self.accept(kind):
            self.fail_expected(f"'{kind}' {where}", hint, *notes)

    def enter(self) -> None:
        self.nesting += 1
        if self.nesting > self._nesting_limit:
            self.give_up(f"nested too deeply: more than {self._nesting_limit} levels")

    # --- Mistakes ------------------------------------------------------------------------------------------

    def found(self) -> str:
        if self.kind == END_OF_FILE:
            return "the end of the file"
        if self.kind == STRING:
            return "a string"
        text = self.text
        return f"'{text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 3] + '...'}'"

    def fail_expected(self, what: str, hint: str = "", *notes: tuple[str, Span]) -> NoReturn:
        self.fail(f"expected {what}, found {self.found()}", hint or self.hint(), None, *notes)

    def fail(self, message: str, hint: str = "", span: Span | None = None, *notes: tuple[str, Span]) -> NoReturn:
        if self.kind == END_OF_FILE and self.error_count:
            raise GivenUp  # an earlier mistake has swallowed what is missing at the end
        self.report(message, span or self.here(), hint, *notes)
        raise Abandoned

    def give_up(self, message: str) -> NoReturn:
        self.report(message, self.here(), "split it into smaller parts")
        raise GivenUp

    def report(self, message: str, span: Span, hint: str = "", *notes: tuple[str, Span]) -> None:
        self.error_count += 1
        if not (self._broken_lines and span.line in self._broken_lines):
            self.diagnostics.append(Diagnostic(Severity.ERROR, message, span, hint, notes))
        if self.error_count >= MAX_ERRORS:
            raise GivenUp

    def warn(self, message: str, span: Span, hint: str = "") -> None:
        self.diagnostics.append(Diagnostic(Severity.WARNING, message, span, hint))

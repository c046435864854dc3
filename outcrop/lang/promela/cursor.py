"""Steps through the tokens of a Promela model and records mistakes."""

from __future__ import annotations

from typing import NoReturn

from outcrop.lang.promela.lexer import END_OF_FILE, KEYWORDS, NAME, STRING, Token
from outcrop.lang.promela.syntax import Name
from outcrop.lang.report import MAX_ERRORS, did_you_mean
from outcrop.source import Diagnostic, Severity, Source, Span

#: Levels of nesting, each a few Python frames: the recursion limit of 1,000 stays out of sight.
MAX_NESTING = 80


class Abandoned(Exception):
    """The construct at hand cannot be read; its diagnostic is recorded already."""


class GivenUp(Exception):
    """There are too many mistakes to look further."""


class Cursor:
    def __init__(self, source: Source, tokens: list[Token], diagnostics: list[Diagnostic]) -> None:
        self.source = source
        end = len(source.text)
        self.tokens = [*tokens, Token(END_OF_FILE, "", Span(source, end, end))]
        self.at = 0
        self.nesting = 0
        self.diagnostics = diagnostics
        self.error_count = sum(each.severity is Severity.ERROR for each in diagnostics)

    # --- Tokens --------------------------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        return self.tokens[self.at].kind

    @property
    def text(self) -> str:
        return self.tokens[self.at].text

    def ahead(self, count: int = 1) -> str:
        """Returns the kind of a token further on."""
        return self.tokens[min(self.at + count, len(self.tokens) - 1)].kind

    def here(self) -> Span:
        return self.tokens[self.at].span

    def span_from(self, start: int) -> Span:
        """Returns the stretch from the token number ``start`` to the last token taken."""
        first, last = self.tokens[start].span, self.tokens[max(self.at - 1, start)].span
        return first.to(last) if first.source is last.source else first

    def take(self) -> Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def accept(self, kind: str) -> bool:
        if self.kind == kind:
            self.at += 1
            return True
        return False

    def expect(self, kind: str, where: str) -> None:
        """Takes a token of this kind, or fails with "expected 'kind' <where>, found ..."."""
        if not self.accept(kind):
            self.fail_expected(f"'{kind}' {where}")

    def name(self, what: str) -> Name:
        if self.kind != NAME:
            self.fail_expected(what, f"'{self.text}' is a reserved word" if self.kind in KEYWORDS else "")
        token = self.take()
        return Name(token.text, token.span)

    def enter(self) -> None:
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            self.report(f"nested too deeply: more than {MAX_NESTING} levels", self.here(), "split it into parts")
            raise GivenUp

    # --- Mistakes ------------------------------------------------------------------------------------------

    def fail_expected(self, what: str, hint: str = "") -> NoReturn:
        found = "the end of the file" if self.kind == END_OF_FILE else f"'{self.text[:40]}'"
        if self.kind == STRING:
            found = "a string"
        self.fail(f"expected {what}, found {found}", hint or self._hint())

    def fail(self, message: str, hint: str = "", span: Span | None = None) -> NoReturn:
        if self.kind == END_OF_FILE and self.error_count:
            raise GivenUp  # what is missing at the end, an earlier mistake has swallowed
        self.report(message, span or self.here(), hint)
        raise Abandoned

    def report(self, message: str, span: Span, hint: str = "") -> None:
        self.error_count += 1
        self.diagnostics.append(Diagnostic(Severity.ERROR, message, span, hint))
        if self.error_count >= MAX_ERRORS:
            raise GivenUp

    def warn(self, message: str, span: Span, hint: str = "") -> None:
        self.diagnostics.append(Diagnostic(Severity.WARNING, message, span, hint))

    def _hint(self) -> str:
        """Returns what the writer may have meant, judged by the tokens around the place of the mistake."""
        if self.kind == "=" and self.at:
            return "a comparison is written '=='"
        for near in (self.at, self.at - 1):
            token = self.tokens[max(near, 0)]
            if token.kind == NAME and len(token.text) >= 3 and (hint := did_you_mean(token.text, KEYWORDS)):
                return hint
        return ""

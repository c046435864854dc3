"""Steps through the tokens of a Promela model and records mistakes."""

from __future__ import annotations

from outcrop.lang import cursor
from outcrop.lang.promela import hints
from outcrop.lang.promela.lexer import END_OF_FILE, KEYWORDS, NAME, Token
from outcrop.lang.promela.syntax import Name
from outcrop.lang.report import did_you_mean
from outcrop.source import Diagnostic, Source, Span

#: Levels of nesting, each a few Python frames: the recursion limit of 1,000 stays out of sight.
MAX_NESTING = 80


class Cursor(cursor.Cursor):
    def __init__(self, source: Source, tokens: list[Token], diagnostics: list[Diagnostic]) -> None:
        super().__init__(source, diagnostics, MAX_NESTING)
        end = len(source.text)
        self.tokens = [*tokens, Token(END_OF_FILE, "", Span(source, end, end))]

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
        """Returns the stretch from the token number ``start`` to the last token taken. One that the body of an inline
        and arguments make up together lies in the body."""
        taken = self.tokens[start : max(self.at, start + 1)]
        first, last = taken[0].span, taken[-1].span
        if any(each.parameter is None for each in taken):
            first, last = taken[0].parameter or first, taken[-1].parameter or last
        return first.to(last) if first.source is last.source else first

    def begins_line(self) -> bool:
        """Returns whether the next token is on another line than the last one taken."""
        before, here = (each.parameter or each.span for each in self.tokens[self.at - 1 : self.at + 1])
        return before.source is not here.source or before.line != here.line

    def begins_statement(self) -> bool:
        """Returns whether the line above has ended the statement: as in SPIN, outside of parentheses."""
        if not self.begins_line():
            return False
        depth = 0
        for at in range(self.at - 1, -1, -1):
            kind = self.tokens[at].kind
            if kind in ("{", ";", "::"):
                break
            depth += (kind == ")") - (kind == "(")
            if depth < 0:
                return False
        return True

    def take(self) -> Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def name(self, what: str) -> Name:
        if self.kind != NAME:
            self.fail_expected(what, f"'{self.text}' is a reserved word" if self.kind in KEYWORDS else "")
        token = self.take()
        return Name(token.text, token.span)

    def expect_end(self, kind: str, where: str, beginning: str, start: int) -> None:
        """Takes the end of what began with the token number ``start``, or fails and shows where that was."""
        opening = self.tokens[start].span
        is_far = opening.source is not self.here().source or opening.line != self.here().line
        self.expect(kind, where, "", *([(beginning, opening)] if is_far else []))

    def hint(self) -> str:
        before = self.tokens[max(self.at - 1, 0)]
        if self.kind == "=" and self.at:
            return hints.of_assignment(before.kind) if before.kind not in KEYWORDS else ""
        if self.kind == "[" and before.kind != "]":
            return hints.NUMBER_OF_PROCESSES if before.kind in hints.PROCESSES else ""
        if self.kind in hints.SIGNS:
            return hints.SIGNS[self.kind]
        for token in (self.tokens[self.at], before):
            if token.kind == NAME and token.text in hints.WORDS:
                return hints.WORDS[token.text]
            if token.kind == NAME and len(token.text) >= 3 and (hint := did_you_mean(token.text, KEYWORDS)):
                return hint
        return ""

"""The position of the parser in the tokens of a DVE model, and its recovery from mistakes.

A mistake is recorded and raises ``Abandoned``. The nearest list of declarations, sections or transitions catches it,
skips to the start of the next item and continues.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import NoReturn

from outcrop.lang.dve.lexer import END_OF_FILE, IDENTIFIER, KEYWORDS, STRING, tokenize
from outcrop.lang.dve.syntax import Name
from outcrop.lang.report import MAX_ERRORS
from outcrop.source import Diagnostic, Severity, Source, Span

# Largest number of nesting levels. Each takes a few Python frames, well below the recursion limit of 1,000.
MAX_NESTING = 100
# Largest height of an expression tree. Long chains of operators make high trees, and later passes recurse.
MAX_HEIGHT = 400

#: Tokens that never occur inside another construct.
_ITEM_STARTS = frozenset(("process", "system", END_OF_FILE))


class Abandoned(Exception):
    """Raised when a construct cannot be parsed; its diagnostic is recorded."""


class GivenUp(Exception):
    """Raised when parsing further is pointless."""


class Cursor:
    def __init__(self, source: Source) -> None:
        tokens = tokenize(source)
        self.source = source
        self.kinds = tokens.kinds
        self.texts = tokens.texts
        self.starts = tokens.starts
        self.ends = tokens.ends
        self.diagnostics = tokens.diagnostics
        self.error_count = len(tokens.diagnostics)
        self.at = 0
        self.nesting = 0
        # Lines with a character that is no token. Further mistakes there are probably its consequences.
        self._broken_lines = {each.span.line for each in tokens.diagnostics if each.span}

    # --- Tokens --------------------------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        return self.kinds[self.at]

    @property
    def next_kind(self) -> str:
        return self.kinds[min(self.at + 1, len(self.kinds) - 1)]

    @property
    def word(self) -> str:
        """Returns the current identifier; "" if the token is not one."""
        return self.texts[self.at] if self.kinds[self.at] == IDENTIFIER else ""

    def span_from(self, start: int) -> Span:
        """Returns the span from the token number ``start`` to the last token taken."""
        return Span(self.source, self.starts[start], self.ends[max(self.at - 1, start)])

    def here(self) -> Span:
        return Span(self.source, self.starts[self.at], self.ends[self.at])

    def accept(self, kind: str) -> bool:
        if self.kinds[self.at] == kind:
            self.at += 1
            return True
        return False

    def expect(self, kind: str, where: str) -> None:
        """Takes a token of this kind, or fails with "expected 'kind' <where>, found ..."."""
        if not self.accept(kind):
            self.fail_expected(f"'{kind}' {where}")

    def name(self, what: str) -> Name:
        if self.kind != IDENTIFIER:
            self.fail_expected(what, f"'{self.texts[self.at]}' is a reserved word" if self.kind in KEYWORDS else "")
        self.at += 1
        return Name(self.texts[self.at - 1], self.span_from(self.at - 1))

    def names(self, what: str) -> list[Name]:
        result = [self.name(what)]
        while self.accept(","):
            result.append(self.name(what))
        return result

    def enter(self) -> None:
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            self.give_up(f"nested too deeply: more than {MAX_NESTING} levels")

    def give_up(self, message: str) -> NoReturn:
        self.report(message, self.here(), "split it into smaller parts")
        raise GivenUp

    # --- Mistakes ------------------------------------------------------------------------------------------

    def found(self) -> str:
        kind, text = self.kind, self.texts[self.at]
        if kind == END_OF_FILE:
            return "the end of the file"
        if kind == STRING:
            return "a string"
        return f"'{text if len(text) <= 40 else text[:37] + '...'}'"

    def fail_expected(self, what: str, hint: str = "") -> NoReturn:
        self.fail(f"expected {what}, found {self.found()}", hint or self._hint())

    def fail(self, message: str, hint: str = "", span: Span | None = None) -> NoReturn:
        if self.kind == END_OF_FILE and self.error_count:
            raise GivenUp  # an earlier mistake has swallowed what is missing at the end
        self.report(message, span or self.here(), hint)
        raise Abandoned

    def report(self, message: str, span: Span, hint: str = "") -> None:
        self.error_count += 1
        if not (self._broken_lines and span.line in self._broken_lines):
            self.diagnostics.append(Diagnostic(Severity.ERROR, message, span, hint))
        if self.error_count >= MAX_ERRORS:
            raise GivenUp

    def warn(self, message: str, span: Span, hint: str = "") -> None:
        self.diagnostics.append(Diagnostic(Severity.WARNING, message, span, hint))

    def _hint(self) -> str:
        """Returns a hint at what the author may have meant, from the tokens around the mistake."""
        at = self.at
        before, here = self.kinds[at - 1] if at else "", self.kinds[at]
        if before == here and here in ("+", "-") and self.starts[at] == self.ends[at - 1]:
            return f"there is no '{here}{here}'; write x = x {here} 1"
        if here == "=":
            return "a comparison is written '==', an assignment belongs in an effect"
        if here == "!":
            return "negation is written 'not'; '!' sends on a channel"
        if here == ":" and self.kinds[at + 1] == "=":
            return "an assignment is written '='"
        for near in (at, at - 1):
            if near >= 0 and self.kinds[near] == IDENTIFIER and 3 <= len(self.texts[near]) <= 20:
                close = get_close_matches(self.texts[near], KEYWORDS, 1, 0.8)
                if close:
                    return f"did you mean '{close[0]}'?"
        return ""

    # --- Recovery ------------------------------------------------------------------------------------------

    def skip(self, start: int, until: frozenset[str]) -> str:
        """Skips what a mistake has spoiled, from token ``start`` on. Stops at the first of the kinds ``until`` where
        all braces opened since ``start`` are closed, or at one that closes more. Returns the kind there."""
        self.nesting = 0
        failed_at = max(self.at, start + 1)
        depth, at = 0, start
        while True:
            kind = self.kinds[at]
            if kind == END_OF_FILE or (
                at >= failed_at
                and (kind in _ITEM_STARTS or (depth <= 0 and kind in until) or (depth <= 0 and kind == "}"))
            ):
                self.at = at
                return kind
            if kind == "{":
                depth += 1
            elif kind == "}":
                depth -= 1
            at += 1

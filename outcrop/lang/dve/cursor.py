"""The position of the parser in the tokens of a DVE model, and its recovery from mistakes.

A mistake is recorded and raises ``Abandoned``. The nearest list of declarations, sections or transitions catches it,
skips to the start of the next item and continues.
"""

from __future__ import annotations

from difflib import get_close_matches

from outcrop.lang import cursor
from outcrop.lang.dve.lexer import END_OF_FILE, IDENTIFIER, KEYWORDS, tokenize
from outcrop.lang.dve.syntax import Name
from outcrop.source import Source, Span

# Largest number of nesting levels. Each takes a few Python frames, well below the recursion limit of 1,000.
MAX_NESTING = 100

#: Tokens that never occur inside another construct.
_ITEM_STARTS = frozenset(("process", "system", END_OF_FILE))


class Cursor(cursor.Cursor):
    def __init__(self, source: Source) -> None:
        tokens = tokenize(source)
        broken_lines = frozenset(each.span.line for each in tokens.diagnostics if each.span)
        super().__init__(source, tokens.diagnostics, MAX_NESTING, broken_lines)
        self.kinds = tokens.kinds
        self.texts = tokens.texts
        self.starts = tokens.starts
        self.ends = tokens.ends

    # --- Tokens --------------------------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        return self.kinds[self.at]

    @property
    def text(self) -> str:
        return self.texts[self.at]

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

    # --- Mistakes ------------------------------------------------------------------------------------------

    def hint(self) -> str:
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

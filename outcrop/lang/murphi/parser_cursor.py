"""The position of the parser in the tokens, and its recovery from mistakes.

A mistake is recorded and raises ``Abandoned``. The nearest list of statements, declarations or rules catches it, skips
to the start of the next item and continues. Mistakes that the skipping may have caused are not reported.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import NoReturn

from outcrop.lang.cursor import Abandoned, GivenUp
from outcrop.lang.murphi.hints import MISPLACED, OPERATORS, WORDS
from outcrop.lang.murphi.lexer import END_OF_FILE, IDENTIFIER, INTEGER, KEYWORDS, REAL, STRING, tokenize
from outcrop.lang.murphi.syntax import Name
from outcrop.lang.report import MAX_ERRORS
from outcrop.source import Diagnostic, Severity, Source, Span

# Largest number of nesting levels. Each takes at most four Python frames, well below the recursion limit of 1,000.
MAX_NESTING = 150

CLOSERS = {
    "alias": "endalias",
    "choose": "endchoose",
    "exists": "endexists",
    "for": "endfor",
    "forall": "endforall",
    "function": "endfunction",
    "if": "endif",
    "procedure": "endprocedure",
    "record": "endrecord",
    "rule": "endrule",
    "ruleset": "endruleset",
    "startstate": "endstartstate",
    "switch": "endswitch",
    "while": "endwhile",
}
CLOSING = frozenset(CLOSERS.values()) | {"end"}

# Keywords that never occur inside a statement: all constructs that are open before one of them end there.
RULE_STARTS = frozenset(("rule", "startstate", "ruleset", "function", "procedure"))
SECTION_STARTS = frozenset(("const", "type", "var"))
ITEM_STARTS = RULE_STARTS | SECTION_STARTS | {"invariant", "assert"}

# Words with a meaning in only one of the two tools. A model may declare each of them as a name.
CONTEXTUAL = frozenset(
    (
        "assume",
        "choose",
        "cover",
        "liveness",
        "multiset",
        "multisetadd",
        "multisetcount",
        "multisetremove",
        "multisetremovepred",
        "undefined",
    )
)
# fmt: on

#: A decrement of C, which is a comment in Murphi.
_DECREMENT = re.compile(r"--[ \t]*[;)]*[ \t]*(?=\r?\n|\Z)")


ARROW_MESSAGE = "'-->' starts a comment: the rest of the line is not read"
ARROW_HINT = "a guard ends with '==>', 'implies' is written '->'"


class Cursor:
    def __init__(self, source: Source) -> None:
        tokens = tokenize(source)
        self.source = source
        self.kinds = tokens.kinds
        self.texts = tokens.texts
        self.starts = tokens.starts
        self.ends = tokens.ends
        self.at = 0
        self.nesting = 0
        self.height = 0
        self.diagnostics = tokens.diagnostics
        self.arrows = tokens.arrows
        # Constructs that wait for their ``end``: keyword and token number.
        self.open: list[tuple[str, int]] = []
        self.redeclared: set[str] = set()
        errors = [each.span for each in self.diagnostics if each.severity is Severity.ERROR and each.span]
        self.error_count = len(errors)
        self._broken_lines = {span.line for span in errors}
        self._broken_from = max((span.start for span in errors if span.text[0] in '"“'), default=len(source.text) + 1)

    # --- Tokens --------------------------------------------------------------------------------------------

    def span_from(self, start: int) -> Span:
        """Returns the span from the offset ``start`` to the end of the last token taken."""
        return Span(self.source, start, self.ends[self.at - 1])

    def token_span(self, at: int) -> Span:
        return Span(self.source, self.starts[at], self.ends[at])

    def accept(self, kind: str) -> bool:
        if self.kinds[self.at] == kind:
            self.at += 1
            return True
        return False

    def expect(self, kind: str, where: str) -> None:
        """Takes a token of this kind, or fails with "expected 'kind' <where>, found ..."."""
        if self.kinds[self.at] == kind:
            self.at += 1
        else:
            self.fail_expected(f"'{kind}' {where}")

    def expect_do(self, where: str) -> None:
        if self.kinds[self.at] not in ("do", ":"):
            self.fail_expected(f"'do' {where}")
        self.at += 1

    def skip_semicolons(self) -> bool:
        start = self.at
        while self.kinds[self.at] == ";":
            self.at += 1
        return self.at > start

    def word(self) -> str:
        """Returns the current identifier in lower case; "" if the token is not one."""
        return self.texts[self.at].lower() if self.kinds[self.at] == IDENTIFIER else ""

    def title(self, keyword: str) -> str:
        """Returns the string that names a rule or a property, "" if there is none."""
        text = self.optional_string()
        if self.kinds[self.at] == ":" and self.kinds[self.at - 1] in (STRING, keyword):
            self.fail(f"there is no ':' after '{keyword}' or its name", "leave it out")
        return text

    def optional_string(self) -> str:
        if self.kinds[self.at] == STRING:
            self.at += 1
            return self.texts[self.at - 1]
        return ""

    def name(self, what: str) -> Name:
        at = self.at
        if self.kinds[at] != IDENTIFIER:
            hint = ""
            if self.kinds[at] in KEYWORDS:
                hint = f"'{self.texts[at]}' is a reserved word, in capitals too"
            self.fail_expected(what, hint)
        text = self.texts[at]
        if text.lower() in CONTEXTUAL:
            self.redeclared.add(text)
        self.at = at + 1
        return Name(self.token_span(at), text)

    def names(self, what: str) -> list[Name]:
        """Parses names separated by commas; a trailing comma is allowed."""
        result = [self.name(what)]
        while self.accept(","):
            if self.kinds[self.at] != IDENTIFIER and self.kinds[self.at] not in KEYWORDS:
                break
            result.append(self.name(what))
        return result

    # --- Blocks --------------------------------------------------------------------------------------------

    def enter(self) -> None:
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            self.report_depth(f"nested too deeply: more than {MAX_NESTING} levels")

    def report_depth(self, message: str) -> NoReturn:
        self.report(message, self.token_span(max(self.at - 1, 0)), "split it into smaller parts")
        raise GivenUp

    def open_block(self, keyword: str) -> None:
        self.open.append((keyword, self.at))
        self.at += 1

    def at_end_of_choose(self) -> bool:
        return self.open[-1][0] == "choose" and self.word() == "endchoose"

    def close_block(self, expected: str = "") -> None:
        """Takes the ``end`` of the innermost open construct. ``expected`` names what else could stand here."""
        keyword = self.open[-1][0]
        kind = "endchoose" if self.at_end_of_choose() else self.kinds[self.at]
        both = "function" if keyword == "procedure" else "procedure" if keyword == "function" else keyword
        if kind in ("end", CLOSERS[keyword], CLOSERS[both]):
            self.open.pop()
            self.at += 1
            return
        related = self.unclosed()
        if kind in CLOSING:
            message = f"expected 'end' or '{CLOSERS[keyword]}' to close '{keyword}', found '{kind}'"
            self.report(message, self.token_span(self.at), related=related)
            self.open.pop()
            # An end that fits an outer construct means that this one lacks its end; otherwise it is a misnamed end of
            # this one.
            if kind not in {CLOSERS[outer] for outer, _ in self.open}:
                self.at += 1
            return
        self.fail_expected(expected or f"'end' or '{CLOSERS[keyword]}' to close '{keyword}'", related=related)

    # --- Mistakes ------------------------------------------------------------------------------------------

    def found(self) -> str:
        kind, text = self.kinds[self.at], self.texts[self.at]
        if kind == END_OF_FILE:
            return "the end of the file"
        if kind == STRING:
            return "a string"
        if kind in (IDENTIFIER, INTEGER, REAL):
            return f"'{text if len(text) <= 40 else text[:37] + '...'}'"
        return f"'{kind if kind.isalpha() else text}'"

    def unclosed(self) -> tuple[tuple[str, Span], ...]:
        """Returns the note that points at the innermost construct without its ``end``."""
        if not self.open:
            return ()
        keyword, opener = self.open[-1]
        for at in range(opener, self.at):
            if self.kinds[at] == "else" and self.kinds[at + 1] == "if":
                found = Span(self.source, self.starts[at], self.ends[at + 1])
                return (("'else if' opens another 'if', with an 'end' of its own; write 'elsif'", found),)
        return ((f"this '{keyword}' is not closed yet", self.token_span(opener)),)

    def fail_expected(self, what: str, hint: str = "", related: tuple[tuple[str, Span], ...] = ()) -> NoReturn:
        self.fail(f"expected {what}, found {self.found()}", hint or self.hint(), related)

    def fail(self, message: str, hint: str = "", related: tuple[tuple[str, Span], ...] = ()) -> NoReturn:
        at = self.at
        if self.kinds[at] in (END_OF_FILE, "}") and self.error_count:
            raise GivenUp  # an earlier mistake has swallowed what is missing at the end
        self._fail_at_comment()
        self.report(message, self.token_span(at), hint, related)
        if self.kinds[at] in ("{", "}"):
            raise GivenUp  # blocks of another language give no sign of where they end
        raise Abandoned

    def _fail_at_comment(self) -> None:
        """Reports a comment before the mistake that was probably not meant as one."""
        begin = self.ends[self.at - 1] if self.at else 0
        end = self.starts[self.at] if self.kinds[self.at] != END_OF_FILE else len(self.source.text)
        for arrow in self.arrows:
            if begin <= arrow.start < end:
                self.report(ARROW_MESSAGE, arrow, ARROW_HINT)
                raise Abandoned
        if _DECREMENT.match(self.source.text, begin):
            self.report("'--' starts a comment", Span(self.source, begin, begin + 2), "write x := x - 1")
            raise Abandoned

    def report(self, message: str, span: Span, hint: str = "", related: tuple[tuple[str, Span], ...] = ()) -> None:
        self.error_count += 1
        if span.start < self._broken_from and not (self._broken_lines and span.line in self._broken_lines):
            self.diagnostics.append(Diagnostic(Severity.ERROR, message, span, hint, related))
        if self.error_count >= MAX_ERRORS:
            raise GivenUp

    def forgive(self, span: Span) -> None:
        """Drops the diagnostics of a span that turned out not to be Murphi."""
        wrong = [each for each in self.diagnostics if each.span and span.start <= each.span.start < span.end]
        self.diagnostics[:] = [each for each in self.diagnostics if each not in wrong]
        self.error_count -= sum(each.severity is Severity.ERROR for each in wrong)
        self._broken_lines -= {each.span.line for each in wrong if each.span}

    def warn(self, message: str, span: Span, hint: str = "") -> None:
        self.diagnostics.append(Diagnostic(Severity.WARNING, message, span, hint))

    def hint(self) -> str:
        """Returns a hint at what the author may have meant, from the tokens around the mistake."""
        at = self.at
        near = [self.texts[i].lower() for i in (at, at - 1) if i >= 0 and self.kinds[i] == IDENTIFIER]
        known = [WORDS[word] for word in near if word in WORDS]
        known += [table[self.kinds[at]] for table in (OPERATORS, MISPLACED) if self.kinds[at] in table]
        if known:
            return known[0]
        if self._is_increment(at) or self._is_increment(at - 2):
            return "there is no '++': write x := x + 1"
        for word in near:
            close = get_close_matches(word, KEYWORDS, 1, 0.8) if 3 <= len(word) <= 20 else []
            if close:
                return f"did you mean '{close[0]}'?"
        return ""

    def _is_increment(self, at: int) -> bool:
        return at >= 0 and self.kinds[at : at + 2] == ["+", "+"] and self.ends[at] == self.starts[at + 1]

    # --- Recovery ------------------------------------------------------------------------------------------

    def mark(self) -> tuple[int, int]:
        """Returns the state that ``recover`` restores after a mistake."""
        return self.nesting, len(self.open)

    def recover(self, mark: tuple[int, int]) -> None:
        self.nesting = mark[0]
        del self.open[mark[1] :]

    def skip_construct(self, start: int, always: frozenset[str], outside: frozenset[str]) -> str:
        """Skips what a mistake has spoiled, from token ``start`` on. Stops at the first of the kinds ``always``, or of
        the kinds ``outside`` where all blocks opened since ``start`` are closed. Returns the kind there."""
        depth = 0
        at = start
        failed_at = max(self.at, start + 1)
        while True:
            kind = self.kinds[at]
            if kind == END_OF_FILE or (at >= failed_at and (kind in always or (depth <= 0 and kind in outside))):
                self.at = at
                return kind
            if kind in CLOSERS or (kind == "begin" and depth == 0):  # no head has opened this block
                depth += 1
            elif kind in CLOSING:
                depth -= 1
            elif kind == "{" and at >= failed_at and self.kinds[at - 1] not in ("enum", "union"):
                raise GivenUp  # as in ``fail``
            at += 1

"""The DVE lexer, for all tokens that DiVinE 2 or DiVinE 3 accept.

Words that only DiVinE 3 reserves (``input``, ``expression``, ``for`` ...) are identifiers; the parser recognises them
by their position. A backslash at the end of a line is white space.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from outcrop.lang.cursor import END_OF_FILE as END_OF_FILE
from outcrop.lang.cursor import STRING as STRING
from outcrop.lang.report import MAX_ERRORS
from outcrop.source import Diagnostic, Severity, Source, Span

IDENTIFIER = "identifier"
INTEGER = "integer"

# fmt: off
KEYWORDS = frozenset((
    "accept", "and", "assert", "async", "byte", "channel", "commit", "const", "effect", "false", "guard", "imply",
    "init", "int", "not", "or", "process", "property", "state", "sync", "system", "trans", "true",
    "buchi", "genbuchi", "muller", "rabin", "fair",
))
# fmt: on

#: Words with the meaning of a sign.
_SPELLINGS = {"and": "&&", "or": "||"}

_TOKEN = re.compile(
    r"""
    (?: [ \t\r\n\f\v]++ | \\\r?\n )*+ (?:
      ( [A-Za-z_][A-Za-z0-9_$#]*+ )
    | ( -> | => | == | != | <= | >= | << | >> | && | \|\| | \.\. | /(?![*/]) | [-+*%<>=!?&|^~:;,.()\[\]{}] )
    | ( //[^\n]*+ | /\* (?s:.*?) \*/ )
    | ( [0-9]++ )
    | ( "[^"\n]*+" )
    | ( \Z )
    | ( /\* (?s:.*+) )
    | ( " | [^\x00-\x7f]++ | (?s:.) )
    )
    """,
    re.VERBOSE,
)
_WORD, _OPERATOR, _COMMENT, _INTEGER, _STRING, _END, _OPEN_COMMENT, _JUNK = range(1, 9)


@dataclass(slots=True)
class Tokens:
    """The tokens of a text. ``kinds[i]`` is a keyword, an operator (``and`` is ``&&``), or one of the names above.
    ``texts[i]`` is the word, the digits or the content of the string. The last token is ``END_OF_FILE``."""

    kinds: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def add(self, kind: str, text: str, start: int, end: int) -> None:
        self.kinds.append(kind)
        self.texts.append(text)
        self.starts.append(start)
        self.ends.append(end)


def tokenize(source: Source) -> Tokens:
    """Returns all tokens of ``source``. Characters that form no token are reported in ``diagnostics`` and left out."""
    tokens = Tokens()
    for match in _TOKEN.finditer(source.text, 1 if source.text.startswith("\ufeff") else 0):
        index = match.lastindex or _JUNK
        text, start, end = match[index], match.start(index), match.end()
        if index == _WORD:
            tokens.add(_SPELLINGS.get(text, text) if text in KEYWORDS else IDENTIFIER, text, start, end)
        elif index == _OPERATOR:
            tokens.add(text, text, start, end)
        elif index == _INTEGER:
            tokens.add(INTEGER, text, start, end)
        elif index == _STRING:
            tokens.add(STRING, text[1:-1], start, end)
        elif index == _END:
            break
        elif index != _COMMENT:
            tokens.diagnostics.append(_problem(index, text, Span(source, start, end)))
            if len(tokens.diagnostics) >= MAX_ERRORS:
                break
    tokens.add(END_OF_FILE, "", *_end_of_text(source, tokens))
    return tokens


def _end_of_text(source: Source, tokens: Tokens) -> tuple[int, int]:
    """Returns the position of the end token: just after the last token, where something may be missing."""
    end = tokens.ends[-1] if tokens.ends else len(source.text)
    return end, end


def _problem(index: int, text: str, span: Span) -> Diagnostic:
    if index == _OPEN_COMMENT:
        opening = Span(span.source, span.start, span.start + 2)
        return Diagnostic(Severity.ERROR, "this comment is not closed", opening, "a comment ends with '*/'")
    if text == '"':
        return Diagnostic(Severity.ERROR, "this string is not closed on its line", span, "end it with a quote")
    if text in "`'":
        hint = "quotes belong to m4 templates; run m4 on the file and check the output"
        return Diagnostic(Severity.ERROR, f"a DVE model cannot contain {text}", span, hint)
    shown = text if text.isprintable() and len(text) <= 10 else f"the character U+{ord(text[0]):04X}"
    return Diagnostic(
        Severity.ERROR,
        f"a DVE model cannot contain '{shown}' outside a comment",
        span,
        "delete it, or put it into a comment",
    )

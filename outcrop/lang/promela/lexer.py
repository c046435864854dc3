"""Cuts Promela texts into tokens. Comments vanish; lines that begin with ``#`` are left to the preprocessor."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from outcrop.lang.cursor import END_OF_FILE as END_OF_FILE
from outcrop.lang.cursor import STRING as STRING
from outcrop.source import Diagnostic, Severity, Source, Span

NAME = "name"
NUMBER = "number"
CHARACTER = "character"
#: The rest of a line that begins with ``#``.
DIRECTIVE = "directive"
#: Text that is not a token. It may be in a part that is not read.
JUNK = "junk"

# fmt: off
KEYWORDS = frozenset((
    "active", "assert", "atomic", "bit", "bool", "break", "byte", "chan", "d_step", "D_proctype", "do", "else",
    "empty", "enabled", "eval", "false", "fi", "for", "full", "goto", "hidden", "if", "init", "inline", "int",
    "len", "local", "ltl", "mtype", "nempty", "never", "nfull", "notrace", "od", "of", "pc_value", "pid", "printf",
    "printm", "priority", "proctype", "provided", "run", "select", "short", "show", "skip", "timeout", "trace", "true",
    "typedef", "unless", "unsigned", "xr", "xs", "c_code", "c_decl", "c_expr", "c_state", "c_track",
    "get_priority", "set_priority",
))
# fmt: on

# A line goes on behind a backslash, also within a comment and with spaces after it. SPIN skips a stray "*/".
_TOKEN = re.compile(
    r"""
    (?P<blank> (?: [ \t\r\n\f\v] | \\[ \t\r]*\n | /\*(?s:.*?)\*/ | //(?: \\[ \t\r]*\n | [^\n] )*+ | \*/(?![*/]) )++ )
  | (?P<name> [A-Za-z_][A-Za-z0-9_]*+ )
  | (?P<number> 0[xX][0-9A-Fa-f]++ | [0-9]++ )
  | (?P<open> /\*(?s:.*+) | "(?:[^"\\\n]|\\.)*+(?!") )
  | (?P<operator> \.\. | <-> | -> | \+\+ | -- | == | != | <= | >= | << | >> | && | \|\| | :: | !! | \?\? | <> | \[\]
                | \#\# | [-+*/%&|^~!?<>=;:,.(){}\[\]@] )
  | (?P<string> "(?:[^"\\\n]|\\.)*+" )
  | (?P<character> '(?:[^'\\\n]|\\.)' )
  | (?P<directive> \#(?: //(?: \\[ \t\r]*\n | [^\n] )*+ | /\*(?s:.*?)\*/ | "(?:[^"\\\n]|\\.)*+"
                     | \\[ \t\r]*\n | (?!/\*)[^\n] )*+ )
  | (?P<junk> (?s:.) )
    """,
    re.VERBOSE,
)


#: The beginning of embedded C behind one of the words for it, with the condition that ``c_code`` may have.
_C_BEGINNING = re.compile(r"\s*(?:\[[^\]]*\]\s*)?\{")
_BRACE = re.compile(r"[{}]")


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number or sign of the text. ``kind`` is a keyword, an operator, or one of the names above."""

    kind: str
    text: str
    span: Span
    hidden: frozenset[str] = field(default=frozenset())  #: macros that it comes from, which are not expanded again
    parameter: Span | None = None  #: where the parameter of an inline stands that it replaces


def tokenize(source: Source) -> list[Token]:
    """Returns the tokens of a source; text that cannot be one is JUNK. Embedded C is left out, but for its first word,
    which the parser refuses."""
    tokens: list[Token] = []
    end_of_c = 0
    for match in _TOKEN.finditer(source.text, 1 if source.text.startswith("\ufeff") else 0):
        kind, text = match.lastgroup, match.group()
        if kind == "blank" or match.start() < end_of_c:
            continue
        span = Span(source, match.start(), match.end())
        if kind == "name":
            if text in ("c_code", "c_decl", "c_expr"):
                end_of_c = _end_of_c(source.text, match.end())
            tokens.append(Token(text if text in KEYWORDS else NAME, text, span))
        elif kind == "operator":
            tokens.append(Token(text, text, span))
        elif kind in (NUMBER, STRING, CHARACTER, DIRECTIVE):
            tokens.append(Token(kind, text, span))
        else:
            tokens.append(Token(JUNK, text, span))
    return tokens


def _end_of_c(text: str, at: int) -> int:
    """Returns where embedded C ends whose braces begin at a place; the place itself if none do."""
    beginning = _C_BEGINNING.match(text, at)
    depth = 0
    for brace in _BRACE.finditer(text, at) if beginning else ():
        depth += 1 if brace.group() == "{" else -1
        if not depth:
            return brace.end()
    return at


def problem(token: Token) -> Diagnostic:
    """Returns the diagnostic for JUNK."""
    text, span = token.text, token.span
    if text.startswith("/*"):
        opening = Span(span.source, span.start, span.start + 2)
        return Diagnostic(Severity.ERROR, "this comment is not closed", opening, "a comment ends with '*/'")
    if text[0] in "\"'":
        opening = Span(span.source, span.start, span.start + 1)
        return Diagnostic(Severity.ERROR, "this quote is not closed on its line", opening, "end it with the same quote")
    shown = text if text.isprintable() else f"the character U+{ord(text):04X}"
    return Diagnostic(
        Severity.ERROR,
        f"a Promela model cannot contain '{shown}' outside a comment",
        span,
        "delete it, or put it into a comment",
    )

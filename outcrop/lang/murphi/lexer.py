"""The Murphi lexer, with one regular expression for all tokens that CMurphi or rumur accept.

Tokens are four parallel lists, not objects: a large model has about 50,000 of them, and the parser reads each several
times. Words that only one of the two tools reserves are identifiers; the parser recognises them by their position.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from outcrop.lang.murphi.hints import COMMENTS, OPERATORS
from outcrop.lang.report import MAX_ERRORS
from outcrop.source import Diagnostic, Severity, Source, Span

IDENTIFIER = "identifier"
INTEGER = "integer"
REAL = "real number"
STRING = "string"
END_OF_FILE = "end of file"

# fmt: off
KEYWORDS = frozenset((
    "alias", "array", "assert", "begin", "boolean", "by", "case", "clear", "const", "do", "else", "elsif", "end",
    "endalias", "endexists", "endfor", "endforall", "endfunction", "endif", "endprocedure", "endrecord", "endrule",
    "endruleset", "endstartstate", "endswitch", "endwhile", "enum", "error", "exists", "for", "forall", "function",
    "if", "invariant", "ismember", "isundefined", "of", "procedure", "put", "record", "return", "rule", "ruleset",
    "scalarset", "startstate", "switch", "then", "to", "type", "undefine", "union", "var", "while",
))
# fmt: on

_SIGNS = {
    "∀": "forall",
    "∃": "exists",
    "≔": ":=",
    "≥": ">=",
    "≤": "<=",
    "→": "->",
    "≠": "!=",
    "⇒": "==>",
    "⟹": "==>",
    "¬": "!",
    # rumur gives these two the precedence of the doubled operators, not of & and |.
    "∧": "&&",
    "\N{LOGICAL OR}": "||",
    "÷": "/",
    "\N{DIVISION SLASH}": "/",
    "\N{MINUS SIGN}": "-",
    "\N{MULTIPLICATION SIGN}": "*",
    "\N{ASTERISK OPERATOR}": "*",
}

_OPERATORS = {"==": "="}
#: Last tokens of an operand. An arrow after one of these was probably not meant as a comment.
_OPERAND_ENDS = frozenset((IDENTIFIER, INTEGER, ")", "]", "end", "endforall", "endexists"))

_TOKEN = re.compile(
    r"""
    [ \t\r\n\f\v]*+ (?:
      ( [A-Za-z][A-Za-z0-9_]*+ )
    | ( ==> | FOREIGN | := | \.\. | <= | >= | != | == | -> | << | >> | && | \|\|
        | -(?!-) | /(?![*/]) | \((?!\*) | [+*%<>=!&|^~?:;,.)\[\]{}] )
    | ( --[^\n]*+ | /\* (?s:.*?) \*/ )
    | ( (?: // | \# ) [^\n]*+ | \(\* (?s:.*?) \*\) | \(\* )
    | ( 0[xX][0-9a-fA-F]++ | [0-9]++ (?! \.[0-9] ) )
    | ( [0-9]++ \. [0-9]++ (?: [eE][-+]?[0-9]++ )? )
    | ( " (?: [^"\\\n]++ | \\. )*+ " | " (?: [^"”\\\n]++ | \\. )*+ ” | " (?: [^"\\]++ | \\(?s:.) )*+ "
        | “ (?: [^"”\\]++ | \\(?s:.) )*+ ["”] )
    | ( [SIGNS] )
    | ( \Z )
    | ( /\* (?s:.*+) )
    | ( ["“] (?s:.*+) )
    | ( _[A-Za-z0-9_]*+ | '[^'\n]*+' | \u2018[^\u2019\n]*+\u2019 | [^\x00-\x7f]++ | [\x00-\x1f\x7f]++ | (?s:.) )
    )
    """.replace("SIGNS", "".join(_SIGNS)).replace(
        "FOREIGN", "|".join(map(re.escape, sorted(OPERATORS, key=len, reverse=True)))
    ),
    re.VERBOSE,
)
_WORD, _OPERATOR, _COMMENT, _FOREIGN_COMMENT, _INTEGER, _REAL, _STRING, _SIGN = range(1, 9)
_END, _OPEN_COMMENT, _OPEN_STRING, _JUNK = range(9, 13)

_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\n": ""}


@dataclass(slots=True)
class Tokens:
    """The tokens of a text. ``kinds[i]`` is a keyword in lower case, an operator in its ASCII spelling, or one of the
    names above. ``texts[i]`` is the word, the digits or the content of the string. The last token is
    ``END_OF_FILE``."""

    kinds: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    #: Each ``-->`` after an operand, which is a comment but may be meant as an arrow.
    arrows: list[Span] = field(default_factory=list)


def tokenize(source: Source) -> Tokens:
    """Returns all tokens of ``source``. Characters that form no token are reported in ``diagnostics`` and left out."""
    tokens = Tokens()
    kinds, texts, starts, ends = tokens.kinds, tokens.texts, tokens.starts, tokens.ends
    words: dict[str, tuple[str, str]] = {}
    errors = 0
    for match in _TOKEN.finditer(source.text, 1 if source.text.startswith("\ufeff") else 0):
        index = match.lastindex or _JUNK
        text = match[index]
        if index == _WORD:
            known = words.get(text)
            if known is None:
                known = words[text] = _classify(text)
            kind, text = known
        elif index == _OPERATOR:
            kind = _OPERATORS.get(text, text)
        elif index == _COMMENT:
            if text.startswith("-->") and kinds and kinds[-1] in _OPERAND_ENDS:
                begin = match.start(index)
                if "\n" not in source.text[ends[-1] : begin]:
                    tokens.arrows.append(Span(source, begin, begin + len("-->")))
            continue
        elif index == _INTEGER:
            kind = INTEGER
        elif index == _STRING:
            kind, text = STRING, _unescape(text[1:-1])
        elif index == _REAL:
            kind = REAL
        elif index == _SIGN:
            kind = _SIGNS[text]
        elif index == _END:
            break
        else:
            problem = _problem(index, text, Span(source, match.start(index), match.end()))
            if index == _FOREIGN_COMMENT and any(each.message == problem.message for each in tokens.diagnostics):
                continue  # a repeated habit is reported once
            tokens.diagnostics.append(problem)
            errors += problem.severity is Severity.ERROR
            if errors >= MAX_ERRORS:
                break
            continue
        kinds.append(kind)
        texts.append(text)
        starts.append(match.start(index))
        ends.append(match.end())
    kinds.append(END_OF_FILE)
    texts.append("")
    # The end of file points just after the last token, where something is missing, and not after blank lines.
    starts.append(ends[-1] if ends else 0)
    ends.append(starts[-1])
    return tokens


def _classify(word: str) -> tuple[str, str]:
    lower = word.lower()
    if lower in KEYWORDS:
        return lower, word
    if lower in ("true", "false"):
        return IDENTIFIER, lower
    return IDENTIFIER, word


def _unescape(content: str) -> str:
    if "\\" not in content:
        return content

    def value(match: re.Match[str]) -> str:
        octal, hexadecimal, character = match.groups()
        if octal:
            return chr(int(octal, 8))
        if hexadecimal:
            return chr(int(hexadecimal, 16))
        return _ESCAPED.get(character, character)

    return _ESCAPE.sub(value, content)


def _problem(index: int, text: str, span: Span) -> Diagnostic:
    if index == _OPEN_COMMENT:
        opening = Span(span.source, span.start, span.start + 2)
        hint = "all text after it is skipped; close it with '*/'"
        return Diagnostic(Severity.WARNING, "this comment is never closed", opening, hint)
    if index == _FOREIGN_COMMENT:
        sign = text[: 1 if text[0] == "#" else 2]
        opening = Span(span.source, span.start, span.start + len(sign))
        return Diagnostic(Severity.ERROR, f"'{sign}' does not start a comment", opening, COMMENTS[sign])
    if index == _OPEN_STRING:
        line_end = span.source.text.find("\n", span.start)
        opening = Span(span.source, span.start, line_end if line_end > 0 else span.end)
        hint = "a backslash before a quote makes the quote part of the string" if '\\"' in opening.text else ""
        return Diagnostic(Severity.ERROR, "this string is never closed", opening, hint)
    if text[0] == "_":
        message = f"'{text}' is not an identifier: an identifier starts with a letter"
        return Diagnostic(Severity.ERROR, message, span)
    shown = f"'{text[0]}'" if text[0].isprintable() else f"U+{ord(text[0]):04X}"
    hint = 'strings are written in double quotes: "..."' if text[0] in "'\u2018\u2019" else ""
    return Diagnostic(Severity.ERROR, f"unexpected character {shown}", span, hint)

"""The layout of Promela texts. Lines of the preprocessor keep their text and stand at the left.

Parts that ``#if 0`` excludes hold any text, often prose, and stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from outcrop.errors import ModelError
from outcrop.lang.editing import NUMBER, TEXT, VERBATIM, WORD, Piece
from outcrop.lang.layout import Bracket, arrange, with_comments
from outcrop.lang.promela.lexer import CHARACTER, DIRECTIVE, JUNK, NAME, STRING, Token, problem, tokenize
from outcrop.lang.promela.lexer import NUMBER as DIGITS
from outcrop.lang.promela.parser import parse
from outcrop.source import Source, Span

_COMMENT = re.compile(r"//(?:\\[ \t\r]*\n|[^\n])*+|/\*(?s:.*?)\*/")
_EXCLUDES = re.compile(r"#\s*if\s+0\s*(?:/[/*]|\Z)")
_CONDITION = re.compile(r"#\s*(if|ifdef|ifndef|else|elif|endif)\b")
_KINDS = {NAME: WORD, DIGITS: NUMBER, STRING: TEXT, CHARACTER: TEXT, DIRECTIVE: VERBATIM}
_OPENING = {"(": ")", "[": "]", "{": "}", "if": "fi", "do": "od"}
_CLOSING = frozenset(_OPENING.values())
#: Operators with a blank on both sides. Others, such as '!' and '?', stay as the author wrote them.
_SPACED = frozenset(("=", "==", "<=", ">=", "&&", "||", "->", "<<", ">>", "%", "/"))
#: Tokens after which a statement begins.
_STARTERS = frozenset((";", "->", "{", "}", "fi", "od", "::", ":", "if", "do"))


def layout(source: Source) -> str:
    """Returns the text with a uniform layout. Raises ``ModelError`` for a text that is not a model."""
    parse(source, {})

    def words(text: str) -> list[tuple[str, str]]:
        return [(each.kind, each.text.rstrip()) for each in tokenize(Source(source.name, text))]

    pieces = []
    for token in _with_excluded_parts(source):
        if token.kind == JUNK:
            raise ModelError([problem(token)])
        kind = _KINDS.get(token.kind, token.kind)
        text = token.text.rstrip() if kind == VERBATIM else token.text
        pieces.append(Piece(kind, text, token.span.start, token.span.end))
    return arrange(source.text, with_comments(source.text, pieces, _COMMENT), _PromelaShape(), words)


def _with_excluded_parts(source: Source) -> Iterator[Token]:
    """Yields the tokens of a text. A part that ``#if 0`` excludes is one token with the directive before it."""
    excluded: Token | None = None
    depth = 0  # conditions that are open inside the excluded part
    for token in tokenize(source):
        directive = _CONDITION.match(token.text) if token.kind == DIRECTIVE else None
        word = directive.group(1) if directive else ""
        if excluded is not None and (depth or word not in ("else", "elif", "endif")):
            depth += word.startswith("if") - (word == "endif")
            continue
        if excluded is not None:
            start = excluded.span.start
            text = source.text[start : token.span.start].rstrip()
            yield Token(DIRECTIVE, text, Span(source, start, start + len(text)))
        excluded = token if directive and _EXCLUDES.match(token.text) else None
        if excluded is None:
            yield token


class _PromelaShape:
    def __init__(self) -> None:
        self._open: list[Bracket] = [Bracket("", -1)]
        self._fresh = True  #: whether the next token begins a statement or declaration
        self._shift = 0  #: 1 on a line that begins with an option or label, which stands left of its statements

    def closes(self, piece: Piece) -> bool:
        return piece.kind in _CLOSING

    def level(self, piece: Piece, following: Piece | None) -> int:
        inner = self._open[-1]
        is_label = self._fresh and piece.kind == WORD and following is not None and following.kind == ":"
        is_label = is_label and inner.kind == "{"
        is_option = piece.kind == "::" and inner.kind in ("if", "do")
        self._shift = int(is_label or is_option)
        if self.closes(piece) or self._shift:
            return inner.level
        is_continued = not (self._fresh or inner.lists or piece.kind == "{")
        return inner.level + 1 + is_continued

    def take(self, piece: Piece, following: Piece | None, level: int) -> None:
        kind = piece.kind
        if kind in _OPENING:
            self._open.append(Bracket(kind, level + self._shift, lists=kind in ("(", "[")))
        elif kind in _CLOSING and len(self._open) > 1:
            self._open.pop()
        self._fresh = kind in _STARTERS

    def spaced(self, before: Piece, piece: Piece, was_spaced: bool) -> bool:
        left, right = before.kind, piece.kind
        if right in (";", ",", ")", "]") or left in ("(", "["):
            return False
        if left in (",", ";", "::") or left in _SPACED or right in _SPACED or right == "::":
            return True
        return was_spaced

"""The layout of DVE texts."""

from __future__ import annotations

import re

from outcrop.lang.dve.lexer import IDENTIFIER, INTEGER, STRING, tokenize
from outcrop.lang.dve.parser import parse
from outcrop.lang.editing import NUMBER, TEXT, WORD, Piece
from outcrop.lang.layout import Bracket, arrange, with_comments
from outcrop.source import Source

_COMMENT = re.compile(r"//[^\n]*|/\*(?s:.*?)\*/")
_KINDS = {IDENTIFIER: WORD, INTEGER: NUMBER, STRING: TEXT}
_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")
#: Tokens before braces around values or types, which have no blanks inside.
_BEFORE_VALUES = frozenset(("!", "?", "=", "channel"))
_OPERAND_ENDS = frozenset((WORD, NUMBER, TEXT, "true", "false", ")", "]"))


def layout(source: Source) -> str:
    """Returns the text with a uniform layout. Raises ``ModelError`` for a text that is not a model."""
    parse(source)
    tokens = tokenize(source)

    def words(text: str) -> list[tuple[str, str]]:
        made = tokenize(Source(source.name, text))
        return list(zip(made.kinds, made.texts, strict=True))

    pieces = [
        Piece(_KINDS.get(kind, kind), source.text[start:end], start, end)
        for kind, start, end in zip(tokens.kinds, tokens.starts, tokens.ends, strict=True)
    ][:-1]
    text = source.text.replace("\\\n", " \n")
    return arrange(text, with_comments(source.text, pieces, _COMMENT), _DveShape(), words)


class _DveShape:
    def __init__(self) -> None:
        self._open: list[Bracket] = [Bracket("", -1)]
        self._fresh = True  #: whether the next token begins a declaration, section or part of a transition
        self._last = ""
        self._is_sign = False  #: whether the last token is a sign of one operand
        self._is_remote = False  #: whether the last token is the arrow of process->variable

    def closes(self, piece: Piece) -> bool:
        return piece.kind in _CLOSING

    def level(self, piece: Piece, following: Piece | None) -> int:
        inner = self._open[-1]
        if self.closes(piece):
            return inner.level
        is_continued = not (self._fresh or inner.lists or piece.kind == "{")
        return inner.level + 1 + is_continued

    def take(self, piece: Piece, following: Piece | None, level: int) -> None:
        kind = piece.kind
        if kind in _OPENING:
            is_tight = kind != "{" or self._last in _BEFORE_VALUES
            self._open.append(Bracket("values" if is_tight and kind == "{" else kind, level, lists=is_tight))
        elif kind in _CLOSING and len(self._open) > 1:
            self._open.pop()
        elif kind == "trans":
            self._open.append(Bracket("trans", level, lists=True))
        elif kind == ";" and self._open[-1].kind == "trans":
            self._open.pop()
        self._fresh = kind in (";", "{", "}", ":") and self._open[-1].kind not in ("(", "[", "values")
        self._is_sign = kind in ("-", "~") and self._last not in _OPERAND_ENDS
        # Between transitions an arrow joins states. Inside of one it leads to a variable of another process.
        self._is_remote = kind == "->" and self._open[-1].kind != "trans"
        self._last = kind

    def spaced(self, before: Piece, piece: Piece, was_spaced: bool) -> bool:
        left, right = before.kind, piece.kind
        inner = self._open[-1].kind
        if right in (";", ",", ")", "]", ".", ":", "!", "?") or left in ("(", "[", ".", "!", "?"):
            return False
        if self._is_sign or self._is_remote or (right == "->" and inner != "trans"):
            return False
        if left == "{" and right == "}":
            return False
        if left == "{" or right == "}":
            return inner != "values"
        if right == "[":
            return False
        return right != "(" or left not in (WORD, "]")

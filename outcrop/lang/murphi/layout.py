"""The layout of Murphi texts."""

from __future__ import annotations

import re

from outcrop.lang.editing import NUMBER, TEXT, WORD, Piece
from outcrop.lang.layout import Bracket, arrange, with_comments
from outcrop.lang.murphi.lexer import IDENTIFIER, INTEGER, REAL, STRING, tokenize
from outcrop.lang.murphi.parser import parse
from outcrop.lang.murphi.parser_cursor import CLOSERS, CLOSING, RULE_STARTS, SECTION_STARTS
from outcrop.source import Source

_COMMENT = re.compile(r"--[^\n]*|/\*(?s:.*?)(?:\*/|\Z)")
_KINDS = {IDENTIFIER: WORD, INTEGER: NUMBER, REAL: NUMBER, STRING: TEXT}
_OPENING = {"(": ")", "[": "]", "{": "}"}
_PROPERTIES = frozenset(("invariant", "assert", "assume", "cover", "liveness", "ltl"))
#: Tokens after which a statement, declaration or rule begins.
_STARTERS = frozenset((";", "do", "then", "else", "begin", "==>", *SECTION_STARTS, "record", "startstate", "alias"))
#: Blocks after which the next statement or rule begins, even if the semicolon is missing.
_STATEMENTS = CLOSERS.keys() - {"forall", "exists", "record"}
#: Tokens that end an operand, so that a sign after them has two operands.
_OPERAND_ENDS = frozenset((WORD, NUMBER, TEXT, ")", "]", "}", "end", *CLOSING))
_CALLS = frozenset((WORD, "isundefined", "ismember", "scalarset", "]", ")"))


def layout(source: Source) -> str:
    """Returns the text with a uniform layout. Raises ``ModelError`` for a text that is not a model."""
    parse(source)
    tokens = tokenize(source)

    def words(text: str) -> list[tuple[str, str]]:
        made = tokenize(Source(source.name, text))
        return list(zip(made.kinds, made.texts, strict=True))

    pieces = [
        Piece(_kind(kind, text), source.text[start:end], start, end)
        for kind, text, start, end in zip(tokens.kinds, tokens.texts, tokens.starts, tokens.ends, strict=True)
    ][:-1]
    return arrange(source.text, with_comments(source.text, pieces, _COMMENT), _MurphiShape(), words)


def _kind(kind: str, text: str) -> str:
    word = text.lower()
    return word if kind == IDENTIFIER and word in ("choose", "endchoose") else _KINDS.get(kind, kind)


class _MurphiShape:
    def __init__(self) -> None:
        self._open: list[Bracket] = [Bracket("", -1)]
        self._fresh = True  #: whether the next token begins a statement, declaration or rule
        self._questions = 0  #: conditional operators that wait for their ':'
        self._in_formula = False  #: whether the last token is part of an LTL formula, which has a syntax of its own
        self._last = ""  #: kind of the last token
        self._is_sign = False  #: whether the last token is a sign of one operand

    # --- Indentation -----------------------------------------------------------------------------------------

    def closes(self, piece: Piece) -> bool:
        return piece.kind in CLOSING or piece.kind in (")", "]", "}", "endchoose")

    def level(self, piece: Piece, following: Piece | None) -> int:
        kind = piece.kind
        inner = self._open[-1]
        if self.closes(piece):
            return self._without_section()[-1].level
        if self._begins_section(kind) or kind == "begin" or (kind in RULE_STARTS and inner.kind in SECTION_STARTS):
            around = self._without_section()[-1]
            is_block = around.kind in ("rule", "startstate", "function", "procedure")
            return around.level if is_block else around.level + 1
        if kind in ("else", "elsif", "case", "==>", "do", "then"):
            return inner.level + (inner.kind == "switch")
        if self._ends_section(piece, following):
            return self._without_section()[-1].level + 1
        is_guard = inner.kind == "rule" and inner.in_head
        is_continued = not (self._fresh or inner.lists or is_guard or kind in RULE_STARTS)
        return inner.level + 1 + is_continued + (inner.kind == "switch")

    def _begins_section(self, kind: str) -> bool:
        return kind in SECTION_STARTS and self._open[-1].kind not in _OPENING

    def _ends_section(self, piece: Piece, following: Piece | None) -> bool:
        """Returns whether a property or ``choose`` follows the declarations of a section."""
        if self._open[-1].kind not in SECTION_STARTS or not self._fresh or following is None:
            return False
        word = piece.text.lower()
        is_statement = following.kind in (":=", "(", "[", ".")
        return (
            is_statement or (word in _PROPERTIES and following.kind not in (":", ",")) or self._opens(piece, following)
        )

    def _without_section(self) -> list[Bracket]:
        return self._open[:-1] if self._open[-1].kind in SECTION_STARTS else self._open

    def _opens(self, piece: Piece, following: Piece | None) -> bool:
        if piece.kind == "choose":
            return following is not None and following.kind == WORD
        return piece.kind in CLOSERS

    def take(self, piece: Piece, following: Piece | None, level: int) -> None:
        kind, closed = piece.kind, ""
        if self._begins_section(kind) or kind == "begin" or kind in RULE_STARTS or self._ends_section(piece, following):
            self._open = self._without_section()
        if self.closes(piece):
            self._open = self._without_section()
            closed = self._open.pop().kind if len(self._open) > 1 else ""
        elif kind in _OPENING:
            self._open.append(Bracket(kind, level, lists=True))
        elif self._begins_section(kind):
            self._open.append(Bracket(kind, level))
        elif self._opens(piece, following):
            self._open.append(Bracket(kind, level, in_head=True))
        self._note(piece, closed)
        self._is_sign = kind in ("-", "+") and self._last not in _OPERAND_ENDS
        self._last = "ltl" if piece.text.lower() == "ltl" else kind

    def _note(self, piece: Piece, closed: str) -> None:
        kind = piece.kind
        inner = self._open[-1]
        if kind == "case":
            inner.in_head = True
        elif kind in ("==>", "do", "then", "begin"):
            inner.in_head = False
        if kind == "?":
            self._questions += 1
        elif kind == ":" and self._questions:
            self._questions -= 1
        ends_label = kind == ":" and inner.kind == "switch" and inner.in_head
        if ends_label:
            inner.in_head = False
        is_title = kind == TEXT and self._last == "startstate"
        self._fresh = kind in _STARTERS or ends_label or is_title or closed in _STATEMENTS
        self._in_formula = kind != ";" and (self._in_formula or (kind == TEXT and self._last == "ltl"))

    # --- Blanks ----------------------------------------------------------------------------------------------

    def spaced(self, before: Piece, piece: Piece, was_spaced: bool) -> bool:
        left, right = before.kind, piece.kind
        if self._in_formula:
            return was_spaced
        if right in (";", ",", ")", "]", ".") or left in ("(", "[", "."):
            return False
        if ".." in (left, right):
            return was_spaced
        if right == ":":
            return self._questions > 0
        if left in ("!", "~") or (left in ("-", "+") and self._is_sign):
            return False
        if right == "(":
            return left not in _CALLS
        if right == "[":
            return left not in (WORD, "]", ")") or before.text.lower() == "multiset"
        return not (left == "{" and right == "}")

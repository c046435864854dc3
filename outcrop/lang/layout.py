"""The layout of model texts: indentation, blanks and empty lines, in a way that all languages share.

Authors decide where lines end. The layout decides the rest: the indentation of a line follows from the blocks around
it, one blank or none stands between two tokens, at most one empty line between two lines. Tokens and comments stay as
they are, which ``arrange`` verifies, so that the meaning of a text never changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from outcrop.errors import InternalError
from outcrop.lang.editing import COMMENT, VERBATIM, Piece

#: Indentation of one level.
STEP = "  "
#: Blanks before a comment at the end of a line.
_BEFORE_COMMENT = "  "
#: Characters that would begin a comment or another token if the blank between them vanished.
_JOINED = frozenset(("--", "/*", "//", "<-", "->", "-=", ":=", "==", "=>", "<=", ">=", "<<", ">>", "&&", "||", "::"))


class Shape(Protocol):
    """The rules of a language. It is told every token in order."""

    def level(self, piece: Piece, following: Piece | None) -> int:
        """Returns the indentation of a line that begins with this token."""

    def closes(self, piece: Piece) -> bool:
        """Returns whether the token ends a block, so that a comment before it belongs to the block."""

    def take(self, piece: Piece, following: Piece | None, level: int) -> None:
        """Notes a token on a line of this indentation."""

    def spaced(self, before: Piece, piece: Piece, was_spaced: bool) -> bool:
        """Returns whether a blank stands between two tokens of a line."""


@dataclass
class Bracket:
    """A block or bracket that is open. ``level`` is the indentation of the line where it opened."""

    kind: str
    level: int
    in_head: bool = False  #: whether the head of the block is not over
    lists: bool = False  #: whether lines inside never count as the continuation of a statement


@dataclass
class _Line:
    pieces: list[Piece]
    is_after_empty: bool
    level: int = 0
    text: str = ""


def with_comments(text: str, tokens: Sequence[Piece], comment: re.Pattern[str]) -> list[Piece]:
    """Returns the tokens with the comments between them, in the order of the text."""
    result: list[Piece] = []
    end = 0
    for token in (*tokens, Piece("", "", len(text), len(text))):
        for match in comment.finditer(text, end, token.start):
            result.append(Piece(COMMENT, match.group().rstrip(), match.start(), match.end()))
        if token.kind:
            result.append(token)
        end = max(end, token.end)
    return result


def arrange(text: str, pieces: Sequence[Piece], shape: Shape, tokens: Callable[[str], list[tuple[str, str]]]) -> str:
    """Returns the text with the layout of ``shape``. ``tokens`` cuts a text into tokens, to compare both texts."""
    lines = _lines(text, pieces)
    _indent(lines, shape, text)
    _append_comments(lines, text)
    arranged = "".join(("\n" if each.is_after_empty else "") + each.text + "\n" for each in lines)
    is_kept = re.sub(r"\s+", "", arranged) == re.sub(r"\s+", "", "".join(each.text for each in pieces))
    if not is_kept or tokens(arranged) != tokens(text):
        raise InternalError("the layout would change the text; leave the file as it is, and report this")
    return arranged


def _lines(text: str, pieces: Sequence[Piece]) -> list[_Line]:
    lines: list[_Line] = []
    end = 0
    for piece in pieces:
        breaks = text.count("\n", end, piece.start)
        if not lines or breaks or piece.kind == VERBATIM:
            lines.append(_Line([], is_after_empty=breaks > 1 and bool(lines)))
        lines[-1].pieces.append(piece)
        end = piece.end
    return lines


def _indent(lines: list[_Line], shape: Shape, text: str) -> None:
    """Sets the levels of all lines and their texts, except for comments at their ends."""
    code = [each for line in lines for each in line.pieces if each.kind not in (COMMENT, VERBATIM)]
    place = {id(each): position for position, each in enumerate(code)}

    def following(piece: Piece) -> Piece | None:
        position = place[id(piece)] + 1
        return code[position] if position < len(code) else None

    at = 0
    for line in lines:
        if line.pieces[0].kind == VERBATIM:
            line.text = "".join(each.text for each in line.pieces)
            continue
        own = [each for each in line.pieces if each.kind != COMMENT]
        first = own[0] if own else code[at] if at < len(code) else None
        line.level = 0 if first is None else shape.level(first, following(first))
        if first is not None and not own and shape.closes(first):
            line.level += 1
        line.text = _line_text(line, shape, text, following)
        at += len(own)


def _line_text(line: _Line, shape: Shape, text: str, following: object) -> str:
    assert callable(following)
    before: Piece | None = None
    parts = [STEP * max(0, line.level)]
    pieces = line.pieces
    last = len(pieces) - 1 if _ends_with_comment(line) else len(pieces)
    for piece in pieces[:last]:
        if before is not None and _is_spaced(before, piece, shape, text):
            parts.append(" ")
        parts.append(piece.text)
        if piece.kind != COMMENT:
            shape.take(piece, following(piece), line.level)
        before = piece
    return "".join(parts)


def _is_spaced(before: Piece, piece: Piece, shape: Shape, text: str) -> bool:
    was_spaced = before.end < piece.start
    if COMMENT in (before.kind, piece.kind):
        return was_spaced
    if shape.spaced(before, piece, was_spaced):
        return True
    joined = before.text[-1:] + piece.text[:1]
    return was_spaced and (joined in _JOINED or joined.replace("_", "a").isalnum())


def _ends_with_comment(line: _Line) -> bool:
    return len(line.pieces) > 1 and line.pieces[-1].kind == COMMENT and line.pieces[0].kind != VERBATIM


def _append_comments(lines: list[_Line], text: str) -> None:
    """Appends the comments at the ends of lines. Those that authors have aligned on adjacent lines stay aligned."""
    group: list[_Line] = []
    column = -1

    def flush() -> None:
        width = max((len(each.text) for each in group), default=0)
        for each in group:
            each.text = each.text.ljust(width) + _BEFORE_COMMENT + each.pieces[-1].text
        group.clear()

    for line in lines:
        if not _ends_with_comment(line):
            flush()
            continue
        start = line.pieces[-1].start
        here = start - text.rfind("\n", 0, start)
        if here != column or line.is_after_empty:
            flush()
        column = here
        group.append(line)
    flush()

"""Source texts, spans in them, and diagnostics that point at them."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property


@dataclass(frozen=True, eq=False)
class Source:
    """The text of one file. ``name`` is the name that diagnostics print."""

    name: str
    text: str
    sha256: str = ""  #: SHA-256 of the file, in hexadecimal; empty if the text comes from no file
    part: str = ""  #: the model in the file, where it has several: FILE:PART

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        at = self.text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = self.text.find("\n", at + 1)
        return starts

    def position(self, offset: int) -> tuple[int, int]:
        """Returns the line and column of an offset, both counted from 1."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    @property
    def line_count(self) -> int:
        return len(self._line_starts)

    def start_of(self, number: int) -> int:
        """Returns the offset of a line, counted from 1."""
        return self._line_starts[number - 1]

    def line(self, number: int) -> str:
        """Returns the text of a line, counted from 1, without its line end."""
        start = self._line_starts[number - 1]
        end = self._line_starts[number] if number < len(self._line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")


class Span:
    """A range of a source, from offset ``start`` (included) to ``end`` (excluded)."""

    __slots__ = ("end", "source", "start")

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.source = source
        self.start = start
        self.end = end

    def to(self, other: Span) -> Span:
        """Returns the span from the start of this one to the end of the other."""
        return Span(self.source, self.start, max(self.end, other.end))

    @property
    def line(self) -> int:
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        return self.source.position(self.start)[1]

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    def alone(self) -> Source:
        """Returns the source with blanks for all text outside the span, so that offsets, lines and columns stay the
        same."""
        before = re.sub(r"[^\n]", " ", self.source.text[: self.start])
        return Source(self.source.name, before + self.text)

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.column}"

    def __repr__(self) -> str:
        return f"<{self}>"


def whole(source: Source) -> Span:
    return Span(source, 0, len(source.text))


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Diagnostic:
    """One message about a position in the model: a plain sentence, and a hint if one helps."""

    severity: Severity
    message: str
    span: Span | None = None
    hint: str = ""
    related: tuple[tuple[str, Span], ...] = field(default=())
    bears_on_verdict: bool = False  #: whether the verdict would seem to say more without it

    def within(self, source: Source) -> Diagnostic:
        """Returns this diagnostic for the same offsets of another source."""
        return self if self.span is None else replace(self, span=Span(source, self.span.start, self.span.end))

    def render(self) -> str:
        """Returns ``file:line:col: error: message``, the source line with carets below the span, and the hint."""
        if self.span is None:
            lines = [f"{self.severity}: {self.message}"]
        else:
            lines = [f"{self.span}: {self.severity}: {self.message}", *_excerpt(self.span)]
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        for text, span in self.related:
            lines += [f"{span}: note: {text}", *_excerpt(span)]
        return "\n".join(lines)


#: Longest source line that is shown whole, and the numbers of characters shown before and after a span otherwise.
_LONGEST_LINE, _BEFORE, _AFTER = 400, 60, 200


def _window(text: str, column: int, width: int) -> tuple[str, int, int]:
    """Returns the part of a long line around a span, with the column and width of the span in it."""
    begin = max(0, column - 1 - _BEFORE)
    end = min(len(text), column - 1 + _AFTER)
    before, after = "... " if begin else "", " ..." if end < len(text) else ""
    return f"{before}{text[begin:end]}{after}", column - begin + len(before), min(width, end - column + 1)


def _excerpt(span: Span) -> list[str]:
    line, column = span.source.position(span.start)
    text = span.source.line(line).replace("\r", " ")
    width = max(1, min(span.end - span.start, len(text) - column + 1))
    if len(text) > _LONGEST_LINE:
        text, column, width = _window(text, column, width)
    # Tabs are kept in the margin, so that the caret stands under its character for any tab width.
    margin = "".join("\t" if character == "\t" else " " for character in text[: column - 1])
    return [f"  {text}", f"  {margin}{'^' * width}"]

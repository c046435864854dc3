"""The texts that an editor has open, and all that is known about each. Knowledge is found when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote, urlparse

from lsprotocol import types

from outcrop.errors import ModelError, OutcropError
from outcrop.lang import editor_services, front_end
from outcrop.lang.editing import Declaration, Editing, Facts, Index
from outcrop.lang.registry import language_of
from outcrop.options import LoadOptions
from outcrop.source import Diagnostic, Source, Span

_UNITS = {types.PositionEncodingKind.Utf8: "utf-8", types.PositionEncodingKind.Utf32: "utf-32-le"}


def path_of(uri: str) -> str:
    """Returns the path of a file by its address; the address itself for a text that has no file."""
    parsed = urlparse(uri)
    return unquote(parsed.path) if parsed.scheme == "file" else uri


class Text:
    """One version of a text."""

    def __init__(self, uri: str, content: str, version: int, encoding: types.PositionEncodingKind | str) -> None:
        self.uri = uri
        self.version = version
        self.source = Source(path_of(uri), content)
        self._codec = _UNITS.get(types.PositionEncodingKind(encoding), "utf-16-le")
        self._width = {"utf-8": 1, "utf-16-le": 2, "utf-32-le": 4}[self._codec]

    @property
    def path(self) -> Path:
        return Path(self.source.name)

    @cached_property
    def services(self) -> Editing | None:
        try:
            return editor_services(self.source.name)
        except OutcropError:  # not a file of any language
            return None

    @cached_property
    def language(self) -> str:
        return language_of(self.source.name).name

    @cached_property
    def index(self) -> Index:
        services = self.services
        if services is None or services.index is None:
            return Index(self.source)
        try:
            return services.index(self.source)
        except RecursionError:
            return Index(self.source)

    @cached_property
    def facts(self) -> Mapping[Declaration, Facts]:
        services = self.services
        return {} if services is None or services.facts is None else services.facts(self.index)

    @cached_property
    def diagnostics(self) -> list[Diagnostic]:
        """Mistakes and warnings that are found without executing anything."""
        services = self.services
        if services is None:
            return []
        if services.static is not None:
            return services.static(self.source)
        try:
            return front_end(self.source.name)(self.source, LoadOptions())[1]
        except ModelError as error:
            return list(error.diagnostics)
        except OutcropError:
            return []

    # --- Positions -------------------------------------------------------------------------------------------

    def position(self, offset: int) -> types.Position:
        line, column = self.source.position(min(max(offset, 0), len(self.source.text)))
        before = self.source.line(line)[: column - 1]
        units = len(before) if before.isascii() else len(before.encode(self._codec)) // self._width
        return types.Position(line - 1, units)

    def range(self, start: int, end: int) -> types.Range:
        return types.Range(self.position(start), self.position(end))

    def span(self, span: Span) -> types.Range:
        return self.range(span.start, span.end)

    def offset(self, position: types.Position) -> int:
        text = self.source.text
        lines = self.source.line_count
        if position.line >= lines:
            return len(text)
        line = self.source.line(position.line + 1)
        start = self.source.start_of(position.line + 1)
        if line.isascii():
            return start + min(position.character, len(line))
        units = 0
        for column, character in enumerate(line):
            if units >= position.character:
                return start + column
            units += len(character.encode(self._codec)) // self._width
        return start + len(line)

    def line_range(self, number: int) -> types.Range:
        """Returns the text of a line, counted from 1, without its indentation."""
        number = min(max(number, 1), self.source.line_count)
        line, start = self.source.line(number), self.source.start_of(number)
        return self.range(start + len(line) - len(line.lstrip()), start + len(line))

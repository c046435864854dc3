"""The texts of models: files, notebook cells and strings, their syntax trees, and places in them."""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from outcrop.source import Source, Span

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, eq=False)
class PythonSource:
    """A source and its syntax tree. ``origin``: the place that the text was taken from, if it is a part of another."""

    source: Source
    origin: Span | None = None

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source.text)

    @cached_property
    def _lines(self) -> list[tuple[int, str]]:
        """Each line with the offset at which it starts."""
        lines, at = [], 0
        for line in self.source.text.split("\n"):
            lines.append((at, line))
            at += len(line) + 1
        return lines

    def offset(self, line: int, column: int) -> int:
        """Returns the offset of a line, counted from 1, and a column in bytes of UTF-8, as syntax trees have it."""
        if line > len(self._lines):
            return len(self.source.text)
        start, text = self._lines[line - 1]
        return start + (column if text.isascii() else len(text.encode()[:column].decode(errors="ignore")))

    def span(self, node: ast.AST) -> Span:
        """Returns the place of a node; of a function or class, that of its name."""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return self._name(node)
        start = self.offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]
        end = self.offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        end = max(end, start + 1)
        if self.origin is not None:
            return Span(self.origin.source, self.origin.start + start, self.origin.start + end)
        return Span(self.source, start, end)

    def _name(self, node: FunctionNode | ast.ClassDef) -> Span:
        start = self.source.text.index(node.name, self.offset(node.lineno, node.col_offset) + 3)
        return Span(self.source, start, start + len(node.name))

    @cached_property
    def functions(self) -> dict[tuple[str, int], FunctionNode]:
        """The functions by name and first line, decorators included."""
        found = {}
        for node in ast.walk(self.tree):
            if isinstance(node, FunctionNode):
                first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                found[node.name, first] = node
        return found

    def class_node(self, qualified: str) -> ast.ClassDef | None:
        """Returns the last definition of a class by its qualified name."""
        body: list[ast.stmt] = self.tree.body
        found: ast.ClassDef | None = None
        for name in qualified.split("."):
            found = next(
                (each for each in reversed(body) if isinstance(each, ast.ClassDef) and each.name == name), None
            )
            if found is None:
                return None
            body = found.body
        return found


class Sources:
    """The sources of a model by the file names that code objects have."""

    def __init__(self) -> None:
        self._known: dict[str, PythonSource] = {}

    def add(self, filename: str, source: Source) -> PythonSource:
        made = self._known[filename] = PythonSource(source)
        return made

    def of_file(self, filename: str) -> PythonSource | None:
        """Returns a file, or a cell of a notebook; None where there is no text."""
        if filename not in self._known:
            text = "".join(linecache.getlines(filename))
            if not text:
                return None
            try:
                self.add(filename, Source(filename, text)).tree  # noqa: B018
            except SyntaxError:
                return None
        return self._known[filename]

    def of_function(self, function: Any) -> tuple[PythonSource, FunctionNode] | None:
        """Returns where a function stands; None for what was not written in Python, or by a lambda."""
        code = getattr(function, "__code__", None)
        if code is None:
            return None
        source = self.of_file(code.co_filename)
        node = None if source is None else source.functions.get((code.co_name, code.co_firstlineno))
        return None if source is None or node is None else (source, node)

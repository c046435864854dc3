"""``.ltl`` files in the format of DiVinE: propositions and properties for a model of the same name.

``#define NAME text`` names an expression of the model's language, ``#property FORMULA`` is a property; every other line
is a comment. The formulas say what should hold; they are not negated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from outcrop.errors import ModelError
from outcrop.ltl.lexer import WORDS, refuse
from outcrop.ltl.parser import Parsed, parse_span
from outcrop.options import FormulaText
from outcrop.source import Diagnostic, Source, Span, whole

_LINE = re.compile(r"^[ \t]*\#[ \t]*(define|property)\b((?:\\\r?\n|[^\n])*)", re.MULTILINE)
_DEFINITION = re.compile(r"[ \t]*([A-Za-z_]\w*)(\(?)")
#: A comment after a definition, which must not become part of it.
_REMARK = re.compile(r"//.*|/\*.*?\*/")
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Definition:
    """A definition. ``text`` is an expression of the model's language in which the names of other definitions are
    expanded."""

    name: str
    text: str
    span: Span


@dataclass(frozen=True)
class FormulaFile:
    """The contents of a file. ``properties`` are in the order of the file, with their places in ``spans``; the first
    one is number 1."""

    definitions: dict[str, Definition]
    properties: tuple[Parsed, ...]
    spans: tuple[Span, ...]


def parse_file(source: Source) -> FormulaFile:
    """Reads a file. Raises ModelError with all mistakes in it."""
    return _Reader(source).run()


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.bodies: dict[str, Span] = {}
        self.names: dict[str, Span] = {}
        self.diagnostics: list[Diagnostic] = []

    def run(self) -> FormulaFile:
        lines: dict[str, list[Span]] = {"define": [], "property": []}
        for line in _LINE.finditer(self.source.text):
            lines[line.group(1)].append(Span(self.source, *line.span(2)))
        for each in lines["define"]:
            try:
                self._define(each)
            except ModelError as error:
                self.diagnostics += error.diagnostics
        properties = []
        for each in lines["property"]:
            try:
                properties.append(self._property(each))
            except ModelError as error:
                self.diagnostics += error.diagnostics
        if self.diagnostics:
            raise ModelError(self.diagnostics)
        definitions = {
            name: Definition(name, self._expand(span.text, (name,)), span) for name, span in self.bodies.items()
        }
        return FormulaFile(definitions, tuple(properties), tuple(_trimmed(each) for each in lines["property"]))

    def _define(self, line: Span) -> None:
        match = _DEFINITION.match(self.source.text, line.start, line.end)
        if match is None:
            raise refuse("expected a name after #define", _trimmed(line), "write #define NAME EXPRESSION")
        name = Span(self.source, *match.span(1))
        if match.group(2):
            raise refuse(
                f"'{name.text}' is a macro with parameters, which is not supported", name, "write its expression out"
            )
        if name.text in WORDS:
            raise refuse(f"'{name.text}' is a reserved word of formulas", name, "choose another name")
        if name.text in self.names:
            raise refuse(f"'{name.text}' is defined twice", name, f"first in line {self.names[name.text].line}")
        body = _trimmed(Span(self.source, name.end, line.end))
        if body.start == body.end:
            raise refuse(
                f"'{name.text}' is defined as nothing", name, "write an expression of the model after the name"
            )
        self.names[name.text] = name
        self.bodies[name.text] = body

    def _property(self, line: Span) -> Parsed:
        parsed = parse_span(_trimmed(line), self.names)
        for each, span in parsed.propositions.items():
            if not each.verbatim and each.text not in self.names:
                raise refuse(f"'{each.text}' is not defined", span, f"define it with #define {each.text} EXPRESSION")
        return parsed

    def _expand(self, text: str, above: tuple[str, ...]) -> str:
        """Returns the text with the names of definitions expanded, in brackets. A name within its own definition stays,
        as in C."""

        def replace(match: re.Match[str]) -> str:
            name = match.group()
            if name in above or name not in self.bodies:
                return name
            return f"({self._expand(self.bodies[name].text, (*above, name))})"

        return _WORD.sub(replace, _REMARK.sub(" ", _joined(text))).rstrip()


def formula_texts(file: FormulaFile | None, more: Sequence[Span]) -> tuple[FormulaText, ...]:
    """Returns the properties of a file, then further formulas that may use its definitions, for a front-end to read."""
    definitions = {} if file is None else {name: _place(each) for name, each in file.definitions.items()}
    spans = [*(() if file is None else file.spans), *more]
    return tuple(FormulaText(" ".join(_joined(span.text).split()), span, definitions) for span in spans)


def _place(definition: Definition) -> Span:
    """Returns the place of a definition. An expanded one gets a source of its own."""
    if definition.text == definition.span.text:
        return definition.span
    name = f"{definition.span.source.name} line {definition.span.line}, #define {definition.name}"
    return whole(Source(name, definition.text))


def _joined(text: str) -> str:
    """Returns the text with lines that end in a backslash joined."""
    return text.replace("\\\r\n", " ").replace("\\\n", " ")


def _trimmed(span: Span) -> Span:
    text = span.text
    start = span.start + len(text) - len(text.lstrip())
    return Span(span.source, start, max(start, span.start + len(text.rstrip())))

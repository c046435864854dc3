"""The DVE parser: declarations, processes and the system line, in any order that DiVinE 2 or 3 allows."""

from __future__ import annotations

from dataclasses import dataclass, field

from outcrop.errors import ModelError
from outcrop.lang.cursor import Abandoned, GivenUp
from outcrop.lang.dve.lexer import END_OF_FILE, IDENTIFIER, STRING
from outcrop.lang.dve.parser_process import ProcessParser
from outcrop.lang.dve.syntax import Declaration, Expression, Model, Name, Process
from outcrop.source import Diagnostic, Severity, Source, Span

_DECLARATION_ENDS = frozenset((";", "process", "system"))


@dataclass
class _Parts:
    declarations: list[Declaration] = field(default_factory=list)
    processes: list[Process] = field(default_factory=list)
    property: Name | None = None
    has_system: bool = False


def parse(source: Source) -> tuple[Model, list[Diagnostic]]:
    """Returns the tree and the warnings. Raises ``ModelError`` with all mistakes if the text is not a model."""
    parser = _Parser(source)
    parts = _Parts()
    try:
        parser.items(parts)
    except GivenUp:
        assert parser.error_count
    if parser.error_count:
        raise ModelError([each for each in parser.diagnostics if each.severity is Severity.ERROR])
    return Model(tuple(parts.declarations), tuple(parts.processes), parts.property), parser.diagnostics


def parse_expression(span: Span, what: str = "value") -> Expression:
    """Returns the expression in a span."""
    parser = _Parser(span.alone())
    parser.source = span.source
    try:
        expression = parser.expression()
        if parser.kind != END_OF_FILE:
            parser.fail_expected(f"the end of the {what}")
        if not parser.error_count:
            return expression
    except (Abandoned, GivenUp):
        pass
    raise ModelError([each.within(span.source) for each in parser.diagnostics])


class _Parser(ProcessParser):
    def items(self, parts: _Parts) -> None:
        while self.kind != END_OF_FILE:
            start = self.at
            try:
                self._item(parts)
            except Abandoned:
                if self.skip(start, _DECLARATION_ENDS) in (";", "}"):
                    self.at += 1
        if not parts.has_system and not self.error_count:
            self.report("the model has no system line", self.here(), "end it with 'system async;'")

    def _item(self, parts: _Parts) -> None:
        if self.at_declaration():
            parts.declarations += self.declaration()
        elif self.kind == "process":
            parts.processes.append(self.process(is_property=False))
        elif self.kind == "property":
            self._property(parts)
        elif self.kind == "system":
            self._system(parts)
        elif self.kind == ";":
            self.at += 1
        elif self.word in ("expression", "for", "if") and self.next_kind in (IDENTIFIER, "("):
            self.fail(f"'{self.word}' at the top level is an unsupported extension of DiVinE 3", "write it out in DVE")
        else:
            self.fail_expected("a declaration, a process or the system line")

    def _property(self, parts: _Parts) -> None:
        """Parses the properties of DiVinE 3: ``property process N {...}`` and ``property ltl N "formula";``."""
        start = self.at
        self.at += 1
        if self.kind == "process":
            parts.processes.append(self.process(is_property=True))
        elif self.word == "ltl":
            self.at += 1
            self.name("the name of the property")
            if not self.accept(STRING):
                self.fail_expected("a formula between quotes")
            self.accept(";")
            self.warn("this property is not checked; pass its formula with --ltl", self.span_from(start))
        else:
            self.fail_expected("'process' or 'ltl' after 'property'")

    def _system(self, parts: _Parts) -> None:
        start = self.at
        self.at += 1
        if self.kind == "sync":
            hint = "only asynchronous systems are supported: 'system async;'"
            self.fail("this is a synchronous system", hint)
        self.expect("async", "after 'system'")
        if self.accept("property"):
            parts.property = self.name("the name of the property process")
        self.expect(";", "at the end of the system line")
        if parts.has_system:
            self.report("this is a second system line; delete one", self.span_from(start))
        parts.has_system = True

"""Formulas of temporal logic about Murphi models: ``ltl`` declarations, and formulas given from outside."""

from __future__ import annotations

import re
from functools import partial

from outcrop.errors import ModelError
from outcrop.ir.formula import Formula
from outcrop.ir.nodes import Expression
from outcrop.ir.system import TemporalProperty
from outcrop.ir.types import BOOLEAN
from outcrop.lang.formulas import expression_of, read_formula
from outcrop.lang.murphi import syntax
from outcrop.lang.murphi.parser import parse_expression
from outcrop.lang.murphi.rules import RuleLowering, Surroundings
from outcrop.lang.murphi.scope import UNKNOWN, ConstantSymbol, FunctionSymbol, LocalSymbol, VariableSymbol
from outcrop.options import FormulaText, LoadOptions
from outcrop.source import Source, Span

_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


class TemporalLowering(RuleLowering):
    def __init__(self, source: Source, options: LoadOptions, declared_later: dict[str, Span]) -> None:
        super().__init__(source, options, declared_later)
        self.temporal: list[TemporalProperty] = []

    def temporal_item(self, node: syntax.LtlSyntax) -> None:
        """A declaration; inside rulesets it is a property for each combination of the parameters."""
        if any(isinstance(each, syntax.ChooseRule) for each in self.enclosing):
            message = "a formula cannot stand inside 'choose': what is chosen may be gone in the next state"
            self.report.error(message, node.span)
            return
        text = _COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment.group()), self.source.text)
        formula = Span(Source(self.source.name, text), node.formula.start, node.formula.end)
        self._temporal(FormulaText(node.name, formula), node.span)

    def given_formula(self, text: FormulaText) -> None:
        """A formula that does not stand in the model."""
        self._temporal(text, text.span)

    def _temporal(self, text: FormulaText, span: Span) -> None:
        with self.instantiated() as around:
            found = read_formula(text, self._predicates(), self.report, partial(self._meaning, text, around))
            frame = self.frame.finish()
        if found is not None and around.is_complete:
            self.temporal.append(TemporalProperty(text.name, tuple(around.parameters), frame, span, *found))

    def _predicates(self) -> list[str]:
        """The names of what is boolean by itself."""
        return [name for name in self.scope.visible() if self._is_predicate(name)]

    def _is_predicate(self, name: str) -> bool:
        match self.scope.find(name):
            case FunctionSymbol(function=function):
                return function.result is BOOLEAN and not function.formals
            case VariableSymbol(variable=known) | LocalSymbol(local=known):
                return known.type is BOOLEAN
            case ConstantSymbol(value=value):
                return value.type is BOOLEAN
            case _:
                return False

    def _meaning(self, text: FormulaText, around: Surroundings, each: Formula, place: Span) -> Expression | None:
        errors = self.report.error_count
        where = expression_of(each, place, text.definitions)
        if where is None:
            node = self._named(each.text, self._in_source(place))
        else:
            try:
                node = parse_expression(self._in_source(where))
            except ModelError as error:
                self.report.take(error.diagnostics)
                return None
        with self.without_side_effects("a formula"):
            condition = self.condition(node, "a proposition")
        if self.report.error_count > errors or condition.type is UNKNOWN:
            return None
        return around.around_guard(condition)

    def _in_source(self, span: Span) -> Span:
        """In the text of the model itself, where the comments are still there."""
        return Span(self.source, span.start, span.end) if span.source.name == self.source.name else span

    def _named(self, name: str, span: Span) -> syntax.Expression:
        """A function without parameters is called by its name alone."""
        symbol = self.scope.find(name)
        if isinstance(symbol, FunctionSymbol):
            return syntax.CallOperation(span, syntax.Name(span, name), [])
        return syntax.Identifier(span, name)

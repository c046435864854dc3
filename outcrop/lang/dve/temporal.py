"""LTL formulas about DVE models, which come from ``.ltl`` files and the command line."""

from __future__ import annotations

from functools import partial

from outcrop.errors import ModelError
from outcrop.ir.formula import Formula
from outcrop.ir.nodes import Expression, Frame
from outcrop.ir.system import TemporalProperty
from outcrop.lang.dve import syntax
from outcrop.lang.dve.parser import parse_expression
from outcrop.lang.dve.scope import ConstantSymbol, VariableSymbol
from outcrop.lang.dve.transitions import TransitionLowering
from outcrop.lang.formulas import expression_of, read_formula
from outcrop.ltl.parser import Binding
from outcrop.options import FormulaText, LoadOptions
from outcrop.source import Source, Span


class TemporalLowering(TransitionLowering):
    def __init__(self, source: Source, options: LoadOptions) -> None:
        super().__init__(source, options)
        self.temporal: list[TemporalProperty] = []

    def given_formula(self, text: FormulaText) -> None:
        self.scope = self.globals
        values = (VariableSymbol, ConstantSymbol)
        known = [name for name, symbol in self.globals.names.items() if isinstance(symbol, values)]
        found = read_formula(text, known, self.report, partial(self._meaning, text))
        if found is not None:
            self.temporal.append(TemporalProperty(text.name, (), Frame(), text.span, *found))

    def _meaning(self, text: FormulaText, each: Formula, place: Span, _bound: Binding) -> Expression | None:
        errors = self.report.error_count
        where = expression_of(each, place, text.definitions)
        if where is None:
            node: syntax.Expression = syntax.Reference(None, syntax.Name(each.text, place), None, place)
        else:
            try:
                node = parse_expression(where, "expression")
            except ModelError as error:
                self.report.take(error.diagnostics)
                return None
        condition = self.condition(node)
        return condition if self.report.error_count == errors else None

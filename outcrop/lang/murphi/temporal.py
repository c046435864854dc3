"""LTL formulas about Murphi models: ``ltl`` declarations, and formulas from outside the model."""

from __future__ import annotations

import re
from functools import partial
from itertools import product

from outcrop.errors import ModelError
from outcrop.ir.formula import Formula
from outcrop.ir.nodes import Constant, Expression
from outcrop.ir.system import TemporalProperty, has_symmetry
from outcrop.ir.types import BOOLEAN, Simple
from outcrop.lang.formulas import expression_of, names_in, read_formula
from outcrop.lang.murphi import syntax
from outcrop.lang.murphi.parser import parse_expression, parse_quantifiers
from outcrop.lang.murphi.rules import RuleLowering, Surroundings
from outcrop.lang.murphi.scope import UNKNOWN, ConstantSymbol, FunctionSymbol, LocalSymbol, VariableSymbol
from outcrop.ltl.parser import Binding, Bound, outermost_forall
from outcrop.options import FormulaText, LoadOptions
from outcrop.source import Source, Span

_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


class TemporalLowering(RuleLowering):
    def __init__(self, source: Source, options: LoadOptions, declared_later: dict[str, Span]) -> None:
        super().__init__(source, options, declared_later)
        self.temporal: list[TemporalProperty] = []
        self._names_scalarset_values = False  #: whether a quantifier of the current formula names scalarset values

    def temporal_item(self, node: syntax.LtlSyntax) -> None:
        """Lowers a declaration. Inside rulesets it is one property for each combination of the parameters."""
        if any(isinstance(each, syntax.ChooseRule) for each in self.enclosing):
            message = "a formula cannot be inside 'choose': the chosen element may be gone in the next state"
            self.report.error(message, node.span)
            return
        text = _COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment.group()), self.source.text)
        formula = Span(Source(self.source.name, text), node.formula.start, node.formula.end)
        self._temporal(FormulaText(node.name, formula), node.span)

    def given_formula(self, text: FormulaText) -> None:
        """Adds a formula from outside the model."""
        self._temporal(text, text.span)

    def _temporal(self, text: FormulaText, span: Span) -> None:
        """Lowers a formula. ``forall`` around the whole formula is a ruleset, with one property per value. Other
        quantifiers are expanded."""
        before = len(self.enclosing)
        try:
            while (quantified := outermost_forall(text.span, names_in(text, self._predicates()))) is not None:
                self.enclosing += parse_quantifiers(self._in_source(quantified[0]))
                text = FormulaText(text.name, quantified[1], text.definitions)
            self._quantifier_free(text, span)
        except ModelError as error:
            self.report.take(error.diagnostics)
        finally:
            del self.enclosing[before:]

    def _quantifier_free(self, text: FormulaText, span: Span) -> None:
        self._names_scalarset_values = False
        with self.instantiated() as around:
            meaning = partial(self._meaning, text, around)
            found = read_formula(text, self._predicates(), self.report, meaning, self._instances)
            frame = self.frame.finish()
        if found is not None and around.is_complete:
            named = self._names_scalarset_values
            self.temporal.append(TemporalProperty(text.name, tuple(around.parameters), frame, span, *found, named))

    def _instances(self, span: Span, around: Binding) -> list[Binding]:
        """Returns the values of the variables that an inner quantifier binds. Raises ``ModelError`` if it is
        invalid."""
        choices: list[list[Bound]] = []
        with self.block():
            self._declare(around, span)
            for node in parse_quantifiers(self._in_source(span)):
                found = self.parameter_values(node)
                if found is None:
                    assert self.report.error_count
                    raise ModelError([])
                kind, values = found
                assert isinstance(kind, Simple)
                self._names_scalarset_values |= has_symmetry(kind)
                name = node.name.text
                choices.append(
                    [Bound(name, kind.show(each), Constant(type=kind, span=span, value=each)) for each in values]
                )
        return list(product(*choices))

    def _declare(self, bound: Binding, span: Span) -> None:
        """Declares the variables of quantifiers as constants."""
        for each in {each.name: each for each in bound}.values():
            self.declare(syntax.Name(span, each.name), ConstantSymbol(each.value, span))

    def _predicates(self) -> list[str]:
        """Returns the names of boolean variables, constants and functions."""
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

    def _meaning(
        self, text: FormulaText, around: Surroundings, each: Formula, place: Span, bound: Binding
    ) -> Expression | None:
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
        with self.block(), self.without_side_effects("a formula"):
            self._declare(bound, place)
            condition = self.condition(node, "a proposition")
        if self.report.error_count > errors or condition.type is UNKNOWN:
            return None
        return around.around_guard(condition)

    def _in_source(self, span: Span) -> Span:
        """Returns the span in the text of the model itself, which still has its comments."""
        return Span(self.source, span.start, span.end) if span.source.name == self.source.name else span

    def _named(self, name: str, span: Span) -> syntax.Expression:
        """Returns the expression of a name. A function without parameters is called by its name alone."""
        symbol = self.scope.find(name)
        if isinstance(symbol, FunctionSymbol):
            return syntax.CallOperation(span, syntax.Name(span, name), [])
        return syntax.Identifier(span, name)

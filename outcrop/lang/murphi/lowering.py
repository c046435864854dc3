"""The lowering of a Murphi model, from text to System: parse, check, lower, lint."""

from __future__ import annotations

from contextlib import suppress

from outcrop.errors import ModelError
from outcrop.ir.nodes import Constant, Expression, Frame, Undefined
from outcrop.ir.system import System
from outcrop.ir.types import Scalarset
from outcrop.lang.murphi import syntax
from outcrop.lang.murphi.parser import parse, parse_expression
from outcrop.lang.murphi.scope import ConstantSymbol, Symbol, TypeSymbol
from outcrop.lang.murphi.temporal import TemporalLowering
from outcrop.lang.murphi.warnings import warn_about_rules, warn_unread_variables
from outcrop.lang.report import LowerExpression, Report, TooManyErrors
from outcrop.options import LoadOptions
from outcrop.source import Diagnostic, Severity, Source, Span


def lower(source: Source, options: LoadOptions) -> tuple[System, list[Diagnostic]]:
    """Returns the System and the warnings. Raises ``ModelError`` with all diagnostics for an invalid model."""
    system, warnings, _ = lower_open(source, options)
    return system, warnings


def lower_open(source: Source, options: LoadOptions) -> tuple[System, list[Diagnostic], LowerExpression]:
    """Returns the System, the warnings, and a function that lowers expressions from outside the model."""
    try:
        tree, warnings = parse(source)
        return _lower_tree(tree, source, options, warnings)
    except RecursionError:
        message = "the model is nested too deeply; split its largest expressions or blocks"
        raise ModelError([Diagnostic(Severity.ERROR, message)]) from None


def _lower_tree(
    tree: syntax.ModelSyntax, source: Source, options: LoadOptions, warnings: list[Diagnostic]
) -> tuple[System, list[Diagnostic], LowerExpression]:
    lowering = _ModelLowering(source, options, _top_level_names(tree))
    with suppress(TooManyErrors):
        lowering.model(tree)
    report = lowering.report
    if report.error_count:
        raise ModelError(_in_text_order(warnings + report.diagnostics))
    warn_about_rules(lowering.rules, lowering.start_states, report)
    warn_unread_variables(lowering.variables, lowering.variables_read, report)
    system = System(
        name=source.name,
        source=source,
        constants=lowering.constants,
        variables=tuple(lowering.variables),
        functions=tuple(lowering.functions),
        start_states=tuple(lowering.start_states),
        rules=tuple(lowering.rules),
        properties=tuple(lowering.properties),
        covers=tuple(lowering.covers),
        integers=lowering.integers,
        temporal=tuple(lowering.temporal),
        undefined_hint="CMurphi permits this too; --undefined error reports it as an error",
    )
    return system, _in_text_order(warnings + report.diagnostics), lowering.standalone


def global_symbols(tree: syntax.ModelSyntax, source: Source) -> dict[str, Symbol]:
    """Returns the names of the top level of a model that may have mistakes."""
    lowering = _ModelLowering(source, LoadOptions(), _top_level_names(tree))
    with suppress(TooManyErrors):
        lowering.model(tree)
    return lowering.scope.outermost().names


class _ModelLowering(TemporalLowering):
    def model(self, tree: syntax.ModelSyntax) -> None:
        constants = [
            name.text for item in tree.items if isinstance(item, syntax.ConstDeclaration) for name in item.names
        ]
        self.check_replacements(constants)
        for item in tree.items:
            if isinstance(item, syntax.ConstDeclaration | syntax.TypeDeclaration | syntax.VarDeclaration):
                self.global_declaration(item)
            elif isinstance(item, syntax.FunctionDeclaration):
                self.function_declaration(item)
            else:
                self.rule_item(item)
        for invariant in self.options.invariants:
            self.given_invariant(invariant)
        for formula in self.options.formulas:
            self.given_formula(formula)

    def standalone(self, span: Span) -> tuple[Expression, Frame]:
        """Returns an expression of any type with the locals that it needs. Raises ``ModelError`` for an invalid text.
        Unlike a model, the text may name the values of scalarsets."""
        node = parse_expression(span)
        self.report = Report()
        with self.block(), self.fresh_frame() as frame, self.without_side_effects("an expression"):
            self._name_scalarset_values(span)
            value = self.relaxed(self.expression(node), Undefined.ALLOW)
        if self.report.error_count:
            raise ModelError(self.report.diagnostics)
        return value, frame.finish()

    def _name_scalarset_values(self, span: Span) -> None:
        """Declares the values of scalarsets under the names that traces show, unless the model declares these names."""
        for name in list(self.scope.visible()):
            symbol = self.scope.find(name)
            if isinstance(symbol, TypeSymbol) and isinstance(symbol.type, Scalarset):
                for value in range(symbol.type.size):
                    shown = symbol.type.show(value)
                    if self.scope.find(shown) is None:
                        constant = Constant(type=symbol.type, span=span, value=value)
                        self.scope.names[shown] = ConstantSymbol(constant, None)


def _top_level_names(tree: syntax.ModelSyntax) -> dict[str, Span]:
    found: dict[str, Span] = {}
    for item in tree.items:
        if isinstance(item, syntax.FunctionDeclaration):
            found[item.name.text] = item.name.span
        elif isinstance(item, syntax.ConstDeclaration | syntax.TypeDeclaration | syntax.VarDeclaration):
            for name in item.names:
                found[name.text] = name.span
    return found


def _in_text_order(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    return sorted(diagnostics, key=lambda each: -1 if each.span is None else each.span.start)

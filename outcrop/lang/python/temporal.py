"""Formulas about runs, and expressions that do not stand in a method: of formulas, options and the explorer."""

from __future__ import annotations

import ast
import re
from functools import partial
from itertools import product

from outcrop.errors import ModelError
from outcrop.ir.formula import Formula
from outcrop.ir.nodes import Constant, Expression
from outcrop.ir.system import Parameter, Property, PropertyKind, TemporalProperty
from outcrop.lang.formulas import expression_of, names_in, read_formula
from outcrop.lang.python.calls import evaluate, is_helper
from outcrop.lang.python.context import MODEL_SELF, Body, Lowering
from outcrop.lang.python.kinds import BOOL, BoolKind, Kind, has_symmetric, is_domain
from outcrop.lang.python.sources import PythonSource
from outcrop.lang.python.values import Value
from outcrop.ltl.parser import Binding, Bound, outermost_forall
from outcrop.model import Symmetric
from outcrop.options import FormulaText
from outcrop.source import Diagnostic, Severity, Source, Span

_BOUND = re.compile(r"\s*(\w+)\s*:\s*([^;]+?)\s*(?:;|$)")


def parse_expression(span: Span) -> tuple[PythonSource, ast.expr]:
    """Returns the syntax tree of an expression; raises ModelError if the text is not an expression."""
    text = span.text
    start = span.start + len(text) - len(text.lstrip())
    stripped = re.sub(r"[\r\n]", " ", text.strip())
    try:
        tree = ast.parse(stripped, mode="eval")
    except SyntaxError as error:
        at = start + max(0, (error.offset or 1) - 1)
        place = Span(span.source, min(at, span.end), min(at + 1, span.end))
        raise ModelError([Diagnostic(Severity.ERROR, f"this is not a valid expression: {error.msg}", place)]) from None
    return PythonSource(Source(span.source.name, stripped), Span(span.source, start, span.end)), tree.body


def expression_body(model: Lowering, source: PythonSource, names: dict[str, object]) -> Body:
    """Returns a body for an expression that stands in no method; fields need no ``self.`` in it."""
    b = Body(model, source, names)
    b.names["self"] = MODEL_SELF
    b.bare_fields = True
    b.pure = "an expression"
    return b


class Formulas:
    """Lowers the formulas of one model."""

    def __init__(self, model: Lowering, source: PythonSource, names: dict[str, object]) -> None:
        self.model = model
        self.source = source
        self.names = names
        self.temporal: list[TemporalProperty] = []
        self._names_symmetric = False

    def known(self) -> list[str]:
        """Returns the names that are propositions by themselves: boolean fields, and helpers without parameters."""
        fields = [name for name, (_, kind) in self.model.fields.items() if isinstance(kind, BoolKind)]
        methods = [
            name
            for name, each in vars(self.model.cls).items()
            if is_helper(each)
            and each.__code__.co_argcount == 1
            and each.__annotations__.get("return") in (bool, "bool")
        ]
        return fields + methods

    def add(self, text: FormulaText, span: Span) -> None:
        b = expression_body(self.model, self.source, self.names)
        parameters: list[Parameter] = []
        self._names_symmetric = False
        try:
            while (found := outermost_forall(text.span, names_in(text, self.known()))) is not None:
                for name, kind in self._bound(b, found[0]):
                    local = b.local(name, kind, is_parameter=True)
                    b.names[name] = b.read_local(local, kind, found[0], "a parameter")
                    parameters.append(Parameter(local, range(kind.simple.low, kind.simple.high + 1)))
                text = FormulaText(text.name, found[1], text.definitions)
            read = read_formula(
                text, self.known(), self.model.report, partial(self._meaning, b, text), partial(self._instances, b)
            )
        except ModelError as error:
            self.model.report.take(error.diagnostics)
            return
        if read is not None:
            frame = b.frame.finish()
            self.temporal.append(
                TemporalProperty(text.name, tuple(parameters), frame, span, *read, self._names_symmetric)
            )

    def _bound(self, b: Body, span: Span) -> list[tuple[str, Kind]]:
        """Returns the variables of a quantifier and their kinds. Raises ModelError if it is invalid."""
        found = []
        for match in _BOUND.finditer(span.text):
            place = Span(span.source, span.start + match.start(2), span.start + match.end(2))
            source, node = parse_expression(place)
            inner = expression_body(self.model, source, self.names)
            annotation = evaluate(inner, node)
            kind = self.model.kind_of(annotation, place) if annotation is not None else BOOL
            if not is_domain(kind):
                raise ModelError(
                    [
                        Diagnostic(
                            Severity.ERROR,
                            f"a quantifier cannot enumerate the values of {kind}",
                            place,
                            "use an Enum, a Symmetric class or a Range",
                        )
                    ]
                )
            found.append((match.group(1), kind))
        if not found:
            raise ModelError(
                [Diagnostic(Severity.ERROR, "this quantifier cannot be read; write forall n: Node do ... end", span)]
            )
        return found

    def _instances(self, b: Body, span: Span, around: Binding) -> list[Binding]:
        choices = []
        for name, kind in self._bound(b, span):
            self._names_symmetric |= has_symmetric(kind)
            values = range(kind.simple.low, kind.simple.high + 1)
            choices.append(
                [
                    Bound(name, kind.simple.show(each), (kind, Constant(type=kind.type, span=span, value=each)))
                    for each in values
                ]
            )
        return list(product(*choices))

    def _meaning(self, b: Body, text: FormulaText, each: Formula, place: Span, bound: Binding) -> Expression | None:
        errors = self.model.report.error_count
        where = expression_of(each, place, text.definitions)
        try:
            source, node = parse_expression(where or place)
        except ModelError as error:
            self.model.report.take(error.diagnostics)
            return None
        outer, b.source = b.source, source
        with b.scope():
            for variable in bound:
                kind, value = variable.value
                b.names[variable.name] = Value(kind, value)
            condition = b.condition(node, "a proposition")
        b.source = outer
        return condition if self.model.report.error_count == errors else None


def given_invariant(model: Lowering, span: Span, names: dict[str, object]) -> Property | None:
    """Returns an invariant that does not stand in the model; None after an error."""
    try:
        source, node = parse_expression(span)
    except ModelError as error:
        model.report.take(error.diagnostics)
        return None
    b = expression_body(model, source, names)
    condition = b.condition(node, "an invariant")
    name = " ".join(span.text.split())
    return Property(name, (), b.frame.finish(), span, PropertyKind.INVARIANT, condition)


def name_symmetric_values(model: Lowering, b: Body, span: Span) -> None:
    """Gives the values of symmetric classes the names that traces show. Only displays of states need them."""
    for value in list(b.globals.values()):
        if isinstance(value, type) and issubclass(value, Symmetric) and value is not Symmetric:
            kind = model.kinds.of(value)
            for each in value.members:
                b.names.setdefault(repr(each), Value(kind, Constant(type=kind.type, span=span, value=each.index)))

"""From the class of a model to a System."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any

# The parts register what they lower when they are imported.
import outcrop.lang.python.bags
import outcrop.lang.python.displays
import outcrop.lang.python.functions
import outcrop.lang.python.loops  # noqa: F401
from outcrop.errors import ModelError
from outcrop.ir.nodes import Expression, Frame, Variable
from outcrop.ir.system import Property, Rule, StartState, System
from outcrop.lang.python.calls import evaluate
from outcrop.lang.python.context import Body, Lowering
from outcrop.lang.python.execution import Execution
from outcrop.lang.python.kinds import UNKNOWN, Kind
from outcrop.lang.python.loading import class_source, formulas_of, load_module, reload_class
from outcrop.lang.python.order import ordered_loops
from outcrop.lang.python.rules import only_defaults, property_of, rule, start_state
from outcrop.lang.python.sources import PythonSource, Sources
from outcrop.lang.python.temporal import (
    Formulas,
    expression_body,
    given_invariant,
    name_symmetric_values,
    parse_expression,
)
from outcrop.lang.python.values import relaxed
from outcrop.lang.report import LowerExpression, Report, TooManyErrors
from outcrop.model import Model, Role
from outcrop.options import FormulaText, LoadOptions
from outcrop.source import Diagnostic, Severity, Source, Span

_RESERVED = frozenset(("check", "load"))


def lower(source: Source, options: LoadOptions) -> tuple[System, list[Diagnostic]]:
    """Executes the text of a file and returns the System and the warnings; raises ModelError with all diagnostics where
    the model is wrong."""
    system, warnings, _ = lower_open(source, options)
    return system, warnings


def lower_open(source: Source, options: LoadOptions) -> tuple[System, list[Diagnostic], LowerExpression]:
    """Returns the System, the warnings, and a function that lowers expressions from outside the model."""
    sources = Sources()
    cls = load_module(source, sources, options.constants, source.part)
    return lower_class(cls, options, sources, source)


def lower_loaded(cls: type[Model], options: LoadOptions) -> tuple[System, list[Diagnostic]]:
    """Returns the System of a class that is there already, with the constants of ``options``."""
    sources = Sources()
    system, warnings, _ = lower_class(reload_class(cls, sources, options.constants), options, sources)
    return system, warnings


def executed(source: Source, options: LoadOptions) -> tuple[System, Execution]:
    """Returns the System of a file, and the same model ready to be executed by CPython."""
    sources = Sources()
    cls = load_module(source, sources, options.constants, source.part)
    found = _lowered(cls, options, sources, source)
    fields = {name: kind for name, (_, kind) in found.model.fields.items()}
    return found.system(), Execution(cls, fields, found.model.parameters)


def executed_class(cls: type[Model], options: LoadOptions) -> tuple[System, Execution]:
    """Returns the System and its execution by Python, for a class that is loaded already."""
    sources = Sources()
    made = reload_class(cls, sources, options.constants)
    found = _lowered(made, options, sources, None)
    fields = {name: kind for name, (_, kind) in found.model.fields.items()}
    return found.system(), Execution(made, fields, found.model.parameters)


def lower_class(
    cls: type[Model], options: LoadOptions, sources: Sources, source: Source | None = None
) -> tuple[System, list[Diagnostic], LowerExpression]:
    """Returns the System of a class; ``source`` is the text that it stands in, where that is known."""
    found = _lowered(cls, options, sources, source)
    found.warn()
    return found.system(), found.model.report.diagnostics, found.standalone


def _lowered(cls: type[Model], options: LoadOptions, sources: Sources, source: Source | None) -> _Model:
    model = Lowering(cls, options, sources)
    try:
        found = _Model(model, source)
        with suppress(TooManyErrors):
            found.lower()
    except RecursionError:
        message = "the model is nested too deeply: split its largest expressions or blocks"
        raise ModelError([Diagnostic(Severity.ERROR, message)]) from None
    if model.report.error_count:
        raise ModelError(_in_text_order(model.report.diagnostics))
    return found


class _Model:
    """The parts of a System, while its class is walked over."""

    def __init__(self, model: Lowering, source: Source | None) -> None:
        self.model = model
        cls = model.cls
        found = class_source(cls, model.sources) if source is None else model.sources.of_file(source.name)
        node = None if found is None else found.class_node(cls.__qualname__)
        if found is None or node is None:
            message = f"the text of {cls.__name__} is not known"
            hint = "define it in a file or in a cell of a notebook, with at least one rule"
            raise ModelError([Diagnostic(Severity.ERROR, message, None, hint)])
        self.source: PythonSource = found
        self.node = node
        self.names: dict[str, Any] = self._names()
        self.rules: list[Rule] = []
        self.starts: list[StartState] = []
        self.properties: list[Property] = []
        self.formulas = Formulas(model, found, self.names)

    def _names(self) -> dict[str, Any]:
        """Returns the names of the file, including those that base classes of other files see."""
        found: dict[str, Any] = {}
        for base in reversed(self.model.cls.__mro__):
            if issubclass(base, Model) and base is not Model:
                functions = [each for each in vars(base).values() if hasattr(each, "__globals__")]
                found |= functions[0].__globals__ if functions else vars(sys.modules[base.__module__])
        return found

    def lower(self) -> None:
        for base in reversed(self.model.cls.__mro__):
            if issubclass(base, Model) and base is not Model:
                self._fields(base)
        for base in reversed(self.model.cls.__mro__):
            if issubclass(base, Model) and base is not Model:
                self._methods(base)
        if not self.starts:
            self.starts.append(only_defaults(self.model, self.source, self.node))
        for name, each in formulas_of(self.model.cls).items():
            text, span = self._formula(name, each.formula)
            self.formulas.add(FormulaText(name, text), span)
        for invariant in self.model.options.invariants:
            made = given_invariant(self.model, invariant, self.names)
            self.properties += [] if made is None else [made]
        for formula in self.model.options.formulas:
            self.formulas.add(formula, formula.span)
        if not self.rules and not self.model.report.error_count:
            hint = "decorate a method with @rule"
            self.model.report.error(f"{self.model.cls.__name__} has no rules", self.source.span(self.node), hint)

    def _place(self, base: type[Model]) -> tuple[PythonSource, ast.ClassDef] | None:
        if base is self.model.cls:
            return self.source, self.node
        found = class_source(base, self.model.sources)
        node = None if found is None else found.class_node(base.__qualname__)
        return None if found is None or node is None else (found, node)

    def _fields(self, base: type[Model]) -> None:
        place = self._place(base)
        if place is None:
            return
        source, node = place
        b = Body(self.model, source, self.names)
        _report_twice(b, node)
        for each in node.body:
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                self._field(b, each.target.id, each)
            elif isinstance(each, ast.FunctionDef) and each.name == "__init__":
                hint = "give the fields defaults in the class, or assign them in a method with @start"
                b.error("the initial values of a model are not set by '__init__'", each, hint)

    def _field(self, b: Body, name: str, node: ast.AnnAssign) -> None:
        span = b.span(node.target)
        annotation = evaluate(b, node.annotation)
        kind: Kind = UNKNOWN if annotation is None else self.model.kind_of(annotation, b.span(node.annotation))
        if name in _RESERVED:
            b.error(f"'{name}' is a method of every model", node.target, "use another name")
            return
        known = self.model.fields.get(name)
        offset = (
            sum(each.type.leaf_count for each, _ in self.model.fields.values()) if known is None else known[0].offset
        )
        self.model.fields[name] = (Variable(name, kind.type, offset, span), kind)

    def _methods(self, base: type[Model]) -> None:
        for name, function in vars(base).items():
            role = getattr(function, "outcrop_role", None)
            if not isinstance(role, Role) or getattr(self.model.cls, name) is not function:
                continue
            place = self.model.sources.of_function(function)
            if place is None:
                self.model.report.error(f"the source of '{name}' cannot be found", None, "define it in a file")
                continue
            if name in _RESERVED:
                self.model.report.error(
                    f"'{name}' is a method of every model", place[0].span(place[1]), "use another name"
                )
            elif role.name == "rule":
                self.rules.append(rule(self.model, *place, function))
            elif role.name == "start":
                self.starts.append(start_state(self.model, *place, function))
            else:
                self.properties.append(property_of(self.model, *place, function))

    def _formula(self, name: str, text: str) -> tuple[Span, Span]:
        """Returns where a formula stands, and the place of its declaration."""
        for each in self.node.body:
            targets = each.targets if isinstance(each, ast.Assign) else []
            if not any(isinstance(target, ast.Name) and target.id == name for target in targets):
                continue
            assert isinstance(each, ast.Assign)
            whole = self.source.span(each)
            start = self.source.source.text.find(text, whole.start, whole.end)
            if start >= 0:
                return Span(self.source.source, start, start + len(text)), whole
            return Span(Source(f"{self.source.source.name} ({name})", text), 0, len(text)), whole
        other = Source(f"{self.model.cls.__name__}.{name}", text)
        return Span(other, 0, len(text)), Span(other, 0, len(text))

    def warn(self) -> None:
        for name, (variable, _) in self.model.fields.items():
            if name not in self.model.read:
                self.model.report.warning(f"the field '{name}' is never read", variable.span)
        self.model.report.diagnostics.extend(self.ordered_loops)

    @cached_property
    def ordered_loops(self) -> list[Diagnostic]:
        """The warnings about loops that depend on an order of interchangeable values."""
        parts: list[Any] = [(each.guard or (), each.body) for each in self.rules]
        parts += [each.condition for each in self.properties]
        parts += [expression for each in self.formulas.temporal for expression in each.meaning.values()]
        return list(ordered_loops(parts))

    def system(self) -> System:
        return System(
            name=self.source.source.name,
            source=self.source.source,
            constants=self._constants(),
            variables=tuple(variable for variable, _ in self.model.fields.values()),
            functions=tuple(self.model.functions),
            start_states=tuple(self.starts),
            rules=tuple(self.rules),
            properties=tuple(self.properties),
            covers=tuple(self.model.covers),
            temporal=tuple(self.formulas.temporal),
            orders_scalarsets=bool(self.ordered_loops),
        )

    def _constants(self) -> dict[str, int | float | str]:
        """Returns the constants of the class, and those of the file that were replaced."""
        found: dict[str, Any] = {}
        for name, value in vars(self.model.cls).items():
            if not name.startswith("_") and isinstance(value, int | str) and name not in self.model.fields:
                found[name] = value
        for name in self.model.options.constants:
            found.setdefault(name, self.names.get(name))
        return {name: str(value).lower() if isinstance(value, bool) else value for name, value in found.items()}

    def standalone(self, span: Span) -> tuple[Expression, Frame]:
        """Returns an expression of any type and the locals that it needs. Raises ModelError for any other text."""
        source, node = parse_expression(span)
        self.model.report = Report()
        before = len(self.model.functions)
        b = expression_body(self.model, source, self.names)
        name_symmetric_values(self.model, b, span)
        value = b.expression(node)
        if len(self.model.functions) > before:
            b.error("this expression is too large to be shown", node, "ask for its parts")
        if self.model.report.error_count:
            raise ModelError(self.model.report.diagnostics)
        return relaxed(value.node), b.frame.finish()


def _report_twice(b: Body, node: ast.ClassDef) -> None:
    """Reports methods of one name, of which Python keeps the last."""
    methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
    last = {each.name: each for each in methods}
    for each in methods:
        if last[each.name] is not each and not any(
            isinstance(mark, ast.Attribute) for mark in last[each.name].decorator_list
        ):
            b.error(f"'{each.name}' is defined again below, and only the last one counts", each, "rename one of them")


def _in_text_order(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    return sorted(diagnostics, key=lambda each: -1 if each.span is None else each.span.start)


def constants_text(constants: Mapping[str, object]) -> dict[str, str]:
    """Returns constants as the texts that replace them."""
    return {name: repr(value) for name, value in constants.items()}

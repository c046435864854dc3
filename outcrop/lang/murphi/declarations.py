"""Declarations: constants with their values from the command line, types, variables, procedures and functions."""

from __future__ import annotations

from collections.abc import Sequence

from outcrop.errors import ModelError
from outcrop.ir.nodes import Constant, Variable
from outcrop.ir.system import Formal, Function
from outcrop.ir.types import Enum, Range, Real, Scalarset, Type
from outcrop.lang.murphi import syntax
from outcrop.lang.murphi.parser import parse
from outcrop.lang.murphi.scope import (
    UNKNOWN,
    ConstantSymbol,
    FunctionSymbol,
    LocalSymbol,
    TypeSymbol,
    UnknownSymbol,
    VariableSymbol,
    describe,
)
from outcrop.lang.murphi.statements import StatementLowering
from outcrop.lang.murphi.types import MAX_LEAVES
from outcrop.lang.report import did_you_mean
from outcrop.options import LoadOptions
from outcrop.source import Source, Span


class DeclarationLowering(StatementLowering):
    def __init__(self, source: Source, options: LoadOptions, declared_later: dict[str, Span]) -> None:
        super().__init__(source, options, declared_later)
        self.constants: dict[str, int | float | str] = {}  #: constants of the top level
        self.variables: list[Variable] = []
        self.functions: list[Function] = []
        self._leaf_count = 0

    # --- At the top level ----------------------------------------------------------------------------------

    def global_declaration(self, node: syntax.Declaration) -> None:
        if isinstance(node, syntax.ConstDeclaration):
            self._global_constant(node)
        elif isinstance(node, syntax.VarDeclaration):
            kind = self.type_expression(node.type)
            for name in node.names:
                self._global_variable(name, kind)
        else:
            self._type_declaration(node)

    def _global_constant(self, node: syntax.ConstDeclaration) -> None:
        value = self._constant_value(node)
        for name in node.names:
            replaced = value
            if name.text in self.options.constants:
                replaced = self._replacement(name, self.options.constants[name.text], value)
            self._declare_constant(name, replaced)
            if replaced is not None and replaced.value is not None:
                kind = replaced.type
                number = replaced.value
                self.constants[name.text] = kind.show(number) if isinstance(kind, Enum) else number

    def _replacement(self, name: syntax.Name, text: str, original: Constant | None) -> Constant | None:
        """Returns the value from the command line, read as if it stood in the model."""
        node = self._outside_expression(name.text, text)
        if node is None:
            return original
        value = self.constant(node, f"the value given for '{name.text}'")
        if value is None or original is None:
            return value or original
        if isinstance(original.type, Real) and isinstance(value.type, Range):
            converted = self.as_real(value)
            assert isinstance(converted, Constant)
            return converted
        if type(original.type) is not type(value.type) or not _same_kind(original.type, value.type):
            message = f"'{name.text}' is {_kind(original.type)} in the model, and '{text}' is {_kind(value.type)}"
            self.report.error(message, None, "", ("it is declared here", name.span))
            return original
        return value

    def _outside_expression(self, name: str, text: str) -> syntax.Expression | None:
        source = Source(f"<value of {name}>", f"const\n{name}: {text}\n;")
        try:
            items = parse(source)[0].items
        except ModelError:
            items = []
        only = items[0] if len(items) == 1 else None
        if isinstance(only, syntax.ConstDeclaration):
            return only.value
        self.report.error(
            f"the value '{text}' given for '{name}' is not a constant",
            None,
            "give a number, true, false or the name of a constant",
        )
        return None

    def check_replacements(self, declared: Sequence[str]) -> None:
        """Reports constants of the command line that the model does not have."""
        for name in self.options.constants:
            if name not in declared:
                hint = did_you_mean(name, declared)
                if not hint:
                    hint = (
                        "it has " + ", ".join(sorted(declared)[:12])
                        if declared
                        else "it has no constants at its top level"
                    )
                self.report.error(f"the model has no constant '{name}'", None, hint)

    def _global_variable(self, name: syntax.Name, kind: Type) -> None:
        if kind is UNKNOWN:
            self.declare(name, UnknownSymbol(name.span))
            return
        variable = Variable(name=name.text, type=kind, offset=self._leaf_count, span=name.span)
        self._leaf_count += kind.leaf_count
        if self._leaf_count > MAX_LEAVES >= self._leaf_count - kind.leaf_count:
            message = f"a state has more than {MAX_LEAVES:,} components from this variable on"
            self.report.error(message, name.span, "make arrays and multisets smaller")
        self.variables.append(variable)
        self.declare(name, VariableSymbol(variable, name.span))

    # --- Anywhere ------------------------------------------------------------------------------------------

    def declarations(self, nodes: Sequence[syntax.Declaration]) -> None:
        """Lowers the declarations of a rule or function."""
        for node in nodes:
            if isinstance(node, syntax.ConstDeclaration):
                value = self._constant_value(node)
                for name in node.names:
                    self._declare_constant(name, value)
            elif isinstance(node, syntax.VarDeclaration):
                kind = self.type_expression(node.type)
                for name in node.names:
                    if kind is UNKNOWN:
                        self.declare(name, UnknownSymbol(name.span))
                    else:
                        self.declare(name, LocalSymbol(self.frame.add(name.text, kind), name.span))
            else:
                self._type_declaration(node)

    def _constant_value(self, node: syntax.ConstDeclaration) -> Constant | None:
        return self.constant(node.value, f"the value of '{node.names[0].text}'")

    def _declare_constant(self, name: syntax.Name, value: Constant | None) -> None:
        if value is None:
            self.declare(name, UnknownSymbol(name.span))
        else:
            self.declare(name, ConstantSymbol(value, name.span))

    def _type_declaration(self, node: syntax.TypeDeclaration) -> None:
        kind: Type | None = None
        for name in node.names:
            # Names of one declaration share its type, except that each scalarset is a separate symmetry.
            if kind is None or isinstance(kind, Scalarset):
                kind = self.type_expression(node.type, name.text)
            self.declare(name, UnknownSymbol(name.span) if kind is UNKNOWN else TypeSymbol(kind, name.span))

    # --- Procedures and functions --------------------------------------------------------------------------

    def function_declaration(self, node: syntax.FunctionDeclaration) -> None:
        outer = self.scope
        with self.fresh_frame() as frame, self.block():
            # Types first: a parameter may have the name of the type of the next one, or of the result.
            formal_types = [self.type_expression(each.type) for each in node.formals]
            result = None if node.result is None else self.type_expression(node.result)
            names = [(name, each.is_var) for each in node.formals for name in each.names]
            kinds = [kind for each, kind in zip(node.formals, formal_types, strict=True) for _ in each.names]
            formals = [
                Formal(frame.add(name.text, kind, is_parameter=True, is_reference=is_var), is_var)
                for (name, is_var), kind in zip(names, kinds, strict=True)
            ]
            function = Function(node.name.text, tuple(formals), result, node.name.span)
            self.functions.append(function)
            inner, self.scope = self.scope, outer
            self.declare(node.name, FunctionSymbol(function, node.name.span))
            self.scope = inner
            for (name, _), formal in zip(names, formals, strict=True):
                self._declare_formal(name, formal)
            self.function = function
            self.declarations(node.declarations)
            function.body = self.statements(node.body)
            self.function = None
            function.frame = frame.finish()
        if result is not None and not _has_return(node.body):
            message = f"the function '{function.name}' has no 'return'"
            self.report.warning(message, function.span, "reaching its end is a runtime error; return a value there")

    def _declare_formal(self, name: syntax.Name, formal: Formal) -> None:
        local = formal.local
        if formal.by_reference:
            self.references_to_state.add(local)
        if local.type is UNKNOWN:
            self.declare(name, UnknownSymbol(name.span))
        else:
            self.declare(
                name, LocalSymbol(local, name.span, "" if formal.by_reference else "a parameter passed by value")
            )


def _has_return(body: Sequence[syntax.Statement]) -> bool:
    for node in body:
        if isinstance(node, syntax.ReturnStatement | syntax.ErrorStatement):
            return True
        blocks: list[list[syntax.Statement]] = []
        if isinstance(node, syntax.IfStatement):
            blocks = [*(inner for _, inner in node.branches), node.otherwise or []]
        elif isinstance(node, syntax.SwitchStatement):
            blocks = [*(inner for _, inner in node.cases), node.otherwise or []]
        elif isinstance(node, syntax.ForStatement | syntax.WhileStatement | syntax.AliasStatement):
            blocks = [node.body]
        if any(_has_return(block) for block in blocks):
            return True
    return False


def _kind(kind: Type) -> str:
    if isinstance(kind, Range):
        return "an integer"
    return "a real" if isinstance(kind, Real) else f"of type {describe(kind)}"


def _same_kind(first: Type, second: Type) -> bool:
    return isinstance(first, Range | Real) or first == second

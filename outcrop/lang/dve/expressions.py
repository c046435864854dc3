"""The resolution of names, and the lowering of DVE expressions."""

from __future__ import annotations

from outcrop.ir.nodes import (
    Call,
    Constant,
    Expression,
    Place,
    Unary,
    UnaryOperator,
)
from outcrop.ir.types import INT64_MAX, INT64_MIN, INTEGER, Array
from outcrop.lang import build
from outcrop.lang.dve import syntax
from outcrop.lang.dve.scope import (
    Channel,
    ConstantArraySymbol,
    ConstantSymbol,
    ProcessSymbol,
    Scope,
    Symbol,
    UnknownSymbol,
    VariableSymbol,
    kind_of,
)
from outcrop.lang.integers import IntegerLowering
from outcrop.lang.operators import combined, lower_chain
from outcrop.lang.report import did_you_mean
from outcrop.options import LoadOptions
from outcrop.source import Source, Span


class ExpressionLowering(IntegerLowering):
    """The layer of names and expressions. One object lowers a model; each file adds a layer to its class."""

    def __init__(self, source: Source, options: LoadOptions) -> None:
        super().__init__()
        self.source = source
        self.options = options
        self.globals = Scope()
        self.scope = self.globals
        self.processes: dict[str, ProcessSymbol] = {}

    # --- Names ---------------------------------------------------------------------------------------------

    def lookup(self, name: syntax.Name) -> Symbol | None:
        """Returns the symbol of a name; None, with an error reported, if the name is unknown."""
        symbol = self.scope.find(name.text)
        if symbol is None:
            hint = did_you_mean(name.text, self.scope.visible())
            self.report.error(f"unknown name '{name.text}'", name.span, hint)
        return symbol

    def lookup_process(self, name: syntax.Name) -> ProcessSymbol | None:
        symbol = self.processes.get(name.text)
        if symbol is None:
            other = self.scope.find(name.text)
            if isinstance(other, UnknownSymbol):
                return None
            what = f"'{name.text}' is {kind_of(other)}, not a process" if other else f"unknown process '{name.text}'"
            self.report.error(what, name.span, did_you_mean(name.text, self.processes))
        return symbol

    def lookup_inside(self, process: syntax.Name, name: syntax.Name) -> Symbol | None:
        """Returns the symbol of a name that a process declares."""
        owner = self.lookup_process(process)
        if owner is None:
            return None
        symbol = owner.scope.names.get(name.text)
        if symbol is None:
            hint = did_you_mean(name.text, owner.scope.names)
            self.report.error(f"process '{process.text}' declares no '{name.text}'", name.span, hint)
        return symbol

    def state_of(self, process: ProcessSymbol, name: syntax.Name) -> int | None:
        """Returns the number of a state; None, with an error reported, if there is none of that name."""
        if name.text in process.states.members:
            return process.states.members.index(name.text)
        hint = did_you_mean(name.text, process.states.members)
        self.report.error(f"process '{process.name}' has no state '{name.text}'", name.span, hint)
        return None

    def resolve(self, node: syntax.Reference) -> Symbol | None:
        return self.lookup(node.name) if node.process is None else self.lookup_inside(node.process, node.name)

    # --- Expressions ---------------------------------------------------------------------------------------

    def expression(self, node: syntax.Expression) -> Expression:
        match node:
            case syntax.Number():
                return build.number(node.value, node.span)
            case syntax.Truth():
                return build.truth(node.value, node.span)
            case syntax.Reference():
                return self._read(node)
            case syntax.InState():
                return self._in_state(node)
            case syntax.Unary():
                return self._unary(node)
            case syntax.Binary():
                return lower_chain(node, self.expression, self._combined)

    def _read(self, node: syntax.Reference) -> Expression:
        symbol = self.resolve(node)
        match symbol:
            case ConstantSymbol():
                if node.index is not None:
                    self.report.error(
                        f"'{node.name.text}' is a constant, not an array", node.span, "leave out the index"
                    )
                return build.number(symbol.value, node.span)
            case ConstantArraySymbol():
                return self._read_constant(node, symbol)
            case VariableSymbol():
                place = self._place(node, symbol)
                return build.load(place) if place else build.number(0, node.span)
        self._complain(node, symbol, "has no value")
        return build.number(0, node.span)

    def _complain(self, node: syntax.Reference, symbol: Symbol | None, problem: str) -> None:
        if symbol is None or isinstance(symbol, UnknownSymbol):
            return
        hint = ""
        if isinstance(symbol, ProcessSymbol):
            hint = f"'{symbol.name}.{symbol.states.members[0]}' tests whether it is in that state"
        elif isinstance(symbol, Channel):
            hint = "a transition sends or receives with 'sync'"
        self.report.error(f"'{node.name.text}' is {kind_of(symbol)} and {problem}", node.span, hint)

    def _read_constant(self, node: syntax.Reference, symbol: ConstantArraySymbol) -> Expression:
        if node.index is None:
            self.report.error(
                f"'{node.name.text}' is an array and needs an index", node.span, f"write {node.name.text}[0]"
            )
            return build.number(0, node.span)
        index = self.integer(node.index)
        if isinstance(index, Constant) and isinstance(index.value, int):
            if 0 <= index.value < len(symbol.values):
                return build.number(symbol.values[index.value], node.span)
            self._warn_index(index.value, len(symbol.values), node)
        assert symbol.function.result is not None
        return Call(type=symbol.function.result, span=node.span, function=symbol.function, arguments=(index,))

    def _warn_index(self, index: int, size: int, node: syntax.Reference) -> None:
        text = f"index {index} is outside 0..{size - 1} of '{node.name.text}': executing this is a runtime error"
        self.report.warning(text, node.span)

    def _place(self, node: syntax.Reference, symbol: VariableSymbol) -> Place | None:
        variable = symbol.variable
        if not isinstance(variable.type, Array):
            if node.index is not None:
                self.report.error(f"'{node.name.text}' is not an array", node.span, "leave out the index")
                return None
            return build.place(variable, node.span)
        if node.index is None:
            self.report.error(
                f"'{node.name.text}' is an array and needs an index", node.span, f"write {node.name.text}[0]"
            )
            return None
        index = self.integer(node.index)
        size = variable.type.index.cardinality
        if isinstance(index, Constant) and isinstance(index.value, int) and not 0 <= index.value < size:
            self._warn_index(index.value, size, node)
        return build.element(variable, index, node.span)

    def target(self, node: syntax.Reference) -> Place | None:
        """Returns the place that an effect or a receive writes; None, with an error reported, if there is none."""
        symbol = self.resolve(node)
        if isinstance(symbol, VariableSymbol):
            return self._place(node, symbol)
        if isinstance(symbol, ConstantSymbol | ConstantArraySymbol):
            note = ("it is declared here", symbol.span)
            self.report.error(f"'{node.name.text}' is {kind_of(symbol)} and cannot be assigned", node.span, "", note)
        else:
            self._complain(node, symbol, "cannot be assigned")
        return None

    def _in_state(self, node: syntax.InState) -> Expression:
        process = self.lookup_process(node.process)
        state = None if process is None else self.state_of(process, node.state)
        if process is None or state is None:
            return build.truth(False, node.span)
        return build.at_location(process.location, process.states, state, node.span)

    # --- Operators -----------------------------------------------------------------------------------------

    def _unary(self, node: syntax.Unary) -> Expression:
        if node.operator == "not":
            return build.negation(self.condition(node.operand), node.span)
        operand = self.integer(node.operand)
        if isinstance(operand, Constant) and isinstance(operand.value, int):
            return self._number(-operand.value if node.operator == "-" else ~operand.value, node.span)
        what = UnaryOperator.NEGATE if node.operator == "-" else UnaryOperator.COMPLEMENT
        return Unary(type=INTEGER, span=node.span, operator=what, operand=operand)

    def _combined(self, node: syntax.Binary, left: Expression, right: Expression) -> Expression:
        value = combined(node.operator, left, right, node.span)
        if isinstance(value, Constant) and value.type is INTEGER and isinstance(value.value, int):
            return self._number(value.value, node.span)
        return value

    def _number(self, value: int, span: Span) -> Expression:
        if not INT64_MIN <= value <= INT64_MAX:
            self.report.error("this constant does not fit in 64 bits", span, "use smaller numbers")
            value = 0
        return build.number(value, span)

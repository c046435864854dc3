"""The lowering of DVE declarations: constants, variables with initial values, channels, processes and their states."""

from __future__ import annotations

from outcrop.ir.nodes import (
    Assign,
    Constant,
    Expression,
    For,
    Frame,
    Load,
    Local,
    LocalPlace,
    Return,
    Statement,
    Switch,
    TypeDomain,
    Variable,
)
from outcrop.ir.system import Formal, Function
from outcrop.ir.types import Array, Enum, Range, Record, Type
from outcrop.lang import build
from outcrop.lang.dve import syntax
from outcrop.lang.dve.expressions import ExpressionLowering
from outcrop.lang.dve.parser import parse_expression
from outcrop.lang.dve.scope import (
    BYTE,
    INT,
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
from outcrop.lang.report import did_you_mean
from outcrop.options import LoadOptions
from outcrop.source import Source, Span, whole

#: Largest number of values in a state.
MAX_LEAVES = 100_000


class DeclarationLowering(ExpressionLowering):
    def __init__(self, source: Source, options: LoadOptions) -> None:
        super().__init__(source, options)
        self.variables: list[Variable] = []
        self.functions: list[Function] = []
        self.constants: dict[str, int | float | str] = {}
        self.channels: list[Channel] = []
        self._leaf_count = 0
        self._start: list[Statement] = []
        #: Initial values that are not constants, computed after all others.
        self._late_start: list[Statement] = []
        self._zeroes: list[Statement] = []  #: statements that make the error state

    @property
    def start_body(self) -> tuple[Statement, ...]:
        return (*self._start, *self._late_start)

    @property
    def error_body(self) -> tuple[Statement, ...]:
        """Statements that make the error state. In DiVinE 2 a failing step leads to a state of zeroes, in which the
        first process is in no state. The others are in their first states, and continue from there."""
        return tuple(self._zeroes)

    def check_replacements(self, declarations: tuple[syntax.Declaration, ...]) -> None:
        """Reports each -D that does not name a constant of the model."""
        known = {
            each.name.text
            for each in declarations
            if isinstance(each, syntax.VariableDeclaration) and each.is_constant and each.size is None
        }
        for name in self.options.constants:
            if name not in known:
                hint = did_you_mean(name, known)
                self.report.error(f"-D {name}: the model has no constant of this name", None, hint)

    def declare(self, name: syntax.Name, symbol: Symbol) -> None:
        text = name.text
        earlier = self.scope.names.get(text)
        if earlier is not None:
            note = (f"'{text}' was declared here, as {kind_of(earlier)}", earlier.span)
            self.report.error(f"'{text}' is declared twice", name.span, "rename or delete one of the two", note)
            return
        hidden = self.globals.names.get(text)
        if hidden is not None:
            note = ("this one cannot be named inside the process", hidden.span)
            self.report.warning(f"'{text}' hides {kind_of(hidden)} of the same name", name.span, "", note)
        self.scope.names[text] = symbol

    def new_variable(self, name: str, kind: Type, span: Span, is_defined: bool = True) -> Variable:
        variable = Variable(name, kind, self._leaf_count, span, is_defined)
        self._leaf_count += kind.leaf_count
        if self._leaf_count > MAX_LEAVES:
            self.report.error(
                f"a state would have more than {MAX_LEAVES:,} values", span, "make arrays and channels smaller"
            )
            self._leaf_count = 0  # reported once
        self.variables.append(variable)
        return variable

    # --- Variables and constants -----------------------------------------------------------------------------

    def declaration(self, node: syntax.Declaration, owner: str = "") -> None:
        """Lowers a declaration. ``owner`` is the process that declares it, "" for a global one."""
        if isinstance(node, syntax.ChannelDeclaration):
            self._channel(node, owner)
        elif node.is_constant:
            self._constant(node, is_global=not owner)
        else:
            self._variable(node, owner)

    def size(self, node: syntax.Expression, least: int, what: str) -> int | None:
        size = self.constant(node, what)
        if size is not None and not least <= size <= MAX_LEAVES:
            self.report.error(f"{what} must be from {least} to {MAX_LEAVES:,}, not {size}", node.span)
            return None
        return size

    def _variable(self, node: syntax.VariableDeclaration, owner: str) -> None:
        element = BYTE if node.is_byte else INT
        kind: Type = element
        if node.size is not None:
            size = self.size(node.size, 1, "the number of elements")
            if size is None:
                self.declare(node.name, UnknownSymbol(node.name.span))
                return
            kind = Array(Range(0, size - 1), element)
        values = self._initial_values(node)
        name = f"{owner}.{node.name.text}" if owner else node.name.text
        variable = self.new_variable(name, kind, node.name.span)
        self.declare(node.name, VariableSymbol(variable, node.name.span))
        self._initialise(variable, element, values)

    def _initial_values(self, node: syntax.VariableDeclaration) -> list[Expression]:
        """Returns the initial values of a declaration, at most as many as the variable has elements."""
        if node.initial is None:
            return []
        if node.size is None:
            if isinstance(node.initial, tuple):
                self.report.error(
                    f"'{node.name.text}' is not an array and takes one value", node.span, "leave out the braces"
                )
                return []
            return [self.integer(node.initial)]
        if not isinstance(node.initial, tuple):
            hint = "write its values between braces, as in a[2] = {1, 2}"
            self.report.error(f"'{node.name.text}' is an array and takes a list of values", node.span, hint)
            return []
        values = [self.integer(each) for each in node.initial]
        size = self.constant(node.size, "the number of elements") or 0
        if len(values) > size:
            elements = "1 element" if size == 1 else f"{size:,} elements"
            text = f"'{node.name.text}' has {elements}; the values after the first {size:,} are ignored"
            self.report.warning(text, node.initial[size].span)
        return values[:size]

    def _cast(self, value: int, kind: Range, span: Span) -> int:
        """Returns an initial value as DiVinE stores it, without a check."""
        stored = (value - kind.lower) % kind.cardinality + kind.lower
        if stored != value:
            self.report.warning(f"{value} does not fit into {kind}; the value is {stored}", span, _range_of(kind))
        return stored

    def _initialise(self, variable: Variable, element: Range, values: list[Expression]) -> None:
        span = variable.span
        zero = build.number(0, span)
        if isinstance(variable.type, Array):
            self._zeroes.append(self._fill(variable, zero))
        else:
            self._zeroes.append(Assign(span=span, target=build.place(variable, span), value=zero))
        if isinstance(variable.type, Array) or not (values and isinstance(values[0], Constant)):
            self._start.append(self._zeroes[-1])
        for position, value in enumerate(values):
            if isinstance(variable.type, Array):
                target = build.element(variable, build.number(position, span), span)
            else:
                target = build.place(variable, span)  # type: ignore[assignment]
            if isinstance(value, Constant) and isinstance(value.value, int):
                value = build.number(self._cast(value.value, element, value.span), value.span)
                if value.value or not isinstance(variable.type, Array):
                    self._start.append(Assign(span=span, target=target, value=value))
            else:
                self._late_start.append(Assign(span=span, target=target, value=build.reduced(value, element)))

    def _fill(self, variable: Variable, value: Expression) -> Statement:
        assert isinstance(variable.type, Array)
        index = variable.type.index
        position = self.start_local(index)
        place = LocalPlace(type=index, span=variable.span, local=position)
        target = build.element(variable, build.load(place), variable.span)
        body = (Assign(span=variable.span, target=target, value=value),)
        return For(span=variable.span, variable=position, domain=TypeDomain(type=index), body=body)

    def start_local(self, kind: Type) -> Local:
        """Returns a new local of the start state."""
        raise NotImplementedError

    def _constant(self, node: syntax.VariableDeclaration, is_global: bool) -> None:
        kind = BYTE if node.is_byte else INT
        replacement = self.options.constants.get(node.name.text) if is_global and node.size is None else None
        if replacement is not None:
            where = Source(f"-D {node.name.text}", replacement)
            node = syntax.VariableDeclaration(
                node.name, node.is_byte, True, node.is_input, None, parse_expression(whole(where)), node.span
            )
        if node.size is not None:
            self._constant_array(node, kind)
            return
        if node.initial is None or isinstance(node.initial, tuple):
            if isinstance(node.initial, tuple):
                self.report.error(
                    f"'{node.name.text}' is not an array and takes one value", node.span, "leave out the braces"
                )
            value: int | None = 0
        else:
            value = self.constant(node.initial, f"the value of '{node.name.text}'")
        if value is None or isinstance(node.initial, tuple):
            self.declare(node.name, UnknownSymbol(node.name.span))
            return
        if node.initial is not None:
            if replacement is not None and not kind.lower <= value <= kind.upper:
                self.report.error(f"{value} does not fit into {kind}", node.initial.span, _range_of(kind))
            else:
                value = self._cast(value, kind, node.initial.span)
        self.declare(node.name, ConstantSymbol(value, node.name.span))
        if is_global:
            self.constants[node.name.text] = value

    def _constant_array(self, node: syntax.VariableDeclaration, kind: Range) -> None:
        assert node.size is not None
        size = self.size(node.size, 1, "the number of elements")
        given = self._initial_values(node)
        values = []
        for each in given:
            if not (isinstance(each, Constant) and isinstance(each.value, int)):
                self.report.error(
                    f"the values of '{node.name.text}' must be constants",
                    each.span,
                    "use numbers and declared constants",
                )
                size = None
                break
            values.append(self._cast(each.value, kind, each.span))
        if size is None:
            self.declare(node.name, UnknownSymbol(node.name.span))
            return
        values += [0] * (size - len(values))
        function = _element_function(node, tuple(values), kind)
        self.functions.append(function)
        self.declare(node.name, ConstantArraySymbol(tuple(values), function, node.name.span))

    # --- Channels ------------------------------------------------------------------------------------------

    def _channel(self, node: syntax.ChannelDeclaration, owner: str) -> None:
        capacity: int | None = 0
        if node.capacity is not None:
            capacity = self.size(node.capacity, 0, "the capacity of a channel")
        if capacity is None:
            self.declare(node.name, UnknownSymbol(node.name.span))
            return
        items = None if node.items is None else tuple(BYTE if is_byte else INT for is_byte in node.items)
        name = f"{owner}.{node.name.text}" if owner else node.name.text
        channel = Channel(name, items, capacity, node.name.span, None if items is None else len(items))
        self.channels.append(channel)
        self.declare(node.name, channel)

    def make_buffer(self, channel: Channel) -> None:
        """Declares the variables of a buffered channel, once the number of values in an item is known."""
        span, arity = channel.span, channel.arity or 0
        channel.count = self.new_variable(f"{channel.name}.count", Range(0, channel.capacity), span)
        zero = build.number(0, span)
        empty = Assign(span=span, target=build.place(channel.count, span), value=zero)
        self._start.append(empty)
        self._zeroes.append(empty)
        if arity:
            types = channel.items or (INT,) * arity
            fields = tuple((str(number), kind) for number, kind in enumerate(types, start=1))
            element: Type = types[0] if arity == 1 else Record(fields)
            kind = Array(Range(0, channel.capacity - 1), element)
            channel.buffer = self.new_variable(channel.name, kind, span, is_defined=False)

    # --- Processes -----------------------------------------------------------------------------------------

    def process(self, node: syntax.Process) -> None:
        """Declares a process, its states and its variables."""
        states = self.states(node)
        is_first = not self.processes
        location = self.new_variable(node.name.text, states, node.name.span, is_defined=not is_first)
        leaving = {each.source.text for each in node.transitions}
        committed = frozenset(
            states.members.index(each.text)
            for each in node.committed
            if each.text in leaving and each.text in states.members
        )
        symbol = ProcessSymbol(node, states, location, Scope(parent=self.globals), committed, node.name.span)
        self.declare(node.name, symbol)
        self.processes.setdefault(node.name.text, symbol)
        for each in (*node.committed, *node.accepting):
            self.state_of(symbol, each)
        initial = self.initial_state(node, symbol)
        span = node.initial[0].span if node.initial else node.name.span
        self._start.append(_enter(location, states, initial, span))
        if not is_first:
            self._zeroes.append(_enter(location, states, 0, span))
        self.scope = symbol.scope
        for declaration in node.declarations:
            self.declaration(declaration, node.name.text)
        self.scope = self.globals

    def states(self, node: syntax.Process) -> Enum:
        seen: dict[str, Span] = {}
        for each in node.states:
            if each.text in seen:
                note = ("it was declared here", seen[each.text])
                self.report.error(
                    f"state '{each.text}' is declared twice", each.span, "rename or delete one of the two", note
                )
            seen.setdefault(each.text, each.span)
        if not seen:
            hint = "declare them, as in 'state idle, busy;'"
            self.report.error(f"process '{node.name.text}' has no states", node.name.span, hint)
        return Enum(tuple(seen) or ("",), f"state of {node.name.text}")

    def initial_state(self, node: syntax.Process, symbol: ProcessSymbol) -> int:
        if not node.initial and node.states:
            hint = f"name it, as in 'init {node.states[0].text};'"
            self.report.error(f"process '{node.name.text}' has no initial state", node.name.span, hint)
        for extra in node.initial[1:]:
            note = ("this is the other one", node.initial[0].span)
            self.report.error(
                f"process '{node.name.text}' has two initial states", extra.span, "keep one of them", note
            )
        return (self.state_of(symbol, node.initial[0]) if node.initial else None) or 0


def _range_of(kind: Range) -> str:
    return f"give a value from {kind.lower} to {kind.upper}"


def _enter(location: Variable, states: Enum, state: int, span: Span) -> Statement:
    value = Constant(type=states, span=span, value=state)
    return Assign(span=span, target=build.place(location, span), value=value)


def _element_function(node: syntax.VariableDeclaration, values: tuple[int, ...], kind: Range) -> Function:
    """Returns a function from the index to the elements of a constant array. Passing a wrong index fails."""
    span = node.name.span
    index = Local(name=f"index of {node.name.text}", type=Range(0, len(values) - 1), index=0)
    selector = Load(type=index.type, span=span, place=LocalPlace(type=index.type, span=span, local=index))
    cases = tuple(
        ((build.number(position, span),), (Return(span=span, value=build.number(value, span)),))
        for position, value in enumerate(values)
    )
    return Function(
        name=node.name.text,
        formals=(Formal(index, by_reference=False),),
        result=kind,
        span=span,
        frame=Frame((index,)),
        body=(Switch(span=span, selector=selector, cases=cases),),
    )

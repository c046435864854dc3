"""Resolves names and lowers Promela expressions: integers, of which all but zero are true."""

from __future__ import annotations

from outcrop.ir.nodes import (
    BinaryOperator,
    Conditional,
    Constant,
    Expression,
    FieldPlace,
    IndexPlace,
    Local,
    LocalPlace,
    Place,
    Quantified,
    Quantifier,
    TypeDomain,
    Unary,
    UnaryOperator,
    Variable,
)
from outcrop.ir.types import BOOLEAN, INTEGER, Array, Range, Record
from outcrop.lang import build
from outcrop.lang.frames import FrameBuilder
from outcrop.lang.operators import OPERATORS, combined, lower_chain
from outcrop.lang.promela import syntax
from outcrop.lang.promela.names import NameLowering
from outcrop.lang.promela.preprocessor import Preprocessor
from outcrop.lang.promela.scope import (
    ChannelSymbol,
    ConstantSymbol,
    InitialChannel,
    ProctypeSymbol,
    Self,
    VariableSymbol,
)
from outcrop.lang.report import did_you_mean
from outcrop.options import LoadOptions
from outcrop.source import Source, Span


class ExpressionLowering(NameLowering):
    """One object lowers a model; each file adds a layer to its class."""

    def __init__(self, source: Source, options: LoadOptions, preprocessor: Preprocessor) -> None:
        super().__init__()
        self.source = source
        self.options = options
        self.preprocessor = preprocessor
        self.frame = FrameBuilder()  #: frame of the rule that is being made
        self.is_timeout = False  #: nothing else can happen
        self.is_beginning = False  #: whether the initial values of a process are being lowered
        self.process_count: Variable | None = None  #: ``_nr_pr``
        self.last: Variable | None = None  #: ``_last``, the process that moved last, where the model asks for it

    # --- Places ----------------------------------------------------------------------------------------------

    def place(self, node: syntax.Reference, of: Self | None = None) -> Place | None:
        """Returns the place of a variable; None, with an error reported, if there is none."""
        symbol = self.lookup(node.name) if of is None else of.proctype.names.get(node.name.text)
        if symbol is None:
            if of is not None:
                hint = did_you_mean(node.name.text, of.proctype.names)
                message = f"proctype '{of.proctype.name}' has no variable '{node.name.text}'"
                self.report.error(message, node.name.span, hint)
            return None
        if not isinstance(symbol, VariableSymbol):
            what = "a channel" if isinstance(symbol, ChannelSymbol) else "a constant"
            self.report.error(f"'{node.name.text}' is {what}, not a variable", node.name.span)
            return None
        if symbol.field is None:
            assert symbol.variable is not None
            base: Place = build.place(symbol.variable, node.span)
        else:
            owner = of or self.process
            assert owner is not None
            base = FieldPlace(type=symbol.type, span=node.span, base=owner.place, field_index=symbol.field)
        return self._part(base, node)

    def _part(self, base: Place, node: syntax.Reference) -> Place | None:
        if isinstance(base.type, Array):
            if node.index is None:
                self.miss_index(node)
                return None
            index = self.integer(node.index)
            base = IndexPlace(type=base.type.element, span=node.span, base=base, index=index)
        elif node.index is not None and not (isinstance(node.index, syntax.Number) and node.index.value == 0):
            self.report.error(f"'{node.name.text}' is not an array", node.span, "leave out the index")
            return None
        if node.next is None:
            return base
        if not isinstance(base.type, Record):
            self.report.error(
                f"'{node.name.text}' has no fields", node.next.span, "only variables of a typedef have fields"
            )
            return None
        names = [name for name, _ in base.type.fields]
        wanted = node.next.name.text
        if wanted not in names:
            self.report.error(f"there is no field '{wanted}'", node.next.span, did_you_mean(wanted, names))
            return None
        number = names.index(wanted)
        kind = base.type.fields[number][1]
        return self._part(FieldPlace(type=kind, span=node.span, base=base, field_index=number), node.next)

    def target(self, node: syntax.Reference) -> Place | None:
        """Returns a place that holds a number."""
        place = self.place(node)
        if place is not None and not isinstance(place.type, Range):
            self.report.error(f"'{node.span.text}' is not a single value", node.span, "name one element or field of it")
            return None
        return place

    # --- Expressions -----------------------------------------------------------------------------------------

    def expression(self, node: syntax.Expression) -> Expression:
        match node:
            case syntax.Number():
                return build.number(node.value, node.span)
            case syntax.Reference():
                return self._read(node)
            case syntax.Unary():
                return self._unary(node)
            case syntax.Binary():
                return lower_chain(node, self.expression, self._combined)
            case syntax.Conditional():
                condition = self.condition(node.condition)
                then, otherwise = self.integer(node.then), self.integer(node.otherwise)
                return Conditional(type=INTEGER, span=node.span, condition=condition, then=then, otherwise=otherwise)
            case syntax.Timeout():
                return build.truth(self.is_timeout, node.span)
            case syntax.ChannelTest():
                return self.channel_test(node)
            case syntax.Poll():
                return self.poll(node)
            case syntax.RemoteLabel():
                return self._remote_label(node)
            case syntax.RemoteVariable():
                return self._remote_variable(node)
            case syntax.ArraySize():
                return self._array_size(node)
            case syntax.Priority():
                return self.get_priority(node)
            case syntax.Progress():
                return self.no_process_at("progress", node.span)
            case InitialChannel():
                return self.initial_channel(node)
            case syntax.Evaluated():
                return self.expression(node.operand)
            case syntax.Run():
                self.report.error(
                    "'run' can only stand alone, or alone on the right of an assignment",
                    node.span,
                    "store its value in a variable first",
                )
            case syntax.Enabled():
                return self.process_enabled(node)
        return build.number(0, node.span)

    def channel_test(self, node: syntax.ChannelTest) -> Expression:
        raise NotImplementedError

    def poll(self, node: syntax.Poll) -> Expression:
        raise NotImplementedError

    def process_enabled(self, node: syntax.Enabled) -> Expression:
        raise NotImplementedError

    def get_priority(self, node: syntax.Priority) -> Expression:
        raise NotImplementedError

    def initial_channel(self, node: InitialChannel) -> Expression:
        raise NotImplementedError

    def channel_number(self, symbol: ChannelSymbol, node: syntax.Reference) -> Expression:
        raise NotImplementedError

    def _read(self, node: syntax.Reference) -> Expression:
        name = node.name.text
        known = self.process is not None and name in self.process.proctype.names
        if not known and name not in self.globals:
            special = self._special(name, node.span)
            if special is not None:
                return special
        symbol = self.lookup(node.name)
        if isinstance(symbol, ConstantSymbol):
            return build.number(symbol.value, node.span)
        if isinstance(symbol, ChannelSymbol):
            return self.channel_number(symbol, node)
        place = self.target(node) if symbol is not None else None
        return build.number(0, node.span) if place is None else build.load(place)

    def _special(self, name: str, span: Span) -> Expression | None:
        if name == "_pid" and self.process is not None:
            return self.process.pid
        if name == "_priority" and self.process is not None and self.process.proctype.priority is not None:
            return build.number(self.process.proctype.priority, span)
        if name == "_nr_pr" and self.is_beginning and self.process is not None:
            return build.next_number(self.process.pid, span)  # it counts already
        if name == "_nr_pr" and self.process_count is not None:
            return build.load(build.place(self.process_count, span))
        if name == "_last" and self.last is not None:
            return build.load(build.place(self.last, span))
        return None

    def _unary(self, node: syntax.Unary) -> Expression:
        if node.operator == "!":
            return build.negation(self.condition(node.operand), node.span)
        operand = self.integer(node.operand)
        if node.operator == "+":
            return operand
        if isinstance(operand, Constant):
            assert isinstance(operand.value, int)
            return build.number(-operand.value if node.operator == "-" else ~operand.value, node.span)
        what = UnaryOperator.NEGATE if node.operator == "-" else UnaryOperator.COMPLEMENT
        return Unary(type=INTEGER, span=node.span, operator=what, operand=operand)

    def _combined(self, node: syntax.Binary, left: Expression, right: Expression) -> Expression:
        if node.operator not in OPERATORS:
            self.report.error(f"'{node.operator}' can only stand in a formula", node.span, "state it as ltl { ... }")
            return left
        return combined(node.operator, left, right, node.span)

    # --- Other processes -------------------------------------------------------------------------------------

    def remote(self, name: syntax.Name, pid: syntax.Expression | None) -> Self | None:
        """Returns the process that ``P[pid]`` names."""
        proctype = self.proctypes.get(name.text)
        if proctype is None:
            self.report.error(f"unknown proctype '{name.text}'", name.span, did_you_mean(name.text, self.proctypes))
            return None
        if proctype.variable is None:
            self.report.error(
                f"there is never a process of proctype '{name.text}'", name.span, "start one with 'run' or 'active'"
            )
            return None
        if len(proctype.pids) == 1:
            return self.self_of(proctype, build.number(proctype.pids.start, name.span), name.span)
        if proctype.scalarset is not None:
            hint = "leave --process-symmetry out"
            self.report.error(f"the processes of '{name.text}' have no numbers under symmetry", name.span, hint)
            return None
        number = self._first(proctype, name.span) if pid is None else self.integer(pid)
        return self.self_of(proctype, number, name.span)

    def _first(self, proctype: ProctypeSymbol, span: Span) -> Expression:
        """Returns the least number of a process of a proctype, which SPIN takes where a reference gives none."""
        message = f"there can be several processes of '{proctype.name}'; this names the one with the least number"
        self.report.warning(message, span, f"write {proctype.name}[pid] to name another one")
        *others, last = proctype.pids
        first: Expression = build.number(last, span)
        for each in reversed(others):
            number = build.number(each, span)
            exists = build.negation(self.is_at(self.self_of(proctype, number, span), [0], span), span)
            first = Conditional(type=INTEGER, span=span, condition=exists, then=number, otherwise=first)
        return first

    def self_of(self, proctype: ProctypeSymbol, pid: Expression, span: Span, local: Local | None = None) -> Self:
        assert proctype.variable is not None
        base: Place = build.place(proctype.variable, span)
        if len(proctype.pids) > 1:
            base = IndexPlace(type=proctype.record, span=span, base=base, index=pid)
        return Self(proctype, pid, base, local)

    def location_place(self, process: Self, span: Span) -> FieldPlace:
        return FieldPlace(type=process.proctype.locations, span=span, base=process.place, field_index=0)

    def is_at(self, process: Self, numbers: list[int], span: Span) -> Expression:
        """Returns whether a process is at one of some locations, which are numbered as its Enum has them."""
        here = build.load(self.location_place(process, span))
        whole: Expression = build.truth(False, span)
        for number in numbers:
            there = Constant(type=process.proctype.locations, span=span, value=number)
            whole = build.logical(
                BinaryOperator.OR, whole, build.binary(BinaryOperator.EQUAL, here, there, span, BOOLEAN), span
            )
        return whole

    def _remote_label(self, node: syntax.RemoteLabel) -> Expression:
        process = self.remote(node.proctype, node.process)
        if process is None:
            return build.truth(False, node.span)
        label = process.proctype.graph.labels.get(node.label.text)
        if label is None:
            hint = did_you_mean(node.label.text, process.proctype.graph.labels)
            message = f"proctype '{process.proctype.name}' has no label '{node.label.text}'"
            self.report.error(message, node.label.span, hint)
            return build.truth(False, node.span)
        is_there = self.is_at(process, [label.number + 1], node.span)
        if node.process is None:
            return is_there
        return build.logical(BinaryOperator.AND, self._can_be(process.proctype, node.process), is_there, node.span)

    def _can_be(self, proctype: ProctypeSymbol, process: syntax.Expression) -> Expression:
        """Returns whether a number is one that processes of a proctype can have."""
        pid, span = self.integer(process), process.span
        if isinstance(pid, Constant) and isinstance(pid.value, int):
            return build.truth(pid.value in proctype.pids, span)
        low, high = build.number(proctype.pids.start, span), build.number(proctype.pids.stop - 1, span)
        tests = (
            build.binary(BinaryOperator.GREATER_EQUAL, pid, low, span, BOOLEAN),
            build.binary(BinaryOperator.LESS_EQUAL, pid, high, span, BOOLEAN),
        )
        return build.logical(BinaryOperator.AND, *tests, span)

    def _remote_variable(self, node: syntax.RemoteVariable) -> Expression:
        process = self.remote(node.proctype, node.process)
        place = None if process is None else self.place(node.variable, process)
        if place is None or not isinstance(place.type, Range):
            return build.number(0, node.span)
        return build.load(place)

    def _array_size(self, node: syntax.ArraySize) -> Expression:
        symbol = self.lookup(node.array.name)
        if isinstance(symbol, ChannelSymbol) and symbol.size is not None:
            return build.number(symbol.size, node.span)
        kind = symbol.type if isinstance(symbol, VariableSymbol) else None
        if not isinstance(kind, Array):
            self.report.error(f"'{node.array.name.text}' is not an array", node.span, "name an array after 'in'")
            return build.number(0, node.span)
        return build.number(kind.index.cardinality, node.span)

    def no_process_at(self, kind: str, span: Span) -> Expression:
        """Returns that no process is at a label of a kind."""
        whole: Expression = build.truth(True, span)
        for proctype in self.proctypes.values():
            at = [each.number + 1 for each in proctype.graph.locations if kind in each.kinds]
            if at and proctype.variable is not None:
                inside = self.quantified(Quantifier.EXISTS, proctype, at, span)
                whole = build.logical(BinaryOperator.AND, whole, build.negation(inside, span), span)
        for test in self.event_trace_at(kind, span):
            whole = build.logical(BinaryOperator.AND, whole, build.negation(test, span), span)
        return whole

    def event_trace_at(self, kind: str, span: Span) -> list[Expression]:
        raise NotImplementedError

    def quantified(self, quantifier: Quantifier, proctype: ProctypeSymbol, at: list[int], span: Span) -> Expression:
        """Returns whether all processes, or some process, of a proctype are at one of some locations."""
        if len(proctype.pids) == 1:
            process = self.self_of(proctype, build.number(proctype.pids.start, span), span)
            return self.is_at(process, at, span)
        local = self.frame.add("process", proctype.pid_type)
        pid = build.load(LocalPlace(type=local.type, span=span, local=local))
        body = self.is_at(self.self_of(proctype, pid, span), at, span)
        return Quantified(
            span=span, quantifier=quantifier, variable=local, domain=TypeDomain(type=proctype.pid_type), body=body
        )


def has_timeout(node: object) -> bool:
    """Returns whether an expression asks for ``timeout``."""
    match node:
        case syntax.Timeout():
            return True
        case syntax.Unary():
            return has_timeout(node.operand)
        case syntax.Binary():
            return has_timeout(node.left) or has_timeout(node.right)
        case syntax.Conditional():
            return any(map(has_timeout, (node.condition, node.then, node.otherwise)))
    return False

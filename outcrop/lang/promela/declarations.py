"""Declares types, variables, channels and processes, and gives the start state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from outcrop.ir.nodes import Assign, Expression, For, LocalPlace, Statement, TypeDomain, Variable
from outcrop.ir.system import Guess
from outcrop.ir.types import BOOLEAN, Array, Enum, Range, Record, Type
from outcrop.lang import build
from outcrop.lang.promela import syntax
from outcrop.lang.promela.control import GraphBuilder, location_names
from outcrop.lang.promela.elements import Numbers
from outcrop.lang.promela.events import EventTrace
from outcrop.lang.promela.identical import mark_identical
from outcrop.lang.promela.language import MOST_PROCESSES, PromelaOptions
from outcrop.lang.promela.lifetimes import MORE_PROCESSES
from outcrop.lang.promela.messages import expand_messages
from outcrop.lang.promela.mtypes import hold_names_only, is_mtype, labels_of, numbered
from outcrop.lang.promela.names import READ_ONLY
from outcrop.lang.promela.preprocessor import Preprocessor
from outcrop.lang.promela.processes import count_processes, runs_of
from outcrop.lang.promela.scope import (
    BIT,
    BOOL,
    BYTE,
    CHAN,
    NUMBERS,
    ChannelSymbol,
    ConstantSymbol,
    InitialChannel,
    InitialValue,
    ProctypeSymbol,
    Symbol,
    VariableSymbol,
    with_channel,
    with_channels,
)
from outcrop.lang.promela.scopes import resolve_scopes
from outcrop.lang.promela.structures import StructureLowering
from outcrop.lang.report import did_you_mean
from outcrop.options import LoadOptions
from outcrop.source import Source, Span

#: Processes beside the active ones, where their number cannot be found: a guess, and others to try if it is passed.
_MORE_PROCESSES, *_EVEN_MORE = 8, 16, 32, 64
_LARGEST_ARRAY = 65_536
_LARGEST_CHANNEL = 65_535
_MOST_BITS = 31  #: of an unsigned variable, as in SPIN
MAX_LEAVES = 100_000


class DeclarationLowering(StructureLowering):
    def __init__(self, source: Source, options: LoadOptions, preprocessor: Preprocessor) -> None:
        super().__init__(source, options, preprocessor)
        self.variables: list[Variable] = []
        self.channels: list[ChannelSymbol] = []
        self.constants: dict[str, int | float | str] = {}
        self._most = 0  #: largest value of an mtype
        self._labels: dict[str, tuple[str, ...]] = {}  #: names of the values of each mtype
        self._leaf_count = 0
        self.guess: Guess | None = None  #: of the number of processes

    # --- Types -----------------------------------------------------------------------------------------------------

    def types(self, model: syntax.Model) -> None:
        most = 0
        for name, number in numbered(model.mtypes):
            self._enter_name(self.globals, name, ConstantSymbol(number, name.span))
            most = max(most, number)
        self._most = 2 ** most.bit_length() - 1 if hold_names_only(model) else 255
        self._labels = labels_of(model.mtypes)
        self.make_typedefs(model)

    def type_of(self, name: syntax.Name, declarator: syntax.Declarator) -> Type | None:
        """Returns the type of a variable; None, and an error reported, where it has none."""
        kind: Type | None = NUMBERS.get(name.text) or self.typedefs.get(name.text)
        if is_mtype(name):
            kind = Range(0, self._most, name.text, self._labels.get(name.text, ()))
        elif name.text == "chan":
            kind = CHAN
        elif name.text == "unsigned":
            bits = 0 if declarator.bits is None else self.constant(declarator.bits, "the number of bits")
            if bits is None:
                return None
            if not 1 <= bits <= _MOST_BITS:
                hint = "write 'unsigned x : 5'; in messages use byte, short or int"
                self.report.error(f"'unsigned' needs a width of 1 to {_MOST_BITS} bits", declarator.name.span, hint)
                return None
            kind = Range(0, 2**bits - 1, f"unsigned:{bits}")
        elif declarator.bits is not None:
            self.report.error("only 'unsigned' has a width", declarator.name.span, "declare it as unsigned")
        if kind is None:
            hint = did_you_mean(name.text, (*NUMBERS, *self.typedefs))
            self.report.error(f"unknown type '{name.text}'", name.span, hint)
            return None
        if declarator.size is not None:
            size = self.size(declarator.size)
            if size is None:
                return None
            if not 1 <= size <= _LARGEST_ARRAY:
                self.report.error(f"an array has 1 to {_LARGEST_ARRAY:,} elements, not {size}", declarator.name.span)
                return None
            kind = Array(Range(0, size - 1), kind)
        return kind

    def find_written(self, model: syntax.Model) -> None:
        """Finds channel names that are variables after all, because something is stored into them."""
        for proctype in model.proctypes:
            self.written |= set(syntax.stored_names(proctype.body))

    # --- Names -----------------------------------------------------------------------------------------------------

    def declare_globals(self, model: syntax.Model) -> None:
        for declaration in model.declarations:
            for each in declaration.declarators:
                symbol = self._symbol(declaration, each, None)
                if symbol is not None:
                    self._enter_name(self.globals, each.name, symbol)

    def _enter_name(self, names: dict[str, Symbol], name: syntax.Name, symbol: Symbol) -> None:
        if name.text in READ_ONLY:
            self.report.error(f"'{name.text}' is a name of the language", name.span, "give the variable another name")
        elif name.text in names:
            note = ("it is declared here", names[name.text].span)
            self.report.error(f"'{name.text}' is declared twice", name.span, "rename or delete one of the two", note)
        else:
            names[name.text] = symbol

    def _symbol(
        self, declaration: syntax.Declaration, each: syntax.Declarator, proctype: ProctypeSymbol | None
    ) -> Symbol | None:
        initial: InitialValue = None
        if isinstance(each.initial, syntax.ChannelValue):
            channel = self.make_channel(each, each.initial, proctype)
            if channel is None or each.name.text not in self.written:
                return channel
            # The name is a variable that has the number of the channel at first.
            numbers = tuple(InitialChannel(channel, at, span=each.name.span) for at in range(channel.width))
            initial = numbers[0] if channel.size is None else numbers
        elif declaration.type.text in self.typedefs:
            initial = self.structure_values(declaration.type, each, proctype)
        else:
            initial = each.initial
        kind = self.type_of(declaration.type, each)
        if kind is None:
            return None
        is_channel = declaration.type.text not in NUMBERS
        return VariableSymbol(each.name.text, kind, each.name.span, initial=initial, is_channel=is_channel)

    def make_channel(
        self, each: syntax.Declarator, value: syntax.ChannelValue, proctype: ProctypeSymbol | None
    ) -> ChannelSymbol | None:
        capacity = self.constant(value.capacity, "the capacity of a channel")
        size = None if each.size is None else self.size(each.size)
        types: list[Range] = []
        for name in value.types:
            kind = self.type_of(name, syntax.Declarator(each.name, None, None, None))
            if isinstance(kind, Record):
                types += [leaf for leaf in kind.leaves() if isinstance(leaf, Range)]
            elif isinstance(kind, Range):
                types.append(kind)
        if len(types) == 1 and types[0] in (BIT, BOOL) and not types[0].labels:
            types = [BYTE]  # as SPIN stores the only field of a message
        if capacity is None:
            return None
        if not 0 <= capacity <= _LARGEST_CHANNEL:
            message = f"the capacity of a channel is from 0 to {_LARGEST_CHANNEL:,}, not {capacity}"
            self.report.error(message, value.span)
            return None
        label = each.name.text if proctype is None else f"{proctype.name}.{each.name.text}"
        channel = ChannelSymbol(label, capacity, tuple(types), size, each.name.span, proctype)
        self.channels.append(channel)
        if proctype is not None:
            proctype.channels.append(channel)
        return channel

    # --- Proctypes -------------------------------------------------------------------------------------------------

    def declare_proctypes(self, model: syntax.Model) -> None:
        numbers = Numbers()
        for tree in model.proctypes:
            if tree.name.text in self.proctypes:
                self.report.error(
                    f"proctype '{tree.name.text}' is declared twice", tree.name.span, "rename or delete one of the two"
                )
                continue
            if tree.name.text in self.globals:
                note = ("it is declared here", self.globals[tree.name.text].span)
                message = f"'{tree.name.text}' is declared twice"
                self.report.error(message, tree.name.span, "rename or delete one of the two", note)
            referred = {label for proctype, label in model.remote_labels if proctype == tree.name.text}
            tree = resolve_scopes(tree)
            graph = GraphBuilder(self.report, numbers, sorted(referred)).build(tree.body)
            self.proctypes[tree.name.text] = ProctypeSymbol(tree, graph)
        self._count()
        started = [each for proctype in self.proctypes.values() for each in runs_of(proctype.graph)]
        self.set_priorities(started, self.preprocessor.uses("set_priority") or "_priority" in self.written)
        for proctype in self.proctypes.values():
            self._declare_inside(proctype)
        if model.trace is not None and self.options.of(PromelaOptions).claims:
            graph = GraphBuilder(self.report, numbers).build(model.trace.body)
            locations = Enum(tuple(location_names(graph.locations)), f"location of {model.trace.word}")
            self.event_trace = EventTrace(model.trace, graph, locations, list(self.events_of(model.trace, graph)))
        if self.options.of(PromelaOptions).process_symmetry:
            mark_identical(model, list(self.proctypes.values()), self.preprocessor.words, self.report)

    def _count(self) -> None:
        active = {}
        for name, proctype in self.proctypes.items():
            tree = proctype.tree
            count = 0 if tree.active is None else self.first_value(tree.active, "the number of processes", 0) or 0
            active[name] = count
            if tree.active is not None and count > MOST_PROCESSES:
                hint = "start fewer of them"
                self.report.error(f"there are at most {MOST_PROCESSES} processes, not {count}", tree.active.span, hint)
        if not sum(active.values()):
            self.report.error("no process starts", None, "add 'init { ... }' or make a proctype active")
        constants = {name: symbol.value for name, symbol in self.globals.items() if isinstance(symbol, ConstantSymbol)}
        given = self.options.of(PromelaOptions).processes
        least = sum(active.values())
        limit = given or least + _MORE_PROCESSES
        graphs = {name: (each.tree, each.graph) for name, each in self.proctypes.items()}
        common = {name: symbol for name, symbol in self.globals.items() if isinstance(symbol, VariableSymbol)}
        has_priorities = any(map(self.preprocessor.uses, ("priority", "set_priority", "_priority")))
        census = count_processes(graphs, active, constants, common, limit, has_priorities=has_priorities)
        self.most_processes = max(census.most, 1)
        if census.is_guessed and given is None:
            larger = tuple(least + each for each in _EVEN_MORE if least + each <= MOST_PROCESSES)
            self.guess = Guess("processes", limit, larger, MORE_PROCESSES)
        for name, proctype in self.proctypes.items():
            proctype.active = census.active.get(name, range(0))
            proctype.pids = census.pids.get(name, range(0))

    def _declare_inside(self, proctype: ProctypeSymbol) -> None:
        self.declaring = proctype
        for declaration in proctype.tree.parameters:
            for each in declaration.declarators:
                kind = self.type_of(declaration.type, each)
                if kind is not None and _holds_array(kind):
                    hint = "pass its elements one by one, or declare it outside of the proctype"
                    self.report.error(f"parameter '{each.name.text}' holds an array", each.name.span, hint)
                elif kind is not None:
                    is_channel = declaration.type.text not in NUMBERS
                    parameter = VariableSymbol(each.name.text, kind, each.name.span, is_channel=is_channel)
                    self._enter_name(proctype.names, each.name, parameter)
                    proctype.parameters.append(parameter)
                    proctype.fields.append(parameter)
        for declaration, is_first in proctype.graph.declarations:
            for each in declaration.declarators:
                symbol = self._symbol(declaration, each, proctype)
                if symbol is None:
                    continue
                self._enter_name(proctype.names, each.name, symbol)
                if isinstance(symbol, VariableSymbol):
                    is_number = declaration.type.text not in self.typedefs
                    if is_number and not is_first and not isinstance(each.initial, syntax.ChannelValue):
                        symbol.initial = None
                    proctype.fields.append(symbol)
        expand_messages(proctype.graph, lambda name: self._type_named(name, proctype))
        names = location_names(proctype.graph.locations)
        proctype.locations = Enum(("-", *names), f"location of {proctype.name}")
        fields: list[tuple[str, Type]] = [("at", proctype.locations)]
        for number, variable in enumerate(proctype.fields, start=1):
            variable.field = number
            is_taken = variable.name == fields[0][0]  # outputs show fields by name
            fields.append((f"{variable.name} (variable)" if is_taken else variable.name, variable.type))
        proctype.record = Record(tuple(fields), proctype.name)
        self.declaring = None

    def _type_named(self, name: str, proctype: ProctypeSymbol) -> Type | None:
        symbol = proctype.names.get(name) or self.globals.get(name)
        return symbol.type if isinstance(symbol, VariableSymbol) else None

    # --- Variables of the state --------------------------------------------------------------------------------------

    def number_channels(self) -> None:
        base = 1
        for channel in self.channels:
            channel.base = base
            base += channel.count
        if base > 256:
            message = f"the model has {base - 1:,} channels; at most 255 are possible"
            self.report.error(message, self.channels[-1].span, "use fewer, or make arrays of channels smaller")

    def _name_channels(self) -> None:
        """Lets the types of variables and messages show the names of channels."""
        titles = ("0", *(title for channel in self.channels for title in channel.titles))
        for channel in self.channels:
            channel.types = tuple(with_channel(each, titles) for each in channel.types)
        for names in (self.globals, *(each.names for each in self.proctypes.values())):
            for symbol in names.values():
                if isinstance(symbol, VariableSymbol):
                    symbol.type = with_channels(symbol.type, titles)
        for proctype in self.proctypes.values():
            place, *fields = proctype.record.fields
            kinds = ((name, each.type) for (name, _), each in zip(fields, proctype.fields, strict=True))
            proctype.record = replace(proctype.record, fields=(place, *kinds))

    def make_variables(self, model: syntax.Model) -> None:
        nowhere = Span(self.source, 0, 0)
        self._name_channels()
        for symbol in self.globals.values():
            if isinstance(symbol, VariableSymbol):
                symbol.variable = self._variable(symbol.name, symbol.type, symbol.span)
        for channel in self.channels:
            if channel.capacity and channel.count:
                kind: Type = self.queue_type(channel)
                if channel.count > 1:
                    kind = Array(Range(0, channel.count - 1), kind)
                channel.storage = self._variable(channel.name, kind, channel.span)
        for proctype in self.proctypes.values():
            if len(proctype.pids):
                several = len(proctype.pids) > 1
                whole: Type = Array(proctype.pid_type, proctype.record) if several else proctype.record
                proctype.variable = self._variable(proctype.name, whole, proctype.tree.name.span)
        self.process_count = self._variable("_nr_pr", Range(0, self.most_processes), nowhere)
        if self.event_trace is not None:
            tree, kind = self.event_trace.tree, self.event_trace.locations
            self.event_trace.variable = self._variable(tree.word, kind, tree.span)
        if self.preprocessor.uses("_last"):
            self.last = self._variable("_last", Range(0, max(self.most_processes - 1, 1)), nowhere)

    def make_privilege(self) -> None:
        """Makes the variable that says which process is inside an atomic sequence."""
        symmetric = [each for each in self.proctypes.values() if each.scalarset is not None]
        if symmetric:
            message = (
                "an atomic sequence of this model is too long to be one step, and its processes cannot be symmetric"
            )
            self.report.error(message, symmetric[0].tree.name.span, "leave --process-symmetry out")
        self.privilege = self._variable("atomic", Range(0, self.most_processes), Span(self.source, 0, 0))

    def make_passed(self) -> None:
        """Makes the variable that says whether the last step passed an accept label inside an atomic sequence."""
        self.passed = self._variable("(accept)", BOOLEAN, Span(self.source, 0, 0))

    def _variable(self, name: str, kind: Type, span: Span) -> Variable:
        variable = Variable(name, kind, self._leaf_count, span, is_defined=True)
        self._leaf_count += kind.leaf_count
        if self._leaf_count > MAX_LEAVES:
            self.report.error(
                f"a state would have more than {MAX_LEAVES:,} values", span, "make arrays and channels smaller"
            )
            self._leaf_count = 0
        self.variables.append(variable)
        return variable

    # --- The start state ---------------------------------------------------------------------------------------------

    def start_body(self) -> Iterator[Statement]:
        for variable in self.variables:
            yield from self.zeroes(build.place(variable, variable.span), variable.span)
        for symbol in self.globals.values():
            if isinstance(symbol, VariableSymbol) and symbol.initial is not None:
                assert symbol.variable is not None
                self.process = None
                yield from self.initial_values(build.place(symbol.variable, symbol.span), symbol.initial, symbol.span)
        for proctype in self.proctypes.values():
            span = proctype.tree.name.span
            if proctype.scalarset is not None:
                local = self.frame.add("process", proctype.scalarset)
                body = self._begun(proctype, build.load(LocalPlace(type=local.type, span=span, local=local)), span)
                domain = TypeDomain(type=proctype.scalarset)
                yield For(span=span, variable=local, domain=domain, body=tuple(body))
                continue
            for pid in proctype.active:
                yield from self._begun(proctype, build.number(pid, span), span)
        if self.event_trace is not None and self.event_trace.variable is not None:
            trace, span = self.event_trace, self.event_trace.tree.span
            target = build.place(self.event_trace.variable, span)
            yield Assign(span=span, target=target, value=trace.at(trace.graph.start, span))
        count = sum(len(each.active) for each in self.proctypes.values())
        assert self.process_count is not None
        nowhere = Span(self.source, 0, 0)
        target = build.place(self.process_count, nowhere)
        yield Assign(span=nowhere, target=target, value=build.number(count, nowhere))

    def _begun(self, proctype: ProctypeSymbol, pid: Expression, span: Span) -> Iterator[Statement]:
        """Yields the start of a process that exists from the beginning."""
        self.process = self.self_of(proctype, pid, span)
        yield from self.initialised(self.process)
        yield from self.begin_claims(span)
        yield self.enter(self.process, proctype.graph.start, span)


def _holds_array(kind: Type) -> bool:
    return isinstance(kind, Array) or (isinstance(kind, Record) and any(_holds_array(each) for _, each in kind.fields))

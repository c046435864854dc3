"""The channels whose numbers each variable may hold.

A statement on a channel variable has rules for each declaration of channels that the variable may mean. Most variables
are parameters that only ever get a few of them, so numbers are followed from where they are written to where they are
stored. There is one set for each variable, whatever its process, element or field, and one for each value in the
messages of a declaration of channels. Statements are taken in any order. What arithmetic yields may be any channel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from outcrop.ir.types import Type
from outcrop.lang.promela import syntax
from outcrop.lang.promela.control import Graph
from outcrop.lang.promela.scope import (
    ChannelSymbol,
    ConstantSymbol,
    FieldValues,
    InitialChannel,
    InitialValue,
    ProctypeSymbol,
    Symbol,
    VariableSymbol,
)

#: Channels as the bits of a number: bit n is the channel with number n.
Channels = int
#: Numbers of channels, which are bytes.
_NUMBERS = 256
_TRUTH: Channels = 0b11
_CONDITIONS = frozenset(("==", "!=", "<", "<=", ">", ">=", "&&", "||"))


@dataclass
class Holding:
    """The channels that variables and messages may hold, found by ``find``."""

    globals: dict[str, Symbol]
    proctypes: dict[str, ProctypeSymbol]
    channels: list[ChannelSymbol]
    _held: dict[VariableSymbol, Channels] = field(default_factory=dict)
    _sent: dict[tuple[ChannelSymbol, int], Channels] = field(default_factory=dict)

    def may_be(self, variable: VariableSymbol, channel: ChannelSymbol) -> bool:
        """Returns whether a variable may have the number of one of the channels of a declaration."""
        return bool(self._held.get(variable, 0) & _all_of(channel))

    def find(self) -> None:
        """Follows all statements until no set grows."""
        steps = [(proctype, action) for proctype in self.proctypes.values() for action in _statements(proctype.graph)]
        for _, symbol in self._variables():
            self._held[symbol] = _narrow(symbol.type)
        for channel in self.channels:
            for number, kind in enumerate(channel.types):
                self._sent[channel, number] = _narrow(kind)
        before = None
        while (after := (dict(self._held), dict(self._sent))) != before:
            before = after
            for owner, symbol in self._variables():
                self._held[symbol] |= self._initial(symbol.initial, owner)
            for proctype, action in steps:
                self._follow(action, proctype)

    def _variables(self) -> Iterator[tuple[ProctypeSymbol | None, VariableSymbol]]:
        """Yields all variables, each with the proctype that it belongs to."""
        for owner in (None, *self.proctypes.values()):
            for symbol in (self.globals if owner is None else owner.names).values():
                if isinstance(symbol, VariableSymbol):
                    yield owner, symbol

    def _initial(self, value: InitialValue, owner: ProctypeSymbol | None) -> Channels:
        if isinstance(value, syntax.Expression):
            return self._values(value, owner)
        parts = value.values if isinstance(value, FieldValues) else value or ()
        whole = 0
        for each in parts:
            whole |= self._initial(each, owner)
        return whole

    # --- Statements --------------------------------------------------------------------------------------------

    def _follow(self, action: syntax.Statement | None, process: ProctypeSymbol) -> None:
        match action:
            case syntax.Test(condition=syntax.Run() as run):
                self._run(run, process)
            case syntax.Assignment(target=target, value=syntax.Run() as run):
                self._run(run, process)
                self._store(target, self._any, process)
            case syntax.Assignment():
                self._store(action.target, self._values(action.value, process), process)
            case syntax.Send():
                for channel in self._meant(action.channel, process):
                    for number, each in enumerate(action.arguments[: len(channel.types)]):
                        self._sent[channel, number] |= self._values(each, process)
            case syntax.Receive():
                for channel in self._meant(action.channel, process):
                    for number, each in enumerate(action.arguments[: len(channel.types)]):
                        if isinstance(each, syntax.Reference):
                            self._store(each, self._sent[channel, number], process)

    def _run(self, node: syntax.Run, process: ProctypeSymbol) -> None:
        started = self.proctypes.get(node.proctype.text)
        if started is None:
            return
        values = [self._values(each, process) for each in node.arguments]
        # A structure stands for all its fields, so that arguments and parameters need not be as many.
        if len(values) != len(started.parameters):
            values = [self._union(values)] * len(started.parameters)
        for parameter, value in zip(started.parameters, values, strict=True):
            self._held[parameter] |= value

    def _store(self, target: syntax.Reference, values: Channels, process: ProctypeSymbol) -> None:
        symbol = self._symbol(target, process)
        if isinstance(symbol, VariableSymbol):
            self._held[symbol] |= values

    def _meant(self, node: syntax.Reference, process: ProctypeSymbol) -> Iterator[ChannelSymbol]:
        """Yields the declarations of channels that a reference may mean."""
        symbol = self._symbol(node, process)
        if isinstance(symbol, ChannelSymbol):
            yield symbol
        elif isinstance(symbol, VariableSymbol):
            yield from (each for each in self.channels if self.may_be(symbol, each))

    # --- Values ------------------------------------------------------------------------------------------------

    @property
    def _any(self) -> Channels:
        return self._union([_all_of(each) for each in self.channels])

    @staticmethod
    def _union(values: list[Channels]) -> Channels:
        whole = 0
        for each in values:
            whole |= each
        return whole

    def _symbol(self, node: syntax.Reference, process: ProctypeSymbol | None) -> Symbol | None:
        own = None if process is None else process.names.get(node.name.text)
        return own or self.globals.get(node.name.text)

    def _values(self, node: syntax.Expression, process: ProctypeSymbol | None) -> Channels:
        """Returns the channels whose number an expression may have as its value."""
        match node:
            case syntax.Number():
                return 1 << node.value % _NUMBERS
            case syntax.Reference():
                return self._referred(self._symbol(node, process))
            case InitialChannel():
                return _all_of(node.channel)
            case syntax.RemoteVariable():
                of = self.proctypes.get(node.proctype.text)
                return self._any if of is None else self._referred(of.names.get(node.variable.name.text))
            case syntax.Conditional():
                return self._values(node.then, process) | self._values(node.otherwise, process)
            case syntax.Evaluated():
                return self._values(node.operand, process)
            case syntax.Unary(operator="!") | syntax.Poll():
                return _TRUTH
            case syntax.Binary() if node.operator in _CONDITIONS:
                return _TRUTH
        return self._any

    def _referred(self, symbol: Symbol | None) -> Channels:
        match symbol:
            case ConstantSymbol():
                return 1 << symbol.value % _NUMBERS
            case ChannelSymbol():
                return _all_of(symbol)
            case VariableSymbol():
                return self._held[symbol]
        return self._any


def _all_of(channel: ChannelSymbol) -> Channels:
    return ((1 << channel.count) - 1) << channel.base


def _narrow(kind: Type) -> Channels:
    """Returns the values that a type has, if these are fewer than the numbers of channels: larger ones wrap around."""
    whole = 0
    for leaf in kind.leaves():
        if leaf.cardinality < _NUMBERS:
            whole |= (1 << leaf.cardinality) - 1
    return whole


def _statements(graph: Graph) -> Iterator[syntax.Statement]:
    for location in graph.locations:
        for step in location.steps:
            if step.action is not None:
                yield step.action
            if step.graph is not None:
                yield from _statements(step.graph)

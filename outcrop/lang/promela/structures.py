"""Typedefs and arrays: their types and sizes, and the initial values that fields declare.

A field can begin with a value, or with a channel. Each structure then has a channel of its own: those of one field of
one variable are numbered as an array of channels is.
"""

from __future__ import annotations

from dataclasses import replace

from outcrop.ir.types import Record, Type
from outcrop.lang.promela import syntax
from outcrop.lang.promela.rules import RuleLowering
from outcrop.lang.promela.scope import (
    ChannelSymbol,
    ConstantSymbol,
    FieldValues,
    InitialChannel,
    InitialValue,
    ProctypeSymbol,
    VariableSymbol,
)

#: Elements of an array, as in SPIN, whose size is a variable that begins with no positive constant.
_DEFAULT_SIZE = 8

_Field = tuple[syntax.Name, syntax.Declarator]


class StructureLowering(RuleLowering):
    typedefs: dict[str, Record]
    _fields: dict[str, list[_Field]]

    def type_of(self, name: syntax.Name, declarator: syntax.Declarator) -> Type | None:
        raise NotImplementedError

    def make_channel(
        self, each: syntax.Declarator, value: syntax.ChannelValue, proctype: ProctypeSymbol | None
    ) -> ChannelSymbol | None:
        raise NotImplementedError

    def size(self, node: syntax.Expression) -> int | None:
        """Returns the size of an array; None, and an error reported, if it is not constant."""
        return self.first_value(node, "the number of elements", _DEFAULT_SIZE)

    def first_value(self, node: syntax.Expression, what: str, otherwise: int) -> int | None:
        """Returns the value of a constant. As in SPIN it may be a variable, for the constant that it begins with, or
        ``otherwise`` where that is not positive."""
        symbol = self.known(node.name) if isinstance(node, syntax.Reference) and node.index is None else None
        if not isinstance(symbol, VariableSymbol):
            return self.constant(node, what)
        first = symbol.initial
        named = self.known(first.name) if isinstance(first, syntax.Reference) else first
        value = named.value if isinstance(named, ConstantSymbol | syntax.Number) else 0
        value = value if value > 0 else otherwise
        message = f"{what} is {value} here, as in SPIN, whatever the value of '{symbol.name}' is later"
        self.report.warning(message, node.span, f"write #define {symbol.name} {value}")
        return value

    def make_typedefs(self, model: syntax.Model) -> None:
        self.typedefs, self._fields = {}, {}
        for typedef in model.typedefs:
            fields = [(each.type, one) for each in typedef.fields for one in each.declarators]
            kinds = [(one.name.text, kind) for name, one in fields if (kind := self.type_of(name, one)) is not None]
            self.typedefs[typedef.name.text] = Record(tuple(kinds), typedef.name.text)
            self._fields[typedef.name.text] = fields

    def structure_values(
        self, name: syntax.Name, declarator: syntax.Declarator, proctype: ProctypeSymbol | None
    ) -> InitialValue:
        """Returns the initial values of a variable that is a structure, or an array of these."""
        if not self._has_values(name):
            return None
        channels: dict[str, ChannelSymbol] = {}
        found = self._values(name, declarator, declarator.name.text, proctype, channels)
        for each in channels.values():
            each.size = None if each.size == 1 else each.size
        return found

    def _has_values(self, name: syntax.Name) -> bool:
        return any(
            one.initial is not None or (kind.text in self._fields and self._has_values(kind))
            for kind, one in self._fields[name.text]
        )

    def _values(
        self,
        name: syntax.Name,
        each: syntax.Declarator,
        label: str,
        proctype: ProctypeSymbol | None,
        channels: dict[str, ChannelSymbol],
    ) -> InitialValue:
        """Returns the initial value of a part of a structure. ``channels``: those made so far, by the path to them."""
        size = None if each.size is None else self.size(each.size)

        def one() -> InitialValue:
            if name.text not in self._fields:
                return self._next_channel(each, label, proctype, channels)
            parts = (
                self._values(kind, field, f"{label}.{field.name.text}", proctype, channels)
                for kind, field in self._fields[name.text]
            )
            return FieldValues(tuple(parts))

        if name.text not in self._fields and not isinstance(each.initial, syntax.ChannelValue):
            return each.initial
        return one() if size is None else tuple(one() for _ in range(size))

    def _next_channel(
        self,
        each: syntax.Declarator,
        label: str,
        proctype: ProctypeSymbol | None,
        channels: dict[str, ChannelSymbol],
    ) -> InitialValue:
        """Returns the number of another channel of a field."""
        if label not in channels:
            assert isinstance(each.initial, syntax.ChannelValue)
            named = replace(each, name=replace(each.name, text=label), size=None)
            channel = self.make_channel(named, each.initial, proctype)
            if channel is None:
                return None
            channels[label], channel.size = channel, 0
        channel = channels[label]
        number = channel.size or 0
        channel.size = number + 1
        return InitialChannel(channel, number, span=each.name.span)

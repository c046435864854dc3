"""The names of a DVE model and their symbols: variables, constants, channels and processes.

There is a global scope, with one inner scope for each process. States are not names of these scopes, since they are
written only where a state is meant.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from outcrop.ir.nodes import Variable
from outcrop.ir.system import Function
from outcrop.ir.types import Enum, Range
from outcrop.lang.dve import syntax
from outcrop.source import Span

BYTE = Range(0, 255, "byte")
INT = Range(-32768, 32767, "int")


@dataclass(slots=True)
class ConstantSymbol:
    value: int
    span: Span


@dataclass(slots=True)
class ConstantArraySymbol:
    """A constant array. ``function`` returns the element for an index that is not constant."""

    values: tuple[int, ...]
    function: Function
    span: Span


@dataclass(slots=True)
class VariableSymbol:
    variable: Variable
    span: Span


@dataclass(slots=True)
class Channel:
    """A channel. ``capacity`` 0 is a rendezvous.

    A buffered channel stores the number of its items in ``count``, and the items, oldest first, in the array
    ``buffer``. The elements are records if an item has several values; there is no array if it has none. Free elements
    are undefined.
    """

    name: str
    items: tuple[Range, ...] | None  #: None for an untyped channel
    capacity: int
    span: Span
    arity: int | None = None  #: number of values in an item; the first use determines it for an untyped channel
    first_use: Span | None = None  #: for an untyped channel
    count: Variable | None = None
    buffer: Variable | None = None


@dataclass(slots=True)
class ProcessSymbol:
    """A process. ``committed`` holds the committed states that some transition leaves; others have no effect."""

    tree: syntax.Process
    states: Enum
    location: Variable
    scope: Scope
    committed: frozenset[int]
    span: Span

    @property
    def name(self) -> str:
        return self.tree.name.text


@dataclass(slots=True)
class UnknownSymbol:
    """A name with an invalid declaration, whose uses are not reported."""

    span: Span


Symbol = ConstantSymbol | ConstantArraySymbol | VariableSymbol | Channel | ProcessSymbol | UnknownSymbol

_KINDS: dict[type, str] = {
    ConstantSymbol: "a constant",
    ConstantArraySymbol: "a constant array",
    VariableSymbol: "a variable",
    Channel: "a channel",
    ProcessSymbol: "a process",
    UnknownSymbol: "a name",
}


def kind_of(symbol: Symbol) -> str:
    """Returns the kind of a symbol, for messages."""
    return _KINDS[type(symbol)]


@dataclass(eq=False)
class Scope:
    names: dict[str, Symbol] = field(default_factory=dict)
    parent: Scope | None = None

    def find(self, name: str) -> Symbol | None:
        symbol = self.names.get(name)
        return symbol if symbol is not None or self.parent is None else self.parent.find(name)

    def visible(self) -> list[str]:
        return [*self.names, *(self.parent.visible() if self.parent else ())]

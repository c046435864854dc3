"""What the names of a DVE model stand for: variables, constants, channels and processes.

There is a global scope, and one for each process inside it. States are no names of these scopes: they are only ever
written where a state is meant.
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
    """``function`` gives the element for an index that is not constant."""

    values: tuple[int, ...]
    function: Function
    span: Span


@dataclass(slots=True)
class VariableSymbol:
    variable: Variable
    span: Span


@dataclass(slots=True)
class Channel:
    """``capacity`` 0 is a rendezvous. A buffered channel keeps how many items it holds in ``count`` and the items, the
    oldest first, in the array ``buffer``: records where an item has several values, none at all where it has no value.
    The rest of the array is undefined."""

    name: str
    items: tuple[Range, ...] | None  #: None: untyped
    capacity: int
    span: Span
    arity: int | None = None  #: how many values travel; for an untyped channel, what its first use says
    first_use: Span | None = None  #: of an untyped channel
    count: Variable | None = None
    buffer: Variable | None = None


@dataclass(slots=True)
class ProcessSymbol:
    """``committed`` holds the committed states that some transition leaves: the others commit to nothing."""

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
    """A name whose declaration is wrong; its uses are not reported."""

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
    """What a symbol is, for messages."""
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

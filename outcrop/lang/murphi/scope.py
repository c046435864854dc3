"""Names and their symbols.

There is one name space for constants, types, variables, functions and enumeration members. Inner scopes may hide the
names of outer ones. ``true``, ``false`` and ``boolean`` are recognised in any case and cannot be declared.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from outcrop.ir.nodes import Constant, Local, Place, Variable
from outcrop.ir.system import Function
from outcrop.ir.types import BOOLEAN, Multiset, Simple, Type
from outcrop.source import Source, Span


@dataclass(frozen=True)
class UnknownType(Simple):
    """The type of an invalid expression. It fits everywhere, so that one mistake is reported once."""

    @property
    def cardinality(self) -> int:
        return 1

    def __str__(self) -> str:
        return "unknown"


UNKNOWN = UnknownType()


@dataclass(slots=True)
class ConstantSymbol:
    value: Constant
    span: Span | None


@dataclass(slots=True)
class TypeSymbol:
    type: Type
    span: Span | None


@dataclass(slots=True)
class VariableSymbol:
    variable: Variable
    span: Span


@dataclass(slots=True)
class LocalSymbol:
    """A local variable. ``read_only`` is the reason why it cannot be assigned, "" if it can. ``slot_of`` is the
    multiset whose slots it numbers."""

    local: Local
    span: Span
    read_only: str = ""
    slot_of: Multiset | None = None


@dataclass(slots=True)
class PlaceSymbol:
    """An alias of a place that never changes. Its uses are replaced by the place."""

    place: Place
    span: Span
    read_only: str


@dataclass(slots=True)
class ValueSymbol:
    """An alias of a constant. Its uses are replaced by the constant."""

    value: Constant
    span: Span


@dataclass(slots=True)
class FunctionSymbol:
    function: Function
    span: Span


@dataclass(slots=True)
class UnknownSymbol:
    """A name with an invalid declaration, whose uses are not reported."""

    span: Span


Symbol = (
    ConstantSymbol
    | TypeSymbol
    | VariableSymbol
    | LocalSymbol
    | PlaceSymbol
    | ValueSymbol
    | FunctionSymbol
    | UnknownSymbol
)

_KINDS: dict[type, str] = {
    ConstantSymbol: "a constant",
    TypeSymbol: "a type",
    VariableSymbol: "a variable",
    LocalSymbol: "a local variable",
    PlaceSymbol: "an alias",
    ValueSymbol: "an alias",
    FunctionSymbol: "a function",
    UnknownSymbol: "a name",
}


def kind_of(symbol: Symbol) -> str:
    """Returns the kind of a symbol, for messages."""
    return _KINDS[type(symbol)]


class Scope:
    """The names declared in one block, with a link to the enclosing block."""

    __slots__ = ("names", "parent")

    def __init__(self, parent: Scope | None = None) -> None:
        self.names: dict[str, Symbol] = {}
        self.parent = parent

    def find(self, name: str) -> Symbol | None:
        scope: Scope | None = self
        while scope is not None:
            symbol = scope.names.get(name)
            if symbol is not None:
                return symbol
            scope = scope.parent
        return None

    def outermost(self) -> Scope:
        return self if self.parent is None else self.parent.outermost()

    def visible(self) -> Iterable[str]:
        scope: Scope | None = self
        while scope is not None:
            yield from scope.names
            scope = scope.parent


def builtin_names(source: Source) -> dict[str, Symbol]:
    """Returns the names that every model knows, in lower case."""
    nowhere = Span(source, 0, 0)
    return {
        "boolean": TypeSymbol(BOOLEAN, None),
        "false": ConstantSymbol(Constant(type=BOOLEAN, span=nowhere, value=0), None),
        "true": ConstantSymbol(Constant(type=BOOLEAN, span=nowhere, value=1), None),
    }


def describe(kind: Type) -> str:
    """Returns a type as messages name it; long structures are cut."""
    text = str(kind)
    return text if len(text) <= 60 else text[:57] + "..."

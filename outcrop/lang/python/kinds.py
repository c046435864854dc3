"""Kinds: the types of Python models, each with the type of the System that holds its values.

A kind knows more than its type: which class of the model a value belongs to, whether None is a value, and whether the
object can change. None is the undefined value of the System; a record that may be None is undefined in all its leaves.
"""

from __future__ import annotations

import dataclasses
import enum
from dataclasses import dataclass
from typing import Any

from outcrop.ir.types import BOOLEAN, INTEGER, Array, Enum, Multiset, Range, Record, Scalarset, Simple, Type, Union

#: The type of local integers: what fits into a packed leaf with a place left for undefined.
LOCAL_INTEGER = Range(-(2**62), 2**62 - 1, "int", undefined="None")

#: Truth values. No value is None.
_TRUTH = dataclasses.replace(BOOLEAN, undefined="None")

#: The type of things that are not values.
_NOTHING = Range(0, 0)


@dataclass(frozen=True)
class Kind:
    """Common base. ``optional``: None is a value too."""

    type: Type
    optional: bool = False

    @property
    def is_mutable(self) -> bool:
        """Returns whether two names of one object would see each other's changes."""
        return False

    @property
    def simple(self) -> Simple:
        assert isinstance(self.type, Simple)
        return self.type

    @property
    def title(self) -> str:
        """The kind as the model's author would write it."""
        raise NotImplementedError

    def __str__(self) -> str:
        return f"{self.title} | None" if self.optional else self.title

    def required(self) -> Kind:
        """Returns the kind without None."""
        return dataclasses.replace(self, optional=False) if self.optional else self


@dataclass(frozen=True)
class BoolKind(Kind):
    type: Type = _TRUTH

    @property
    def title(self) -> str:
        return "bool"


@dataclass(frozen=True)
class IntKind(Kind):
    """Integers; the bounds matter only where a value is stored."""

    type: Type = INTEGER

    @property
    def title(self) -> str:
        kind = self.simple
        return "int" if kind.name == "int" or kind is INTEGER else f"Range[{kind.low}, {kind.high}]"  # type: ignore[attr-defined]


@dataclass(frozen=True)
class EnumKind(Kind):
    cls: type[enum.Enum] = enum.Enum

    @property
    def title(self) -> str:
        return self.cls.__name__


@dataclass(frozen=True)
class SymmetricKind(Kind):
    cls: Any = None

    @property
    def title(self) -> str:
        return str(self.cls.__name__)


@dataclass(frozen=True)
class UnionKind(Kind):
    members: tuple[Kind, ...] = ()

    @property
    def title(self) -> str:
        return " | ".join(each.title for each in self.members)


@dataclass(frozen=True)
class RecordKind(Kind):
    """A dataclass, or with ``cls`` tuple a tuple, whose fields are called 0, 1, ..."""

    cls: Any = tuple
    fields: tuple[tuple[str, Kind], ...] = ()
    frozen: bool = True

    @property
    def is_mutable(self) -> bool:
        return not self.frozen or any(each.is_mutable for _, each in self.fields)

    @property
    def title(self) -> str:
        if self.cls is tuple:
            return f"tuple[{', '.join(str(each) for _, each in self.fields)}]"
        return str(self.cls.__name__)

    def position(self, name: str) -> int | None:
        return next((number for number, (each, _) in enumerate(self.fields) if each == name), None)


@dataclass(frozen=True)
class ArrayKind(Kind):
    element: Kind = dataclasses.field(default_factory=lambda: BoolKind())

    @property
    def is_mutable(self) -> bool:
        return True

    @property
    def size(self) -> int:
        assert isinstance(self.type, Array)
        return self.type.index.cardinality

    @property
    def title(self) -> str:
        return f"Array[{self.element}, {self.size}]"


@dataclass(frozen=True)
class DictKind(Kind):
    """A dictionary that has every value of ``key`` as a key."""

    key: Kind = dataclasses.field(default_factory=lambda: BoolKind())
    element: Kind = dataclasses.field(default_factory=lambda: BoolKind())

    @property
    def is_mutable(self) -> bool:
        return True

    @property
    def title(self) -> str:
        return f"dict[{self.key}, {self.element}]"


@dataclass(frozen=True)
class SetKind(Kind):
    """A set: an array of booleans over the values that it may hold."""

    element: Kind = dataclasses.field(default_factory=lambda: BoolKind())
    frozen: bool = dataclasses.field(default=False, compare=False)

    @property
    def is_mutable(self) -> bool:
        return not self.frozen

    @property
    def title(self) -> str:
        return f"{'frozenset' if self.frozen else 'set'}[{self.element}]"


@dataclass(frozen=True)
class BagKind(Kind):
    element: Kind = dataclasses.field(default_factory=lambda: BoolKind())

    @property
    def is_mutable(self) -> bool:
        return True

    @property
    def multiset(self) -> Multiset:
        assert isinstance(self.type, Multiset)
        return self.type

    @property
    def title(self) -> str:
        return f"Bag[{self.element}, {self.multiset.capacity}]"


@dataclass(frozen=True)
class NoneKind(Kind):
    """The kind of the literal None."""

    type: Type = _NOTHING
    optional: bool = True

    @property
    def title(self) -> str:
        return "None"

    def __str__(self) -> str:
        return "None"


@dataclass(frozen=True)
class UnknownKind(Kind):
    """The kind of an expression that is wrong and has been reported."""

    type: Type = _NOTHING

    @property
    def title(self) -> str:
        return "unknown"


BOOL = BoolKind()
INT = IntKind()
LOCAL_INT = IntKind(LOCAL_INTEGER)
NONE = NoneKind()
UNKNOWN = UnknownKind()


def integer(low: int, high: int) -> IntKind:
    """Returns the kind of the integers between two bounds, or of all where they leave what a local can hold."""
    if low < LOCAL_INTEGER.low or high > LOCAL_INTEGER.high:
        return INT
    return IntKind(Range(low, high, undefined="None"))


def enum_kind(cls: type[enum.Enum]) -> EnumKind:
    return EnumKind(Enum(tuple(each.name for each in cls), cls.__name__, undefined="None"), cls=cls)


def symmetric_kind(cls: Any, uid: int) -> SymmetricKind:
    return SymmetricKind(Scalarset(cls.__name__, len(cls.members), uid, undefined="None"), cls=cls)


def union_kind(members: tuple[Kind, ...]) -> UnionKind:
    parts = tuple(each.type for each in members)
    return UnionKind(Union(parts, undefined="None"), members=members)  # type: ignore[arg-type]


def record_kind(cls: Any, fields: tuple[tuple[str, Kind], ...], *, frozen: bool) -> RecordKind:
    record = Record(tuple((name, each.type) for name, each in fields), "" if cls is tuple else cls.__name__)
    return RecordKind(record, cls=cls, fields=fields, frozen=frozen)


def array_kind(element: Kind, size: int) -> ArrayKind:
    return ArrayKind(Array(Range(0, size - 1), element.type), element=element)


def dict_kind(key: Kind, element: Kind) -> DictKind:
    return DictKind(Array(key.simple, element.type), key=key, element=element)


def set_kind(element: Kind, *, frozen: bool = False) -> SetKind:
    return SetKind(Array(element.simple, BOOLEAN), element=element, frozen=frozen)


def bag_kind(element: Kind, capacity: int) -> BagKind:
    return BagKind(Multiset(capacity, element.type), element=element)


def is_domain(kind: Kind) -> bool:
    """Returns whether a rule, a loop or a key can run through all values of a kind."""
    return isinstance(kind, BoolKind | EnumKind | SymmetricKind | UnionKind) or (
        isinstance(kind, IntKind) and kind is not INT and kind.simple.cardinality < 2**32
    )


def is_same(first: Kind, second: Kind) -> bool:
    """Returns whether a value of one kind can be copied unchanged into a place of the other, apart from None."""
    if isinstance(first, UnknownKind) or isinstance(second, UnknownKind):
        return True
    if isinstance(first, IntKind) and isinstance(second, IntKind):
        return True
    return first.required() == second.required()


def has_symmetric(kind: Kind) -> bool:
    """Returns whether a value of a simple kind belongs to a symmetric class."""
    return isinstance(kind, SymmetricKind) or (isinstance(kind, UnionKind) and any(map(has_symmetric, kind.members)))


def proof_of_none(kind: RecordKind) -> tuple[int, ...] | None:
    """Returns the path, by field numbers, to a simple part that has a value whenever the record has one; None where
    there is no such part."""
    for number, (_, each) in enumerate(kind.fields):
        if each.optional:
            continue
        if each.type.is_simple:
            return (number,)
        if isinstance(each, RecordKind) and (rest := proof_of_none(each)) is not None:
            return (number, *rest)
    return None

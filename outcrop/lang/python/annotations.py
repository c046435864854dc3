"""Annotations: from what stands behind the colon of a field or parameter to a kind."""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections import Counter, defaultdict, deque
from typing import Annotated, Any

from outcrop.ir.types import Range as RangeType
from outcrop.lang.python.kinds import (
    BOOL,
    INT,
    LOCAL_INT,
    IntKind,
    Kind,
    RecordKind,
    SymmetricKind,
    array_kind,
    bag_kind,
    dict_kind,
    enum_kind,
    is_domain,
    proof_of_none,
    record_kind,
    set_kind,
    symmetric_kind,
    union_kind,
)
from outcrop.model import Array, Bag, Holding, Range, Symmetric

#: Parts of a type, arrays multiplied out: more than any state should have.
MAX_LEAVES = 1_000_000

_INT = "give its bounds, both included: Range[0, 7]"
#: Classes that have no finite set of values, with what to use instead.
_HINTS: dict[Any, str] = {
    int: _INT,
    float: "there are no fractions: count in the smallest unit, as in Range[0, 100]",
    str: "there are no texts: use an Enum",
    bytes: "there are no texts: use an Enum",
    list: "a sequence has a fixed length: Array[bool, 3]",
    dict: "say what its keys and values are: dict[Node, bool]",
    set: "say what its elements are: set[Node]",
    frozenset: "say what its elements are: frozenset[Node]",
    tuple: "say what its parts are: tuple[bool, Range[0, 7]]",
    Array: "say what it holds and how many: Array[bool, 3]",
    Bag: "say what it holds and how many at most: Bag[Message, 4]",
    deque: "a sequence has a fixed length: Array[bool, 3] and a count; without an order, Bag[Message, 4]",
    defaultdict: "every key of a dict has a value: dict[Node, bool]",
    Counter: "count with dict[Node, Range[0, 7]], or use Bag[Node, 4]",
    Any: "name a type: bool, an Enum, Range[0, 7], a dataclass, ...",
}


class Refused(Exception):
    """An annotation that is not a kind: a message and a hint."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Kinds:
    """Makes kinds of annotations; each symmetric class gets one number, each dataclass is looked into once."""

    def __init__(self) -> None:
        self._symmetric: dict[Any, SymmetricKind] = {}
        self._records: dict[Any, RecordKind | None] = {}

    def of(self, annotation: Any) -> Kind:
        """Returns the kind that an evaluated annotation stands for; raises Refused where it stands for none."""
        kind = self._of(annotation)
        if kind.type.leaf_count > MAX_LEAVES:
            raise Refused(
                f"a value of this type has {kind.type.leaf_count:,} parts, and the largest number is {MAX_LEAVES:,}",
                "use smaller bounds, or fewer elements",
            )
        return kind

    def _of(self, annotation: Any) -> Kind:
        if isinstance(annotation, type):
            return self._class(annotation)
        origin = typing.get_origin(annotation)
        if origin is Annotated:
            return self._annotated(annotation)
        if origin in (typing.Union, types.UnionType):
            return self._union(typing.get_args(annotation))
        if origin in (dict, set, frozenset, tuple):
            return self._container(origin, typing.get_args(annotation))
        if origin is list:
            raise Refused("a list has no fixed length", f"write Array[{_name(typing.get_args(annotation)[0])}, n]")
        if origin is typing.ClassVar:
            raise Refused("a ClassVar cannot be a field", "write a constant without an annotation: size = 3")
        raise Refused(
            f"{_name(annotation)} cannot be the type of a field",
            _HINTS.get(typing.get_origin(annotation) or annotation, ""),
        )

    def _class(self, cls: Any) -> Kind:
        if cls is bool:
            return BOOL
        if issubclass(cls, enum.Enum):
            if not cls.__members__:
                raise Refused(f"the Enum {cls.__name__} has no members", "give it at least one: IDLE = 0")
            return enum_kind(cls)
        if issubclass(cls, Symmetric):
            if cls is Symmetric:
                raise Refused(
                    "Symmetric itself cannot be the type of a field",
                    "declare a class: class Node(Symmetric, size=3): ...",
                )
            if cls not in self._symmetric:
                self._symmetric[cls] = symmetric_kind(cls, len(self._symmetric) + 1)
            return self._symmetric[cls]
        if dataclasses.is_dataclass(cls):
            return self._record(cls)
        if cls in _HINTS:
            raise Refused(f"{cls.__name__} has no finite set of values", _HINTS[cls])
        raise Refused(f"the class {cls.__name__} cannot be the type of a field", "make it a dataclass, or an Enum")

    def _annotated(self, annotation: Any) -> Kind:
        base, *notes = typing.get_args(annotation)
        bounds = next((each for each in notes if isinstance(each, Range)), None)
        if base is int and bounds is not None:
            return _range(bounds)
        holding = next((each for each in notes if isinstance(each, Holding)), None)
        if holding is None:
            return self._of(base)
        size = next((each for each in notes if isinstance(each, int)), holding.size)
        name = base.__name__
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            hint = f"write {name}[{_name(holding.element)}, 4]"
            raise Refused(f"{name} needs a size of at least 1 after the type of its elements", hint)
        element = self._of(holding.element)
        if base is Array:
            return array_kind(element, size)
        if element.optional:
            raise Refused("a Bag cannot hold None", "leave None out of the type of its elements")
        if element.is_mutable:
            raise Refused(
                f"{element} is mutable, and the elements of a Bag must be immutable", "write @dataclass(frozen=True)"
            )
        return bag_kind(element, size)

    def _union(self, arguments: tuple[Any, ...]) -> Kind:
        members = tuple(self._of(each) for each in arguments if each is not type(None))
        is_optional = len(members) < len(arguments)
        if len(members) == 1:
            kind = members[0]
        elif all(each.type.is_simple and is_domain(each) and not isinstance(each, IntKind) for each in members):
            kind = union_kind(members)
        else:
            wrong = next(each for each in members if isinstance(each, IntKind) or not each.type.is_simple)
            raise Refused(f"{wrong} cannot be one of several alternatives", "only Enum and Symmetric classes can")
        if not is_optional:
            return kind
        if not kind.type.is_simple and not (isinstance(kind, RecordKind) and proof_of_none(kind) is not None):
            hint = "only a simple type can, or a dataclass with a field that is never None"
            raise Refused(f"{kind} cannot be None", hint)
        return dataclasses.replace(kind, optional=True)

    def _container(self, origin: Any, arguments: tuple[Any, ...]) -> Kind:
        if origin is tuple:
            if Ellipsis in arguments or not arguments:
                raise Refused(
                    "the number of parts of this tuple is not fixed", "for elements of one type, write Array[bool, 3]"
                )
            return record_kind(
                tuple, tuple((str(at), self._of(each)) for at, each in enumerate(arguments)), frozen=True
            )
        key = self._of(arguments[0])
        what = "the keys of a dict" if origin is dict else "the elements of a set"
        if not is_domain(key) or key.optional:
            hint = "use bool, an Enum, a Symmetric class or Range[0, 7]"
            raise Refused(f"{what} must be simple and never None, not {key}", hint)
        if origin is dict:
            return dict_kind(key, self._of(arguments[1]))
        return set_kind(key, frozen=origin is frozenset)

    def _record(self, cls: Any) -> Kind:
        if cls in self._records:
            found = self._records[cls]
            if found is None:
                raise Refused(f"{cls.__name__} contains itself", "refer to others by a number or a Symmetric class")
            return found
        self._records[cls] = None
        try:
            hints = typing.get_type_hints(cls, include_extras=True)
            fields = tuple(
                (each.name, self._field(cls, each.name, hints[each.name])) for each in dataclasses.fields(cls)
            )
        finally:
            del self._records[cls]
        if not fields:
            raise Refused(f"the dataclass {cls.__name__} has no fields", "give it at least one, or use an Enum")
        kind = record_kind(cls, fields, frozen=cls.__dataclass_params__.frozen)
        self._records[cls] = kind
        return kind

    def _field(self, cls: Any, name: str, annotation: Any) -> Kind:
        try:
            return self._of(annotation)
        except Refused as refused:
            raise Refused(f"the field '{name}' of {cls.__name__}: {refused.message}", refused.hint) from None

    def of_argument(self, annotation: Any) -> Kind:
        """Returns the kind of a parameter or result of a helper, which may be any integer."""
        if annotation is int:
            return INT
        if set(typing.get_args(annotation)) == {int, type(None)}:
            return dataclasses.replace(LOCAL_INT, optional=True)
        return self.of(annotation)


def _range(bounds: Range) -> Kind:
    for bound in (bounds.low, bounds.high):
        if isinstance(bound, bool) or not isinstance(bound, int):
            raise Refused(f"the bounds of a Range must be integers, not {bound!r}", "write Range[0, 7]")
    if bounds.high < bounds.low:
        raise Refused(f"Range[{bounds.low}, {bounds.high}] is empty", "write the lower bound first; both are included")
    if bounds.high - bounds.low >= 2**63:
        raise Refused("this Range has too many values for 64 bits", "use smaller bounds")
    return IntKind(RangeType(bounds.low, bounds.high, undefined="None"))


def _name(annotation: Any) -> str:
    return getattr(annotation, "__name__", None) or str(annotation).replace("typing.", "")

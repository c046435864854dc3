"""Values of a model as Python objects. Containers and dataclasses check what is stored in them, as the System does.

A value outside its range, a key that is not one, or None where it was not declared raises ``ModelFault``.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from outcrop.ir.layout import Leaf
from outcrop.lang.python.kinds import (
    ArrayKind,
    BagKind,
    BoolKind,
    DictKind,
    EnumKind,
    IntKind,
    Kind,
    RecordKind,
    SetKind,
    SymmetricKind,
    UnionKind,
)
from outcrop.model import Array, Bag


class ModelFault(Exception):
    """An error of the model when it runs."""


# --- Values ------------------------------------------------------------------------------------------------


def checked(kind: Kind, value: Any, what: str) -> Any:
    """Returns a value as a state holds it, its containers copied into checking ones; raises ModelFault where it is no
    value of the kind."""
    if value is None:
        if kind.optional:
            return None
        raise ModelFault(f"{what} is None")
    match kind:
        case BoolKind():
            return _one_of(value, isinstance(value, bool), kind, what)
        case IntKind():
            number = int(value) if isinstance(value, int) else value
            low, high = kind.simple.low, kind.simple.high
            return _one_of(number, isinstance(number, int) and low <= number <= high, kind, what)
        case EnumKind() | SymmetricKind():
            return _one_of(value, isinstance(value, kind.cls), kind, what)
        case UnionKind():
            return _one_of(value, any(isinstance(value, each.cls) for each in kind.members), kind, what)  # type: ignore[attr-defined]
        case RecordKind():
            _one_of(value, isinstance(value, kind.cls), kind, what)
            return _checked_record(kind, value, what)
        case ArrayKind():
            return CheckedArray(kind, value, what)
        case DictKind():
            return CheckedDict(kind, value, what)
        case SetKind():
            return CheckedSet(kind, value, what)
        case BagKind():
            return CheckedBag(kind, value, what)
    raise TypeError(f"no such kind: {kind}")


def _one_of(value: Any, is_one: bool, kind: Kind, what: str) -> Any:
    if not is_one:
        raise ModelFault(f"{what} is {value!r}, which is not a value of {kind}")
    return value


def _checked_record(kind: RecordKind, value: Any, what: str) -> Any:
    if kind.cls is tuple:
        return tuple(checked(each, part, what) for (_, each), part in zip(kind.fields, value, strict=True))
    if isinstance(value, _Watched):
        return value
    made: Any = object.__new__(_watched_class(kind))
    for name, each in kind.fields:
        object.__setattr__(made, name, checked(each, getattr(value, name), f"{what}.{name}"))
    return made


class _Watched:
    """Mixed into dataclasses whose fields are checked when they are assigned."""

    _kind: RecordKind

    def __setattr__(self, name: str, value: Any) -> None:
        position = self._kind.position(name)
        if position is None or self._kind.frozen:
            raise ModelFault(f"{name} cannot be assigned to")
        object.__setattr__(self, name, checked(self._kind.fields[position][1], value, name))

    def __eq__(self, other: object) -> bool:
        mine = [getattr(self, name) for name, _ in self._kind.fields]
        return isinstance(other, self._kind.cls) and mine == [getattr(other, name) for name, _ in self._kind.fields]

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, name) for name, _ in self._kind.fields))

    def __deepcopy__(self, memo: Any) -> Any:
        made = object.__new__(type(self))
        for name, _ in self._kind.fields:
            object.__setattr__(made, name, copy.deepcopy(getattr(self, name), memo))
        return made

    def __copy__(self) -> Any:
        made = object.__new__(type(self))
        for name, _ in self._kind.fields:
            object.__setattr__(made, name, getattr(self, name))
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("states of models are not pickled")


_watched: dict[Any, type] = {}


def _watched_class(kind: RecordKind) -> type:
    if kind.cls not in _watched:
        _watched[kind.cls] = type(kind.cls.__name__, (_Watched, kind.cls), {"_kind": kind})
    return _watched[kind.cls]


class CheckedArray(Array[Any]):
    def __init__(self, kind: ArrayKind, values: Iterable[Any], what: str) -> None:
        super().__init__(checked(kind.element, each, f"{what}[{at}]") for at, each in enumerate(values))
        self._kind, self._what = kind, what
        if len(self) != kind.size:
            raise ModelFault(f"{what} has {len(self)} elements, not {kind.size}")

    def __getitem__(self, index: int) -> Any:
        if index is None or not 0 <= index < len(self._elements):
            raise ModelFault(f"index {index} is outside {self._what}")
        return self._elements[index]

    def __setitem__(self, index: int, value: Any) -> None:
        self[index]
        self._elements[index] = checked(self._kind.element, value, f"{self._what}[{index}]")

    def __copy__(self) -> CheckedArray:
        return CheckedArray(self._kind, self._elements, self._what)

    def __deepcopy__(self, memo: Any) -> CheckedArray:
        return CheckedArray(self._kind, [copy.deepcopy(each, memo) for each in self._elements], self._what)


class CheckedDict(dict[Any, Any]):
    def __init__(self, kind: DictKind, values: Any, what: str) -> None:
        keys = list(values_of(kind.key))
        if set(values) - set(keys):
            raise ModelFault(f"{what} has a key that is not a value of {kind.key}")
        # Keys that are missing have no value yet; to read one is an error.
        super().__init__((key, checked(kind.element, values[key], f"{what}[{key}]")) for key in keys if key in values)
        self._kind, self._what = kind, what

    def __missing__(self, key: Any) -> Any:
        raise ModelFault(f"{self._what} has no value for {key!r}")

    def __setitem__(self, key: Any, value: Any) -> None:
        checked(self._kind.key, key, "the key")
        super().__setitem__(key, checked(self._kind.element, value, f"{self._what}[{key!r}]"))

    def __copy__(self) -> CheckedDict:
        return CheckedDict(self._kind, self, self._what)

    def __deepcopy__(self, memo: Any) -> CheckedDict:
        return CheckedDict(self._kind, {key: copy.deepcopy(each, memo) for key, each in self.items()}, self._what)


class CheckedSet(set[Any]):
    def __init__(self, kind: SetKind, values: Iterable[Any], what: str) -> None:
        super().__init__(checked(kind.element, each, what) for each in values)
        self._kind, self._what = kind, what

    def add(self, element: Any) -> None:
        super().add(checked(self._kind.element, element, self._what))

    def discard(self, element: Any) -> None:
        super().discard(checked(self._kind.element, element, self._what))

    def remove(self, element: Any) -> None:
        checked(self._kind.element, element, self._what)
        if element not in self:
            raise ModelFault(f"{element!r} is not in {self._what}")
        super().remove(element)

    def __copy__(self) -> CheckedSet:
        return CheckedSet(self._kind, self, self._what)

    def __deepcopy__(self, memo: Any) -> CheckedSet:
        return CheckedSet(self._kind, self, self._what)


class CheckedBag(Bag[Any]):
    def __init__(self, kind: BagKind, values: Iterable[Any], what: str) -> None:
        super().__init__(checked(kind.element, each, what) for each in values)
        self._kind, self._what = kind, what

    def add(self, element: Any) -> None:
        if len(self) == self._kind.multiset.capacity:
            raise ModelFault(f"{self._what} is full")
        super().add(checked(self._kind.element, element, self._what))

    def remove(self, element: Any) -> None:
        if element not in self:
            raise ModelFault(f"{element!r} is not in {self._what}")
        super().remove(element)

    def __copy__(self) -> CheckedBag:
        return CheckedBag(self._kind, self._elements, self._what)

    def __deepcopy__(self, memo: Any) -> CheckedBag:
        return CheckedBag(self._kind, self._elements, self._what)


def values_of(kind: Kind) -> Sequence[Any]:
    """Returns all values of a simple kind, in the order of the System."""
    match kind:
        case BoolKind():
            return (False, True)
        case IntKind():
            return range(kind.simple.low, kind.simple.high + 1)
        case EnumKind() | SymmetricKind():
            return tuple(kind.cls)
        case UnionKind():
            return tuple(value for each in kind.members for value in values_of(each))
    raise TypeError(f"{kind} has no list of values")


# --- Between objects and leaves ----------------------------------------------------------------------------


def to_leaves(kind: Kind, value: Any) -> list[Leaf]:
    """Returns the leaves of a value; None, and a key without a value, are undefined."""
    if value is None:
        return [None] * kind.type.leaf_count
    match kind:
        case BoolKind() | IntKind():
            return [int(value)]
        case EnumKind() | SymmetricKind() | UnionKind():
            return [list(values_of(kind)).index(value)]
        case RecordKind():
            parts = value if kind.cls is tuple else [getattr(value, name) for name, _ in kind.fields]
            return [leaf for (_, each), part in zip(kind.fields, parts, strict=True) for leaf in to_leaves(each, part)]
        case ArrayKind():
            return [leaf for each in value for leaf in to_leaves(kind.element, each)]
        case DictKind():
            return [leaf for key in values_of(kind.key) for leaf in to_leaves(kind.element, value.get(key))]
        case SetKind():
            return [int(key in value) for key in values_of(kind.element)]
        case BagKind():
            used = [leaf for each in value for leaf in (0, *to_leaves(kind.element, each))]
            free = kind.type.leaf_count - len(used)
            return [*used, *([None] * free)]
    raise TypeError(f"no such kind: {kind}")


def from_leaves(kind: Kind, leaves: Iterator[Leaf]) -> Any:
    """Returns the value that the next leaves make."""
    match kind:
        case BoolKind():
            leaf = next(leaves)
            return None if leaf is None else bool(leaf)
        case IntKind():
            return next(leaves)
        case EnumKind() | SymmetricKind() | UnionKind():
            leaf = next(leaves)
            return None if leaf is None else values_of(kind)[int(leaf)]
        case RecordKind():
            parts = [from_leaves(each, leaves) for _, each in kind.fields]
            if all(part is None for part in parts) and kind.optional:
                return None
            return tuple(parts) if kind.cls is tuple else _made(kind.cls, kind, parts)
        case ArrayKind():
            return Array(from_leaves(kind.element, leaves) for _ in range(kind.size))
        case DictKind():
            found = {key: from_leaves(kind.element, leaves) for key in values_of(kind.key)}
            return found if kind.element.optional else {key: each for key, each in found.items() if each is not None}
        case SetKind():
            return {key for key in values_of(kind.element) if next(leaves)}
        case BagKind():
            slots = [(next(leaves), from_leaves(kind.element, leaves)) for _ in range(kind.multiset.capacity)]
            return Bag(each for flag, each in slots if flag is not None)
    raise TypeError(f"no such kind: {kind}")


def _made(cls: Any, kind: RecordKind, parts: Sequence[Any]) -> Any:
    made = object.__new__(cls)
    for (name, _), part in zip(kind.fields, parts, strict=True):
        object.__setattr__(made, name, part)
    return made

"""States as objects: access to variables, fields and elements by the names of the model.

>>> from outcrop.ir.types import BOOLEAN, Array, Range, Record
>>> cups = View(Array(Range(1, 2), Record((("full", BOOLEAN), ("level", Range(0, 3))))), (0, 3, 1, None))
>>> cups[1].level, cups[2].full, cups[2].level
(3, True, None)
>>> cups[1]
{full: False, level: 3}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from outcrop.ir.layout import Leaf, State
from outcrop.ir.names import state_leaf_names
from outcrop.ir.system import System
from outcrop.ir.types import BOOLEAN, Array, Multiset, Range, Real, Record, Simple, Type


def plain(kind: Simple, leaf: Leaf) -> Any:
    """Returns a simple value as a Python object: a bool, a number, the name of a member, None for undefined."""
    if leaf is None:
        return None
    if kind == BOOLEAN:
        return bool(leaf)
    return leaf if isinstance(kind, Range | Real) else kind.show(leaf)


def view(kind: Type, leaves: Sequence[Leaf]) -> Any:
    """Returns a value of any type: a plain one, a View, or for a multiset the list of its elements."""
    if isinstance(kind, Simple):
        return plain(kind, leaves[0])
    if isinstance(kind, Multiset):
        size = kind.slot_leaf_count
        slots = [leaves[at : at + size] for at in range(0, len(leaves), size)]
        return [view(kind.element, slot[1:]) for slot in slots if slot[0] is not None]
    return View(kind, leaves)


class View:
    """A record or an array within a state."""

    __slots__ = ("_leaves", "_type")

    def __init__(self, kind: Type, leaves: Sequence[Leaf]) -> None:
        self._type = kind
        self._leaves = leaves

    def _parts(self) -> dict[Any, tuple[Type, int]]:
        """Returns the type and the first leaf of each part, by its key."""
        kind = self._type
        if isinstance(kind, Record):
            pairs = zip(kind.fields, kind.offsets, strict=True)
            return {name: (each, offset) for (name, each), offset in pairs}
        assert isinstance(kind, Array)
        size = kind.element.leaf_count
        indices = range(kind.index.low, kind.index.high + 1)
        return {plain(kind.index, index): (kind.element, at * size) for at, index in enumerate(indices)}

    def keys(self) -> list[Any]:
        return list(self._parts())

    def items(self) -> list[tuple[Any, Any]]:
        return [(key, self[key]) for key in self._parts()]

    def values(self) -> list[Any]:
        return [self[key] for key in self._parts()]

    def __getitem__(self, key: Any) -> Any:
        parts = self._parts()
        # Members of Python's enumerations, and values of symmetric classes, go by their names.
        found = key if _is_known(key, parts) else getattr(key, "name", None) or repr(key)
        if not _is_known(found, parts):
            close = get_close_matches(str(key), list(map(str, parts)), n=1)
            hint = f"; did you mean '{close[0]}'?" if close else f"; it has {', '.join(map(str, list(parts)[:12]))}"
            raise KeyError(f"there is no '{key}' here{hint}")
        kind, offset = parts[found]
        return view(kind, self._leaves[offset : offset + kind.leaf_count])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(str(error.args[0])) from None

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parts())

    def __len__(self) -> int:
        return len(self._parts())

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(key for key in self._parts() if isinstance(key, str))]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, View) and tuple(self._leaves) == tuple(other._leaves)

    def __hash__(self) -> int:
        return hash(tuple(self._leaves))

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{key}: {value!r}" for key, value in self.items()) + "}"

    def to_dict(self) -> dict[Any, Any]:
        """Returns the value as dictionaries and lists."""
        return {key: _plain_dict(value) for key, value in self.items()}


def _is_known(key: Any, parts: dict[Any, Any]) -> bool:
    try:
        return key in parts
    except TypeError:
        return False


def _plain_dict(value: Any) -> Any:
    if isinstance(value, View):
        return value.to_dict()
    return [_plain_dict(each) for each in value] if isinstance(value, list) else value


class StateView(View):
    """A state of a model: its variables by name."""

    __slots__ = ("_system",)

    def __init__(self, system: System, state: State) -> None:
        record = Record(tuple((each.name, each.type) for each in system.variables))
        super().__init__(record, state)
        self._system = system

    def flat(self) -> dict[str, Any]:
        """Returns the simple values by their full names, as ``phase[Node_1]``."""
        names, kinds = state_leaf_names(self._system), self._system.leaf_types
        return {name: plain(kind, leaf) for name, kind, leaf in zip(names, kinds, self._leaves, strict=True)}

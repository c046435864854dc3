"""Values in logs: from JSON, ITF and CSV to leaves of a state, by the names of the model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from outcrop.errors import UsageError
from outcrop.ir.layout import Leaf
from outcrop.ir.system import System
from outcrop.ir.types import BOOLEAN, SLOT_FLAG, Array, Multiset, Range, Real, Record, Scalarset, Simple, Type, Union
from outcrop.validate.identities import Identities

_UNDEFINED = "undefined"
_STEP = re.compile(r"\[([^\]]*)\]|\.([^.\[]+)")


class Impossible(Exception):
    """A value that no state of the model has. A log that shows it does not conform."""


class Values:
    """The conversion of values. ``translated``: other names of values."""

    def __init__(self, system: System, identities: Identities, translated: Mapping[str, Any]) -> None:
        self._variables = {each.name: each for each in system.variables}
        self._by_length = sorted(self._variables, key=len, reverse=True)
        self._identities = identities
        self._translated = translated

    # --- Places ---

    def leaves(self, name: str, value: Any) -> Iterator[tuple[int, Leaf]]:
        """Yields the leaves that ``name`` and its value determine; unknown parts (null) are left out."""
        kind, offset = self._place(name)
        yield from self._of_type(kind, value, offset, name)

    def _place(self, name: str) -> tuple[Type, int]:
        """Returns the type and the first leaf of a variable or a part of one: ``granted[2]``, ``chan[1].cmd``."""
        variable = self._variables.get(name)
        if variable is not None:
            return variable.type, variable.offset
        for prefix in self._by_length:
            if name.startswith(prefix) and name[len(prefix)] in "[.":
                variable = self._variables[prefix]
                return self._part(variable.type, variable.offset, name, len(prefix))
        close = get_close_matches(re.split(r"[\[.]", name)[0], self._variables, n=1)
        hint = f"; did you mean '{close[0]}'?" if close else "; 'outcrop show' lists the variables"
        raise UsageError(f"the model has no variable '{name}'{hint}")

    def _part(self, kind: Type, offset: int, name: str, at: int) -> tuple[Type, int]:
        while at < len(name):
            match = _STEP.match(name, at)
            if match is None:
                raise UsageError(
                    f"'{name}' is not a name of the model: cannot read '{name[at:]}'; write names like a[1].b"
                )
            kind, offset = self._inner(kind, offset, match[1] if match[1] is not None else match[2], name)
            at = match.end()
        return kind, offset

    def _inner(self, kind: Type, offset: int, key: Any, name: str) -> tuple[Type, int]:
        """Returns the field or element of a record or array."""
        if isinstance(kind, Record):
            names = [each for each, _ in kind.fields]
            if key not in names:
                raise UsageError(f"'{name}' has no field '{key}'; it has {', '.join(names)}")
            number = names.index(key)
            return kind.fields[number][1], offset + kind.offsets[number]
        if isinstance(kind, Array):
            index = self.leaf(kind.index, key, f"an index of {name}")
            if index is None:
                raise UsageError(f"'{name}': an index is undefined")
            return kind.element, offset + (int(index) - kind.index.low) * kind.element.leaf_count
        raise UsageError(f"'{name}' has no part '{key}'")

    # --- Values ---

    def _of_type(self, kind: Type, value: Any, offset: int, name: str) -> Iterator[tuple[int, Leaf]]:
        if value is None:
            return
        if isinstance(kind, Simple):
            yield offset, self.leaf(kind, value, name)
        elif isinstance(kind, Multiset):
            yield from enumerate(self._slots(kind, value, name), offset)
        else:
            for key, each in _entries(kind, value, name):
                inner, at = self._inner(kind, offset, key, name)
                shown = f"{name}.{key}" if isinstance(kind, Record) else f"{name}[{key}]"
                yield from self._of_type(inner, each, at, shown)

    def _slots(self, kind: Multiset, value: Any, name: str) -> list[Leaf]:
        """Returns the leaves of all slots of a multiset, which is always shown as a whole."""
        if isinstance(value, dict) and set(value) == {"#map"}:
            value = [element for element, count in value["#map"] for _ in range(int(count))]
        if not isinstance(value, list):
            raise UsageError(f"'{name}' is a multiset; show it as the list of its elements")
        if len(value) > kind.capacity:
            raise Impossible(f"{name} has {len(value)} elements, and at most {kind.capacity} fit")
        slots: list[Leaf] = []
        for number, each in enumerate(value):
            row: dict[int, Leaf] = dict(self._of_type(kind.element, each, 0, f"{name}[{number}]"))
            if len(row) < kind.element.leaf_count:
                raise UsageError(f"'{name}': the elements of a multiset must be shown completely")
            slots += [SLOT_FLAG.low, *(row[at] for at in range(kind.element.leaf_count))]
        return slots + [None] * (kind.leaf_count - len(slots))

    def leaf(self, kind: Simple, value: Any, name: str) -> Leaf:
        """Returns a simple value as a leaf; None is undefined."""
        if isinstance(value, dict):
            value = value.get("#bigint", value.get("#unserializable", value))
        if isinstance(value, str):
            value = self._translated.get(value, value)
            if value == _UNDEFINED:
                return None
        if isinstance(kind, Range):
            return _integer(kind, value, name)
        if isinstance(kind, Real):
            return _number(value, name)
        if kind == BOOLEAN:
            return _truth(value, name)
        return self._named(kind, str(value), name)

    def _named(self, kind: Simple, text: str, name: str) -> int:
        """Returns the ordinal of a member of an enumeration, scalarset or union."""
        scalarsets = list(_scalarsets(kind))
        for scalarset, first in scalarsets:
            known = self._identities.known(scalarset, text)
            if known is not None:
                return first + known
        members = [kind.show(each) for each in range(kind.low, kind.high + 1)]
        if text in members:
            return kind.low + members.index(text)
        if len(scalarsets) == 1:
            bound = self._identities.bind(scalarsets[0][0], text)
            if bound is not None:
                return scalarsets[0][1] + bound
        close = get_close_matches(text, members, n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"it has {', '.join(members[:8])}"
        raise UsageError(f"'{text}' is not a value of {name}, whose type is {kind}; {hint}")


def _scalarsets(kind: Simple) -> Iterator[tuple[Scalarset, int]]:
    """Yields the scalarsets among the values of a type, each with the ordinal of its first value."""
    if isinstance(kind, Scalarset):
        yield kind, 0
    elif isinstance(kind, Union):
        for member in kind.members:
            if isinstance(member, Scalarset):
                yield member, kind.offset(member) or 0


def _entries(kind: Type, value: Any, name: str) -> Iterator[tuple[Any, Any]]:
    """Yields the parts of a record or an array: an object by names, a list in order, or a map of ITF."""
    if isinstance(value, dict):
        if set(value) == {"#map"}:
            yield from value["#map"]
        else:
            yield from ((key, each) for key, each in value.items() if not key.startswith("#"))
    elif isinstance(value, list) and isinstance(kind, Array):
        if len(value) != kind.index.cardinality:
            raise UsageError(f"'{name}' has {kind.index.cardinality:,} elements, and the log shows {len(value):,}")
        yield from ((kind.index.show(kind.index.low + at), each) for at, each in enumerate(value))
    else:
        raise UsageError(f"'{name}' is {'a record' if isinstance(kind, Record) else 'an array'}; show it as an object")


def _integer(kind: Range, value: Any, name: str) -> int:
    if isinstance(value, str):
        if value in kind.labels:
            return kind.lower + kind.labels.index(value)
        try:
            value = int(value)
        except ValueError:
            raise UsageError(f"'{value}' is not a value of {name}, whose type is {kind}") from None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int):
        raise UsageError(f"{value!r} is not a value of {name}, whose type is {kind}")
    number = int(value)
    if not kind.low <= number <= kind.high:
        raise Impossible(f"{name} is {number}, and the model has only {kind.low} to {kind.high}")
    return number


def _number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise UsageError(f"{value!r} is not a value of {name}, which is a real number") from None


def _truth(value: Any, name: str) -> int:
    known = {"true": 1, "false": 0, "1": 1, "0": 0}
    text = str(value).lower()
    if text not in known:
        raise UsageError(f"{value!r} is not a value of {name}, which is true or false")
    return known[text]

"""The finite types of a model.

Types are compared by value: structure decides for enumerations, ranges, records and arrays, the declaration decides for
scalarsets (two scalarsets of one size are different symmetries).

A *simple* type has ``cardinality`` values, and undefined. An expression of simple type evaluates to

* an integer for a range,
* the ordinal, counted from 0, for an enumeration (``false`` is 0, ``true`` is 1), a scalarset or a union
  (the values of the members one after the other),
* a float, already rounded, for a real,
* ``None`` for undefined.

Every type is a row of *leaves*: simple values in a fixed order. A record consists of the leaves of its fields, an array
of the leaves of its elements in index order, a multiset of ``capacity`` slots, each a flag (whether the slot is in use)
followed by the leaves of the element. ``leaf_count`` is their number; layout.py says where they lie.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1
UINT64_MAX = 2**64 - 1


@dataclass(frozen=True)
class Type:
    """Common base of all types; use the concrete classes."""

    @property
    def leaf_count(self) -> int:
        raise NotImplementedError

    @property
    def is_simple(self) -> bool:
        return False

    def leaves(self) -> Iterator[Simple]:
        """Yields the simple types of the leaves, in order."""
        raise NotImplementedError

    def parts(self) -> Iterator[Type]:
        """Yields this type and every type that it is built from, outermost first."""
        yield self


@dataclass(frozen=True)
class Simple(Type):
    """A type whose values are single leaves."""

    undefined: str = field(default="undefined", compare=False, kw_only=True)  #: the text of no value

    @property
    def leaf_count(self) -> int:
        return 1

    @property
    def is_simple(self) -> bool:
        return True

    def leaves(self) -> Iterator[Simple]:
        yield self

    @property
    def cardinality(self) -> int:
        """Number of values, without undefined."""
        raise NotImplementedError

    @property
    def low(self) -> int:
        """The least value, as expressions see it."""
        return 0

    @property
    def high(self) -> int:
        return self.low + self.cardinality - 1

    def show(self, value: int | float | None) -> str:
        """Returns the text of a value, as the author of the model would write it."""
        raise NotImplementedError


@dataclass(frozen=True)
class Enum(Simple):
    """An enumeration; BOOLEAN below is ``boolean``. Its name does not take part in equality."""

    members: tuple[str, ...]
    name: str = field(default="", compare=False)

    @property
    def cardinality(self) -> int:
        return len(self.members)

    def show(self, value: int | float | None) -> str:
        return self.undefined if value is None else self.members[int(value)]

    def __str__(self) -> str:
        return self.name or "enum {" + ", ".join(self.members) + "}"


BOOLEAN = Enum(("false", "true"), "boolean")


@dataclass(frozen=True)
class Range(Simple):
    """The integers from ``lower`` to ``upper``, both included."""

    lower: int
    upper: int
    name: str = field(default="", compare=False)
    labels: tuple[str, ...] = field(default=(), compare=False)  #: names of its first values

    @property
    def cardinality(self) -> int:
        return max(0, self.upper - self.lower + 1)

    @property
    def low(self) -> int:
        return self.lower

    def show(self, value: int | float | None) -> str:
        if value is None:
            return self.undefined
        number = int(value) - self.lower
        return self.labels[number] if number < len(self.labels) else str(value)

    def __str__(self) -> str:
        return self.name or f"{self.lower}..{self.upper}"


#: The type of integer arithmetic, before a value is stored. Never the type of a leaf.
INTEGER = Range(INT64_MIN, INT64_MAX, "integer")

#: The arithmetic type of a model that writes larger numbers: signed and unsigned 64-bit numbers.
WIDE_INTEGER = Range(INT64_MIN, UINT64_MAX, "integer")


@dataclass(frozen=True)
class Scalarset(Simple):
    """``size`` interchangeable values. ``uid`` distinguishes declarations; anonymous scalarsets carry no symmetry."""

    name: str
    size: int
    uid: int

    @property
    def cardinality(self) -> int:
        return self.size

    @property
    def is_symmetric(self) -> bool:
        return bool(self.name) and self.size > 1

    def show(self, value: int | float | None) -> str:
        return self.undefined if value is None else f"{self.name or 'scalarset'}_{int(value) + 1}"

    def __str__(self) -> str:
        return self.name or f"scalarset({self.size})"


@dataclass(frozen=True)
class Union(Simple):
    """The values of several scalarsets and enumerations, those of the first member first."""

    members: tuple[Enum | Scalarset, ...]
    name: str = field(default="", compare=False)

    @property
    def cardinality(self) -> int:
        return sum(member.cardinality for member in self.members)

    def offset(self, member: Simple) -> int | None:
        """Returns the ordinal at which the values of ``member`` start, None if it is not a member."""
        start = 0
        for ours in self.members:
            if ours == member:
                return start
            start += ours.cardinality
        return None

    def member_of(self, value: int) -> tuple[Enum | Scalarset, int]:
        """Returns the member type that contains ordinal ``value``, and the ordinal within it."""
        for ours in self.members:
            if value < ours.cardinality:
                return ours, value
            value -= ours.cardinality
        raise ValueError(f"no such value of {self}")

    def show(self, value: int | float | None) -> str:
        if value is None:
            return self.undefined
        member, ordinal = self.member_of(int(value))
        return member.show(ordinal)

    def __str__(self) -> str:
        return self.name or "union {" + ", ".join(map(str, self.members)) + "}"


@dataclass(frozen=True)
class Real(Simple):
    """A decimal number of ``digits`` significant digits, stored as the nearest double and rounded at every store."""

    digits: int
    max_exponent: int
    name: str = field(default="", compare=False)

    @property
    def cardinality(self) -> int:
        raise TypeError("a real has no useful cardinality")

    def show(self, value: int | float | None) -> str:
        return self.undefined if value is None else f"{value:.{self.digits}g}"

    def __str__(self) -> str:
        return self.name or f"real({self.digits}, {self.max_exponent})"


#: The type of real arithmetic, before a value is stored.
DOUBLE = Real(17, 308, "real")


#: Beginning of the names of records that are channels of Promela. No type of a model can have such a name.
CHANNEL = "chan "


@dataclass(frozen=True)
class Record(Type):
    fields: tuple[tuple[str, Type], ...]
    name: str = field(default="", compare=False)

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """First leaf of each field."""
        offsets, at = [], 0
        for _, kind in self.fields:
            offsets.append(at)
            at += kind.leaf_count
        return tuple(offsets)

    @cached_property
    def _leaf_count(self) -> int:
        return sum(kind.leaf_count for _, kind in self.fields)

    @property
    def leaf_count(self) -> int:
        return self._leaf_count

    def leaves(self) -> Iterator[Simple]:
        for _, kind in self.fields:
            yield from kind.leaves()

    def parts(self) -> Iterator[Type]:
        yield self
        for _, kind in self.fields:
            yield from kind.parts()

    def __str__(self) -> str:
        return self.name or "record " + "; ".join(f"{name}: {kind}" for name, kind in self.fields) + " end"


@dataclass(frozen=True)
class Array(Type):
    index: Simple
    element: Type
    name: str = field(default="", compare=False)

    @cached_property
    def _leaf_count(self) -> int:
        return self.index.cardinality * self.element.leaf_count

    @property
    def leaf_count(self) -> int:
        return self._leaf_count

    def leaves(self) -> Iterator[Simple]:
        for _ in range(self.index.cardinality):
            yield from self.element.leaves()

    def parts(self) -> Iterator[Type]:
        yield self
        yield self.index
        yield from self.element.parts()

    def __str__(self) -> str:
        return self.name or f"array [{self.index}] of {self.element}"


@dataclass(frozen=True)
class Multiset(Type):
    """At most ``capacity`` elements, in no order."""

    capacity: int
    element: Type
    name: str = field(default="", compare=False)

    @cached_property
    def index(self) -> Range:
        """The type of slot numbers, which ``choose`` and the multiset statements bind."""
        return Range(0, self.capacity - 1)

    @property
    def slot_leaf_count(self) -> int:
        return 1 + self.element.leaf_count

    @property
    def leaf_count(self) -> int:
        return self.capacity * self.slot_leaf_count

    def leaves(self) -> Iterator[Simple]:
        for _ in range(self.capacity):
            yield SLOT_FLAG
            yield from self.element.leaves()

    def parts(self) -> Iterator[Type]:
        yield self
        yield from self.element.parts()

    def __str__(self) -> str:
        return self.name or f"multiset [{self.capacity}] of {self.element}"


#: Type of the first leaf of a multiset slot: undefined if the slot is free, 0 if it is in use (one value, one bit).
SLOT_FLAG = Enum(("used",), "slot")

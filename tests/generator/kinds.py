"""The types of a generated model, and the names of their values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True)
class Kind:
    """A type. ``name`` is how the model refers to it; ``declaration`` is its definition."""

    name: str
    declaration: str

    @property
    def values(self) -> int:
        """Returns the number of values, including undefined."""
        raise NotImplementedError

    @property
    def is_simple(self) -> bool:
        return True

    @property
    def is_symmetric(self) -> bool:
        """Returns whether it contains a scalarset."""
        return False


@dataclass(frozen=True)
class Boolean(Kind):
    @property
    def values(self) -> int:
        return 3


@dataclass(frozen=True)
class Enumeration(Kind):
    members: tuple[str, ...]

    @property
    def values(self) -> int:
        return len(self.members) + 1


@dataclass(frozen=True)
class Range(Kind):
    low: int
    high: int

    @property
    def values(self) -> int:
        return self.high - self.low + 2


@dataclass(frozen=True)
class Scalarset(Kind):
    size: int

    @property
    def values(self) -> int:
        return self.size + 1

    @property
    def is_symmetric(self) -> bool:
        return True


@dataclass(frozen=True)
class Union(Kind):
    members: tuple[Kind, ...]

    @property
    def values(self) -> int:
        return sum(member.values - 1 for member in self.members) + 1

    @property
    def is_symmetric(self) -> bool:
        return any(member.is_symmetric for member in self.members)


@dataclass(frozen=True)
class Real(Kind):
    @property
    def values(self) -> int:
        return 6  # as many as a short search meets


@dataclass(frozen=True)
class Record(Kind):
    fields: tuple[tuple[str, Kind], ...]

    @property
    def values(self) -> int:
        count = 1
        for _, kind in self.fields:
            count *= kind.values
        return count

    @property
    def is_simple(self) -> bool:
        return False

    @property
    def is_symmetric(self) -> bool:
        return any(kind.is_symmetric for _, kind in self.fields)


@dataclass(frozen=True)
class Array(Kind):
    index: Kind
    element: Kind

    @property
    def values(self) -> int:
        return int(self.element.values ** (self.index.values - 1))

    @property
    def is_simple(self) -> bool:
        return False

    @property
    def is_symmetric(self) -> bool:
        return self.index.is_symmetric or self.element.is_symmetric


@dataclass(frozen=True)
class Multiset(Kind):
    capacity: int
    element: Kind

    @property
    def values(self) -> int:
        return int((self.element.values + 1) ** self.capacity)

    @property
    def is_simple(self) -> bool:
        return False

    @property
    def is_symmetric(self) -> bool:
        return self.element.is_symmetric


def contains(kind: Kind, wanted: type[Kind]) -> bool:
    return isinstance(kind, wanted) or any(contains(part, wanted) for part in parts(kind))


def parts(kind: Kind) -> Iterator[Kind]:
    """Yields the kinds of which a kind's values consist."""
    if isinstance(kind, Record):
        yield from (each for _, each in kind.fields)
    elif isinstance(kind, Array | Multiset):
        yield kind.element


def is_finite(kind: Kind) -> bool:
    """Returns whether an index or a quantifier can enumerate it."""
    return kind.is_simple and not isinstance(kind, Real)


@dataclass(frozen=True)
class Kinds:
    """The declared types of one model."""

    declared: tuple[Kind, ...]

    def finite(self) -> list[Kind]:
        return [kind for kind in self.declared if is_finite(kind)]

    def of(self, wanted: type[Kind]) -> list[Kind]:
        return [kind for kind in self.declared if isinstance(kind, wanted)]

    def text(self) -> str:
        lines = [f"  {kind.name}: {kind.declaration};" for kind in self.declared if kind.declaration]
        return "\n".join(["type", *lines])


def generate_kinds(random: Random) -> Kinds:
    """Returns the types of a model: always boolean, an enumeration and a range; the others sometimes."""
    colours = ("Red", "Green", "Blue")[: random.randint(1, 3)]
    declared: list[Kind] = [
        Boolean("boolean", ""),
        Enumeration("Colour", "enum { " + ", ".join(colours) + " }", colours),
        _range(random, "Small"),
    ]
    if random.random() < 0.4:
        declared.append(_range(random, "Other"))
    if random.random() < 0.6:
        size = random.randint(2, 3)
        node = Scalarset("Node", f"scalarset({size})", size)
        declared.append(node)
        if random.random() < 0.2:
            declared.append(Scalarset("Item", "scalarset(2)", 2))
        if random.random() < 0.4:
            declared.append(Union("Place", "union { Node, Colour }", (node, declared[1])))
    if random.random() < 0.1:
        declared.append(Real("Decimal", "real(3, 20)"))
    simple = list(declared)
    if random.random() < 0.5:
        fields = tuple((name, random.choice(simple)) for name in ("left", "right", "top")[: random.randint(1, 3)])
        shown = " ".join(f"{name}: {kind.name};" for name, kind in fields)
        declared.append(Record("Pair", f"record {shown} end", fields))
    indices = [kind for kind in simple if is_finite(kind)]
    for name in ("Row", "Table")[: random.randint(0, 2)]:
        index, element = random.choice(indices), random.choice(declared)
        declared.append(Array(name, f"array [{index.name}] of {element.name}", index, element))
    if random.random() < 0.35:
        element = random.choice([kind for kind in declared if kind.values <= 12])
        capacity = random.randint(1, 3)
        declared.append(Multiset("Bag", f"multiset [{capacity}] of {element.name}", capacity, element))
    return Kinds(tuple(declared))


def _range(random: Random, name: str) -> Range:
    low = random.choice((-2, -1, 0, 0, 0, 1, 5))
    high = low + random.randint(0, 3)
    return Range(name, f"{low} .. {high}", low, high)

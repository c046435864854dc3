"""The shape of a packed state under permutations.

The shape is the type tree, reduced to what matters to symmetry: runs of plain bits, leaves whose value a permutation
renames, arrays whose elements it moves, and multisets, whose slots are unordered. Adjacent leaves form packets, so that
the emitted code reads words and not leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from outcrop.ir.layout import Layout, field_offsets, size, slot_element_offset, slot_size, width
from outcrop.ir.types import Array, Multiset, Record, Scalarset, Simple, Type, Union

#: Largest number of parts for which an array over a plain index is unrolled.
LARGEST_UNROLLED = 24
#: Widest packet, in bits. One read covers it at any bit, and the data of a fact (relations.py) has room for it.
WIDEST_PACKET = 40


@dataclass(frozen=True)
class Run:
    """A run of plain bits. As in all nodes, ``bit`` counts from the start of the enclosing element."""

    bit: int
    width: int


@dataclass(frozen=True)
class Value:
    """A leaf of a scalarset, or of a union with one in it."""

    bit: int
    kind: Simple

    @property
    def width(self) -> int:
        return width(self.kind)


@dataclass(frozen=True)
class Loop:
    """An array that is not plain throughout."""

    bit: int
    stride: int
    index: Simple
    body: tuple[Node, ...]


@dataclass(frozen=True)
class Slots:
    """A multiset; the first bit of a slot is its flag."""

    bit: int
    stride: int
    kind: Multiset
    body: tuple[Node, ...]


Node = Run | Value | Loop | Slots


@dataclass(frozen=True)
class Packet:
    """Adjacent runs and values, read as one word. ``values`` holds the shift and type of each value in it."""

    bit: int
    width: int
    values: tuple[tuple[int, Simple], ...]

    @property
    def value_mask(self) -> int:
        return sum((1 << width(kind)) - 1 << shift for shift, kind in self.values)

    @property
    def plain_mask(self) -> int:
        return (1 << self.width) - 1 & ~self.value_mask

    def replaced(self, bits: str, table: Callable[[Simple, str], str]) -> str:
        """Returns C for the packet in which ``table`` has replaced each value."""
        if not self.values:
            return bits
        terms = [f"({bits} & UINT64_C({self.plain_mask}))"] if self.plain_mask else []
        for shift, kind in self.values:
            value = f"{bits} >> {shift}" if shift else bits
            value = f"({value} & {(1 << width(kind)) - 1})" if len(self.values) > 1 or self.plain_mask else bits
            terms.append(f"(uint64_t){table(kind, value)} << {shift}" if shift else f"(uint64_t){table(kind, value)}")
        text = " | ".join(terms)
        # Most references are undefined most of the time.
        return f"{bits} & UINT64_C({self.value_mask}) ? {text} : {bits}" if len(self.values) > 1 else text


def packets(nodes: Sequence[Node]) -> Iterator[Packet | Loop | Slots]:
    """Yields a row of nodes with its runs and values gathered into packets."""
    start, end = 0, 0
    values: list[tuple[int, Simple]] = []

    def close() -> Iterator[Packet]:
        nonlocal start, end, values
        if end > start:
            yield Packet(start, end - start, tuple(values))
        start, end, values = 0, 0, []

    for node in nodes:
        if isinstance(node, Loop | Slots):
            yield from close()
            yield node
            continue
        at, stop = node.bit, node.bit + node.width
        while at < stop:
            if (
                end == start
                or at >= start + WIDEST_PACKET
                or (isinstance(node, Value) and stop > start + WIDEST_PACKET)
            ):
                yield from close()
                start = at
            if isinstance(node, Value):
                values.append((at - start, node.kind))
            end = min(stop, start + WIDEST_PACKET)
            at = end
    yield from close()


@dataclass(frozen=True)
class Part:
    """``count`` values of a simple type from ordinal ``first`` on: those of one scalarset, or plain ones (None)."""

    scalarset: Scalarset | None
    first: int
    count: int


@dataclass(frozen=True, eq=False)
class Shape:
    """The variables of a layout as nodes, and the numbers of the elements.

    The elements of all scalarsets in ``scalarsets`` are numbered consecutively from 1; 0 stands for none of them.
    """

    layout: Layout
    scalarsets: tuple[Scalarset, ...]

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        nodes: list[Node] = []
        for variable, start in zip(self.layout.system.variables, self.layout.variable_offsets, strict=True):
            nodes += self._nodes(variable.type, start)
        return _joined(nodes)

    @cached_property
    def first_element(self) -> dict[Scalarset, int]:
        first, at = {}, 1
        for scalarset in self.scalarsets:
            first[scalarset] = at
            at += scalarset.size
        return first

    @cached_property
    def element_count(self) -> int:
        return sum(scalarset.size for scalarset in self.scalarsets)

    def parts(self, kind: Simple) -> tuple[Part, ...]:
        """Returns the values of a simple type, split where the effect of a permutation changes."""
        if isinstance(kind, Union):
            parts: list[Part] = []
            first = 0
            for member in kind.members:
                scalarset = member if isinstance(member, Scalarset) and member in self.first_element else None
                parts.append(Part(scalarset, first, member.cardinality))
                first += member.cardinality
            return tuple(parts)
        moved = kind if isinstance(kind, Scalarset) and kind in self.first_element else None
        return (Part(moved, 0, kind.cardinality),)

    def is_moved(self, kind: Simple) -> bool:
        """Returns whether a permutation renames values of this type."""
        members = kind.members if isinstance(kind, Union) else (kind,)
        return any(isinstance(member, Scalarset) and member in self.first_element for member in members)

    def elements(self, kind: Simple) -> list[int]:
        """Returns the element that each packed value of a type stands for, 0 if none."""
        elements = [0]
        for part in self.parts(kind):
            if part.scalarset is None:
                elements += [0] * part.count
            else:
                start = self.first_element[part.scalarset]
                elements += range(start, start + part.count)
        return elements

    def categories(self, kind: Simple) -> list[int]:
        """Returns the category of each packed value, which permutations preserve: the plain value, or its scalarset."""
        categories, used = [0], 0
        for part in self.parts(kind):
            step = 0 if part.scalarset else 1
            categories += [used + 1 + step * number for number in range(part.count)]
            used = max(categories)
        return categories

    @cached_property
    def kinds(self) -> dict[Simple, int]:
        """The types whose values a permutation renames, with the numbers that the emitted tables carry."""
        kinds: dict[Simple, int] = {}
        for variable in self.layout.system.variables:
            for part in variable.type.parts():
                if isinstance(part, Simple) and self.is_moved(part):
                    kinds.setdefault(part, len(kinds))
        return kinds

    def element(self, kind: Simple, packed: str) -> str:
        """Returns C for the element that a packed value stands for."""
        if self.elements(kind) == list(range(kind.cardinality + 1)):
            return packed
        return f"element_of_{self.kinds[kind]}[{packed}]"

    def category(self, kind: Simple, packed: str) -> str:
        """Returns C for the category of a packed value."""
        if max(self.categories(kind)) == 1:
            return f"({packed} != 0)"
        return f"category_of_{self.kinds[kind]}[{packed}]"

    def emit_tables(self, users: str) -> str:
        """Returns the constant tables that a text uses."""
        lines: list[str] = []
        for kind, number in self.kinds.items():
            for name, row in (("element_of", self.elements(kind)), ("category_of", self.categories(kind))):
                if f"{name}_{number}[" in users:
                    values = ", ".join(map(str, row))
                    lines.append(f"static const uint16_t {name}_{number}[] = {{{values}}};")
        return "\n".join([*lines, ""])

    def _is_plain(self, kind: Type) -> bool:
        return not any(
            isinstance(part, Multiset) or (isinstance(part, Simple) and self.is_moved(part)) for part in kind.parts()
        )

    def _nodes(self, kind: Type, bit: int) -> list[Node]:
        if self._is_plain(kind):
            return [Run(bit, size(kind))] if size(kind) else []
        if isinstance(kind, Simple):
            return [Value(bit, kind)]
        if isinstance(kind, Record):
            nodes: list[Node] = []
            for (_, each), offset in zip(kind.fields, field_offsets(kind), strict=True):
                nodes += self._nodes(each, bit + offset)
            return list(_joined(nodes))
        if isinstance(kind, Array):
            return self._array(kind, bit)
        assert isinstance(kind, Multiset)
        body = _joined([Run(0, 1), *self._nodes(kind.element, slot_element_offset(kind))])
        return [Slots(bit, slot_size(kind), kind, body)] if kind.capacity else []

    def _array(self, kind: Array, bit: int) -> list[Node]:
        body = self._nodes(kind.element, 0)
        stride, count = size(kind.element), kind.index.cardinality
        if self.is_moved(kind.index) or count * weight(body) > LARGEST_UNROLLED:
            return [Loop(bit, stride, kind.index, tuple(body))]
        nodes: list[Node] = []
        for position in range(count):
            nodes += self._nodes(kind.element, bit + position * stride)
        return list(_joined(nodes))


def weight(nodes: Sequence[Node]) -> int:
    """Returns the number of reads that a row of nodes takes."""
    total = 0
    for node in packets(nodes):
        if isinstance(node, Packet):
            total += 1
        elif isinstance(node, Loop):
            total += node.index.cardinality * weight(node.body)
        else:
            total += node.kind.capacity * weight(node.body)
    return total


def _joined(nodes: Sequence[Node]) -> tuple[Node, ...]:
    joined: list[Node] = []
    for node in nodes:
        last = joined[-1] if joined else None
        if isinstance(node, Run) and isinstance(last, Run) and last.bit + last.width == node.bit:
            joined[-1] = Run(last.bit, last.width + node.width)
        else:
            joined.append(node)
    return tuple(joined)


@dataclass(frozen=True)
class Offset:
    """A number in the emitted code: a constant, and terms that are known at run time."""

    constant: int = 0
    terms: tuple[str, ...] = ()

    def plus(self, constant: int, *terms: str) -> Offset:
        return Offset(self.constant + constant, self.terms + terms)

    def times(self, index: str, stride: int) -> Offset:
        """Returns the offset ``index`` strides further on; the index is a number or the text of a C expression."""
        if index.isdecimal():
            return self.plus(int(index) * stride)
        return self.plus(0, f"(uint64_t){index} * {stride}") if stride else self

    def __str__(self) -> str:
        constant = [str(self.constant)] if self.constant or not self.terms else []
        return " + ".join([*constant, *self.terms])

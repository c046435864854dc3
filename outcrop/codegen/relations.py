"""The relations of a state: what it says of several elements at once, as a list of facts that emitted code fills.

A fact is a packet of an array that two or more elements index, a leaf in an array indexed by an element that holds
another one, or anything in a slot of a multiset. Packets that equal those of the start state are not facts, so that the
list is short. The data of a fact is exact: the number of its place in the types (places that only elements or slots
distinguish share a number) and its bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from outcrop.codegen.shape import WIDEST_PACKET, Loop, Node, Offset, Packet, Shape, Slots, Value, packets
from outcrop.codegen.text import braced
from outcrop.ir.layout import width
from outcrop.ir.types import Scalarset, Simple


@dataclass(frozen=True)
class RowLocation:
    """The path of the emitted code to a row of nodes."""

    bit: Offset
    first: int  #: the bit if all indices are their first values
    place: Offset
    vertex: Offset  #: number of the first slot in the rest
    elements: tuple[str, ...] = ()
    slots: tuple[str, ...] = ()
    depth: int = 0


@dataclass(eq=False)
class Relations:
    shape: Shape
    start: int  #: packed bits of a start state
    columns: int = 0
    slot_columns: int = 0
    most: int = 0  #: largest number of facts of a state
    scalarsets: set[Scalarset] = field(default_factory=set)  #: scalarsets that occur in a fact

    def __post_init__(self) -> None:
        self._copies = 1
        self._owners: list[Scalarset] = []
        self._lines = self._rows(self.shape.nodes, RowLocation(Offset(), 0, Offset(1), Offset(1)))
        self.slots = _slot_count(self.shape.nodes)

    def emit(self) -> str:
        """Returns ``gather_relations``, which lists the facts of a state."""
        start = [
            "(void)state;",
            "relations->count = 0;",
            "for (unsigned element = 0; element <= ELEMENTS; element++) relations->related[element] = 0;",
        ]
        head = "static void gather_relations(const uint8_t *state, Relations *relations)"
        return "\n".join([*braced(head, start + self._lines), ""])

    def _rows(self, nodes: Sequence[Node], where: RowLocation) -> list[str]:
        lines: list[str] = []
        for node in packets(nodes):
            here = replace(where, bit=where.bit.plus(node.bit), first=where.first + node.bit)
            if isinstance(node, Packet):
                lines += self._packet(node, here)
            elif isinstance(node, Loop):
                lines += self._loop(node, here)
            elif where.elements or self._has_elements(node.body):
                lines += self._multiset(node, here)
            where = replace(
                where,
                place=where.place.plus(_own_places(node, self.shape)),
                vertex=where.vertex.plus(_own_slots(node)),
            )
        return lines

    def _packet(self, packet: Packet, where: RowLocation) -> list[str]:
        """Returns one fact for the whole packet, with its values replaced by their categories, if it belongs to more
        than one element; and one fact for each value in it that is an element."""
        lines: list[str] = []
        if len(where.elements) > 1 or where.slots:
            usual = self._background(packet, where)
            data = packet.replaced("bits", self.shape.category)
            fact = self._fact(where.place, f"({data})", where.elements, where.slots, "1")
            lines += braced(f"if (bits != {usual})", fact)
        if where.elements or where.slots:
            for number, (shift, kind) in enumerate(packet.values):
                lines += self._value(number, shift, kind, where)
        if not lines:
            return []
        return braced("", [f"const uint64_t bits = get_bits(state, {where.bit}, {packet.width});", *lines])

    def _value(self, number: int, shift: int, kind: Simple, where: RowLocation) -> list[str]:
        owners = self._owners
        self._owners = owners + [part.scalarset for part in self.shape.parts(kind) if part.scalarset]
        element = self.shape.element(kind, f"(bits >> {shift} & {(1 << width(kind)) - 1})")
        fact = self._fact(where.place.plus(number + 1), "0", (*where.elements, "element"), where.slots, "element != 0")
        self._owners = owners
        return braced("", [f"const uint64_t element = {element};", *fact])

    def _background(self, packet: Packet, where: RowLocation) -> int:
        """Returns the usual value of a packet. A background with elements in it would not be the same for all
        elements."""
        usual = self.start >> where.first & (1 << packet.width) - 1
        for shift, kind in packet.values:
            if self.shape.elements(kind)[usual >> shift & (1 << width(kind)) - 1]:
                return 0
        return 0 if where.slots else usual

    def _fact(
        self, place: Offset, data: str, elements: tuple[str, ...], slots: tuple[str, ...], condition: str
    ) -> list[str]:
        """Returns lines that write a fact, and keep it if the condition holds. This is cheaper than an unpredictable
        jump."""
        self.columns = max(self.columns, len(elements))
        self.slot_columns = max(self.slot_columns, len(slots))
        self.most += self._copies
        self.scalarsets.update(self._owners)
        return [
            f"Relation *fact = next_fact(relations, (uint64_t)({place}) << {WIDEST_PACKET} | {data});",
            *(f"relate(relations, fact, {column}, {each}, {condition});" for column, each in enumerate(elements)),
            *(f"fact->slot[{column}] = (uint16_t)({slot});" for column, slot in enumerate(slots)),
            f"relations->count += {condition};",
        ]

    def _loop(self, node: Loop, where: RowLocation) -> list[str]:
        counter = f"i{where.depth}"
        slots, places = _slot_count(node.body), _place_count(node.body, self.shape)
        lines: list[str] = []
        place = where.place
        for part in self.shape.parts(node.index):
            start = where.bit.plus(part.first * node.stride).times(counter, node.stride)
            vertex = where.vertex.plus(part.first * slots).times(counter, slots)
            elements, at = where.elements, place
            if part.scalarset:
                elements = (*elements, f"{self.shape.first_element[part.scalarset]} + {counter}")
                self._owners.append(part.scalarset)
                place = place.plus(places)
            else:
                at = place.times(counter, places)
                place = place.plus(part.count * places)
            self._copies *= part.count
            first = where.first + part.first * node.stride
            inside = RowLocation(start, first, at, vertex, elements, where.slots, where.depth + 1)
            body = self._rows(node.body, inside)
            self._copies //= part.count
            if part.scalarset:
                self._owners.pop()
            if not body:
                continue
            lines += braced(f"for (unsigned {counter} = 0; {counter} < {part.count}; {counter}++)", body)
        return lines

    def _multiset(self, node: Slots, where: RowLocation) -> list[str]:
        counter = f"i{where.depth}"
        inner = _slot_count(node.body) + 1
        start = where.bit.times(counter, node.stride)
        slot = where.vertex.times(counter, inner)
        self._copies *= node.kind.capacity
        slots = (*where.slots, str(slot))
        inside = RowLocation(start, where.first, where.place, slot.plus(1), where.elements, slots, where.depth + 1)
        body = [f"if (!get_bits(state, {start}, 1)) continue;", *self._rows(node.body, inside)]
        self._copies //= node.kind.capacity
        return braced(f"for (unsigned {counter} = 0; {counter} < {node.kind.capacity}; {counter}++)", body)

    def _has_elements(self, nodes: Sequence[Node]) -> bool:
        for node in nodes:
            if isinstance(node, Value):
                return True
            if isinstance(node, Loop) and self.shape.is_moved(node.index):
                return True
            if isinstance(node, Loop | Slots) and self._has_elements(node.body):
                return True
        return False


def _slot_count(nodes: Sequence[Node]) -> int:
    """Returns the number of slots in all copies of the multisets in a row of nodes."""
    return sum(_own_slots(node) for node in packets(nodes))


def _own_slots(node: Packet | Loop | Slots) -> int:
    if isinstance(node, Packet):
        return 0
    if isinstance(node, Loop):
        return node.index.cardinality * _slot_count(node.body)
    return node.kind.capacity * (1 + _slot_count(node.body))


def _place_count(nodes: Sequence[Node], shape: Shape) -> int:
    """Returns the number of places that neither elements nor slots distinguish."""
    return sum(_own_places(node, shape) for node in packets(nodes))


def _own_places(node: Packet | Loop | Slots, shape: Shape) -> int:
    if isinstance(node, Packet):
        return 1 + len(node.values)
    if isinstance(node, Slots):
        return _place_count(node.body, shape)
    copies = sum(1 if part.scalarset else part.count for part in shape.parts(node.index))
    return copies * _place_count(node.body, shape)

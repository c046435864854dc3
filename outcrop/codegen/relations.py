"""What a state says of several elements at once, as a list of facts that the emitted code fills.

A fact is plain bits in an array that two elements or more index, or a leaf in an array indexed by an element that
holds another one, or anything in a slot of a multiset. Undefined leaves and zero bits are no facts, so that the
list is short where the state is sparse. The data of a fact is exact: the number of its place in the types (places
that elements or slots tell apart share one) and its bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from outcrop.codegen.shape import Loop, Node, Offset, Run, Shape, Slots, Value, weight
from outcrop.codegen.text import braced
from outcrop.ir.types import Scalarset

#: Bits of a fact's data that hold bits of the state; the number of the place lies above.
DATA_BITS = 40


@dataclass(frozen=True)
class Where:
    """How the emitted code got to a row of nodes."""

    bit: Offset
    place: Offset
    vertex: Offset  #: the number of the first slot in what is ahead
    elements: tuple[str, ...] = ()
    slots: tuple[str, ...] = ()
    depth: int = 0


@dataclass(eq=False)
class Relations:
    shape: Shape
    columns: int = 0
    slot_columns: int = 0
    most: int = 0  #: facts that a state has at most
    scalarsets: set[Scalarset] = field(default_factory=set)  #: those that occur in any

    def __post_init__(self) -> None:
        self._copies = 1
        self._owners: list[Scalarset] = []
        self._lines = self._rows(self.shape.nodes, Where(Offset(), Offset(1), Offset(1)))
        self.slots = _slot_count(self.shape.nodes)

    def emit(self) -> str:
        """``gather_relations``, which lists the facts of a state."""
        start = [
            "(void)state;",
            "relations->count = 0;",
            "for (unsigned element = 0; element <= ELEMENTS; element++) relations->related[element] = 0;",
        ]
        head = "static void gather_relations(const uint8_t *state, Relations *relations)"
        return "\n".join([*braced(head, start + self._lines), ""])

    def _rows(self, nodes: Sequence[Node], where: Where) -> list[str]:
        lines: list[str] = []
        for node in nodes:
            at = where.bit.plus(node.bit)
            here = Where(at, where.place, where.vertex, where.elements, where.slots, where.depth)
            if isinstance(node, Run):
                lines += self._run(node, here)
            elif isinstance(node, Value):
                lines += self._value(node, here)
            elif isinstance(node, Loop):
                lines += self._loop(node, here)
            elif where.elements or self._has_elements(node.body):
                lines += self._multiset(node, here)
            where = Where(
                where.bit,
                where.place.plus(_place_count([node], self.shape)),
                where.vertex.plus(_slot_count([node])),
                where.elements,
                where.slots,
                where.depth,
            )
        return lines

    def _run(self, node: Run, where: Where) -> list[str]:
        if len(where.elements) < 2 and not where.slots:
            return []
        lines: list[str] = []
        for number, piece in enumerate(Run(0, node.width).pieces(DATA_BITS)):
            read = f"get_bits(state, {where.bit.plus(piece.bit)}, {piece.width})"
            fact = self._fact(where.place.plus(number), "bits", where.elements, where.slots)
            lines += braced("", [f"const uint64_t bits = {read};", *braced("if (bits)", fact)])
        return lines

    def _value(self, node: Value, where: Where) -> list[str]:
        alone = len(where.elements) < 2 and not where.slots
        if alone and not where.elements:
            return []
        self._owners += [part.scalarset for part in self.shape.parts(node.kind) if part.scalarset]
        element = self.shape.element(node.kind, "bits")
        category = self.shape.category(node.kind, "bits")
        fact = self._fact(where.place, category, (*where.elements, element), where.slots)
        self._owners = self._owners[: len(where.elements)]
        condition = element if alone else "bits"
        read = f"get_bits(state, {where.bit}, {node.width})"
        return braced("", [f"const uint64_t bits = {read};", *braced(f"if ({condition})", fact)])

    def _fact(self, place: Offset, data: str, elements: tuple[str, ...], slots: tuple[str, ...]) -> list[str]:
        self.columns = max(self.columns, len(elements))
        self.slot_columns = max(self.slot_columns, len(slots))
        self.most += self._copies
        self.scalarsets.update(self._owners)
        return [
            f"Relation *fact = add_fact(relations, (uint64_t)({place}) << {DATA_BITS} | {data});",
            *(f"relate(relations, fact, {column}, {element});" for column, element in enumerate(elements)),
            *(f"fact->slot[{column}] = (uint16_t)({slot});" for column, slot in enumerate(slots)),
        ]

    def _loop(self, node: Loop, where: Where) -> list[str]:
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
            inside = Where(start, at, vertex, elements, where.slots, where.depth + 1)
            body = self._rows(node.body, inside)
            self._copies //= part.count
            if part.scalarset:
                self._owners.pop()
            if not body:
                continue
            if weight(node.body) > 2:
                body.insert(0, f"if (zero_throughout(state, {start}, {node.stride})) continue;")
            lines += braced(f"for (unsigned {counter} = 0; {counter} < {part.count}; {counter}++)", body)
        return lines

    def _multiset(self, node: Slots, where: Where) -> list[str]:
        counter = f"i{where.depth}"
        inner = _slot_count(node.body) + 1
        start = where.bit.times(counter, node.stride)
        slot = where.vertex.times(counter, inner)
        self._copies *= node.kind.capacity
        inside = Where(start, where.place, slot.plus(1), where.elements, (*where.slots, str(slot)), where.depth + 1)
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
    """Slots in all copies of the multisets in a row of nodes."""
    count = 0
    for node in nodes:
        if isinstance(node, Loop):
            count += node.index.cardinality * _slot_count(node.body)
        elif isinstance(node, Slots):
            count += node.kind.capacity * (1 + _slot_count(node.body))
    return count


def _place_count(nodes: Sequence[Node], shape: Shape) -> int:
    """Places that neither elements nor slots tell apart."""
    count = 0
    for node in nodes:
        if isinstance(node, Run):
            count += -(-node.width // DATA_BITS)
        elif isinstance(node, Value):
            count += 1
        elif isinstance(node, Slots):
            count += _place_count(node.body, shape)
        else:
            copies = sum(1 if part.scalarset else part.count for part in shape.parts(node.index))
            count += copies * _place_count(node.body, shape)
    return count

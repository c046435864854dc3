"""C that writes the image of a packed state under a permutation.

Bits that no permutation moves are copied in whole words. All others are read where the permutation says they come from
and added to an image of zeros. Small arrays are unrolled, so that every place in the image is a constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from outcrop.codegen.shape import Loop, Node, Offset, Packet, Run, Shape, Slots, packets, weight
from outcrop.codegen.text import braced
from outcrop.ir.types import Simple

#: Largest number of reads for which an array is unrolled.
LARGEST_UNROLLED = 64
#: Widest array, in bits, that fits one read at any bit.
WIDEST_ROW = 56


@dataclass(eq=False)
class Image:
    shape: Shape
    has_multisets: bool

    def emit(self) -> str:
        """Returns ``order_image``; the element order[p] goes to place p."""
        moves = self._moves([node for node in self.shape.nodes if not isinstance(node, Run)], Offset(), Offset(), 0)
        text = "\n".join(moves)
        lines = [line for kind in self.shape.kinds for line in self._tables(kind, text)]
        lines += [*self._keep(), *moves]
        if self.has_multisets:
            lines.append("sort_multisets((uint8_t *)image);")
        head = "static void order_image(const uint8_t *state, const Element *order, uint64_t *image)"
        return "\n".join([*braced(head, lines), ""])

    @property
    def word_count(self) -> int:
        return -(-self.shape.layout.byte_count // 8)

    def _tables(self, kind: Simple, users: str) -> list[str]:
        """Returns two tables: origin_k gives the origin of the array element at each place, image_k the image of each
        packed value. Only tables that the text ``users`` reads are returned."""
        origins, images = f"origin_{self.shape.kinds[kind]}", f"image_{self.shape.kinds[kind]}"
        rows = {origins: "[{place}] = (uint16_t){origin};", images: "[{origin} + 1] = (uint16_t)({place} + 1);"}
        used = {table: row for table, row in rows.items() if f"{table}[" in users}
        if not used:
            return []
        lines = [f"uint16_t {', '.join(f'{table}[{kind.cardinality + 1}]' for table in used)};"]
        lines += [f"{images}[0] = 0;"] if images in used else []
        for part in self.shape.parts(kind):
            body: list[str] = []
            origin = "place"
            if part.scalarset:
                first = self.shape.first_element[part.scalarset]
                body.append(f"const unsigned origin = order[place + {first - 1 - part.first}] - {first - part.first}u;")
                origin = "origin"
            body += [table + row.format(place="place", origin=origin) for table, row in used.items()]
            bounds = f"unsigned place = {part.first}; place < {part.first + part.count}; place++"
            lines += braced(f"for ({bounds})", body)
        return lines

    def _keep(self) -> list[str]:
        """Returns lines that copy the bits that do not move, and clear all others."""
        kept = 0
        for node in self.shape.nodes:
            if isinstance(node, Run):
                kept |= ((1 << node.width) - 1) << node.bit
        lines: list[str] = []
        for word in range(self.word_count):
            mask = kept >> 64 * word & (1 << 64) - 1
            value = f"load_word(state + {8 * word}) & UINT64_C({mask})" if mask else "0"
            lines.append(f"image[{word}] = {value};")
        return [*lines, f"image[{self.word_count}] = 0;"]

    def _moves(self, nodes: Sequence[Node], source: Offset, target: Offset, depth: int) -> list[str]:
        lines: list[str] = []
        for node in packets(nodes):
            here, there = source.plus(node.bit), target.plus(node.bit)
            if isinstance(node, Packet):
                lines += self._packet(node, here, there)
            elif isinstance(node, Loop) and self._is_row(node):
                lines += self._row(node, here, there)
            else:
                lines += self._repeat(node, here, there, depth)
        return lines

    def _image_of(self, kind: Simple, packed: str) -> str:
        return f"image_{self.shape.kinds[kind]}[{packed}]"

    def _packet(self, packet: Packet, source: Offset, target: Offset) -> list[str]:
        read = f"get_bits(state, {source}, {packet.width})"
        if not packet.values:
            return [f"image_bits(image, {target}, {packet.width}, {read});"]
        moved = packet.replaced("bits", self._image_of)
        return braced("", [f"const uint64_t bits = {read};", f"image_bits(image, {target}, {packet.width}, {moved});"])

    def _is_row(self, node: Loop) -> bool:
        """Returns whether an array is one word and each of its elements one packet."""
        size = node.index.cardinality * node.stride
        return (
            size <= WIDEST_ROW
            and all(isinstance(each, Packet) for each in packets(node.body))
            and weight(node.body) == 1
        )

    def _row(self, node: Loop, source: Offset, target: Offset) -> list[str]:
        """Returns lines that move the elements of a small array within a register."""
        count, (packet,) = node.index.cardinality, packets(node.body)
        assert isinstance(packet, Packet)
        lines = [f"const uint64_t row = get_bits(state, {source}, {count * node.stride});", "uint64_t moved = 0, bits;"]
        for place in range(count):
            origin = str(place)
            if self.shape.is_moved(node.index):
                origin = f"origin_{self.shape.kinds[node.index]}[{place}]"
            shift = f"({Offset(packet.bit).times(origin, node.stride)})"
            lines.append(f"bits = row >> {shift} & {(1 << packet.width) - 1};")
            lines.append(f"moved |= ({packet.replaced('bits', self._image_of)}) << {place * node.stride + packet.bit};")
        lines.append(f"image_bits(image, {target}, {count * node.stride}, moved);")
        return braced("", lines)

    def _repeat(self, node: Loop | Slots, source: Offset, target: Offset, depth: int) -> list[str]:
        count = node.index.cardinality if isinstance(node, Loop) else node.kind.capacity
        moved = isinstance(node, Loop) and self.shape.is_moved(node.index)
        table = f"origin_{self.shape.kinds[node.index]}" if isinstance(node, Loop) and moved else ""

        def element(place: str) -> list[str]:
            here = source.times(f"{table}[{place}]" if moved else place, node.stride)
            lines: list[str] = []
            if here.terms and weight(node.body) > 1:
                lines.append(f"const uint64_t from{depth} = {here};")
                here = Offset(0, (f"from{depth}",))
            return lines + self._moves(node.body, here, target.times(place, node.stride), depth + 1)

        if count * weight(node.body) <= LARGEST_UNROLLED:
            elements = [element(str(place)) for place in range(count)]
            return [line for lines in elements for line in (braced("", lines) if len(lines) > 1 else lines)]
        counter = f"place{depth}"
        return braced(f"for (unsigned {counter} = 0; {counter} < {count}; {counter}++)", element(counter))

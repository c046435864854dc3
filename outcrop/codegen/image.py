"""C that writes the image of a packed state under a permutation.

What no permutation touches is copied in whole words; all else is read where the permutation says it comes from and
added to an image of zeros. Small arrays are written out, so that every place in the image is a constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from outcrop.codegen.shape import Loop, Node, Offset, Run, Shape, Slots, Value, weight
from outcrop.codegen.text import braced
from outcrop.ir.types import Simple

#: Reads up to which an array is written out element by element.
LARGEST_UNROLLED = 64


@dataclass(eq=False)
class Image:
    shape: Shape
    has_multisets: bool

    def emit(self) -> str:
        """``order_image``; the element order[p] goes to place p."""
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
        """origin_k: where the element of an array at each place comes from; image_k: what each packed value becomes.
        Only those that the text ``users`` reads."""
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
        """Copies the bits that stay where they are and clears all others."""
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
        for node in nodes:
            here, there = source.plus(node.bit), target.plus(node.bit)
            if isinstance(node, Run):
                for piece in Run(0, node.width).pieces():
                    read = f"get_bits(state, {here.plus(piece.bit)}, {piece.width})"
                    lines.append(f"image_bits(image, {there.plus(piece.bit)}, {piece.width}, {read});")
            elif isinstance(node, Value):
                table = f"image_{self.shape.kinds[node.kind]}"
                read = f"(uint64_t){table}[get_bits(state, {here}, {node.width})]"
                lines.append(f"image_bits(image, {there}, {node.width}, {read});")
            else:
                lines += self._repeat(node, here, there, depth)
        return lines

    def _repeat(self, node: Loop | Slots, source: Offset, target: Offset, depth: int) -> list[str]:
        count = node.index.cardinality if isinstance(node, Loop) else node.kind.capacity
        moved = isinstance(node, Loop) and self.shape.is_moved(node.index)
        table = f"origin_{self.shape.kinds[node.index]}" if isinstance(node, Loop) and moved else ""

        def element(place: str) -> list[str]:
            origin = f"{table}[{place}]" if moved else place
            here = source.times(origin, node.stride)
            body: list[str] = []
            if here.terms and weight(node.body) > 1:
                name = f"from{depth}"
                body.append(f"const uint64_t {name} = {here};")
                here = Offset(0, (name,))
            if weight(node.body) > 3:
                body.append(f"if (!zero_throughout(state, {here}, {node.stride}))")
                return body + braced("", self._moves(node.body, here, target.times(place, node.stride), depth + 1))
            return body + self._moves(node.body, here, target.times(place, node.stride), depth + 1)

        if count * weight(node.body) <= LARGEST_UNROLLED:
            lines: list[str] = []
            for place in range(count):
                rows = element(str(place))
                lines += braced("", rows) if len(rows) > 1 else rows
            return lines
        counter = f"place{depth}"
        return braced(f"for (unsigned {counter} = 0; {counter} < {count}; {counter}++)", element(counter))

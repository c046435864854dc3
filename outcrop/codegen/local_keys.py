"""The local keys of scalarset elements: what a state says of each element alone, gathered into words.

A key contains the plain bits of arrays that only this element indexes; for each scalar that may hold an element,
whether it holds this one; and for each leaf that may hold another element, the category of its value. All of it is
exact: equal words mean equal contents. If a key fits one word, together with the number of the element, sorting those
words sorts the elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from outcrop.codegen.shape import Loop, Node, Packet, Shape, packets
from outcrop.codegen.text import braced
from outcrop.ir.layout import width
from outcrop.ir.types import Scalarset, Simple


@dataclass(frozen=True)
class Field:
    """A packet of every element of a scalarset; that of the first element starts at ``bit``. Only the categories of the
    values in it belong to the element alone."""

    scalarset: Scalarset
    bit: int
    stride: int
    packet: Packet


@dataclass(frozen=True)
class Reference:
    """A leaf that may hold an element and that no element indexes."""

    bit: int
    kind: Simple


@dataclass
class Words:
    """The allocation of the words of a scalarset's elements."""

    used: list[int] = field(default_factory=lambda: [0])

    def place(self, width: int) -> tuple[int, int]:
        """Returns the word and the shift of the next ``width`` bits."""
        if self.used[-1] + width > 64:
            self.used.append(0)
        self.used[-1] += width
        return len(self.used) - 1, self.used[-1] - width


@dataclass(frozen=True, eq=False)
class LocalKeys:
    shape: Shape

    @cached_property
    def _found(self) -> list[Field | Reference]:
        return list(self._walk(self.shape.nodes, 0, None, 0))

    @cached_property
    def _placed(self) -> tuple[dict[Scalarset, Words], list[str], list[str]]:
        """The words of each scalarset, and the lines that fill them from fields and from references."""
        words = {scalarset: Words() for scalarset in self.shape.scalarsets}
        terms: dict[tuple[int, int], list[str]] = {}
        reads: list[str] = []
        for each in self._found:
            if isinstance(each, Field):
                reads += self._place_field(each, words[each.scalarset], terms)
        lines: list[str] = []
        references = [each for each in self._found if isinstance(each, Reference)]
        for reference in references:
            lines += self._reference_lines(reference, words)
        count = max(len(each.used) for each in words.values())
        fills = [
            f"local[{element}][{word}] = {' | '.join(terms.get((element, word), ['0']))};"
            for element in range(self.shape.element_count + 1)
            for word in range(count)
        ]
        return words, reads + fills, lines

    @property
    def word_count(self) -> int:
        """The number of words of the scalarset that needs most."""
        return max(len(words.used) for words in self._placed[0].values())

    def width(self, scalarset: Scalarset) -> int:
        """Returns the number of bits of an element's key; meaningful if it is at most 64."""
        words = self._placed[0][scalarset]
        return words.used[0] if len(words.used) == 1 else 65

    def emit(self) -> str:
        """Returns ``gather_local``, which fills the words of all elements. Element 0 takes what belongs to none."""
        _, fills, references = self._placed
        head = "static inline void gather_local(const uint8_t *state, uint64_t (*local)[LOCAL_WORDS])"
        return "\n".join([*braced(head, ["(void)state;", *fills, *references]), ""])

    def _place_field(self, each: Field, words: Words, terms: dict[tuple[int, int], list[str]]) -> list[str]:
        first, packet = self.shape.first_element[each.scalarset], each.packet
        word, shift = words.place(packet.width)
        lines: list[str] = []
        for number in range(each.scalarset.size):
            bits = f"get_bits(state, {each.bit + number * each.stride}, {packet.width})"
            if len(packet.values) > 1 or (packet.values and packet.plain_mask):
                name = f"bits_{each.bit}_{number}"
                lines.append(f"const uint64_t {name} = {bits};")
                bits = name
            text = packet.replaced(bits, self.shape.category)
            text = f"({text})" if packet.values else text
            terms.setdefault((first + number, word), []).append(f"{text} << {shift}" if shift else text)
        return lines

    def _reference_lines(self, reference: Reference, words: dict[Scalarset, Words]) -> list[str]:
        kind = reference.kind
        element = self.shape.element(kind, f"get_bits(state, {reference.bit}, {width(kind)})")
        scalarsets = list(dict.fromkeys(part.scalarset for part in self.shape.parts(kind) if part.scalarset))
        placed = {scalarset: words[scalarset].place(1) for scalarset in scalarsets}
        if len(scalarsets) == 1:
            word, shift = placed[scalarsets[0]]
            return [f"local[{element}][{word}] |= UINT64_C(1) << {shift};"]
        lines = [f"const unsigned element = {element};"]
        for scalarset, (word, shift) in placed.items():
            first = self.shape.first_element[scalarset]
            within = f"element >= {first} && element < {first + scalarset.size}"
            lines.append(f"if ({within}) local[element][{word}] |= UINT64_C(1) << {shift};")
        return braced("", lines)

    def _walk(
        self, nodes: Sequence[Node], bit: int, owner: Scalarset | None, stride: int
    ) -> Iterator[Field | Reference]:
        """Yields the fields and references of nodes. ``owner`` is the only scalarset whose elements index them,
        ``stride`` bits apart."""
        for node in packets(nodes):
            if isinstance(node, Packet):
                if owner:
                    yield Field(owner, bit + node.bit, stride, node)
                else:
                    yield from (Reference(bit + node.bit + shift, kind) for shift, kind in node.values)
            elif isinstance(node, Loop):
                for part in self.shape.parts(node.index):
                    start = bit + node.bit + part.first * node.stride
                    if part.scalarset is None:
                        for number in range(part.count):
                            yield from self._walk(node.body, start + number * node.stride, owner, stride)
                    elif owner is None:
                        yield from self._walk(node.body, start, part.scalarset, node.stride)

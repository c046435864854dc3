"""C that converts a packed state to its normal form: sorted multisets and, under symmetry, one state per orbit.

The elements of each scalarset are sorted by their local keys. If all keys differ, or keys are all that the state says,
their order is the permutation to apply. Otherwise native/canon.h resolves the ties by the relations between elements.
See docs/algorithms/symmetry.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from outcrop.codegen.image import Image
from outcrop.codegen.local_keys import LocalKeys
from outcrop.codegen.multisets import emit_multisets, has_multisets
from outcrop.codegen.relations import Relations
from outcrop.codegen.shape import Shape
from outcrop.codegen.text import braced
from outcrop.errors import UsageError
from outcrop.ir.interpreter import Interpreter
from outcrop.ir.layout import Layout
from outcrop.ir.system import System
from outcrop.ir.types import Scalarset

#: Largest scalarset that is sorted by a sorting network; larger ones use insertion sort.
LARGEST_NETWORK = 16


def needs_normalise(system: System, layout: Layout, symmetry: bool) -> bool:
    """Returns whether some state is not its own normal form."""
    return has_multisets(layout) or (symmetry and bool(system.scalarsets))


#: Largest number of components of a state for which a normal form is compiled; each takes about 200 bytes of C.
_MOST_LEAVES = 150_000


def emit_normalise(system: System, layout: Layout, symmetry: bool) -> str:
    """Returns ``static void model_normalise(uint8_t *state)``, and its helpers."""
    parts = ['#include "normal.h"', ""]
    symmetry = symmetry and bool(system.scalarsets)
    if system.leaf_count > _MOST_LEAVES:
        raise UsageError(
            f"a normal form for states of {system.leaf_count:,} components is too large to compile; check with "
            "--symmetry off or, if the model has multisets, with --engine interpreter"
        )
    if has_multisets(layout):
        parts.append(emit_multisets(layout, by_leaves=not symmetry))
    if symmetry:
        parts.append(_Canonical(Shape(layout, system.scalarsets), has_multisets(layout)).emit())
    else:
        body = ["sort_multisets(state);"] if has_multisets(layout) else ["(void)state;"]
        parts += [*braced("static void model_normalise(uint8_t *state)", body), ""]
    return "\n".join(parts)


@dataclass(frozen=True, eq=False)
class _Canonical:
    shape: Shape
    has_multisets: bool

    @cached_property
    def keys(self) -> LocalKeys:
        return LocalKeys(self.shape)

    @cached_property
    def relations(self) -> Relations:
        return Relations(self.shape, _start_bits(self.shape.layout))

    @cached_property
    def open_scalarsets(self) -> tuple[Scalarset, ...]:
        """The scalarsets whose elements may differ although their keys are equal."""
        return tuple(
            each for each in self.shape.scalarsets if each in self.relations.scalarsets or not self._is_exact(each)
        )

    def emit(self) -> str:
        image = Image(self.shape, self.has_multisets)
        relations = self.relations
        defines = {
            "ELEMENTS": self.shape.element_count,
            "LOCAL_WORDS": self.keys.word_count,
            "STATE_WORDS": image.word_count,
            "RELATIONS": max(1, relations.most),
            "COLUMNS": max(1, relations.columns),
            "SLOTS": relations.slots,
            "SLOT_COLUMNS": relations.slot_columns,
        }
        functions = [self.keys.emit()]
        if self.open_scalarsets:
            functions += ['#include "canon.h"', "", relations.emit()]
        functions += [image.emit(), *(self._sorter(each) for each in self.shape.scalarsets), self._normalise()]
        text = "\n".join(functions)
        header = "\n".join(f"#define {name} {value}" for name, value in defines.items())
        return "\n".join([header, self.shape.emit_tables(text), text])

    def _index_bits(self, scalarset: Scalarset) -> int:
        return (scalarset.size - 1).bit_length()

    def _is_exact(self, scalarset: Scalarset) -> bool:
        """Returns whether the key of an element and its number fit one word."""
        return self.keys.width(scalarset) + self._index_bits(scalarset) <= 64

    def _sorter(self, scalarset: Scalarset) -> str:
        """Returns the function that fills the places of a scalarset in ``order`` and ``tied``. Bit 0 of its result says
        that the order has changed, bit 1 that there are ties that matter."""
        first, count, bits = self.shape.first_element[scalarset], scalarset.size, self._index_bits(scalarset)
        names = [f"key_{number}" for number in range(count)]
        keys = [self._key(scalarset, number) for number in range(count)]
        if count <= LARGEST_NETWORK:
            lines = [f"uint64_t {name} = {key};" for name, key in zip(names, keys, strict=True)]
            lines += [f"IN_ORDER({names[a]}, {names[b]});" for a, b in sorting_network(count)]
        else:
            names = [f"keys[{number}]" for number in range(count)]
            lines = [f"uint64_t keys[{count}];"]
            lines += [f"{name} = {key};" for name, key in zip(names, keys, strict=True)]
            lines.append(f"insertion_sort(keys, {count});")
        lines.append("unsigned changed = 0, ties = 0;")
        mask = (1 << bits) - 1
        for place, name in enumerate(names):
            lines.append(f"order[{first - 1 + place}] = (Element)(({name} & {mask}) + {first});")
            lines.append(f"changed |= ({name} & {mask}) != {place};")
        if scalarset in self.open_scalarsets:
            lines.append(f"tied[{first - 1}] = 0;")
            for place in range(1, count):
                equal = f"{names[place]} >> {bits} == {names[place - 1]} >> {bits}"
                lines.append(f"ties |= tied[{first - 1 + place}] = {equal};")
        else:
            lines += [f"tied[{first - 1 + place}] = 0;" for place in range(count)]
        lines.append("return changed | ties << 1;")
        number = self.shape.scalarsets.index(scalarset)
        head = (
            f"static inline unsigned sort_elements_{number}"
            "(uint64_t (*local)[LOCAL_WORDS], Element *order, uint8_t *tied)"
        )
        return "\n".join([*braced(head, lines), ""])

    def _key(self, scalarset: Scalarset, number: int) -> str:
        """Returns the key of an element with its number in the low bits, so that keys differ and fit one word."""
        element, bits = self.shape.first_element[scalarset] + number, self._index_bits(scalarset)
        if self._is_exact(scalarset):
            return f"local[{element}][0] << {bits} | {number}"
        return f"(local_hash(local[{element}], LOCAL_WORDS) & ~low_bits({bits})) | {number}"

    def _normalise(self) -> str:
        lines = [
            "uint64_t local[ELEMENTS + 1][LOCAL_WORDS], image[STATE_WORDS + 1];",
            "Element order[ELEMENTS];",
            "uint8_t tied[ELEMENTS];",
            "unsigned found = 0;",
            "gather_local(state, local);",
        ]
        lines += [f"found |= sort_elements_{n}(local, order, tied);" for n in range(len(self.shape.scalarsets))]
        sort = ["sort_multisets(state);"] if self.has_multisets else []
        if self.open_scalarsets:
            resolve = [
                "Relations relations;",
                "gather_relations(state, &relations);",
                "found = (unsigned)resolve_ties(state, local, &relations, order, tied, image);",
            ]
            lines += [*braced("if (found & 2)", resolve), "else if (found) order_image(state, order, image);"]
            lines += braced("if (!found)", [*sort, "return;"])
        else:
            lines += [*braced("if (!found)", [*sort, "return;"]), "order_image(state, order, image);"]
        lines.append("__builtin_memcpy(state, image, STATE_BYTES);")
        return "\n".join([*braced("static void model_normalise(uint8_t *state)", lines), ""])


def _start_bits(layout: Layout) -> int:
    """Returns the bits of a start state, which most states resemble; zero if there is none."""
    if not layout.system.start_states:
        return 0
    start = replace(layout.system, start_states=layout.system.start_states[:1], rules=(), properties=())
    for firing in Interpreter(start, symmetry=False).start_states():
        if firing.raw is not None:
            return int.from_bytes(layout.pack(firing.raw), "little")
    return 0


def sorting_network(count: int) -> list[tuple[int, int]]:
    """Returns the comparators of Batcher's odd-even merge sort.

    >>> sorting_network(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    comparators: list[tuple[int, int]] = []
    width = 1
    while width < count:
        step = width
        while step >= 1:
            for start in range(step % width, count - step, 2 * step):
                for low in range(start, min(start + step, count - step)):
                    if low // (2 * width) == (low + step) // (2 * width):
                        comparators.append((low, low + step))
            step //= 2
        width *= 2
    return comparators

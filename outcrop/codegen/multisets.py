"""C that sorts the slots of multisets: those in use first, in the order of their leaves.

The leaves of a slot are gathered into words, the first leaf in the highest bits, so that comparing words compares leaf
by leaf. Under symmetry any order works that is the same for the whole orbit, and slots are compared by their bits. The
sort is an insertion sort, because a rule changes one or two slots. Nothing is written if the slots are in order.
"""

from __future__ import annotations

from collections.abc import Iterator

from outcrop.ir.layout import (
    Layout,
    field_offsets,
    leaf_offsets,
    size,
    slot_element_offset,
    slot_size,
    width,
)
from outcrop.ir.types import Array, Multiset, Record, Type

#: (bit within the slot, width, word of the key, shift within the word)
KeyLeaf = tuple[int, int, int, int]
#: Widest access, in bits, that one read covers at any bit.
WIDEST = 56


def emit_multisets(layout: Layout, by_leaves: bool) -> str:
    """Returns ``static void sort_multisets(uint8_t *state)``, and its helpers. ``by_leaves``: in the order of the
    leaves."""
    kinds: dict[Multiset, int] = {}
    for variable in layout.system.variables:
        for kind in _inner_first(variable.type):
            kinds.setdefault(kind, len(kinds))
    functions = [_sorter(kind, kinds, by_leaves) for kind in kinds]
    calls: list[str] = []
    for variable, start in zip(layout.system.variables, layout.variable_offsets, strict=True):
        calls += _calls(variable.type, str(start), kinds, 1)
    walker = ["static void sort_multisets(uint8_t *state) {", *calls, "}", ""]
    return "\n".join([*functions, *walker])


def has_multisets(layout: Layout) -> bool:
    return any(_holds_multiset(variable.type) for variable in layout.system.variables)


def _holds_multiset(kind: Type) -> bool:
    return any(isinstance(part, Multiset) for part in kind.parts())


def _inner_first(kind: Type) -> Iterator[Multiset]:
    return (part for part in reversed(list(kind.parts())) if isinstance(part, Multiset))


def _calls(kind: Type, bit: str, kinds: dict[Multiset, int], depth: int) -> list[str]:
    """Returns statements that sort every multiset in a type whose first bit is the expression ``bit``."""
    indent = "  " * depth
    if not _holds_multiset(kind):
        return []
    if isinstance(kind, Record):
        lines: list[str] = []
        for (_, each), offset in zip(kind.fields, field_offsets(kind), strict=True):
            lines += _calls(each, f"{bit} + {offset}", kinds, depth)
        return lines
    if isinstance(kind, Array):
        counter = f"i{depth}"
        count, stride = kind.index.cardinality, size(kind.element)
        return [
            f"{indent}for (uint64_t {counter} = 0; {counter} < {count}; {counter}++) {{",
            *_calls(kind.element, f"{bit} + {counter} * {stride}", kinds, depth + 1),
            f"{indent}}}",
        ]
    assert isinstance(kind, Multiset)
    return [f"{indent}sort_multiset_{kinds[kind]}(state, {bit});"]


def _key_leaves(kind: Multiset) -> list[KeyLeaf]:
    """Returns the place of each leaf of a slot in its key. No leaf is split between words."""
    offsets = leaf_offsets(kind.element, slot_element_offset(kind))
    placed: list[KeyLeaf] = []
    word, free = 0, 64
    for offset, leaf in zip(offsets, kind.element.leaves(), strict=True):
        bits = width(leaf)
        if bits > free:
            word, free = word + 1, 64
        free -= bits
        if bits:
            placed.append((offset, bits, word, free))
    return placed


def _key_bits(kind: Multiset) -> list[KeyLeaf]:
    """Returns the places of the bits of a slot in a key that is the slot itself."""
    whole, start = slot_size(kind), 0
    placed: list[KeyLeaf] = []
    while start < whole:
        placed.append((start, min(WIDEST, whole - start), len(placed), 0))
        start += WIDEST
    return placed


def _sorter(kind: Multiset, kinds: dict[Multiset, int], by_leaves: bool) -> str:
    name, capacity, stride = kinds[kind], kind.capacity, slot_size(kind)
    leaves = _key_leaves(kind) if by_leaves else _key_bits(kind)
    words = max((word for _, _, word, _ in leaves), default=0) + 1
    gather = [
        f"    key[{word}] |= get_bits(state, at + {offset}, {bits}) << {shift};" for offset, bits, word, shift in leaves
    ]
    scatter = [
        f"    set_bits(state, at + {offset}, {bits}, keys[slot][{word}] >> {shift} & low_bits({bits}));"
        for offset, bits, word, shift in leaves
    ]
    inner = _calls(kind.element, f"at + {slot_element_offset(kind)}", kinds, 2)
    return "\n".join(
        [
            f"static void sort_multiset_{name}(uint8_t *state, uint64_t bit) {{",
            f"  uint64_t keys[{max(1, capacity)}][{words}];",
            "  unsigned used = 0, in_place = 1;",
            f"  for (unsigned slot = 0; slot < {capacity}; slot++) {{",
            f"    const uint64_t at = bit + (uint64_t)slot * {stride};",
            f"    uint64_t key[{words}] = {{0}};",
            *inner,
            *gather,
            "    if (!get_bits(state, at, 1)) {",
            f"      for (unsigned word = 0; word < {words}; word++) in_place &= key[word] == 0;",
            "      continue;",
            "    }",
            "    unsigned place = used++;",
            f"    in_place &= place == slot && (place == 0 || !key_less(key, keys[place - 1], {words}));",
            f"    for (; place > 0 && key_less(key, keys[place - 1], {words}); place--)",
            f"      for (unsigned word = 0; word < {words}; word++) keys[place][word] = keys[place - 1][word];",
            f"    for (unsigned word = 0; word < {words}; word++) keys[place][word] = key[word];",
            "  }",
            "  if (in_place) return;",
            "  for (unsigned slot = 0; slot < used; slot++) {",
            f"    const uint64_t at = bit + (uint64_t)slot * {stride};",
            "    set_bits(state, at, 1, 1);",
            *scatter,
            "  }",
            f"  zero_bits(state, bit + (uint64_t)used * {stride}, (uint64_t)({capacity} - used) * {stride});",
            "}",
            "",
        ]
    )

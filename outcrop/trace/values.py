"""Names and texts of the values in a state, as the author of the model would write them.

A state is a row of leaves; a leaf gets a name such as ``node[2].state`` and a value such as ``Idle``. Multisets are
unordered, so that their slots have no names: an element is shown as a whole, as present or absent. A channel of Promela
is shown as a whole as well, with the messages that it holds: ``[ack,1][nak,0]``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from outcrop.ir.layout import Leaf
from outcrop.ir.system import System
from outcrop.ir.types import CHANNEL, Array, Multiset, Record, Simple, Type


@dataclass(frozen=True)
class Item:
    """A leaf, a whole multiset or a whole channel of a state: its name, its type, and the offset of its first leaf."""

    name: str
    type: Type
    offset: int

    def slice(self, state: Sequence[Leaf]) -> Sequence[Leaf]:
        return state[self.offset : self.offset + self.type.leaf_count]


def items(system: System) -> list[Item]:
    """Returns the multisets and channels of a state, and the leaves outside of these, in leaf order."""
    return [item for variable in system.variables for item in _items(variable.name, variable.type, variable.offset)]


def _items(name: str, kind: Type, offset: int) -> Iterator[Item]:
    if isinstance(kind, Record) and not is_channel(kind):
        for (field, inner), start in zip(kind.fields, kind.offsets, strict=True):
            yield from _items(f"{name}.{field}", inner, offset + start)
    elif isinstance(kind, Array):
        step = kind.element.leaf_count
        for number in range(kind.index.cardinality):
            index = kind.index.show(kind.index.low + number)
            yield from _items(f"{name}[{index}]", kind.element, offset + number * step)
    else:
        yield Item(name, kind, offset)


def elements(kind: Multiset, row: Sequence[Leaf]) -> list[Sequence[Leaf]]:
    """Returns the leaves of each element that a multiset contains."""
    step = kind.slot_leaf_count
    slots = [row[start : start + step] for start in range(0, len(row), step)]
    return [slot[1:] for slot in slots if slot[0] is not None]


def is_channel(kind: Type) -> bool:
    """Returns whether a type is that of a channel with a buffer in Promela."""
    return isinstance(kind, Record) and kind.name.startswith(CHANNEL)


def messages(kind: Type, row: Sequence[Leaf], value: Callable[[Simple, Leaf], str]) -> str:
    """Returns the messages of a channel, the oldest first: ``[ack,1][nak,0]``. ``value``: the text of a value."""
    assert isinstance(kind, Record)
    array = kind.fields[1][1]
    assert isinstance(array, Array)
    fields = list(array.element.leaves())
    parts = [row[1 + at * len(fields) :][: len(fields)] for at in range(int(row[0] or 0))]
    return "".join(f"[{','.join(map(value, fields, part))}]" for part in parts)


def show(kind: Type, row: Sequence[Leaf]) -> str:
    """Returns a value on one line. Undefined parts of records and arrays are left out."""
    if isinstance(kind, Simple):
        return kind.show(row[0])
    if isinstance(kind, Multiset):
        return "{" + ", ".join(sorted(show(kind.element, each) for each in elements(kind, row))) + "}"
    if is_channel(kind):
        return messages(kind, row, lambda each, value: each.show(value)) or "empty"
    inner = []
    if isinstance(kind, Record):
        parts = [(name, each, start) for (name, each), start in zip(kind.fields, kind.offsets, strict=True)]
    else:
        assert isinstance(kind, Array)
        step = kind.element.leaf_count
        names = [kind.index.show(kind.index.low + number) for number in range(kind.index.cardinality)]
        parts = [(f"[{name}]", kind.element, number * step) for number, name in enumerate(names)]
    for name, each, start in parts:
        leaves = row[start : start + each.leaf_count]
        if any(leaf is not None for leaf in leaves):
            inner.append(f"{name}: {show(each, leaves)}")
    return "(" + ", ".join(inner) + ")"

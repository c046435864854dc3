"""The output of ``put`` statements: emitted code records words, which become the text that the interpreter prints.

A record is the number of the site, followed for a value by whether it is defined and its number, and for a place by
whether it lies in the state, its bit, and its leaves in packed form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from outcrop.codegen.c import Emitted
from outcrop.ir.layout import decode, leaf_offsets
from outcrop.ir.names import leaf_names, state_leaf_names
from outcrop.ir.nodes import Expression, FieldPlace, IndexPlace, LocalPlace, Place, SlotPlace
from outcrop.ir.places import source_text
from outcrop.ir.types import Real, Simple
from outcrop.kernels import Counts


def printer(emitted: Emitted, output: Callable[[str], object]) -> Callable[[Counts], None]:
    """Returns a function that turns recorded words into one text, and passes it to ``output``."""
    formatter = PutFormatter(emitted)

    def put(words: Counts) -> None:
        output("".join(formatter.texts(words.tolist())))

    return put


def _words(argument: str | Expression | Place) -> int:
    """Returns the number of words in a record."""
    return 1 if isinstance(argument, str) else 3 + argument.type.leaf_count if isinstance(argument, Place) else 3


class PutFormatter:
    """Formats the records of one model."""

    def __init__(self, emitted: Emitted) -> None:
        layout = emitted.layout
        self._sites = emitted.put_sites
        self._state_names = state_leaf_names(layout.system)
        # If leaves without bits share a position with another leaf, the first of them gives the name.
        self._leaf_at = {bit: number for number, (bit, _, _) in reversed(list(enumerate(layout.leaves)))}

    def texts(self, words: Sequence[int]) -> Iterator[str]:
        """Yields the output, piece by piece. If kernels ran out of memory, the words end within a record."""
        at = 0
        while at < len(words):
            argument = self._sites[words[at]].argument
            if at + _words(argument) > len(words):
                yield "\n... and more, which is left out\n"
                return
            at += 1
            if isinstance(argument, str):
                yield argument
            elif isinstance(argument, Place):
                count = argument.type.leaf_count
                yield from self._place(argument, bool(words[at]), words[at + 1], words[at + 2 : at + 2 + count])
                at += 2 + count
            else:
                yield self._value(argument, bool(words[at]), words[at + 1])
                at += 2

    @staticmethod
    def _value(node: Expression, is_defined: bool, word: int) -> str:
        kind = node.type
        assert isinstance(kind, Simple)
        if not is_defined:
            return kind.undefined.capitalize()
        if isinstance(kind, Real):
            return kind.show(decode(kind, word))
        return kind.show(word - (1 << 64) if word >> 63 else word)

    def _place(self, place: Place, is_state: bool, bit: int, leaves: Sequence[int]) -> Iterator[str]:
        for name, kind, packed in zip(self._names(place, is_state, bit), place.type.leaves(), leaves, strict=True):
            value = decode(kind, packed)
            yield f"{name}:{kind.undefined.capitalize() if value is None else kind.show(value)}\n"

    def _names(self, place: Place, is_state: bool, bit: int) -> Sequence[str]:
        count = place.type.leaf_count
        if is_state and count:
            first = self._leaf_at[bit]
            return self._state_names[first : first + count]
        root = place
        while isinstance(root, FieldPlace | IndexPlace | SlotPlace):
            root = root.base
        if place.type.is_simple and isinstance(root, LocalPlace) and not root.local.is_reference:
            number = leaf_offsets(root.local.type).index(bit)
            return [leaf_names(root.local.type, root.local.name)[number]]
        return leaf_names(place.type, source_text(place.span))

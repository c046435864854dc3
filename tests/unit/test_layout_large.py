"""States with more leaves than one segment of the layout has."""

from __future__ import annotations

from random import Random

import pytest

from outcrop.ir.layout import Layout
from outcrop.lang import load_text
from outcrop.options import LoadOptions


@pytest.mark.parametrize(
    "kind", ["boolean", "0 .. 6", "0 .. 1000", "record a: boolean; b: 0 .. 20; end", "0 .. 9223372036854775806"]
)
def test_large_states_are_packed_and_unpacked(kind: str) -> None:
    text = f"var flag: boolean; x: array [0 .. 1999] of {kind}; startstate begin end; rule begin flag := true; end;"
    system, _ = load_text(text, "large.m", LoadOptions())
    layout, random = Layout(system), Random(1)
    for _ in range(3):
        state = tuple(
            None if random.random() < 0.2 else random.randint(leaf.low, leaf.low + leaf.cardinality - 1)
            for leaf in system.leaf_types
        )
        packed = layout.pack(state)
        assert len(packed) == layout.byte_count
        assert layout.unpack(packed) == state
        # The state bit by bit, as kernels read it.
        whole = int.from_bytes(packed, "little")
        for (bit, bits, leaf), value in zip(layout.leaves, state, strict=True):
            assert (whole >> bit & (1 << bits) - 1 == 0) == (value is None), leaf

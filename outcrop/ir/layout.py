"""The layout of the packed state.

A leaf of ``cardinality`` n takes just enough bits for 0 (undefined) and 1..n (value - low + 1), so that a state of
zeros is undefined everywhere. Leaves follow one another without gaps, in leaf order; the first leaf takes the lowest
bits of the first byte. Only leaves of more than 57 bits, which one unaligned 64-bit load could miss, start at a byte
boundary. Elements of an array lie at a constant distance, its *stride*, so that an index is one multiplication.

A real is the inverted bit pattern of its double: all ones is a NaN, so that zero is free for undefined.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from outcrop.ir.system import System
from outcrop.ir.types import Array, Multiset, Real, Record, Simple, Type

Leaf = int | float | None
State = tuple[Leaf, ...]

#: Widest leaf, in bits, that an 8-byte load at the byte of its first bit always covers.
WIDEST_UNALIGNED = 57
_SEGMENT_LEAVES = 512


def width(kind: Simple) -> int:
    """Returns the width of a leaf, in bits."""
    return 64 if isinstance(kind, Real) else kind.cardinality.bit_length()


@cache
def alignment(kind: Type) -> int:
    """Returns the alignment of a type in bits: 8 if it has a leaf that must start at a byte boundary, otherwise 1."""
    if isinstance(kind, Simple):
        return 8 if width(kind) > WIDEST_UNALIGNED else 1
    if isinstance(kind, Record):
        return max((alignment(each) for _, each in kind.fields), default=1)
    assert isinstance(kind, Array | Multiset)
    return alignment(kind.element)


def align(bit: int, to: int) -> int:
    return -(-bit // to) * to


@cache
def size(kind: Type) -> int:
    """Returns the size of a type in bits, a multiple of its alignment."""
    if isinstance(kind, Simple):
        return align(width(kind), alignment(kind))
    if isinstance(kind, Record):
        end = 0
        for _, each in kind.fields:
            end = align(end, alignment(each)) + size(each)
        return align(end, alignment(kind))
    if isinstance(kind, Array):
        return kind.index.cardinality * size(kind.element)
    assert isinstance(kind, Multiset)
    return kind.capacity * slot_size(kind)


@cache
def field_offsets(kind: Record) -> tuple[int, ...]:
    """Returns the first bit of each field of a record."""
    offsets, end = [], 0
    for _, each in kind.fields:
        start = align(end, alignment(each))
        offsets.append(start)
        end = start + size(each)
    return tuple(offsets)


def slot_element_offset(kind: Multiset) -> int:
    """Returns the first bit of the element in a slot; bit 0 is the flag."""
    return align(1, alignment(kind.element))


def slot_size(kind: Multiset) -> int:
    return align(slot_element_offset(kind) + size(kind.element), alignment(kind.element))


def leaf_offsets(kind: Type, start: int = 0) -> list[int]:
    """Returns the first bit of each leaf of a type that starts at bit ``start``, in leaf order."""
    if isinstance(kind, Simple):
        return [start]
    if isinstance(kind, Record):
        return [
            bit
            for (_, each), offset in zip(kind.fields, field_offsets(kind), strict=True)
            for bit in leaf_offsets(each, start + offset)
        ]
    if isinstance(kind, Array):
        inner = leaf_offsets(kind.element)
        stride = size(kind.element)
        return [start + i * stride + bit for i in range(kind.index.cardinality) for bit in inner]
    assert isinstance(kind, Multiset)
    inner = [0, *leaf_offsets(kind.element, slot_element_offset(kind))]
    return [start + i * slot_size(kind) + bit for i in range(kind.capacity) for bit in inner]


def encode(kind: Simple, value: Leaf) -> int:
    """Returns the packed form of one leaf."""
    if value is None:
        return 0
    if isinstance(kind, Real):
        bits: int = struct.unpack("<Q", struct.pack("<d", value + 0.0))[0]
        return bits ^ (2**64 - 1)
    return int(value) - kind.low + 1


def decode(kind: Simple, packed: int) -> Leaf:
    if packed == 0:
        return None
    if isinstance(kind, Real):
        value: float = struct.unpack("<d", struct.pack("<Q", packed ^ (2**64 - 1)))[0]
        return value
    return packed - 1 + kind.low


@dataclass(frozen=True, eq=False)
class Layout:
    """The layout of the states of one System."""

    system: System

    @cached_property
    def variable_offsets(self) -> tuple[int, ...]:
        """First bit of each variable."""
        offsets, end = [], 0
        for variable in self.system.variables:
            start = align(end, alignment(variable.type))
            offsets.append(start)
            end = start + size(variable.type)
        return tuple(offsets)

    @cached_property
    def bits(self) -> int:
        """Size of a state, in bits."""
        if not self.system.variables:
            return 0
        return self.variable_offsets[-1] + size(self.system.variables[-1].type)

    @property
    def byte_count(self) -> int:
        """Size of a state in bytes; at least one, so that a state without variables has an address."""
        return max(1, -(-self.bits // 8))

    @cached_property
    def leaves(self) -> tuple[tuple[int, int, Simple], ...]:
        """First bit, width and type of each leaf."""
        offsets = [
            bit
            for variable, start in zip(self.system.variables, self.variable_offsets, strict=True)
            for bit in leaf_offsets(variable.type, start)
        ]
        return tuple((bit, width(kind), kind) for bit, kind in zip(offsets, self.system.leaf_types, strict=True))

    @cached_property
    def _segments(self) -> tuple[tuple[int, int, tuple[tuple[int, int, Simple], ...]], ...]:
        """The leaves in segments of some hundred: the first byte of each segment, the byte after it, and its leaves
        with offsets from there. Shifting a whole state for each of a million leaves would take minutes."""
        segments = []
        for at in range(0, len(self.leaves), _SEGMENT_LEAVES):
            leaves = self.leaves[at : at + _SEGMENT_LEAVES]
            first = leaves[0][0] // 8
            end = -(-(leaves[-1][0] + leaves[-1][1]) // 8)
            segments.append((first, end, tuple((bit - first * 8, bits, kind) for bit, bits, kind in leaves)))
        return tuple(segments)

    def pack(self, state: Sequence[Leaf]) -> bytes:
        packed = bytearray(self.byte_count)
        values = iter(state)
        for first, end, leaves in self._segments:
            # Two segments share the byte in which they meet.
            part = packed[first]
            for (bit, _, kind), value in zip(leaves, values, strict=False):
                part |= encode(kind, value) << bit
            packed[first:end] = part.to_bytes(end - first, "little")
        return bytes(packed)

    def unpack(self, packed: bytes) -> State:
        values: list[Leaf] = []
        for first, end, leaves in self._segments:
            part = int.from_bytes(packed[first:end], "little")
            values.extend(decode(kind, part >> bit & (1 << bits) - 1) for bit, bits, kind in leaves)
        return tuple(values)

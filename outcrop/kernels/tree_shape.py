"""The shape of the trees that states are folded into: which bytes are leaves, and which leaves and nodes are paired.

The number of nodes depends on the shape, by a factor of up to 20. Of all shapes whose leaves follow the order of the
bytes, ``best_shape`` finds the one that takes the fewest nodes for a sample of states.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outcrop.kernels.states import States

#: Largest leaf, in bytes.
_LEAF = 4
#: Most pieces between which a state may be cut.
_MOST_PIECES = 96
#: Keys to sort, for all stretches of pieces together: about half a second.
_WORK = 1 << 24
#: Divisor of the sample that gives the second, smaller sample. Both together show how the number of values grows.
_FEWER = 4
#: Most pieces of a sample, over all its states. They take 8 bytes each, a few times over, on top of the budget.
_MOST_SAMPLED_PIECES = 1 << 18

_Numbers = NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class TreeShape:
    """A binary tree over the bytes of a state. ``leaf_bytes``: size of each leaf, in their order. ``left``, ``right``:
    the two values that each node pairs; the root comes last. Values are the leaves, the nodes and, behind them, 0."""

    leaf_bytes: _Numbers
    left: _Numbers
    right: _Numbers

    @property
    def nodes(self) -> int:
        """Number of inner nodes, without the root."""
        return len(self.left) - 1


def pairs_shape(state_bytes: int) -> TreeShape:
    """Returns the shape in which neighbours are paired, then neighbouring pairs, and so on."""

    def cut(begin: int, end: int) -> int:
        half = _LEAF
        while 2 * half < end - begin:
            half *= 2
        return begin + half

    return _shape(state_bytes, cut)


def best_shape(states: States, expected: int) -> TreeShape:
    """Returns the shape that takes the fewest nodes for ``expected`` states, of which these are a sample, among those
    that cut between pieces of a byte, or of a few bytes where states are wide. Too wide ones have neighbours paired."""
    state_bytes = states.shape[1]
    piece, pieces = _pieces(state_bytes)
    if not piece or len(states) == 0:
        return pairs_shape(state_bytes)
    sums = _prefix_sums(states[: most_sampled(state_bytes)], piece, pieces)
    cuts = _cheapest_cuts(sums, pieces, _LEAF // piece, expected)
    return _shape(state_bytes, lambda begin, end: cuts[begin // piece, -(-end // piece)] * piece)


def most_sampled(state_bytes: int) -> int:
    """Returns how many states of a sample ``best_shape`` can use."""
    _, pieces = _pieces(state_bytes)
    return max(1, min(_WORK // max(1, pieces * pieces), _MOST_SAMPLED_PIECES // max(1, pieces)))


def _pieces(state_bytes: int) -> tuple[int, int]:
    """Returns the size of a piece in bytes, 0 for states that are too wide, and the number of pieces."""
    piece = next((size for size in (1, 2, _LEAF) if size * _MOST_PIECES >= state_bytes), 0)
    return piece, -(-state_bytes // piece) if piece else 0


def _shape(state_bytes: int, cut: Callable[[int, int], int]) -> TreeShape:
    """Returns the shape in which each stretch of bytes that is not a leaf is cut where ``cut`` says."""
    leaf_bytes: list[int] = []
    pairs: list[tuple[object, object]] = []

    def part(begin: int, end: int, *, is_half: bool = False) -> object:
        if end - begin <= _LEAF:
            leaf_bytes.append(end - begin)
            leaf = ("leaf", len(leaf_bytes) - 1)
            if not is_half:
                return leaf
            pairs.append((leaf, ("zero", 0)))  # the numbers of nodes are small, and leaves are not
            return ("node", len(pairs) - 1)
        middle = cut(begin, end)
        pairs.append((part(begin, middle), part(middle, end)))
        return ("node", len(pairs) - 1)

    middle = cut(0, state_bytes) if state_bytes > _LEAF else (state_bytes + 1) // 2
    pairs.append((part(0, middle, is_half=True), part(middle, state_bytes, is_half=True)))
    first = {"leaf": 0, "node": len(leaf_bytes), "zero": len(leaf_bytes) + len(pairs) - 1}
    values = [[first[kind] + number for kind, number in pair] for pair in pairs]  # type: ignore[misc,has-type]
    left, right = np.array(values, dtype=np.uint32).T.copy()
    return TreeShape(np.array(leaf_bytes, dtype=np.uint32), left, right)


def _prefix_sums(states: States, piece: int, pieces: int) -> NDArray[np.uint64]:
    """Returns sums over the first pieces of each state, row by row: two stretches of pieces are equal if, but for rare
    accidents, the differences of their sums are."""
    rows = np.zeros((pieces * piece, len(states)), dtype=np.uint64)
    rows[: states.shape[1]] = states.T
    words = np.zeros((pieces, len(states)), dtype=np.uint64)
    for byte in range(piece):
        words |= rows[byte::piece] << np.uint64(8 * byte)
    words *= np.uint64(0x9E3779B97F4A7C15)
    words ^= words >> np.uint64(32)
    factors = np.random.default_rng(1).integers(0, 2**63, size=(pieces, 1), dtype=np.uint64)
    sums = np.zeros((pieces + 1, len(states)), dtype=np.uint64)
    np.cumsum(words * (factors * np.uint64(2) + np.uint64(1)), axis=0, out=sums[1:])
    return sums


def _distinct(values: NDArray[np.uint64]) -> int:
    values.sort()
    return 1 + int(np.count_nonzero(values[1:] != values[:-1]))


def _expected(values: NDArray[np.uint64], states: int) -> float:
    """Estimates the number of different values that ``states`` states have. It grows with a power of the number
    of states, which the sample and a quarter of it determine."""
    few = _distinct(values[::_FEWER].copy())
    many = _distinct(values)
    exponent = math.log(many / few, _FEWER)
    return float(many * max(1.0, states / len(values)) ** min(1.0, exponent))


def _cheapest_cuts(sums: NDArray[np.uint64], pieces: int, most_leaf: int, expected: int) -> dict[tuple[int, int], int]:
    """Returns where to cut each stretch of pieces: the least sum of different values over all nodes below, by dynamic
    programming over the length of the stretch."""
    cuts: dict[tuple[int, int], int] = {}
    cost = np.zeros((pieces + 1, pieces + 1))
    for length in range(2, pieces + 1):
        for begin in range(pieces - length + 1):
            end = begin + length
            if length <= most_leaf and length < pieces:
                continue
            inner = cost[begin, begin + 1 : end] + cost[begin + 1 : end, end]
            if length == pieces:
                # A half that is a leaf takes a node for each of its values.
                inner = inner.copy()
                for number in range(len(inner)):
                    middle = number + 1
                    if middle <= most_leaf:
                        inner[number] += _expected(sums[middle] - sums[0], expected)
                    if pieces - middle <= most_leaf:
                        inner[number] += _expected(sums[pieces] - sums[middle], expected)
            cuts[begin, end] = begin + 1 + int(np.argmin(inner))
            cost[begin, end] = inner.min() + (_expected(sums[end] - sums[begin], expected) if length < pieces else 0)
    return cuts

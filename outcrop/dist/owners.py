"""Which rank owns a state: a rule by which most successors stay with the rank that makes them, learned from the model.

A hash of a state scatters its successors over all ranks. But a step changes little of a state. If the owner follows from a
part of it, steps that leave this part alone stay at home: F. Lerda and R. Sisto, "Distributed-memory model checking with
SPIN" (1999), take the state of one process for it. Here the number of the owner consists of parities, each of a few bits of
the packed state. A parity of bits that vary independently is even or odd equally often as soon as there are a handful of
them, where a hash of a part needs thousands of different values of it to be as even.

The bits are chosen one after the other on a sample of steps: each makes the parity more even, in the whole sample and
in parts of it, such as the states in which some other bit is set, because the states of a level are not those of a walk;
and that for as few changes of the parity from one state to the next as possible.

No sample is like the states that are still to come. So the ranks take different ones: every other rank walks from the start
states, the rest from states that the search has found, and takes single steps from the later half of these. Each proposes
what it has chosen, and that is taken which is best over all samples. What was learned can be wrong; see
outcrop/search/balance.py for what happens then. Where nothing good is found, the owner follows from a hash.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from outcrop.kernels import Search, States
from outcrop.kernels_route import sample_steps

#: A bit for each state of the sample, in words.
Column = NDArray[np.uint64]

#: More ranks than these have owners by a hash.
MOST_PARITIES = 4
_WIDEST_STATE = 256
#: Steps that random walks have, and every which of these is taken.
_LENGTH = 512
_APART = 8
#: Steps of a sample, and the least; and how large a part of the states must be different, where every fourth is looked at.
_SAMPLE = 8192
_LEAST_SAMPLE = 4096
_LEAST_DIFFERENT = 0.2
_LOOKED_AT = 4
#: Bits that come into question, and how uneven each may be; bits of a parity.
_CANDIDATES = 48
_MOST_UNEVEN = 0.9
_FEWEST_BITS = 4
_MOST_BITS = 14
#: Parts of the walks, and pairs of bits, that also make parts of the sample; the least part.
_STRETCHES = 4
_PAIRS = 60
_LEAST_PART = 0.1
#: A bit never counts for more even than this: in the sample it may be so by chance.
_FAITH = 0.6
#: What a change of the parity costs at least, in choosing bits; how many changes an uneven one is worth, and the worst that
#: may become of it; and how much less often an owner must change than by a hash.
_LEAST_CHANGE = 0.004
_UNEVEN_COSTS = 5.0
_WORST = 0.8
_BETTER_THAN_HASH = 0.7


class Learner:
    """What one rank learns, from a sample of its own."""

    def __init__(self, search: Search, ranks: int, rank: int) -> None:
        count = ranks.bit_length() - 1
        self._sample: tuple[States, States] | None = None
        self.proposed: States | None = None
        if ranks == 1 << count and count <= MOST_PARITIES and search.native.state_bytes <= _WIDEST_STATE:
            self._sample = _take_sample(search, rank)
        if self._sample is not None:
            self.proposed = choose_parts(*self._sample, count, seed=rank // 2)

    def cost(self, parts: States) -> float:
        """How often such an owner changes in the sample, and how much more than its share the largest has of it."""
        if self._sample is None:
            return 0.0
        before, after = (_owners(states, parts) for states in self._sample)
        largest = np.bincount(before).max() * 2 ** len(parts) / len(before)
        return float((before != after).mean() + largest - 1)


def _owners(states: States, parts: States) -> NDArray[np.intp]:
    """The numbers that parities make."""
    numbers = np.zeros(len(states), dtype=np.intp)
    for number, part in enumerate(parts):
        numbers |= (_ONES[np.bitwise_xor.reduce(states & part, axis=1)] & 1).astype(np.intp) << number
    return numbers


def write_parts(parts: States | None) -> list[str]:
    return [] if parts is None else [part.tobytes().hex() for part in parts]


def read_parts(texts: list[str]) -> States | None:
    return np.array([list(bytes.fromhex(text)) for text in texts], dtype=np.uint8) if texts else None


def _take_sample(search: Search, rank: int) -> tuple[States, States] | None:
    """Steps, the states before and after them."""
    if rank % 2 == 0:
        before, after = _walk(search, rank, _SAMPLE, None)
    else:
        found = search.standing().level_end
        single = sample_steps(search, rank, _SAMPLE // 2, 1, first=found // 2)
        walks = _walk(search, rank, _SAMPLE // 2, 0)
        before, after = (np.concatenate(each) for each in zip(single, walks, strict=True))
    size = len(before) // 64 * 64
    some = before[:size:_LOOKED_AT]
    if size < _LEAST_SAMPLE or len({row.tobytes() for row in some}) < _LEAST_DIFFERENT * len(some):
        return None
    return before[:size], after[:size]


def _walk(search: Search, seed: int, size: int, first: int | None) -> tuple[States, States]:
    """Steps of random walks, in the order of how far on their walk they are, unless walks come to an end."""
    before, after = sample_steps(search, seed, _APART * size, _LENGTH, _APART, first)
    order = np.argsort(np.arange(len(before)) % (_LENGTH // _APART), kind="stable")
    return before[order], after[order]


def choose_parts(before: States, after: States, count: int, seed: int = 0) -> States | None:
    """Masks of states, one for each bit of the number of an owner, which is the parity of what the mask leaves; from steps
    between states, a multiple of 64 of them. None: let a hash decide."""
    bits = _candidates(before, after)
    if len(bits) < _FEWEST_BITS:
        return None
    columns, changes = _columns(before, bits), _columns(before ^ after, bits)
    uneven = np.abs(1 - 2 * _count(columns) / len(before))
    chooser = _Chooser(columns, changes, uneven, seed)
    masks = np.zeros((count, before.shape[1]), dtype=np.uint8)
    for number in range(count):
        chosen = chooser.choose()
        if chosen is None:
            return None
        for bit in bits[chosen]:
            masks[number, bit // 8] |= 1 << bit % 8
    return masks if chooser.changes_together() < _BETTER_THAN_HASH * (1 - 2.0**-count) else None


def _candidates(before: States, after: States) -> NDArray[np.intp]:
    """Numbers of bits that vary from state to state, and seldom from one state to the next."""
    set_in, changed = (np.zeros(8 * before.shape[1]) for _ in range(2))
    for begin, end in pairwise([*range(0, len(before), 1024), len(before)]):
        set_in += np.unpackbits(before[begin:end], axis=1, bitorder="little").sum(axis=0)
        changed += np.unpackbits(before[begin:end] ^ after[begin:end], axis=1, bitorder="little").sum(axis=0)
    uneven = np.abs(1 - 2 * set_in / len(before))
    bits = np.flatnonzero((uneven < _MOST_UNEVEN) & (changed > 0))
    return bits[np.argsort(changed[bits] / (1 - uneven[bits]), kind="stable")][:_CANDIDATES]


def _columns(states: States, bits: NDArray[np.intp]) -> Column:
    """A row for each bit."""
    rows = states[:, bits // 8] >> (bits % 8).astype(np.uint8) & 1
    return np.packbits(rows.T, axis=1, bitorder="little").view(np.uint64)


def _count(columns: Column) -> NDArray[np.int64]:
    """How many bits are set in each row."""
    if hasattr(np, "bitwise_count"):
        ones: NDArray[np.uint8] = np.bitwise_count(columns)
    else:  # numpy 1
        ones = _ONES[columns.view(np.uint16)]
    return np.asarray(ones.sum(axis=-1, dtype=np.int64))


_ONES = np.array([number.bit_count() for number in range(1 << 16)], dtype=np.uint8)


class _Chooser:
    """Chooses the bits of one parity after the other."""

    def __init__(self, columns: Column, changes: Column, uneven: NDArray[np.float64], seed: int) -> None:
        self._columns = columns
        self._changes = changes
        self._uneven = np.maximum(uneven, _FAITH)
        self._states = 64 * columns.shape[1]
        self._chance = random.Random(seed)  # that of numpy would have to be loaded, into 4 MB of memory
        self._parts = np.array([part for part in self._all_parts() if _count(part) > _LEAST_PART * self._states])
        self._sizes = _count(self._parts)
        self._sums = np.zeros_like(columns[:1])  #: of the parities that are chosen, each with each
        self._changed = np.zeros_like(columns[0])  #: where one of these changes

    def _all_parts(self) -> Iterator[Column]:
        words = self._columns.shape[1]
        for number in range(_STRETCHES):
            stretch = np.zeros(words, dtype=np.uint64)
            stretch[words * number // _STRETCHES : words * (number + 1) // _STRETCHES] = ~np.uint64(0)
            yield stretch
        for column in self._columns:
            yield from (column, ~column)
        for _ in range(_PAIRS):
            one, other = self._chance.sample(range(len(self._columns)), 2)
            yield self._either(one) & self._either(other)

    def _either(self, number: int) -> Column:
        """The states in which a bit is set, or those in which it is not."""
        column: Column = self._columns[number]
        return column if self._chance.random() < 0.5 else ~column

    def choose(self) -> list[int] | None:
        """The numbers of the candidates that make a parity; None if that would be no good."""
        parity, change = np.zeros_like(self._columns[0]), np.zeros_like(self._columns[0])
        chosen: list[int] = []
        best: list[int] | None = None
        least_cost, score, faith, changes = _WORST, 1.0, 1.0, 0.0
        while len(chosen) < _MOST_BITS:
            often = _count(change ^ self._changes) / self._states
            costs = np.maximum(often - changes + _LEAST_CHANGE, _LEAST_CHANGE / 2)
            found = self._best(parity, chosen, score, faith, costs)
            if found is None:
                break
            next_one, score = found
            chosen.append(next_one)
            parity, change = parity ^ self._columns[next_one], change ^ self._changes[next_one]
            changes = float(often[next_one])
            faith *= float(self._uneven[next_one])
            cost = changes + _UNEVEN_COSTS * score
            if len(chosen) >= _FEWEST_BITS and cost < least_cost:
                least_cost, best = cost, list(chosen)
        if best is not None:
            self._take(best)
        return best

    def _best(
        self, parity: Column, chosen: list[int], score: float, faith: float, costs: NDArray[np.float64]
    ) -> tuple[int, float] | None:
        """The candidate that makes the parity more even at the least cost, and how uneven it then is. Those that promise most
        come first, and the rest need not be tried: no gain is greater than what it promises."""
        most_even = faith * self._uneven
        promises = np.log(score / most_even) / costs
        promises[chosen] = -np.inf
        greatest, best = 0.0, None
        for candidate in np.argsort(-promises, kind="stable").tolist():
            if promises[candidate] <= greatest:
                break
            reached = max(self._score(parity ^ self._columns[candidate]), float(most_even[candidate]))
            gain = math.log(score / reached) / float(costs[candidate])
            if gain > greatest:
                greatest, best = gain, (candidate, reached)
        return best

    def _score(self, parity: Column) -> float:
        """How uneven a parity is: in parts of the sample, and summed with those chosen before."""
        squares = [(1 - 2 * _count((parity ^ each) & self._parts) / self._sizes) ** 2 for each in self._sums]
        return math.sqrt(float(np.mean(squares)))

    def _take(self, chosen: list[int]) -> None:
        parity = np.bitwise_xor.reduce(self._columns[chosen], axis=0)
        self._sums = np.concatenate([self._sums, self._sums ^ parity])
        self._changed |= np.bitwise_xor.reduce(self._changes[chosen], axis=0)

    def changes_together(self) -> float:
        """How often one of the parities changes."""
        return float(_count(self._changed) / self._states)

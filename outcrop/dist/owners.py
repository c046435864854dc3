"""Which rank owns a state: a rule by which most successors stay with the rank that makes them, learned from the model.

A hash of a state scatters its successors over all ranks. But a step changes little of a state. If the owner follows from a
part of it, steps that leave this part alone stay at home: F. Lerda and R. Sisto, "Distributed-memory model checking with
SPIN" (1999), take the state of one process for it. Here the number of the owner consists of parities, each of a few bits of
the packed state. Where no bit is set in half of the states, the parity of some that vary independently soon is.

The bits are chosen on a sample of steps: single ones from all over the states that the search has found, and further ones
on short walks from there, since no sample is like the states that are still to come. All ranks contribute to it. It has
parts, by when the search has found a state and by how far a walk has come. What counts is how uneven a parity is in each
of them, since levels are expanded one after the other, and each takes as long as the rank that has most of it; and how
often a step changes it in that part where this is most often, because what seldom happens at first may happen often later.

From a single bit on, the bit joins or leaves
that lowers the cost most, until none does. The ranks begin with different bits, and the best of what they come to is
taken. What was learned can be wrong; see outcrop/search/balance.py for what happens then. Where nothing good is found,
the owner follows from a hash.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outcrop.kernels import Search, States
from outcrop.kernels_route import sample_steps

#: States before and after steps: of each part of the sample, and of each step in it.
Steps = tuple[NDArray[np.uint8], NDArray[np.uint8]]
#: A bit for each step of each part, in words.
Column = NDArray[np.uint64]

#: More ranks than these have owners by a hash.
MOST_PARITIES = 4
_WIDEST_STATE = 256
#: Single steps that all ranks contribute, and as many of walks; the least of both; and how large a part of the states must
#: be different, where every fourth is looked at.
_SAMPLE = 8192
_LEAST_SAMPLE = 4096
_LEAST_DIFFERENT = 0.2
_LOOKED_AT = 4
#: Steps of a walk from a state that was found, and, before any is, from the start; and every which of them is taken.
_LENGTH = 64
_LENGTH_FROM_START = 512
_APART = 8
#: Parts of the single steps, and as many of those of walks.
_PARTS = 8
#: Bits that come into question; and how many of them it is tried to begin with.
_CANDIDATES = 64
_BEGINNINGS = 8
#: How much longer a search takes if every step leads to another rank; if one of two ranks owns all states, where memory and
#: what lies ahead, which is less even than the sample, count too; and for each bit, because it may change more often there.
_CHANGE_COSTS = 0.7
_UNEVEN_COSTS = 2.0
_BIT_COSTS = 0.0014
#: ... and how much more an uneven one of several parities costs: each may turn out less even than the sample.
_ONE_OF_SEVERAL = 1.5
#: How much less often an owner must change than by a hash.
_BETTER_THAN_HASH = 0.7


@dataclass(frozen=True)
class Proposal:
    cost: float
    parts: States  #: masks of states, one for each bit of the number of an owner: the parity of what the mask leaves


def write_parts(parts: States | None) -> list[str]:
    return [] if parts is None else [part.tobytes().hex() for part in parts]


def read_parts(texts: list[str]) -> States | None:
    return np.array([list(bytes.fromhex(text)) for text in texts], dtype=np.uint8) if texts else None


def can_be_parities(search: Search, ranks: int) -> bool:
    """Whether parities tell so many owners of such states apart."""
    return ranks.bit_count() == 1 and ranks <= 1 << MOST_PARITIES and search.native.state_bytes <= _WIDEST_STATE


# --- The sample --------------------------------------------------------------------------------------------------


def take_sample(search: Search, ranks: int, rank: int) -> Steps:
    """What one rank contributes."""
    steps = _SAMPLE // ranks
    if search.standing().level_end == 0:
        return _in_parts(_walk(search, rank, 2 * steps, _LENGTH_FROM_START), 2 * _PARTS)
    single = _in_parts(sample_steps(search, rank, steps, 1), _PARTS)
    further = _in_parts(_walk(search, rank, steps, _LENGTH), _PARTS)
    size = min(single[0].shape[1], further[0].shape[1])
    before, after = (np.concatenate([one[:, :size], other[:, :size]]) for one, other in zip(single, further, strict=True))
    return before, after


def _walk(search: Search, seed: int, steps: int, length: int) -> tuple[States, States]:
    """Steps of random walks, in the order of how far on their walk they are, unless walks come to an end."""
    before, after = sample_steps(search, seed, _APART * steps, length, _APART)
    order = np.argsort(np.arange(len(before)) % (length // _APART), kind="stable")
    return before[order], after[order]


def _in_parts(steps: tuple[States, States], parts: int) -> Steps:
    size = len(steps[0]) // parts
    before, after = (states[: parts * size].reshape(parts, size, -1) for states in steps)
    return before, after


def join_samples(samples: list[Steps]) -> Steps | None:
    """What all ranks have contributed, the same for each of them. None: too little to learn from."""
    before, after = (np.concatenate(each, axis=1) for each in zip(*samples, strict=True))
    size = before.shape[1] // 64 * 64
    some = before[:, :size:_LOOKED_AT].reshape(-1, before.shape[2])
    if len(before) * size < _LEAST_SAMPLE or len({row.tobytes() for row in some}) < _LEAST_DIFFERENT * len(some):
        return None
    return before[:, :size], after[:, :size]


# --- Choosing ----------------------------------------------------------------------------------------------------


def propose(steps: Steps, count: int, rank: int = 0, ranks: int = 1) -> Proposal | None:
    """The best that one rank comes to, for so many parities. None: let a hash decide."""
    before, after = steps
    bits = _candidates(before, after)
    uneven_costs = _UNEVEN_COSTS * (_ONE_OF_SEVERAL if count > 1 else 1)
    chooser = _Chooser(_columns(before, bits), _columns(before ^ after, bits), uneven_costs)
    masks = np.zeros((count, before.shape[2]), dtype=np.uint8)
    cost = 0.0
    for number in range(count):
        descents = [chooser.descend(bit) for bit in chooser.beginnings()[rank::ranks]]
        if not descents:
            return None
        cost, chosen = min(descents)
        chooser.take(chosen)
        for bit in bits[chosen]:
            masks[number, bit // 8] |= 1 << bit % 8
    return Proposal(cost, masks) if chooser.changes() < _BETTER_THAN_HASH * (1 - 2.0**-count) else None


def _candidates(before: States, after: States) -> NDArray[np.intp]:
    """Numbers of bits that vary from state to state, and seldom from one state to the next."""
    set_in, changed = (np.zeros(8 * before.shape[2]) for _ in range(2))
    for part, next_part in zip(before, after, strict=True):
        set_in += np.unpackbits(part, axis=1, bitorder="little").sum(axis=0)
        changed += np.unpackbits(part ^ next_part, axis=1, bitorder="little").sum(axis=0)
    varies = np.minimum(set_in, before.shape[0] * before.shape[1] - set_in)
    bits = np.flatnonzero(varies)
    return bits[np.argsort(changed[bits] / varies[bits], kind="stable")][:_CANDIDATES]


def _columns(states: States, bits: NDArray[np.intp]) -> Column:
    """One for each bit."""
    rows = states[:, :, bits // 8] >> (bits % 8).astype(np.uint8) & 1
    return np.packbits(rows.transpose(2, 0, 1), axis=2, bitorder="little").view(np.uint64)


def _count(columns: Column) -> NDArray[np.int64]:
    """How many bits are set in each part."""
    if hasattr(np, "bitwise_count"):
        ones: NDArray[np.uint8] = np.bitwise_count(columns)
    else:  # numpy 1
        ones = _ONES[columns.view(np.uint16)]
    return np.asarray(ones.sum(axis=-1, dtype=np.int64))


_ONES = np.array([number.bit_count() for number in range(1 << 16)], dtype=np.uint8)


class _Chooser:
    """Chooses one parity after the other, from candidates: where each is set, and where a step changes it."""

    def __init__(self, columns: Column, changes: Column, uneven_costs: float) -> None:
        self._columns = columns
        self._changes = changes
        self._uneven_costs = uneven_costs
        self._size = 64 * columns.shape[2]  #: of a part
        self._sums = np.zeros_like(columns, shape=(1, *columns.shape[1:]))  #: of those that are taken, each with each
        self._changed = np.zeros_like(self._sums[0])  #: where one of these changes

    def beginnings(self) -> list[int]:
        """The candidates that are best alone."""
        costs = self._costs(self._columns, self._changes, np.ones(len(self._columns)))
        return [int(each) for each in np.argsort(costs, kind="stable")[:_BEGINNINGS]]

    def descend(self, beginning: int) -> tuple[float, list[int]]:
        """What a parity costs that begins with a candidate, and what it consists of."""
        parity, change = self._columns[beginning], self._changes[beginning]
        chosen, least = {beginning}, self._costs(parity[None], change[None], np.ones(1))[0]
        while True:
            numbers = [len(chosen) + (-1 if each in chosen else 1) for each in range(len(self._columns))]
            costs = self._costs(parity ^ self._columns, change ^ self._changes, np.array(numbers))
            best = int(costs.argmin())
            if not costs[best] < least or numbers[best] == 0:
                return float(least), sorted(chosen)
            least = costs[best]
            chosen ^= {best}
            parity, change = parity ^ self._columns[best], change ^ self._changes[best]

    def _costs(self, parities: Column, changes: Column, bits: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of each of some parities, of so many bits, beside those that are taken."""
        by_chance = 1 / self._size  # the square of how uneven a part of this size is
        uneven = np.zeros(len(parities))
        for each in self._sums:  # the largest owner may have as much more as all of these together
            squares = (1 - 2 * _count(parities ^ each) / self._size) ** 2
            uneven += np.sqrt(np.maximum(0, squares - by_chance)).mean(axis=-1)
        changed = _count(changes | self._changed).max(axis=-1) / self._size
        return np.asarray(self._uneven_costs * uneven + _CHANGE_COSTS * changed + _BIT_COSTS * bits)

    def take(self, chosen: list[int]) -> None:
        parity = np.bitwise_xor.reduce(self._columns[chosen], axis=0)
        self._sums = np.concatenate([self._sums, self._sums ^ parity])
        self._changed |= np.bitwise_xor.reduce(self._changes[chosen], axis=0)

    def changes(self) -> float:
        """How often one of the parities changes."""
        return float(_count(self._changed).sum() / self._changed.size / 64)

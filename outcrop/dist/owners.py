"""Ownership of states by parities: a function, learned from the model, that keeps most successors on their rank.

A hash scatters the successors of a state over all ranks. But a step changes little of a state. If only a part of the
state decides who owns it, then steps that leave this part alone stay on their rank. F. Lerda and R. Sisto,
"Distributed-memory model checking with SPIN" (1999), use the state of one process as this part. Here the owner's number
consists of parities, each over a few bits of the packed state. A single bit is seldom set in half of the states, but
the parity of a few independent bits nearly always is.

The bits are chosen on a sample of steps, to which all ranks contribute. Half of it are single steps from all over the
states found so far. The other half are steps on short walks that begin there, because the states still to come differ
from those found. The sample is divided into parts: single steps by when their state was found, steps of walks by their
distance from its beginning. The cost of a parity has two main terms:

- Its imbalance, averaged over the parts. Levels are expanded one after the other, and each takes as long as the rank
  that has most of it.
- The rate at which steps change it, in the part where that rate is highest: what is rare early in a search may become
  common.

The choice is a descent. It begins with a single bit and adds or removes the bit that lowers the cost most, until none
does. Each rank begins with other bits, and the cheapest result is taken. Where no result is good enough, a hash
decides. A choice can prove wrong later: outcrop/dist/balance.py then returns to the hash.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outcrop.kernels import Search, States
from outcrop.kernels.route import sample_steps

#: The states before and after each step, by part of the sample.
Steps = tuple[NDArray[np.uint8], NDArray[np.uint8]]
#: One bit for each step, by part of the sample, packed into words.
Column = NDArray[np.uint64]

#: Largest number of parities. With more than 2**4 ranks a hash decides.
MOST_PARITIES = 4
#: Widest state that parities are learned for, in bytes.
_WIDEST_STATE = 256
#: Single steps in the sample of all ranks. There are as many steps of walks.
_SAMPLE = 8192
#: Fewest steps, of both kinds together, to learn from.
_LEAST_SAMPLE = 4096
#: Least share of the sampled states that must be distinct. Every ``_LOOKED_AT``-th is looked at.
_LEAST_DIFFERENT = 0.2
_LOOKED_AT = 4
#: Steps of a walk from a state that was found.
_LENGTH = 64
#: Steps of a walk from a start state, while no state was found.
_LENGTH_FROM_START = 512
#: Steps of a walk from one that is sampled to the next.
_APART = 8
#: Parts into which single steps are divided. Steps of walks have as many.
_PARTS = 8
#: Bits of a state that a parity may consist of.
_CANDIDATES = 64
#: Bits that a descent begins with, all ranks together.
_BEGINNINGS = 8
#: Cost of steps that all lead to another rank, as a share of the search's time.
_CHANGE_COSTS = 0.7
#: Cost of one of two ranks owning all states. It includes memory, and that the states to come are less even than the
#: sample.
_UNEVEN_COSTS = 2.0
#: Cost of each bit: among the states to come it may change more often.
_BIT_COSTS = 0.0014
#: Factor on the cost of imbalance where there are several parities: each may prove less even than the sample.
_ONE_OF_SEVERAL = 1.5
#: Highest rate at which steps change the owner, relative to that of a hash.
_BETTER_THAN_HASH = 0.7


@dataclass(frozen=True)
class Proposal:
    """Parities, and what they cost."""

    cost: float
    parts: States  #: one mask of a state for each bit of the owner's number, which is the parity of the masked state


def write_parts(parts: States | None) -> list[str]:
    return [] if parts is None else [part.tobytes().hex() for part in parts]


def read_parts(texts: list[str]) -> States | None:
    return np.array([list(bytes.fromhex(text)) for text in texts], dtype=np.uint8) if texts else None


def can_be_parities(search: Search, ranks: int) -> bool:
    """Returns whether parities can divide states of this width among this many ranks."""
    return ranks.bit_count() == 1 and ranks <= 1 << MOST_PARITIES and search.native.model_bytes <= _WIDEST_STATE


# --- The sample --------------------------------------------------------------------------------------------------


def take_sample(search: Search, ranks: int, rank: int) -> Steps:
    """Returns the steps that one rank contributes."""
    steps = _SAMPLE // ranks
    if search.standing().level_end == 0:
        return _in_parts(_walk(search, rank, 2 * steps, _LENGTH_FROM_START), 2 * _PARTS)
    single = _in_parts(sample_steps(search, rank, steps, 1), _PARTS)
    further = _in_parts(_walk(search, rank, steps, _LENGTH), _PARTS)
    size = min(single[0].shape[1], further[0].shape[1])
    before, after = (
        np.concatenate([one[:, :size], other[:, :size]]) for one, other in zip(single, further, strict=True)
    )
    return before, after


def _walk(search: Search, seed: int, steps: int, length: int) -> tuple[States, States]:
    """Returns steps of random walks, ordered by distance from the beginning of their walk, unless walks end early."""
    before, after = sample_steps(search, seed, _APART * steps, length, _APART)
    order = np.argsort(np.arange(len(before)) % (length // _APART), kind="stable")
    return before[order], after[order]


def _in_parts(steps: tuple[States, States], parts: int) -> Steps:
    size = len(steps[0]) // parts
    before, after = (states[: parts * size].reshape(parts, size, -1) for states in steps)
    return before, after


def join_samples(samples: list[Steps]) -> Steps | None:
    """Returns the sample of all ranks, the same on each of them. None: there is too little to learn from."""
    before, after = (np.concatenate(each, axis=1) for each in zip(*samples, strict=True))
    size = before.shape[1] // 64 * 64
    some = before[:, :size:_LOOKED_AT].reshape(-1, before.shape[2])
    if len(before) * size < _LEAST_SAMPLE or len({row.tobytes() for row in some}) < _LEAST_DIFFERENT * len(some):
        return None
    return before[:, :size], after[:, :size]


# --- Choosing ----------------------------------------------------------------------------------------------------


def propose(steps: Steps, count: int, rank: int = 0, ranks: int = 1) -> Proposal | None:
    """Returns the cheapest ``count`` parities that one rank finds. None: let a hash decide."""
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
    """Returns the numbers of the bits that differ between states and that steps seldom change."""
    set_in, changed = (np.zeros(8 * before.shape[2]) for _ in range(2))
    for part, next_part in zip(before, after, strict=True):
        set_in += np.unpackbits(part, axis=1, bitorder="little").sum(axis=0)
        changed += np.unpackbits(part ^ next_part, axis=1, bitorder="little").sum(axis=0)
    varies = np.minimum(set_in, before.shape[0] * before.shape[1] - set_in)
    bits = np.flatnonzero(varies)
    return bits[np.argsort(changed[bits] / varies[bits], kind="stable")][:_CANDIDATES]


def _columns(states: States, bits: NDArray[np.intp]) -> Column:
    """Returns a column for each bit."""
    rows = states[:, :, bits // 8] >> (bits % 8).astype(np.uint8) & 1
    return np.packbits(rows.transpose(2, 0, 1), axis=2, bitorder="little").view(np.uint64)


def _count(columns: Column) -> NDArray[np.int64]:
    """Returns how many bits are set in each part."""
    if hasattr(np, "bitwise_count"):
        ones: NDArray[np.uint8] = np.bitwise_count(columns)
    else:  # numpy 1
        ones = _ONES[columns.view(np.uint16)]
    return np.asarray(ones.sum(axis=-1, dtype=np.int64))


_ONES = np.array([number.bit_count() for number in range(1 << 16)], dtype=np.uint8)


class _Chooser:
    """The choice of one parity after the other. A candidate bit has two columns: where it is set, and where a step
    changes it."""

    def __init__(self, columns: Column, changes: Column, uneven_costs: float) -> None:
        self._columns = columns
        self._changes = changes
        self._uneven_costs = uneven_costs
        self._size = 64 * columns.shape[2]  #: number of steps in a part of the sample
        self._sums = np.zeros_like(
            columns, shape=(1, *columns.shape[1:])
        )  #: sums of all subsets of the chosen parities
        self._changed = np.zeros_like(self._sums[0])  #: where a step changes one of these

    def beginnings(self) -> list[int]:
        """Returns the candidates that cost least alone."""
        costs = self._costs(self._columns, self._changes, np.ones(len(self._columns)))
        return [int(each) for each in np.argsort(costs, kind="stable")[:_BEGINNINGS]]

    def descend(self, beginning: int) -> tuple[float, list[int]]:
        """Returns the cost of the parity that a descent from a candidate reaches, and the candidates in it."""
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
        """Returns the cost of each parity, given the number of its bits, in addition to those taken."""
        by_chance = 1 / self._size  # expected square of the imbalance of fair coins
        uneven = np.zeros(len(parities))
        for each in self._sums:  # the largest owner's excess is at most the sum of these
            squares = (1 - 2 * _count(parities ^ each) / self._size) ** 2
            uneven += np.sqrt(np.maximum(0, squares - by_chance)).mean(axis=-1)
        changed = _count(changes | self._changed).max(axis=-1) / self._size
        return np.asarray(self._uneven_costs * uneven + _CHANGE_COSTS * changed + _BIT_COSTS * bits)

    def take(self, chosen: list[int]) -> None:
        parity = np.bitwise_xor.reduce(self._columns[chosen], axis=0)
        self._sums = np.concatenate([self._sums, self._sums ^ parity])
        self._changed |= np.bitwise_xor.reduce(self._changes[chosen], axis=0)

    def changes(self) -> float:
        """Returns the rate at which steps change one of the parities."""
        return float(_count(self._changed).sum() / self._changed.size / 64)

"""Runs that only one of two graphs has: inclusion of runs, by the subset construction over bisimilar blocks.

A pair is a block of the first graph and the set of blocks that the second may be in after the same labels. A pair whose
set contains the block is settled, since bisimilar states have the same runs. So is one whose set contains the set of
another pair with the same block (antichains: De Wulf, Doyen, Henzinger, Raskin 2006).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outcrop.compare.bisimulation import Blocks, Union, start_blocks
from outcrop.compare.labels import HIDDEN

#: Most pairs that are followed.
MOST_PAIRS = 1_000_000

Set = frozenset[int]


@dataclass(frozen=True)
class Difference:
    """A shortest run, by labels, that only one graph has. ``possible``: the labels that the other graph can do instead
    of the last one. ``is_branching``: both have the run, but can be in states after it that offer other labels.
    ``observed``: the class of each state of the run; ``others``: classes of states of the other graph after its last
    label."""

    labels: tuple[int, ...]
    possible: tuple[int, ...]
    observed: tuple[int, ...]
    others: tuple[int, ...] = ()
    is_branching: bool = False


class TooManyPairs(Exception):
    """Raised when the subset construction grows past its limit."""


class Quotient:
    """The graph of blocks of a stable partition."""

    def __init__(self, graph: Union, blocks: Blocks) -> None:
        count = int(blocks.max(initial=0)) + 1
        first = np.zeros(count, dtype=np.int64)
        first[blocks[::-1]] = np.arange(graph.states)[::-1]
        rows = np.unique(np.concatenate(list(_edges(graph, blocks, first))), axis=0)
        self._begins, self._ends = (np.searchsorted(rows[:, 0], np.arange(count), side) for side in ("left", "right"))
        self._labels, self._targets = rows[:, 1], rows[:, 2]
        self._after: dict[tuple[Set, int], Set] = {}
        self._observed = graph.observed[first].tolist()
        mine, others = start_blocks(graph, blocks)
        self.starts = frozenset(mine), frozenset(others)

    def edges(self, block: int) -> Iterator[tuple[int, int]]:
        """Yields the label and the target of each edge of a block, in order."""
        begin, end = self._begins[block], self._ends[block]
        return zip(self._labels[begin:end].tolist(), self._targets[begin:end].tolist(), strict=True)

    def observed(self, block: int) -> int:
        """Returns the class of the states of a block."""
        return int(self._observed[block])

    def agreeing(self, blocks: Set, observed: int) -> Set:
        """Returns the blocks of a class."""
        return frozenset(block for block in blocks if self._observed[block] == observed)

    def labels(self, blocks: Set) -> set[int]:
        return {label for block in blocks for label, _ in self.edges(block)}

    def after(self, blocks: Set, label: int) -> Set:
        """Returns the blocks that a label leads to from a set of them."""
        key = blocks, label
        if key not in self._after:
            self._after[key] = frozenset(
                target for block in blocks for each, target in self.edges(block) if each == label
            )
        return self._after[key]


def _edges(graph: Union, blocks: Blocks, states: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yields the edges of states, those of each graph together: the block, the label, and the block of the target."""
    for base, part in ((0, graph.parts[0]), (graph.first, graph.parts[1])):
        mine = np.flatnonzero((states >= base) & (states < base + part.states))
        begins, ends = (part.offsets[states[mine] - base + each].astype(np.int64) for each in (0, 1))
        sources = np.repeat(mine, ends - begins)
        starts = np.cumsum(ends - begins) - (ends - begins)
        edges = np.arange(len(sources)) + np.repeat(begins - starts, ends - begins)
        labels = part.labels[part.instances[edges]].view(np.int32)
        yield np.stack([sources, labels, blocks[base + part.targets[edges].astype(np.int64)]], axis=1)


@dataclass(frozen=True)
class _Run:
    """The labels of a run and the classes of its states, one more."""

    labels: tuple[int, ...]
    observed: tuple[int, ...]

    def then(self, label: int, observed: int) -> _Run:
        return _Run((*self.labels, label), (*self.observed, observed))


def only_in(quotient: Quotient, number: int) -> Difference | None:
    """Returns a shortest run that graph ``number`` has and the other has not; None if there is none."""
    mine, others = quotient.starts[number], quotient.starts[1 - number]
    level: list[tuple[int, Set, _Run]] = []
    found: list[Difference] = []
    settled: dict[int, list[Set]] = defaultdict(list)
    pairs = 0

    def follow(block: int, possible: Set, there: Set, run: _Run) -> None:
        """Continues a run, unless no state that is possible ``there`` agrees with its last one."""
        agreeing = quotient.agreeing(there, quotient.observed(block))
        if agreeing:
            level.append((block, agreeing, run))
        else:
            classes = tuple(sorted({quotient.observed(each) for each in there}))
            found.append(Difference(run.labels, tuple(sorted(quotient.labels(possible))), run.observed, classes))

    for block in sorted(mine):
        follow(block, frozenset(), others, _Run((), (quotient.observed(block),)))
    while level and not found:
        now, level = level, []
        for block, possible, run in now:
            if block in possible or any(each <= possible for each in settled[block]):
                continue
            settled[block].append(possible)
            pairs += 1
            if pairs > MOST_PAIRS:
                raise TooManyPairs
            for label, target in quotient.edges(block):
                there = possible if label == HIDDEN else quotient.after(possible, label)
                follow(target, possible, there, run.then(label, quotient.observed(target)))
    return min(found, key=lambda each: (each.labels, each.observed)) if found else None


def branching(quotient: Quotient) -> Difference | None:
    """Returns a shortest run after which the graphs can be in states that offer different sets of labels."""
    starts = quotient.starts
    level: list[tuple[Set, Set, _Run]] = [
        (quotient.agreeing(starts[0], observed), quotient.agreeing(starts[1], observed), _Run((), (observed,)))
        for observed in sorted({quotient.observed(block) for block in starts[0]})
    ]
    seen: set[tuple[Set, Set]] = set()
    while level:
        following: list[tuple[Set, Set, _Run]] = []
        for one, other, run in level:
            if one == other or (one, other) in seen:
                continue
            seen.add((one, other))
            if len(seen) > MOST_PAIRS:
                raise TooManyPairs
            offers = [{frozenset(quotient.labels(frozenset((block,)))) for block in each} for each in (one, other)]
            if offers[0] != offers[1]:
                apart = sorted(map(sorted, offers[0] ^ offers[1]))
                return Difference(run.labels, tuple(apart[0]), run.observed, is_branching=True)
            for label in sorted(quotient.labels(one)):
                mine, others = quotient.after(one, label), quotient.after(other, label)
                for observed in sorted({quotient.observed(block) for block in mine}):
                    sets = quotient.agreeing(mine, observed), quotient.agreeing(others, observed)
                    following.append((*sets, run.then(label, observed)))
        level = following
    return None

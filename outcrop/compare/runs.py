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

from outcrop.compare.bisimulation import Blocks, Union, start_blocks
from outcrop.compare.labels import HIDDEN

#: Most pairs that are followed.
MOST_PAIRS = 1_000_000

Set = frozenset[int]


@dataclass(frozen=True)
class Difference:
    """A shortest run, by labels, that only one graph has. ``possible``: the labels that the other graph can do instead
    of the last one. ``is_branching``: both have the run, but can be in states after it that offer other labels."""

    labels: tuple[int, ...]
    possible: tuple[int, ...]
    is_branching: bool = False


class TooManyPairs(Exception):
    """Raised when the subset construction grows past its limit."""


class Quotient:
    """The graph of blocks of a stable partition."""

    def __init__(self, graph: Union, blocks: Blocks) -> None:
        count = int(blocks.max(initial=0)) + 1
        first = np.zeros(count, dtype=np.int64)
        first[blocks[::-1]] = np.arange(graph.states)[::-1]
        begins, ends = graph.offsets[first], graph.offsets[first + 1]
        sources = np.repeat(np.arange(count), ends - begins)
        starts = np.cumsum(ends - begins) - (ends - begins)
        edges = np.arange(len(sources)) + np.repeat(begins - starts, ends - begins)
        labels, targets = graph.labels[edges].view(np.int32), blocks[graph.targets[edges]].astype(np.int64)
        rows = np.unique(np.stack([sources, labels, targets], axis=1), axis=0)
        self._begins, self._ends = (np.searchsorted(rows[:, 0], np.arange(count), side) for side in ("left", "right"))
        self._labels, self._targets = rows[:, 1], rows[:, 2]
        self._after: dict[tuple[Set, int], Set] = {}
        mine, others = start_blocks(graph, blocks)
        self.starts = frozenset(mine), frozenset(others)

    def edges(self, block: int) -> Iterator[tuple[int, int]]:
        """Yields the label and the target of each edge of a block, in order."""
        begin, end = self._begins[block], self._ends[block]
        return zip(self._labels[begin:end].tolist(), self._targets[begin:end].tolist(), strict=True)

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


def only_in(quotient: Quotient, number: int) -> Difference | None:
    """Returns a shortest run that graph ``number`` has and the other has not; None if there is none."""
    mine, others = quotient.starts[number], quotient.starts[1 - number]
    level: list[tuple[int, Set, tuple[int, ...]]] = [(block, others, ()) for block in sorted(mine)]
    settled: dict[int, list[Set]] = defaultdict(list)
    pairs = 0
    while level:
        following: list[tuple[int, Set, tuple[int, ...]]] = []
        found: list[Difference] = []
        for block, possible, run in level:
            if block in possible or any(each <= possible for each in settled[block]):
                continue
            settled[block].append(possible)
            pairs += 1
            if pairs > MOST_PAIRS:
                raise TooManyPairs
            for label, target in quotient.edges(block):
                there = possible if label == HIDDEN else quotient.after(possible, label)
                if there:
                    following.append((target, there, (*run, label)))
                else:
                    found.append(Difference((*run, label), tuple(sorted(quotient.labels(possible)))))
        if found:
            return min(found, key=lambda each: each.labels)
        level = following
    return None


def branching(quotient: Quotient) -> Difference | None:
    """Returns a shortest run after which the graphs can be in states that offer different sets of labels."""
    level: list[tuple[Set, Set, tuple[int, ...]]] = [(*quotient.starts, ())]
    seen: set[tuple[Set, Set]] = set()
    while level:
        following: list[tuple[Set, Set, tuple[int, ...]]] = []
        for one, other, run in level:
            if one == other or (one, other) in seen:
                continue
            seen.add((one, other))
            if len(seen) > MOST_PAIRS:
                raise TooManyPairs
            offers = [{frozenset(quotient.labels(frozenset((block,)))) for block in each} for each in (one, other)]
            if offers[0] != offers[1]:
                apart = sorted(map(sorted, offers[0] ^ offers[1]))
                return Difference(run, tuple(apart[0]), is_branching=True)
            for label in sorted(quotient.labels(one)):
                following.append((quotient.after(one, label), quotient.after(other, label), (*run, label)))
        level = following
    return None

"""Strong bisimilarity of two graphs, by partition refinement.

Every round colours a state by the labels and colours of its successors (Kanellakis and Smolka 1983, with hashes for
the comparison of signatures, as Blom and Orzan 2003). A first pass counts successors of a colour, because sums of
hashes need no sorting. Graphs that it tells apart are refined again by the set of successors' colours.
The final partition is verified without hashes, so that the answer is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outcrop.compare.graph import Graph, Offsets
from outcrop.compare.labels import LabelNumbers, Labels

Colours = NDArray[np.uint64]
Blocks = NDArray[np.int64]

_ODD = np.uint64(0x9E3779B97F4A7C15)
_STIR = np.uint64(0xBF58476D1CE4E5B9)


@dataclass(frozen=True, eq=False)
class Union:
    """Two graphs side by side: the states of the second follow those of the first."""

    offsets: Offsets
    labels: LabelNumbers  #: of each edge
    targets: NDArray[np.int64]
    first: int  #: number of states of the first graph
    starts: tuple[int, int]  #: number of start states of each

    @property
    def states(self) -> int:
        return len(self.offsets) - 1


def union(first: Graph, second: Graph, labels: Labels) -> Union:
    """Returns two graphs as one, with common labels."""
    return Union(
        np.concatenate([first.offsets, second.offsets[1:] + first.edges]),
        np.concatenate([labels.of_first[first.rules], labels.of_second[second.rules]]),
        np.concatenate([first.targets.astype(np.int64), second.targets.astype(np.int64) + first.states]),
        first.states,
        (first.starts, second.starts),
    )


def are_bisimilar(graph: Union) -> bool:
    """Returns whether every start state of one graph has a bisimilar one in the other."""
    by_count = _partition(graph, _counted, ends_early=True)
    return by_count is not None or _partition(graph, _distinct, ends_early=True) is not None


def coarsest_partition(graph: Union) -> Blocks:
    """Returns the block of each state: two states have one block if they are bisimilar."""
    blocks = _partition(graph, _distinct, ends_early=False)
    assert blocks is not None
    return blocks


def _partition(
    graph: Union, successors: Callable[[Union, Colours, int], Colours], *, ends_early: bool
) -> Blocks | None:
    """Returns a stable partition. If the search ends early, returns None as soon as start states are told apart."""
    salt = 1
    while True:
        blocks = _refined(graph, successors, salt, ends_early)
        if blocks is None or _is_bisimulation(graph, blocks):
            return blocks
        salt += 1  # two signatures had one hash


def _refined(
    graph: Union, successors: Callable[[Union, Colours, int], Colours], salt: int, ends_early: bool
) -> Blocks | None:
    colours: Colours = np.zeros(graph.states, dtype=np.uint64)
    count, round_number, next_look = 1, 0, 1
    while True:
        colours = _stirred(colours * _ODD + successors(graph, colours, salt))
        round_number += 1
        if ends_early and not _starts_agree(graph, colours):
            return None
        if round_number < next_look:
            continue
        found, blocks = np.unique(colours, return_inverse=True)
        if len(found) == count:
            return blocks.astype(np.int64)
        # Two looks in a row find that nothing changes. Between pairs of looks there are ever more rounds.
        is_second = next_look % 2 == 0
        count, next_look = len(found), round_number + (max(1, round_number // 2) | 1 if is_second else 1)


def _stirred(values: Colours) -> Colours:
    values = (values ^ (values >> np.uint64(30))) * _STIR
    return values ^ (values >> np.uint64(27))


def _sums(offsets: Offsets, values: Colours) -> Colours:
    """Returns the sum of the values of each state's edges."""
    totals = np.zeros(len(offsets) - 1, dtype=np.uint64)
    nonempty = np.flatnonzero(np.diff(offsets))
    if len(nonempty):
        totals[nonempty] = np.add.reduceat(values, offsets[nonempty])
    return totals


def _counted(graph: Union, colours: Colours, salt: int) -> Colours:
    """Returns a hash of the multiset of each state's labelled successors."""
    return _sums(graph.offsets, _hashes(graph.labels, colours[graph.targets], salt))


def _hashes(labels: LabelNumbers, colours: Colours, salt: int) -> Colours:
    return _stirred((colours + np.uint64(salt)) * _ODD + (labels.astype(np.uint64) + np.uint64(1)) * _STIR)


def _distinct(graph: Union, colours: Colours, salt: int) -> Colours:
    """Returns a hash of the set of each state's labelled successors."""
    blocks = np.unique(colours, return_inverse=True)[1].astype(np.int64)
    offsets, keys = signatures(graph, blocks)
    return _sums(offsets, _stirred((keys.astype(np.uint64) + np.uint64(salt)) * _ODD))


def signatures(graph: Union, blocks: Blocks) -> tuple[Offsets, Blocks]:
    """Returns the distinct pairs of a label and a block among each state's edges, in order, and where they begin."""
    sources = np.repeat(np.arange(graph.states), np.diff(graph.offsets))
    keys = graph.labels.astype(np.int64) * (int(blocks.max(initial=0)) + 1) + blocks[graph.targets]
    order = np.lexsort((keys, sources))
    sources, keys = sources[order], keys[order]
    is_new = np.ones(len(keys), dtype=bool)
    is_new[1:] = (sources[1:] != sources[:-1]) | (keys[1:] != keys[:-1])
    offsets = np.zeros(graph.states + 1, dtype=np.int64)
    np.cumsum(np.bincount(sources[is_new], minlength=graph.states), out=offsets[1:])
    return offsets, keys[is_new]


def _is_bisimulation(graph: Union, blocks: Blocks) -> bool:
    """Returns whether all states of a block have the same signature."""
    offsets, keys = signatures(graph, blocks)
    sizes = np.diff(offsets)
    representatives = np.zeros(int(blocks.max(initial=0)) + 1, dtype=np.int64)
    representatives[blocks] = np.arange(graph.states)
    chosen = representatives[blocks]
    if not np.array_equal(sizes, sizes[chosen]):
        return False
    shift = np.repeat(offsets[chosen] - offsets[:-1], sizes)
    return bool(np.array_equal(keys, keys[np.arange(len(keys)) + shift]))


def start_blocks(graph: Union, blocks: Colours | Blocks) -> tuple[set[int], set[int]]:
    """Returns the blocks of the start states of each graph."""
    one, other = graph.starts
    return set(blocks[:one].tolist()), set(blocks[graph.first : graph.first + other].tolist())


def _starts_agree(graph: Union, blocks: Colours | Blocks) -> bool:
    one, other = start_blocks(graph, blocks)
    return one == other

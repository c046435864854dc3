"""Strong bisimilarity of two graphs, by partition refinement.

Every round splits blocks of states by the set of labels and blocks that their edges lead to (Kanellakis and Smolka
1983), with hashes for the comparison of these signatures (Blom and Orzan 2003), of those states only whose successors
are in new blocks. The final partition is verified without hashes, so that the answer is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outcrop.compare.graph import Graph, Offsets
from outcrop.compare.labels import Labels
from outcrop.kernels import Native
from outcrop.kernels.refine import Numbers, Refinement

Blocks = NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Union:
    """Two graphs side by side: the states of the second follow those of the first."""

    native: Native  #: a compiled model, which contains the kernels
    offsets: Offsets
    labels: Numbers  #: label of each edge
    targets: Numbers
    first: int  #: number of states of the first graph
    starts: tuple[int, int]  #: number of start states of each
    observed: Numbers  #: class of each state: only states of one class can be bisimilar; all classes occur
    threads: int = 1

    @property
    def states(self) -> int:
        return len(self.offsets) - 1


def union(first: Graph, second: Graph, labels: Labels, observed: Numbers | None = None, threads: int = 1) -> Union:
    """Returns two graphs as one, with common labels. ``observed``: the class of each state (default: one for all)."""
    return Union(
        first.native,
        np.concatenate([first.offsets, second.offsets[1:] + first.edges]),
        np.concatenate([labels.of_first[first.rules], labels.of_second[second.rules]]).view(np.uint32),
        np.concatenate([first.targets, second.targets + np.uint32(first.states)]),
        first.states,
        (first.starts, second.starts),
        np.zeros(first.states + second.states, dtype=np.uint32) if observed is None else observed,
        threads,
    )


def are_bisimilar(graph: Union) -> bool:
    """Returns whether every start state of one graph has a bisimilar one in the other."""
    return _partition(graph, ends_early=True) is not None


def coarsest_partition(graph: Union) -> Blocks:
    """Returns the block of each state: two states have one block if they are bisimilar."""
    blocks = _partition(graph, ends_early=False)
    assert blocks is not None
    return blocks


def _partition(graph: Union, *, ends_early: bool) -> Blocks | None:
    """Returns the coarsest stable partition. If the search ends early, returns None as soon as start states are told
    apart: two states with different signatures are never bisimilar."""
    salt = 1
    while True:
        refinement = Refinement(graph.native, graph.offsets, graph.labels, graph.targets, graph.observed, graph.threads)
        count, before = int(graph.observed.max(initial=0)) + 1, 0
        while count != before:
            before, count = count, refinement.refine(salt)
            one, other = start_blocks(graph, refinement.blocks)
            if ends_early and one != other:
                return None
        if refinement.is_stable():
            return refinement.blocks
        salt += 1  # two signatures had one hash


def start_blocks(graph: Union, blocks: Blocks) -> tuple[set[int], set[int]]:
    """Returns the blocks of the start states of each graph."""
    one, other = graph.starts
    return set(blocks[:one].tolist()), set(blocks[graph.first : graph.first + other].tolist())

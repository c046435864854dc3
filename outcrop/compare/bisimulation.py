"""Strong bisimilarity of two graphs: by a guess that is verified, or else by partition refinement.

The guess gives each state of the first graph a partner in the second, from the start states on. Models that were
written after one another mostly correspond in this way, which takes one pass over the edges to find, and one to verify.

Every round of the refinement splits blocks of states by the set of labels and blocks that their edges lead to
(Kanellakis and Smolka 1983), with hashes for the comparison of these signatures (Blom and Orzan 2003), of those states
only whose successors are in new blocks. The final partition is verified without hashes, so that the answer is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outcrop.kernels import Native
from outcrop.kernels.refine import Numbers, Part, Refinement

Blocks = NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Union:
    """Two graphs side by side: the states of the second follow those of the first."""

    native: Native  #: a compiled model, which contains the kernels
    parts: tuple[Part, Part]
    starts: tuple[int, int]  #: number of start states of each
    observed: Numbers  #: class of each state: only states of one class can be bisimilar; all classes occur
    threads: int = 1

    @property
    def first(self) -> int:
        """The number of states of the first graph."""
        return self.parts[0].states

    @property
    def states(self) -> int:
        return self.parts[0].states + self.parts[1].states


def are_bisimilar(graph: Union) -> bool:
    """Returns whether every start state of one graph has a bisimilar one in the other."""
    return are_paired(graph) or _partition(graph, ends_early=True) is not None


def coarsest_partition(graph: Union) -> Blocks:
    """Returns the block of each state: two states have one block if they are bisimilar."""
    blocks = _partition(graph, ends_early=False)
    assert blocks is not None
    return blocks


def are_paired(graph: Union) -> bool:
    """Returns whether the guess is right: a stable partition in which start states correspond. If it is not, the graphs
    may be bisimilar all the same."""
    starts, others = graph.starts
    if starts != others:
        return False
    refinement = Refinement(graph.native, graph.parts, graph.observed, graph.threads)
    if not refinement.pair(starts):
        return False
    partners = refinement.blocks[: graph.first]
    agree = np.array_equal(graph.observed[: graph.first], graph.observed[graph.first :][partners])
    return agree and refinement.is_stable()


def _partition(graph: Union, *, ends_early: bool) -> Blocks | None:
    """Returns the coarsest stable partition. If the search ends early, returns None as soon as start states are told
    apart: two states with different signatures are never bisimilar."""
    salt = 1
    while True:
        refinement = Refinement(graph.native, graph.parts, graph.observed, graph.threads)
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

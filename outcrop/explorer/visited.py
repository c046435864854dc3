"""Visited sets: what a search remembers of the states that it has met.

Adding states is a matter of blocks, done by the kernels or by the strategy that owns the set. Here is what all results
depend on: how sure a search can be that a state that it takes for old is old.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol


class Visited(Protocol):
    """What an Explorer asks of a visited set."""

    @property
    def bits(self) -> int | None:
        """Size of a signature in bits; None if states are kept in full."""

    @property
    def keys(self) -> str:
        """What states are told apart by, as checkpoints name it; empty for all of their bytes."""

    @property
    def revisits(self) -> bool:
        """Whether levels may hold a state more than once."""

    @property
    def drops_revisited(self) -> bool:
        """Whether states that come twice from a snapshot are told apart from new ones."""

    @property
    def counts_deeper(self) -> bool:
        """Whether kernels can tell the level of each visited state."""

    @property
    def collision_rate(self) -> float | None:
        """Part of the insertions that overwrote a state, for sets that forget."""

    def omission_bound(self, levels: list[int]) -> float:
        """Returns the probability that a state is missing, when levels have these sizes."""


@dataclass(frozen=True)
class ExactTable:
    """All states, in full, in RAM. ``counts_deeper``: they lie level by level in one arena."""

    counts_deeper: bool = True
    bits: None = None
    keys: str = ""
    revisits: bool = False
    drops_revisited: bool = True
    collision_rate: None = None

    def omission_bound(self, levels: list[int]) -> float:
        return 0.0


@dataclass(frozen=True)
class SignatureTable:
    """A signature of ``bits`` bits for each state. ``name``: of the strategy, by which checkpoints know the hash."""

    bits: int
    name: str
    seed: int
    counts_deeper: bool = False
    revisits: bool = False
    drops_revisited: bool = True
    collision_rate: None = None

    @property
    def keys(self) -> str:
        return signature_keys(self.name, self.bits, self.seed)

    def omission_bound(self, levels: list[int]) -> float:
        return omission_bound(accumulate(levels), self.bits)


def signature_keys(name: str, bits: int | None, seed: int) -> str:
    return "" if bits is None else f"{name}, {bits} bits, seed {seed}"


def omission_bound(table_sizes: Iterable[int], bits: int) -> float:
    """Returns the bound of formula (1) of U. Stern and D. L. Dill, "Using magnetic disk instead of main memory in the
    Murphi verifier" (1998).

    A state is missed when its signature is that of one of the states before it: of the k - 1 others that the table
    holds when its level ends. A violation is missed only if on a shortest path to it some state is, one a level.

    >>> omission_bound([1, 2**20], 40)
    9.5...e-07
    """
    space = 2.0**bits
    log_found = 0.0
    for table_size in table_sizes:
        if table_size - 1 >= space:
            return 1.0
        log_found += math.log1p(-(table_size - 1) / space)
    return -math.expm1(log_found)


def expected_coverage(signatures: int, bits: int) -> float:
    """Returns the part of the states that was visited if so many different signatures were met: states fall on
    signatures as balls do on bins. Those that only a missed state leads to come on top of what is missed.

    >>> f"{expected_coverage(6_000_000, 32):.4%}"
    '99.9301%'
    """
    share = signatures / 2.0**bits
    return 1.0 if share == 0 else 0.0 if share >= 1 else share / -math.log1p(-share)

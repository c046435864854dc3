"""Visited sets: what a search remembers of the states that it has met.

The kernels, or the strategy that owns the set, add states in blocks. This module has the part that results depend on:
the probability that a state counts as old although it is new.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol


class Visited(Protocol):
    """A visited set, as the Explorer uses it."""

    @property
    def bits(self) -> int | None:
        """Size of a signature, in bits; None if states are kept in full."""

    @property
    def keys(self) -> str:
        """The keys that distinguish states, as checkpoints name them; empty for whole states."""

    @property
    def revisits(self) -> bool:
        """Whether a state may be in the levels more than once."""

    @property
    def drops_revisited(self) -> bool:
        """Whether states that a snapshot holds twice are recognised as duplicates."""

    @property
    def counts_deeper(self) -> bool:
        """Whether the kernels can tell the level of each visited state."""

    @property
    def collision_rate(self) -> float | None:
        """Evictions divided by insertions; None for a set without eviction."""

    def omission_bound(self, levels: list[int]) -> float:
        """Returns a bound on the probability that a state was missed, for levels of these sizes."""


@dataclass(frozen=True)
class ExactTable:
    """An exact table of full states in RAM. ``counts_deeper``: they lie level by level in one arena."""

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
    """A table with a signature of ``bits`` bits for each state. ``name``: the strategy, which selects the hash."""

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
    """Returns the name of the keys in checkpoints."""
    return "" if bits is None else f"{name}, {bits} bits, seed {seed}"


def omission_bound(table_sizes: Iterable[int], bits: int) -> float:
    """Returns the bound of formula (1) of U. Stern and D. L. Dill, "Using magnetic disk instead of main memory in the
    Murphi verifier" (1998).

    A state is missed when its signature equals that of one of the k - 1 other states in the table at the end of its
    level. A violation is missed only if a state on a shortest path to it is missed. That path has one state a level.

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
    """Returns the expected fraction of states visited, given the number of different signatures met.

    States fall on signatures like balls into bins. The fraction does not include states that only missed states lead
    to.

    >>> f"{expected_coverage(6_000_000, 32):.4%}"
    '99.9301%'
    """
    share = signatures / 2.0**bits
    return 1.0 if share == 0 else 0.0 if share >= 1 else share / -math.log1p(-share)

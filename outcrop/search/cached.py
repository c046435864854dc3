"""Breadth-first search with a cache of fixed size in place of the table of visited states.

G. Della Penna, B. Intrigila, I. Melatti, E. Tronci, M. Venturini Zilli, "Exploiting transition locality in automatic
verification of finite-state concurrent systems" (2004), section 4 (CBFS).

The cache T forgets: a state that was overwritten and is met again counts as new and is visited again. As most
transitions lead to states of nearby levels, it is mostly enough to remember the recent ones. When the search ends,
every reachable state has been visited: *holds* is exact, or with signatures as good as their omission bound, which the
paper shows to be that of a table. It need not end. So it is given up, as *unknown*, once the collision rate, the share
of insertions that overwrote a state, passes a limit: nearly everything is being forgotten.

Replacement ``random`` is the published one. ``idle`` is ours: what is overwritten is drawn from the entries that were
not met lately. It keeps the recent levels nearly whole, and old states that transitions keep leading back to.

Costs less than the packed state, or the signature, for each state that is remembered; see native/cache.c.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

import numpy as np

from outcrop.kernels import Counts, Native, States
from outcrop.kernels_tables import Cache
from outcrop.options import CheckOptions, Keep, Replacement
from outcrop.search.blockwise import BlockExploration
from outcrop.search.compact import omission_bound
from outcrop.search.driver import ShowProgress, Stopped, TakePut
from outcrop.search.outcome import Outcome, Stop

#: Of signatures in RAM, as in the paper.
_BITS = 40
#: The cache's size at first, by how much it grows, and how full it may be before it does.
_FIRST_BYTES = 4 << 20
_GROWTH = 8
_LOAD = 0.25
#: Of the cache that are read at a time.
_BUCKETS_AT_A_TIME = 4096


def search(
    native: Native, options: CheckOptions, progress: ShowProgress | None = None, put: TakePut | None = None
) -> Outcome:
    bits = (options.bits or _BITS) if options.keep is Keep.SIGNATURES else None
    return BlockExploration(native, options, progress, put, lambda run: Cached(run, bits)).run()


class Cached:
    """``bits`` None keeps states."""

    def __init__(self, run: BlockExploration, bits: int | None) -> None:
        self.run = run
        self.bits = bits
        self._most_bytes = run.table_memory()
        self._bytes = min(_FIRST_BYTES, self._most_bytes)
        self._collisions = 0  #: in smaller ones
        self._is_packed = bits is None
        self._has_forgotten = False
        self.T = self._open()

    def _open(self) -> Cache:
        options = self.run.options
        is_idle = options.replacement is Replacement.IDLE
        return Cache(
            self.run.native,
            self._bytes,
            self.bits,
            options.chain,
            idle=is_idle,
            seed=options.seed,
            packed=self._is_packed,
        )

    def _grow(self) -> None:
        """A large cache for a small model would cost its memory for nothing, so it becomes as large as it may be only
        when that is needed. Until then it forgets hardly anything."""
        self._bytes = min(_GROWTH * self._bytes, self._most_bytes)
        self._replace()

    def _replace(self) -> None:
        """Goes on with another cache."""
        small, self.T = self.T, self._open()
        for keys in held(small):
            if self.bits is None:
                self.T.insert(keys, np.empty(len(keys), dtype=np.uint64))
            else:
                hashes = keys.view(np.uint64).reshape(-1) << np.uint64(64 - self.bits)
                self.T.insert(self.run.native.states(len(keys)), hashes)
        self._collisions += small.collisions
        small.close()

    @property
    def collision_rate(self) -> float:
        return self.T.collisions / max(1, self.T.insertions)

    @property
    def revisits(self) -> bool:
        return self._has_forgotten or self._collisions + self.T.collisions > 0

    def insert(self, states: States, hashes: Counts) -> None:
        self.run.enqueue(self._add(states, hashes))
        if self.collision_rate > self.run.options.collision_limit:
            raise Stopped(Stop.COLLISIONS)

    def restore(self, states: States, hashes: Counts) -> None:
        self._add(states, hashes)

    def _add(self, states: States, hashes: Counts) -> States:
        while self._bytes < self._most_bytes and self.T.insertions + len(states) > _LOAD * self.T.slots:
            self._grow()
        new = self.T.insert(states, hashes)
        if self.T.is_full:  # states have too many different parts; those that came last were not remembered
            self._is_packed = False
            self._has_forgotten = True
            self._replace()
        return new

    def end_level(self) -> None:
        pass  # what is new has been enqueued

    def omission_bound(self, levels: list[int]) -> float:
        return 0.0 if self.bits is None else omission_bound(accumulate(levels), self.bits)

    def close(self) -> None:
        self.T.close()


def held(cache: Cache) -> Iterator[States]:
    """What a cache holds, as states or as signatures of eight bytes, a part at a time."""
    for first in range(0, cache.buckets, _BUCKETS_AT_A_TIME):
        yield cache.read(first, min(_BUCKETS_AT_A_TIME, cache.buckets - first))

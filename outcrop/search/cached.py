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

from collections.abc import Callable
from functools import partial
from itertools import accumulate

import numpy as np

from outcrop.kernels import Counts, Native, States
from outcrop.kernels_tables import Cache
from outcrop.options import CheckOptions, Keep, Replacement
from outcrop.search.blockwise import BlockExploration, NewLevels
from outcrop.search.compact import omission_bound
from outcrop.search.driver import ShowProgress, Stopped, TakePut
from outcrop.search.outcome import Outcome, Stop

#: Of signatures in RAM, as in the paper.
_BITS = 40
#: The cache's size at first. A large one for a small model would cost its memory for nothing.
_FIRST_BYTES = 4 << 20
#: The share of memory for states that levels in memory may take: half of it for signatures, which are so much smaller
#: than states, but more of it where there is little, as far as it matters; and bytes beyond which it does not.
_WINDOW_SHARE = 1 / 16
_MOST_WINDOW_SHARE = 1 / 5
_WINDOW_STATES = 512
_MOST_WINDOW = 16 << 20


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
        options = run.options
        #: Levels that are not larger are expanded where they are made, in memory, many with one call.
        width, part = run.native.state_bytes, 1 if bits is None else 1 / 2
        window = min(_MOST_WINDOW, int(part * _WINDOW_SHARE * run.memory)) // width
        little = min(_WINDOW_STATES, int(part * _MOST_WINDOW_SHARE * run.memory) // width)
        self.window = options.block_states or max(window, little)
        most_bytes = run.table_memory(self.window * width)
        self.T = Cache(
            run.search,
            min(_FIRST_BYTES, most_bytes),
            bits,
            options.chain,
            idle=options.replacement is Replacement.IDLE,
            seed=options.seed,
            most_bytes=most_bytes,
        )

    @property
    def collision_rate(self) -> float:
        return self.T.collision_rate

    @property
    def revisits(self) -> bool:
        return self.T.has_forgotten

    def expand(self, worker: int, block: States) -> Callable[[], None]:
        return partial(self.enqueue, self.T.expand(worker, block), is_checked=True)

    def expand_levels(self, states: States | None, most_states: int, most_levels: int) -> NewLevels:
        search = self.run.search
        sizes, generated = np.zeros(most_levels, dtype=np.uint64), np.zeros(most_levels, dtype=np.uint64)
        self.T.begin_levels(states, most_states, 2 * self.window)
        first = search.standing().level_end
        count, *_ = self.run.together(
            *(
                partial(search.expand_levels, worker, sizes, generated, self.window)
                for worker in range(self.run.threads)
            )
        )
        gathered = [self.T.take_fresh(worker) for worker in range(self.run.threads)]
        beyond = sum(map(len, gathered))
        sizes[count - 1] += beyond
        new = [search.read_block(first, search.standing().level_end), *gathered]
        return NewLevels(sizes[:count].tolist(), generated[:count].tolist(), new, stays=not beyond)

    def insert(self, states: States, hashes: Counts) -> None:
        self.enqueue(self._add(states, hashes))

    def enqueue(self, new: States, *, is_checked: bool = False) -> None:
        self.run.enqueue(new, is_checked=is_checked)
        self.end_level()

    def end_level(self) -> None:
        if self.collision_rate > self.run.options.collision_limit:
            raise Stopped(Stop.COLLISIONS)

    def restore(self, states: States, hashes: Counts) -> None:
        self._add(states, hashes)

    def _add(self, states: States, hashes: Counts) -> States:
        return self.T.insert(self.run.threads, states, hashes)

    def omission_bound(self, levels: list[int]) -> float:
        return 0.0 if self.bits is None else omission_bound(accumulate(levels), self.bits)

    def close(self) -> None:
        self.T.close()

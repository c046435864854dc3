"""``cached`` for as long as that goes well, then ``locality``, without losing the work.

G. Della Penna, B. Intrigila, I. Melatti, E. Tronci, M. Venturini Zilli, "Integrating RAM and disk based verification
within the Murphi verifier" (2003).

Starts with a cache. When the collision rate reaches a threshold, low enough that little has been visited twice, the
disk search takes over: the queue becomes its checked queue, and M starts empty. In the paper the switch goes through
three files (queue, visited states, administration), and file D begins with what the cache holds. Here the queue is a
file already and stays where it is, as part of the log of all states. D is made from that log: so it is complete, where
the cache has forgotten a tenth by then, and in the order of discovery, which the disk cloud lives on.

Guarantee and costs are those of the two parts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import accumulate

from outcrop.kernels import Counts, Native, States
from outcrop.kernels_tables import hash_block
from outcrop.options import CheckOptions
from outcrop.search.blockwise import BlockExploration, NewLevels, Visited
from outcrop.search.cached import Cached
from outcrop.search.compact import omission_bound
from outcrop.search.driver import ShowProgress, TakePut
from outcrop.search.locality import Locality, signature_bits
from outcrop.search.outcome import Outcome


def search(
    native: Native, options: CheckOptions, progress: ShowProgress | None = None, put: TakePut | None = None
) -> Outcome:
    return BlockExploration(native, options, progress, put, lambda run: Serial(run, signature_bits(options))).run()


class Serial:
    """``bits`` None keeps states."""

    def __init__(self, run: BlockExploration, bits: int | None) -> None:
        self.run = run
        self.bits = bits
        self.part: Visited = Cached(run, bits)
        self._has_forgotten = False

    @property
    def revisits(self) -> bool:
        return self._has_forgotten or self.part.revisits

    def expand(self, worker: int, block: States) -> Callable[[], None]:
        part = self.part
        if isinstance(part, Cached):
            return partial(self._take, part.T.expand(worker, block))
        return part.expand(worker, block)

    def _take(self, new: States) -> None:
        """Takes what was new to the cache, which has been switched off meanwhile, perhaps."""
        if isinstance(self.part, Cached):
            self.part.enqueue(new, is_checked=True)
            self._look_at_collisions()
        else:
            self.part.insert(new, hash_block(self.run.search, new))

    @property
    def window(self) -> int:
        return self.part.window

    def expand_levels(self, states: States | None, most_states: int, most_levels: int) -> NewLevels:
        return self.part.expand_levels(states, most_states, most_levels)

    def insert(self, states: States, hashes: Counts) -> None:
        self.part.insert(states, hashes)
        self._look_at_collisions()

    def _look_at_collisions(self) -> None:
        if isinstance(self.part, Cached) and self.part.collision_rate >= self.run.options.threshold:
            self._switch(self.part)

    def _switch(self, cached: Cached) -> None:
        disk = Locality(self.run, self.bits)
        for states in self.run.log.blocks(0, len(self.run.log)):
            disk.restore(states, hash_block(self.run.search, states))
        with self.run.alone():  # they insert into the cache
            self._has_forgotten = cached.revisits
            cached.close()
            self.part = disk

    def restore(self, states: States, hashes: Counts) -> None:
        self.part.restore(states, hashes)

    def end_level(self) -> None:
        self.part.end_level()
        self._look_at_collisions()

    def omission_bound(self, levels: list[int]) -> float:
        # Whichever part a state was compared in, it was with no more than had been visited by the end of its level.
        return 0.0 if self.bits is None else omission_bound(accumulate(levels), self.bits)

    def close(self) -> None:
        self.part.close()

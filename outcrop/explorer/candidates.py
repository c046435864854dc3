"""The arena past RAM: a cache of the most recent states.

A successor that is not in the arena is a candidate for the next level. Candidates follow the visited states in the
arena, from index ``first`` on, until they have been compared with the states on disk.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from outcrop.explorer.frontier import ExpandPart
from outcrop.kernels import States
from outcrop.kernels.spill import RunLayout, Spill
from outcrop.store.runs import share_slices

if TYPE_CHECKING:
    from outcrop.explorer.explorer import Explorer

#: Number of parts for each worker into which the comparison of candidates is divided.
_PARTS_A_WORKER = 4
#: Bytes of candidates whose new states are written at a time.
_PART_BYTES = 1 << 19

#: Takes new states. Called by one thread at a time.
Enqueue = Callable[[States], None]


class CandidateArena:
    """The arena of a search that has run out of memory."""

    def __init__(self, explorer: Explorer) -> None:
        self._explorer = explorer
        self._search = explorer.search
        self._guard = threading.Lock()
        self.spill = Spill(explorer.search)
        self.first = 0  #: index of the first candidate
        self.expanded = 0  #: number of states expanded since the start of the search

    def parts(self, begin: int, blocks: Iterator[States]) -> ExpandPart:
        """Returns a function that expands some of these states in a worker, as far as memory allows. ``begin``: number
        of the first of them, counted from the start of the search."""
        self.expanded = begin
        unfinished: list[States] = []

        def expand_some(worker: int) -> bool:
            with self._guard:
                states = unfinished.pop() if unfinished else next(blocks, None)
            if states is None:
                return False
            expanded = self.spill.expand(worker, states)
            with self._guard:
                self.expanded += expanded
                if expanded < len(states):
                    unfinished.append(states[expanded:])
            return True

        return expand_some

    def resume(self) -> int:
        """Lets workers continue that had stopped for lack of memory. Returns the number of states in the arena."""
        used = self.spill.resume()
        self._explorer.check_stop()
        return used

    def make_room(self, forget_some: Callable[[], None]) -> None:
        """Calls ``forget_some``, which frees part of the arena, until all states that the workers carry fit."""
        left = 1
        while left:
            forget_some()
            workers = range(self._search.workers)
            left = sum(self._explorer.parallel(*(partial(self.spill.add_carried, worker) for worker in workers)))

    def drop(self, used: int, dropped: int) -> None:
        """Drops the first ``dropped`` states of the arena, a multiple of 8."""
        self.spill.forget(dropped)
        left = used - dropped
        cuts = [left * number // self._search.workers for number in range(self._search.workers + 1)]
        self._explorer.parallel(*(partial(self.spill.enter, *pair) for pair in pairwise(cuts)))
        self.first = max(0, self.first - dropped)

    def resolve(self, first: int, used: int, layouts: list[RunLayout], enqueue: Enqueue) -> None:
        """Compares the candidates from ``first`` on with sorted runs, and enqueues the new ones."""
        if used > first:
            few = used - first <= self._explorer.tuning.few_candidates
            self._compare(first, 1 if few else _PARTS_A_WORKER * self._search.workers, few, layouts)
            self._add_new(first, used, enqueue)

    def _compare(self, first: int, parts: int, few: bool, layouts: list[RunLayout]) -> None:
        def part(worker: int, slices: tuple[int, int]) -> None:
            self.spill.resolve(worker, first, slices, few, layouts)

        share_slices(self._explorer.parallel, self._search.workers, parts, part)

    def _add_new(self, first: int, used: int, enqueue: Enqueue) -> None:
        part = max(256, _PART_BYTES // self._search.native.state_bytes)
        begins = iter(range(first, used, part))

        def work(worker: int) -> None:
            for begin in begins:
                fresh = self.spill.take_new(worker, begin, min(used, begin + part))
                with self._guard:
                    enqueue(fresh)

        workers = min(self._search.workers, len(range(first, used, part)))
        self._explorer.parallel(*(partial(work, worker) for worker in range(workers)))

    def checked(self, enqueue: Enqueue) -> Callable[[int, States], None]:
        """Returns a function that checks and enqueues new states in a worker."""

        def take_new(worker: int, fresh: States) -> None:
            self._search.check_block(worker, fresh)
            with self._guard:
                enqueue(fresh)

        return take_new

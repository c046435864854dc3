"""Traces of a layered search that has deleted layers: divide and conquer.

R. Zhou and E. A. Hansen, "Breadth-first heuristic search" (2006), proposed for layers by Lamborn and Hansen (2008),
section 5. To go back past the layers that are left, the search is done again, from a layer that was stored to the one
that is wanted; of the layers between, those halfway, and halfway from there, and so on, are stored on the way, and the
last few are kept as ever. So going back by n layers costs about n log n layers, and little more room than the search.

Searching again knows less of what was visited before, so its layers may hold states that belong to earlier ones.
That does no harm: such a state has no successor that belongs to the next layer. So paths are those of any other search.
"""

from __future__ import annotations

from dataclasses import replace

from outcrop.errors import UsageError
from outcrop.kernels import States
from outcrop.kernels_layers import LayerKernels
from outcrop.search import auto
from outcrop.search.driver import Stopped
from outcrop.search.layered import Layered
from outcrop.search.paths import Look, Predecessors
from outcrop.store.workdir import DiskFull


class SearchAgain:
    """Looks for predecessors in layers, whether or not they are still there."""

    def __init__(self, run: Layered) -> None:
        self._first = run
        self._stored = {0: run.layers.start_states}  #: layers, by level
        self._oldest = run.layers.oldest
        self._look: Look = run.look_in_layers()
        self._again: Layered | None = None

    def look(self, level: int, targets: States) -> list[Predecessors]:
        if level < self._oldest:
            try:
                self._search_to(level)
            except Stopped:
                raise KeyboardInterrupt from None
            except DiskFull as full:
                raise UsageError(f"no room on disk to find the trace in: {full}") from None
        return self._look(level, targets)

    def _search_to(self, level: int) -> None:
        """Searches again, until the layers up to ``level`` are there."""
        begin = max(each for each in self._stored if each <= level)
        for each in [each for each in self._stored if each > level]:
            self._stored.pop(each).file.delete()
        self._forget()
        again = self._restart(begin, level)
        self._again = again
        wanted = _halves(begin, level)
        while len(again.levels) <= level:
            auto.Auto.expand(again)  # which does not mind how often states are visited
            newest = len(again.levels) - 1
            if newest in wanted and again.has_layers:
                self._stored[newest] = again.layers.stored_queue(f"middle-{newest}", self._first.layers.directory)
        self._look = again.look_in_layers()
        self._oldest = max(begin, again.layers.oldest) if again.has_layers else begin

    def _restart(self, begin: int, level: int) -> Layered:
        run = self._first
        LayerKernels(run.search).restart()
        options = replace(run.options, checkpoint=None, resume=None, time_limit=None, states=None, depth=level)
        again = Layered(run.search, options)
        again.disk = run.disk
        again.levels += [0] * begin
        stored = self._stored[begin]
        again.restore_level(stored.blocks(0, len(stored)))
        return again

    def _forget(self) -> None:
        """Gives back what the search before has on disk."""
        if self._again is None:
            self._first.layers.delete()
        else:
            self._again.close()

    def close(self) -> None:
        if self._again is not None:
            self._again.close()


def _halves(begin: int, end: int) -> set[int]:
    """Halfway from one level to another, halfway from there, and so on."""
    middles = set()
    while end - begin > 1:
        begin = (begin + end) // 2
        middles.add(begin)
    return middles

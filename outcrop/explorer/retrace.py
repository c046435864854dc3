"""Traces of a layered search that has deleted layers: divide and conquer.

R. Zhou and E. A. Hansen, "Breadth-first heuristic search" (2006), proposed for layers by Lamborn and Hansen (2008),
section 5. To go back past the layers that are left, the search is repeated, from a layer that was stored to the one
that is wanted; of the layers between, those halfway, and halfway from there, and so on, are stored on the way, and the
last few are kept as ever. So going back by n layers costs about n log n layers, and little more room than the search.

The repeated search knows less of what was visited before, so its layers may hold states that belong to earlier ones.
That does no harm: such a state has no successor that belongs to the next layer. So paths are those of any other search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Protocol

from outcrop.errors import UsageError
from outcrop.explorer.context import Context
from outcrop.explorer.explorer import Explorer
from outcrop.explorer.layer_store import LayerStore
from outcrop.explorer.past_ram import PastRam
from outcrop.explorer.paths import Look, Predecessors
from outcrop.explorer.ram_then_disk import RamThenDisk
from outcrop.kernels import States
from outcrop.kernels.layers import LayerKernels
from outcrop.outcome import Stopped
from outcrop.store.workdir import DiskFull, WorkDirectory


class LayersOnDisk(PastRam, Protocol):
    """How a level is made over layers."""

    @property
    def store(self) -> LayerStore: ...


#: Opens the layers of a repeated search.
OpenLayers = Callable[[Explorer, WorkDirectory], LayersOnDisk]


class Retrace:
    """Looks for predecessors in layers, whether or not they are still there."""

    def __init__(self, explorer: Explorer, layers: LayerStore, open_layers: OpenLayers) -> None:
        assert layers.Q.start_states is not None
        self._explorer = explorer
        self._layers = layers
        self._open_layers = open_layers
        self._stored = {0: layers.Q.start_states}  #: layers, by level
        self._oldest = layers.oldest
        self._look: Look = layers.look_in_layers()
        self._repeated: tuple[Explorer, RamThenDisk[LayersOnDisk]] | None = None

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
        """Repeats the search, until the layers up to ``level`` are there."""
        begin = max(each for each in self._stored if each <= level)
        for each in [each for each in self._stored if each > level]:
            self._stored.pop(each).file.delete()
        self._forget()
        explorer, frontier = self._repeated = self._restart(begin, level)
        wanted = _halves(begin, level)
        while len(explorer.levels) <= level:
            frontier.expand()
            newest = len(explorer.levels) - 1
            if newest in wanted and frontier.past_ram is not None:
                self._stored[newest] = frontier.past_ram.store.Q.stored(f"middle-{newest}", self._layers.directory)
        self._look = frontier.look() if frontier.past_ram is None else frontier.past_ram.store.look_in_layers()
        self._oldest = begin if frontier.past_ram is None else max(begin, frontier.past_ram.store.oldest)

    def _restart(self, begin: int, level: int) -> tuple[Explorer, RamThenDisk[LayersOnDisk]]:
        first = self._explorer
        LayerKernels(first.search).restart()
        options = replace(first.options, checkpoint=None, resume=None, time_limit=None, states=None, depth=level)
        explorer = Explorer(first.search, options, Context(tuning=first.tuning))
        explorer.disk = first.disk
        explorer.levels += [0] * begin
        frontier = RamThenDisk(explorer, first.native, self._open_layers)
        frontier.restore(self._blocks(begin))
        return explorer, frontier

    def _blocks(self, level: int) -> Iterator[States]:
        stored = self._stored[level]
        return stored.blocks(0, len(stored))

    def _forget(self) -> None:
        """Gives back what the search before has on disk."""
        if self._repeated is None:
            self._layers.delete()
        else:
            self.close()

    def close(self) -> None:
        if self._repeated is None:
            return
        explorer, frontier = self._repeated
        self._repeated = None
        explorer.watch.close()
        if frontier.past_ram is not None:
            frontier.past_ram.store.delete()
        frontier.close()


def _halves(begin: int, end: int) -> set[int]:
    """Returns the levels halfway from one level to another, halfway from there, and so on."""
    middles = set()
    while end - begin > 1:
        begin = (begin + end) // 2
        middles.add(begin)
    return middles

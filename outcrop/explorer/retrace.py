"""Traces of a layered search that has deleted layers: divide and conquer.

R. Zhou and E. A. Hansen, "Breadth-first heuristic search" (2006), proposed for layers by Lamborn and Hansen (2008),
section 5. To reach a deleted layer, the search is repeated, from a stored layer to the one that is needed. On the way
it stores the layer halfway, the one halfway from there, and so on, and keeps the last few layers as usual. Going back n
layers therefore costs about n log n layers, and little more space than the search.

The repeated search knows fewer visited states, so its layers may hold states of earlier ones. They are harmless: no
successor of such a state belongs to the next layer. Paths are therefore those of any other search.
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
    """A PastRam whose levels are layers."""

    @property
    def store(self) -> LayerStore: ...


#: Opens the layers of a repeated search.
OpenLayers = Callable[[Explorer, WorkDirectory], LayersOnDisk]


class Retrace:
    """A lookup of predecessors in layers, whether or not they have been deleted."""

    def __init__(self, explorer: Explorer, layers: LayerStore, open_layers: OpenLayers) -> None:
        assert layers.Q.start_states is not None
        self._explorer = explorer
        self._layers = layers
        self._open_layers = open_layers
        self._stored = {0: layers.Q.start_states}  #: stored layers, by level
        self._oldest = layers.oldest
        self._look: Look = layers.look_in_layers()
        self._repeated: tuple[Explorer, RamThenDisk[LayersOnDisk]] | None = None

    def look(self, level: int, targets: States) -> list[Predecessors]:
        """Finds predecessors in a level, after rebuilding the level if it was deleted."""
        if level < self._oldest:
            try:
                self._search_to(level)
            except Stopped:
                raise KeyboardInterrupt from None
            except DiskFull as full:
                raise UsageError(f"no disk space to rebuild the trace: {full}") from None
        return self._look(level, targets)

    def _search_to(self, level: int) -> None:
        """Repeats the search until the layers up to ``level`` exist."""
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
        """Frees the disk space of the previous search."""
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

"""The layers of a layered search: the newest in RAM, all others on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from outcrop.explorer.candidates import CandidateArena
from outcrop.explorer.delayed import WaitingCandidates
from outcrop.explorer.layer_queue import LayerQueue
from outcrop.explorer.layer_record import LEAST_LAYERS, LayerRecord
from outcrop.explorer.paths import Look, look_in_blocks
from outcrop.kernels import States
from outcrop.kernels.layers import LayerKernels
from outcrop.outcome import LayerReport, LayerRow
from outcrop.store.layers import LayerFiles
from outcrop.store.workdir import WorkDirectory
from outcrop.strategies import LayeredOptions

if TYPE_CHECKING:
    from outcrop.explorer.explorer import Explorer

#: Layers are written once this many of their states are in RAM only ...
_MOST_PENDING = 1 << 13
#: ... and at most this many layers at once, because files number levels with two bytes.
_MOST_LAYERS = 1 << 14
#: Number of states read from the arena at a time.
_STATES_A_PART = 1 << 14

#: Opens a lookup of predecessors in layers that may have been deleted. Returns the lookup and its cleanup.
Retracing = Callable[["LayerStore"], "tuple[Look, Callable[[], None]]"]


class LayerStore:
    """Layers as a visited set. ``retrace``: opens the lookup of predecessors once layers were deleted."""

    bits = collision_rate = None
    keys = ""
    drops_revisited, counts_deeper = True, False

    def __init__(self, explorer: Explorer, directory: WorkDirectory, retrace: Retracing) -> None:
        options = explorer.options.of(LayeredOptions)
        self._explorer = explorer
        self._options = options
        self._retrace = retrace
        self._close_retrace: Callable[[], None] = lambda: None
        self.directory = directory
        self.Bucket = CandidateArena(explorer)
        self.kernels = LayerKernels(explorer.search)
        self.Refined = LayerFiles(
            directory,
            self.Bucket.spill,
            self.kernels,
            explorer.native.state_bytes,
            explorer.search.workers,
            explorer.parallel,
            None if options.layers == "all" else LEAST_LAYERS if options.layers == "auto" else int(options.layers),
            options.forget,
        )
        self.Q = LayerQueue(explorer, directory, keeps_start=options.forget)
        self.candidate = WaitingCandidates(explorer, directory, self.kernels, self.Refined.files)
        self.candidates = 0  #: number of candidates of the layer, in RAM and on disk
        self._regions: list[tuple[int, int]] = []  #: the layers in RAM, each with its first index in the arena
        self._pending = 0  #: number of states in layers that are not on disk yet
        self._pending_from = 0  #: the first layer that has such states
        self._record = LayerRecord(explorer.search, counts=options.forget)

    def take_over(self) -> None:
        """Turns the content of the arena, which is all visited, into layers. The last one may be incomplete."""
        used, levels = self.Bucket.spill.resume(), self._explorer.levels
        self._regions = list(enumerate(levels.ends))
        self._pending = self.Bucket.first = used
        self.candidates = used - levels.states
        self.Q.take_over(used)
        for begin in range(0, used, _STATES_A_PART) if self._options.forget else ():
            self._record.count(self._explorer.search.read_block(begin, min(used, begin + _STATES_A_PART)))
        self.Bucket.spill.defer()
        if not self._options.ram_cache:
            self.write_pending()
            self.kernels.keep_duplicates()

    # --- Layers in RAM -----------------------------------------------------------------------------------------

    @property
    def shallow(self) -> int:
        """The shallowest layer in RAM."""
        return self._regions[0][0]

    def end_of_shallow(self, least: int) -> int | None:
        """Returns the end in the arena of the shallowest layers that have at least ``least`` states. None: only
        candidates for the new layer would remain."""
        for _, begin in (*self._regions[1:], (0, self.Bucket.first)):
            if least <= begin // 8 * 8 <= self.Bucket.first:
                return begin // 8 * 8
        return None

    def drop(self, used: int, dropped: int) -> None:
        """Drops the first states of the arena: layers that are on disk."""
        self.Bucket.drop(used, dropped)
        self._regions = [
            (level, max(0, begin - dropped))
            for (level, begin), (_, end) in pairwise([*self._regions, (0, self.Bucket.first + dropped)])
            if end > dropped
        ]

    def enqueue(self, fresh: States) -> None:
        """Takes new states. Called by one thread at a time."""
        self.Q.enqueue(fresh)
        self._record.count(fresh)

    def add_in_ram(self, states: int) -> None:
        """Records that ``states`` new states of a layer are in RAM only."""
        self._pending += states

    def layer_is_complete(self, depth: int, first: int, used: int) -> None:
        """Records a complete layer, whose candidates were the states of the arena from ``first`` to ``used``."""
        if not self._regions or self._regions[-1][0] < depth:
            self._regions.append((depth, first))
        self.Bucket.first = used
        if self._pending >= _MOST_PENDING:
            self.write_pending()
        if not self._pending:
            self._pending_from = depth + 1
        age = self.kernels.take_oldest()
        wanted = self._record.note_age(age)
        if self._options.layers == "auto":
            self.Refined.keep = wanted
        # Fig. 2 counts layers from the shallowest one in RAM.
        self.Refined.retire(min(depth, self.shallow + 1) if self._options.forget else depth)
        size, kept, disk = self.Q.states - self._explorer.levels.states, self.Refined.keep, self.directory.budget.used
        self._record.add(LayerRow(depth, size, self.candidates, max(0, age - 1), kept, self.Refined.bytes, disk))
        self.candidates = 0
        self.Q.next_depth(depth)

    def write_pending(self, merge: bool = True) -> None:
        """Writes the layers that are in RAM only."""
        if not self._pending:
            return
        regions = [region for region in self._regions if region[0] >= self._pending_from]
        for at in range(0, len(regions), _MOST_LAYERS):
            part = regions[at : at + _MOST_LAYERS]
            end = regions[at + _MOST_LAYERS][1] if at + _MOST_LAYERS < len(regions) else self.Bucket.first
            ends = np.array([begin for _, begin in part[1:]], dtype=np.uint64)
            run = self.Refined.files.write(end, level=part[0][0], ends=ends)
            self.Refined.add(run, part[0][0], part[-1][0], merge)
            self.kernels.set_known(0, end)
        self._pending, self._pending_from = 0, len(self._explorer.levels)

    # --- Visited -----------------------------------------------------------------------------------------------

    @property
    def states(self) -> int:
        return self.Q.states

    @property
    def expanded(self) -> int:
        return self.Bucket.expanded

    @property
    def revisits(self) -> bool:
        return self.Refined.has_forgotten

    def omission_bound(self, levels: list[int]) -> float:
        return 0.0

    def has_stalled(self) -> bool:
        """Returns whether layers were deleted, and more states were visited since than Theorem 3 allows."""
        kept = self.Refined.keep
        return self.revisits and kept is not None and self._record.has_stalled(self.states, kept)

    @property
    def estimate(self) -> int:
        """Estimated number of different visited states."""
        return self._record.estimate

    def report(self) -> LayerReport:
        return self._record.report(self._options.layers, self._options.forget, self.Refined.keep, self.revisits)

    # --- Reading and closing -----------------------------------------------------------------------------------

    def read_level(self, level: int) -> Iterator[States]:
        """Yields the states of a layer. A layer in RAM only may include states of earlier layers, which were candidates
        for it. They are harmless for a trace: none of their successors belongs to the next layer. Nothing is written,
        because the disk may be full."""
        yield from self.Refined.read(level)
        for (each, begin), (_, end) in pairwise([*self._regions, (0, self.Bucket.first)]):
            if each == level >= self._pending_from:
                for at in range(begin, end, _STATES_A_PART):
                    yield self._explorer.search.read_block(at, min(end, at + _STATES_A_PART))

    @property
    def oldest(self) -> int:
        """The oldest layer that has not been deleted."""
        return self._pending_from if self.Refined.oldest is None else self.Refined.oldest

    def look(self) -> Look:
        if self.revisits:
            look, self._close_retrace = self._retrace(self)
            return look
        return self.look_in_layers()

    def look_in_layers(self) -> Look:
        """Returns a function that finds predecessors in layers that have not been deleted."""
        return look_in_blocks(self._explorer.search, self.read_level, self._explorer.parallel)

    def check_files(self) -> None:
        self.Refined.check()

    def keep_only_levels(self) -> None:
        self.Q.clear()
        self.candidate.clear()
        self.write_pending(merge=False)

    def delete(self) -> None:
        """Frees the disk space of all layers."""
        self.Refined.clear()
        self.Q.clear()
        self.candidate.clear()

    def close(self) -> None:
        self._close_retrace()
        self.Refined.close()
        self.candidate.clear()

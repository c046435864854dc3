"""Breadth-first search with layered duplicate detection.

P. Lamborn and E. A. Hansen, "Layered duplicate detection in external-memory model checking" (2008). The names are those
of its Figs. 1 to 4: ``Bucket`` is the RAM cache of the newest layers, here the arena and its table; ``candidate`` the
successors that it does not have; ``Refined`` the layers on disk, sorted; ``Q`` the states to be expanded. A hash bucket
is a slice, by the first byte of the hash.

Starts as ``ram``, and keeps nothing on disk while all layers fit into RAM. Then, when RAM is full, whole layers go, the
shallow ones first: they are on disk too. When the newest layer alone is too large, its candidates go to disk. At the
end of the layer all candidates are compared, sorted, with the layers on disk, and what is left is the new layer.

The paper compares with the last L layers only and may therefore never end. Here older layers are packed, not
deleted, and compared as well: each state is visited once, and the search ends. See docs/algorithms/layered.md. With
``--forget`` they are deleted, as proposed in the paper, and the search may be given up.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from outcrop.errors import UsageError
from outcrop.kernels import Native, States
from outcrop.kernels_layers import LayerKernels
from outcrop.kernels_spill import RunDamaged, RunLayout
from outcrop.kernels_tables import hash_block
from outcrop.options import CheckOptions
from outcrop.search import auto
from outcrop.search.delayed import WaitingCandidates
from outcrop.search.driver import Exploration, ShowProgress, Stopped, TakePut
from outcrop.search.outcome import LayerReport, LayerRow, Outcome, Stop
from outcrop.search.paths import Look
from outcrop.search.sketch import Sketch
from outcrop.search.spilling import PastRam, log_block_rows, open_log
from outcrop.search.squeezing import PackedLog
from outcrop.store.frontier import RowFile
from outcrop.store.layers import LayerFiles
from outcrop.store.workdir import WorkDirectory

if TYPE_CHECKING:
    from outcrop.search.again import SearchAgain

#: Layers are written once so many of their states are only in RAM.
_MOST_PENDING = 1 << 13
#: ... and so many layers at the most at once: files tell levels apart by two bytes.
_MOST_LAYERS = 1 << 14
#: States that are read from the arena at a time.
_STATES_A_PART = 1 << 14
#: States that a worker expands at a time.
_STATES_A_TURN = 4096
#: The part of RAM that is dropped where the newest layer alone is too large. With less, what is left is entered into
#: the table again more often; with more, fewer duplicates are found in RAM.
_DROPPED_PART = 3 / 4
#: With ``--layers auto``, the least number of layers that stay as they are, and how many more than the longest back
#: edge so far would need: a part of it, and one.
_LEAST_LAYERS = 4
_MARGIN_PART = 4
#: By what part the number of states must have grown for a layer to count as one that found something.
_PROGRESS = 0.02


def search(
    native: Native,
    options: CheckOptions,
    progress: ShowProgress | None = None,
    put: TakePut | None = None,
    *,
    weak_hash: bool = False,
) -> Outcome:
    """``weak_hash``, for tests: different states often have the same hash."""
    if options.forget and options.layers == "all":
        raise UsageError("--forget says what becomes of older layers; --layers must say which these are")
    if options.forget and (options.ranks or 1) > 1:
        raise UsageError("several ranks keep all layers: --forget is for one process")
    return auto.search(native, options, progress, put, weak_hash=weak_hash, exploration=Layered)


class Layered(auto.Auto):
    """The layers are in RAM until that is full."""

    medium = "layers"
    _layers: Layers | None = None
    _again: SearchAgain | None = None

    def run(self) -> Outcome:
        try:
            outcome = super().run()
        finally:
            if self._again is not None:
                self._again.close()
        report = None if self._layers is None else self._layers.report()
        outcome.layers = report if self.sharing is None else self.sharing.merged_layers(report)
        return outcome

    @property
    def has_layers(self) -> bool:
        """Whether they are on disk."""
        return self._layers is not None

    @property
    def layers(self) -> Layers:
        assert self._layers is not None
        return self._layers

    def _past_ram(self, directory: WorkDirectory) -> PastRam:
        self._layers = Layers(self, directory)
        return self._layers

    def expand(self) -> None:
        super().expand()
        is_going_round = self._layers is not None and self._layers.is_going_round()
        if is_going_round if self.sharing is None else self.sharing.any(is_going_round):
            if self._layers is not None and self._layers.is_going_round():
                self.tell(
                    f"given up at level {len(self.levels) - 1:,}: {self.levels.states:,} states visited, about "
                    f"{self._layers.estimate:,} of them different; more layers, or none forgotten, would tell more"
                )
            raise Stopped(Stop.REDUNDANT)

    @property
    def revisits(self) -> bool:
        return self._layers is not None and self._layers.has_forgotten

    def look(self) -> Look:
        if not self.revisits:
            return super().look()
        from outcrop.search.again import SearchAgain

        self._again = SearchAgain(self)
        return self._again.look

    def look_in_layers(self) -> Look:
        """How to find predecessors in layers that are there."""
        return super().look()

    def close(self) -> None:
        """For a search that is not run to its end."""
        self._workers.close()
        if self._layers is not None:
            self._layers.delete()
        self.close_files()


class Layers(PastRam):
    """The layers of an exploration that has run out of memory."""

    def __init__(self, run: Exploration, directory: WorkDirectory) -> None:
        super().__init__(run)
        options, width = run.options, run.native.state_bytes
        self.directory = directory
        self._width = width
        self._kernels = LayerKernels(run.search)
        self._is_auto = options.layers == "auto"
        self._forget = options.forget
        self.refined = LayerFiles(
            directory,
            self._spill,
            self._kernels,
            width,
            run.search.workers,
            run.together,
            None if options.layers == "all" else _LEAST_LAYERS if self._is_auto else int(options.layers),
            options.forget,
        )
        self._Q, self._next_Q = (RowFile(directory, f"queue-{i}", width, log_block_rows(width)) for i in range(2))
        self._Q_begin = 0  #: states before the first of Q
        self.start_states = RowFile(directory, "start", width, log_block_rows(width))  #: if layers are forgotten
        self._log = open_log(run, directory) if run.checkpoints is not None else None
        self._still_to_come = 0  #: states of the log that are only now being restored
        self._states = 0
        self._regions: list[tuple[int, int]] = []  #: the layers in RAM, and where in the arena each begins
        self._pending = 0  #: states of layers that are not on disk yet
        self._pending_from = 0  #: the first layer that has any
        self._waiting = WaitingCandidates(run, directory, self._kernels, self.refined.files)
        self._candidates = 0  #: for the layer, on disk or not
        self._longest = 0  #: levels between a state and an old successor, plus one
        self._rows: list[LayerRow] = []
        self._sketch = Sketch()
        self._progress = (0, 0.0)  #: the last layer that found something, and how many states there were then

    # --- Taking over -------------------------------------------------------------------------------------------

    def take_over(self) -> None:
        """Makes layers of what the arena holds, all of it visited; the last one may be incomplete."""
        used, levels = self._spill.resume(), self._run.levels
        complete = levels.states
        self._regions = list(enumerate(levels.ends))
        self._Q_begin = complete - sum(levels[-1:])
        self._pending = self._states = self._first = used
        self._candidates = used - complete
        self._copy(self._Q_begin, complete, self._Q)
        self._copy(complete, used, self._next_Q)
        if self._log is not None:
            self._still_to_come = max(0, len(self._log) - used)
            self._copy(len(self._log), used, self._log)
        if self._forget:
            for begin in range(0, used, _STATES_A_PART):
                self._sketch_states(self._search.read_block(begin, min(used, begin + _STATES_A_PART)))
            self._copy(0, min(used, levels[0] if levels else used), self.start_states)
        self._spill.defer()

    def _copy(self, begin: int, end: int, goal: RowFile | PackedLog) -> None:
        for first in range(begin, end, goal.block_rows):
            goal.append(self._search.read_block(first, min(end, first + goal.block_rows)))

    def check_files(self) -> None:
        self.refined.check()

    def keep_only_levels(self) -> None:
        self._Q.clear()
        self._next_Q.clear()
        self._waiting.clear()
        self._write_pending(merge=False)

    def close(self) -> None:
        self.refined.close()
        self._waiting.clear()

    @property
    def states(self) -> int:
        return self._states

    # --- LDDD --------------------------------------------------------------------------------------------------

    def _blocks(self, begin: int, end: int) -> Iterator[States]:
        """In small pieces: what workers expand at the same time should lie close together, so that they meet each
        other's successors in RAM."""
        for states in self._Q.blocks(begin - self._Q_begin, end - self._Q_begin):
            for at in range(0, len(states), _STATES_A_TURN):
                yield states[at : at + _STATES_A_TURN]

    def _enqueue(self, fresh: States) -> None:
        self._next_Q.append(fresh)
        self._states += len(fresh)
        if self._forget:
            self._sketch_states(fresh)
        if self._log is not None:
            known = min(self._still_to_come, len(fresh))
            self._still_to_come -= known
            self._log.append(fresh[known:])

    def _sketch_states(self, states: States) -> None:
        self._sketch.add(hash_block(self._search, states))

    def _forget_some(self) -> None:
        """RAM is full. Drops whole layers, the shallow ones first; if the new one takes nearly all of RAM, most of its
        candidates, the older ones, which go to disk."""
        used = self._spill.resume()
        self._run.check_stop()
        dropped = self._droppable(used)
        self._write_pending()
        if dropped > self._first:
            self._waiting.add(self._first, dropped)
            self._candidates += dropped - self._first
        self._drop(used, dropped)
        self._first = max(0, self._first - dropped)
        self._regions = [
            (level, max(0, begin - dropped))
            for (level, begin), (_, end) in pairwise([*self._regions, (0, self._first + dropped)])
            if end > dropped
        ]

    def _droppable(self, used: int) -> int:
        for _, begin in (*self._regions[1:], (0, self._first)):
            if used // 4 <= begin // 8 * 8 <= self._first:
                return begin // 8 * 8
        return int(used * _DROPPED_PART) // 8 * 8

    def resolve(self) -> int:
        """The layer is complete but for its duplicates."""
        used = self._spill.resume()
        self._run.check_stop()
        level, first = len(self._run.levels), self._first
        self._candidates += used - first
        try:
            if self._waiting:
                self._delayed_duplicate_detection(level, first, used)
            else:
                before = self._states
                self._resolve_in_ram(first, used)
                self._pending += self._states - before
        except RunDamaged:
            raise self.refined.failure(self.directory.path) from None
        if not self._regions or self._regions[-1][0] < level:
            self._regions.append((level, first))
        self._first = used
        if self._pending >= _MOST_PENDING:
            self._write_pending()
        if not self._pending:
            self._pending_from = level + 1
        self._layer_is_complete(level)
        return used

    def _layer_is_complete(self, level: int) -> None:
        age = self._kernels.take_oldest()
        self._longest = max(self._longest, age)
        if self._is_auto:
            self.refined.keep = max(_LEAST_LAYERS, self._longest + self._longest // _MARGIN_PART + 1)
        # In Fig. 2 layers are counted from the shallowest one that RAM holds.
        self.refined.retire(min(level, self._regions[0][0] + 1) if self._forget else level)
        size = self._states - self._run.levels.states
        self._rows.append(
            LayerRow(
                level,
                size,
                self._candidates,
                max(0, age - 1),
                self.refined.keep,
                self.refined.bytes,
                self.directory.budget.used,
            )
        )
        self._candidates = 0
        self._Q_begin = self._states - size
        self._Q, self._next_Q = self._next_Q, self._Q
        self._next_Q.clear()
        if self._forget and level == 0:
            self.start_states.clear()
            for states in self._Q.blocks(0, size):
                self.start_states.append(states)
        estimate = self._sketch.estimate() if self._forget else 0.0
        if estimate > (1 + _PROGRESS) * self._progress[1]:
            self._progress = level, estimate

    def _write_pending(self, merge: bool = True) -> None:
        """Writes layers that are only in RAM."""
        if not self._pending:
            return
        regions = [region for region in self._regions if region[0] >= self._pending_from]
        for at in range(0, len(regions), _MOST_LAYERS):
            part = regions[at : at + _MOST_LAYERS]
            end = regions[at + _MOST_LAYERS][1] if at + _MOST_LAYERS < len(regions) else self._first
            ends = np.array([begin for _, begin in part[1:]], dtype=np.uint64)
            run = self.refined.files.write(end, level=part[0][0], ends=ends)
            self.refined.add(run, part[0][0], part[-1][0], merge)
            self._kernels.set_known(0, end)
        self._pending = 0
        self._pending_from = len(self._run.levels)

    def _delayed_duplicate_detection(self, level: int, first: int, used: int) -> None:
        """DDD: sorts all candidates, and compares them with each other and with the layers before."""
        if used > first:
            self._waiting.add(first, used)
        self.refined.add(self._waiting.resolve(self._layouts(), self._take_new, level=level), level, level)
        self._kernels.set_known(first, used)

    # --- What the skeleton asks --------------------------------------------------------------------------------

    def _layouts(self) -> list[RunLayout]:
        return self.refined.layouts(len(self._run.levels))

    def read_level(self, level: int) -> Iterator[States]:
        """Of a layer that is only in RAM, also states of earlier ones, which were candidates for it. For a trace that
        does no harm: no successor of theirs belongs to the next layer. Nothing is written, for the disk may be full."""
        yield from self.refined.read(level)
        for (each, begin), (_, end) in pairwise([*self._regions, (0, self._first)]):
            if each == level >= self._pending_from:
                for at in range(begin, end, _STATES_A_PART):
                    yield self._search.read_block(at, min(end, at + _STATES_A_PART))

    def stored_queue(self, name: str, directory: WorkDirectory) -> RowFile:
        """A copy of the newest layer."""
        stored = RowFile(directory, name, self._width, self._Q.block_rows)
        for states in self._Q.blocks(0, len(self._Q)):
            stored.append(states)
        return stored

    def delete(self) -> None:
        """Gives back the room of all layers."""
        self.refined.clear()
        self._Q.clear()
        self._next_Q.clear()
        self._waiting.clear()

    @property
    def oldest(self) -> int:
        """The oldest layer that is still there."""
        return self._pending_from if self.refined.oldest is None else self.refined.oldest

    @property
    def estimate(self) -> int:
        """About how many different states were visited."""
        return round(self._sketch.estimate())

    @property
    def has_forgotten(self) -> bool:
        return self.refined.has_forgotten

    def is_going_round(self) -> bool:
        """Whether layers were forgotten, and more was visited since than Theorem 3 allows for."""
        if not self.has_forgotten or self.refined.keep is None:
            return False
        level, estimate = self._progress
        return self._states > estimate * max(2.0, level / self.refined.keep)

    def report(self) -> LayerReport:
        return LayerReport(
            self._run.options.layers,
            self._forget,
            self.refined.keep,
            max(0, self._longest - 1),
            self.estimate if self.has_forgotten else None,
            self._rows,
        )

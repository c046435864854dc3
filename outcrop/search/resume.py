"""Checkpoints of a search, and going on from one.

A checkpoint is taken when a level is complete. It holds the states visited, level by level, and the counters; to go on
is to take those states as visited, whatever strategy is now to remember them, and expand the last level. So a search
may go on with another strategy, other threads and other memory than it began with.

What a search has done of a level when it must stop is forgotten, and done again.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np

from outcrop.errors import DamagedFile, UsageError
from outcrop.kernels import Counts, Found, Marks, States
from outcrop.options import CheckOptions
from outcrop.search.outcome import FindingKind
from outcrop.store.checkpoint import CheckpointDirectory, Manifest, StatesPart
from outcrop.store.frontier import RowFile
from outcrop.store.workdir import DiskBudget, DiskFull

if TYPE_CHECKING:
    from outcrop.search.driver import Exploration

#: Of the state file, where the search does not choose: states and bytes of a block.
_MOST_BLOCK_STATES = 8192
_BLOCK_BYTES = 1 << 16


def discard(path: str) -> None:
    """Removes the checkpoint of a search that has come to its end."""
    with closing(CheckpointDirectory(path, {}, 1, DiskBudget())) as directory:
        directory.discard()


@dataclass(frozen=True)
class _Boundary:
    """What is known when a level is complete. What only grows is noted by its length."""

    levels: int
    found: int
    has_failed_start: bool
    counts: tuple[Counts, Counts, Marks]
    coverage: tuple[list[int] | None, list[int] | None]
    revisits: bool
    collision_rate: float | None


@dataclass
class Before:
    """What a search had counted before the checkpoint that it began with."""

    fired: Counts = field(default_factory=lambda: np.zeros(1, dtype=np.uint64))
    covered: Counts = field(default_factory=lambda: np.zeros(1, dtype=np.uint64))
    enabled: list[int] | None = None
    deeper: list[int] | None = None
    undefined_reads: frozenset[int] = frozenset()
    omission_bound: float = 0.0
    revisits: bool = False
    seconds: float = 0.0


class Checkpoints:
    """The checkpoints of one exploration: where it begins, and where it is saved."""

    def __init__(self, run: Exploration, options: CheckOptions) -> None:
        self._run = run
        self._every = options.checkpoint_every
        self._next_save = time.monotonic() + self._every
        self._boundary: _Boundary | None = None
        self._saved: list[int] | None = None  #: levels of the last checkpoint
        self._log: RowFile | None = None
        self._manifest: Manifest | None = None  #: where the search begins
        self._source: CheckpointDirectory | None = None
        self._warnings: list[str] = []
        goal = options.checkpoint or options.resume
        assert goal is not None
        if options.resume is not None and not Path(options.resume).is_dir():
            raise UsageError(f"there is no checkpoint in '{options.resume}'")
        self._open_things = ExitStack()
        try:
            self._goal = self._open(goal, run.disk)
            self._find_beginning(options)
        except BaseException:
            self.close()
            raise

    def _open(self, path: str, budget: DiskBudget) -> CheckpointDirectory:
        native = self._run.native
        directory = CheckpointDirectory(path, native.identity, native.state_bytes, budget)
        return self._open_things.enter_context(closing(directory))

    def _find_beginning(self, options: CheckOptions) -> None:
        if options.resume is not None and self._goal.path.samefile(options.resume):
            self._source = self._goal
        elif self._goal.has_checkpoint():
            raise UsageError(
                f"there is a checkpoint in '{self._goal.path}' already: go on from it with --resume, or remove it"
            )
        elif options.resume is not None:
            self._source = self._open(options.resume, DiskBudget())
        if self._source is not None:
            self._manifest = self._source.load(self._warnings.append)
        if self._manifest is not None and self._source is self._goal:
            self._saved = self._manifest.levels

    @property
    def is_resumed(self) -> bool:
        return self._manifest is not None

    @property
    def continues_file(self) -> bool:
        """Whether states that were visited before stay where they are, in the state file. A search that visits no
        state twice cannot go on with a file in which some may be twice."""
        if self._manifest is None or self._source is not self._goal:
            return False
        return not (self._manifest.revisits and self._run.drops_revisited)

    def log(self, block_rows: int | None = None) -> RowFile:
        """The state file, which a search may use as the log that it needs anyway."""
        if self._log is None:
            width = self._run.native.state_bytes
            rows = block_rows or max(256, min(_MOST_BLOCK_STATES, _BLOCK_BYTES // width))
            if self._manifest is not None and self.continues_file:
                self._log = self._go_on_with(self._manifest, rows)
            else:
                self._log = self._goal.new_log(rows)
            self._open_things.callback(self._log.close)
        return self._log

    def _go_on_with(self, manifest: Manifest, block_rows: int) -> RowFile:
        try:
            return self._goal.go_on_with(manifest, block_rows)
        except DiskFull as full:
            raise UsageError(f"no room for the checkpoint itself: {full}") from None

    def __enter__(self) -> Checkpoints:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Keeps the checkpoints. May be called again."""
        self._open_things.close()

    # --- Going on ----------------------------------------------------------------------------------------------

    def restore(self) -> None:
        """Takes the states of the checkpoint as visited, and the counters as they were."""
        run, manifest = self._run, self._manifest
        assert manifest is not None and self._source is not None
        for warning in self._warnings:
            run.tell(warning)
        is_same_file = self.continues_file
        states = self.log() if is_same_file else self._source.open_states(manifest, self.log().block_rows)
        rows = _Rows(states.blocks(0, manifest.rows))
        for size in manifest.levels:
            run.restore_level(rows.take(size))
        if not is_same_file:
            states.close()
        elif run.keys and run.levels != manifest.levels:  # signatures have taken some states for others
            self._manifest = self._log = None
        elif run.levels != manifest.levels:
            raise DamagedFile(states.file.path, "it holds a state twice")
        self._restore_counts(manifest)
        run.tell(
            f"resumed from '{self._source.path}': level {len(run.levels) - 1:,}, {sum(run.levels):,} states, "
            f"{manifest.strategy} for {manifest.seconds:,.0f} s"
        )

    def _restore_counts(self, manifest: Manifest) -> None:
        run = self._run
        # Searches may have checked the states while they took them. That has been counted and found before.
        for kind in Found:
            run.search.take_found(kind)
        run.search.take_put()
        fired, covered, _ = run.search.count()
        run.before = Before(
            np.array(manifest.fired, dtype=np.uint64) - fired,
            np.array(manifest.covered, dtype=np.uint64) - covered,
            manifest.enabled,
            manifest.deeper,
            frozenset(manifest.undefined_reads),
            # Keys that are the same miss the same states, and their bound is that of all levels.
            0.0 if manifest.keys == run.keys else manifest.omission_bound,
            manifest.revisits and not run.drops_revisited,
            manifest.seconds,
        )
        if run.levels == manifest.levels:
            run.generated = list(manifest.generated)
        run.has_failed_start = manifest.has_failed_start
        for kind, state, level, liveness in manifest.found:
            run.find(FindingKind(kind), bytes.fromhex(state), level, liveness)
        if manifest.revisits:
            run.tell("rules fired include those of states that were visited again before the checkpoint")

    # --- Saving ------------------------------------------------------------------------------------------------

    def level_is_complete(self) -> None:
        """Remembers where the search stands, and saves it when it is time to."""
        run = self._run
        self._boundary = _Boundary(
            len(run.levels),
            len(run.found),
            run.has_failed_start,
            run.count(),
            run.coverage(),
            run.revisits,
            run.collision_rate,
        )
        if time.monotonic() >= self._next_save:
            self._save(self._boundary)

    def search_has_stopped(self) -> None:
        """Saves the search where its last level was complete."""
        path = self._goal.path
        if self._boundary is not None and (self._saved is None or len(self._saved) < self._boundary.levels):
            self._save(self._boundary)
        if self._saved is None:
            self._run.tell(f"no checkpoint in '{path}': not even the first level is complete")
            return
        self._run.tell(
            f"checkpoint of level {len(self._saved) - 1:,}, {sum(self._saved):,} states: "
            f"go on with --resume {shlex.quote(str(path))}"
        )

    def _save(self, boundary: _Boundary) -> None:
        run = self._run
        levels = run.levels[: boundary.levels]
        states = sum(levels)
        try:
            log = self.log()
            if len(log) > states:
                log.cut(states)
            while len(log) < states:
                log.append(run.search.read_block(len(log), min(states, len(log) + log.block_rows)))
            self._goal.save(log, lambda part: self._describe(boundary, levels, part))
            self._saved = levels
        except DiskFull as full:
            run.tell(f"a checkpoint could not be written: {full}")
        self._next_save = time.monotonic() + self._every

    def _describe(self, boundary: _Boundary, levels: list[int], part: StatesPart) -> Manifest:
        run = self._run
        fired, covered, noted = boundary.counts
        return Manifest(
            identity=run.native.identity,
            strategy=run.options.strategy,
            levels=levels,
            fired=fired.tolist(),
            covered=covered.tolist(),
            undefined_reads=run.undefined_reads(noted),
            found=[
                [str(kind), state.hex(), level, liveness]
                for (kind, state, liveness), level in islice(run.found.items(), boundary.found)
            ],
            has_failed_start=boundary.has_failed_start,
            revisits=boundary.revisits,
            keys=run.keys,
            omission_bound=run.total_omission_bound(levels),
            collision_rate=boundary.collision_rate,
            seconds=run.before.seconds + run.seconds(),
            states=part,
            generated=run.generated[: boundary.levels],
            enabled=boundary.coverage[0],
            deeper=boundary.coverage[1],
        )


class _Rows:
    """Rows that come in blocks, taken in other portions."""

    def __init__(self, blocks: Iterator[States]) -> None:
        self._blocks = blocks
        self._rest: States | None = None

    def take(self, count: int) -> Iterator[States]:
        while count:
            if self._rest is None or not len(self._rest):
                self._rest = next(self._blocks)
            rows, self._rest = self._rest[:count], self._rest[count:]
            count -= len(rows)
            yield rows

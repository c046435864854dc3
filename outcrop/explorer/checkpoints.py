"""Checkpoints of a search: saving them, and resuming from one.

A checkpoint is taken when a level is complete. It holds the visited states, level by level, and the counters. To
resume, a search marks those states as visited and expands the last level. A search may therefore resume with another
strategy, other threads and another memory budget.

The work on an incomplete level is lost when a search stops, and is repeated after it resumes.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from outcrop.dist.owners import read_parts
from outcrop.dist.parts import Beginning, find_beginning, find_parts, part_path, remove_unfinished_parts
from outcrop.dist.transport import transport_of
from outcrop.errors import DamagedFile, DiskFailed, UsageError
from outcrop.explorer.snapshot import Boundary, Snapshot
from outcrop.kernels import States
from outcrop.options import CheckOptions
from outcrop.outcome import Event, EventKind, Stop
from outcrop.store.checkpoint import CheckpointDirectory, Manifest, StatesPart, remove_checkpoint
from outcrop.store.frontier import RowFile
from outcrop.store.workdir import DiskBudget, DiskFull

if TYPE_CHECKING:
    from outcrop.explorer.explorer import Explorer

#: Default size of a block of the state file, in states and in bytes.
_MOST_BLOCK_STATES = 8192
_BLOCK_BYTES = 1 << 16


class Checkpoints:
    """The checkpoints of one search: the one that it resumes from, and those that it saves."""

    def __init__(self, explorer: Explorer, options: CheckOptions) -> None:
        self._explorer = explorer
        self._every = options.checkpoint_every
        self._next_save = time.monotonic() + self._every
        self._boundary: Boundary | None = None
        self._saved: tuple[int, int] | None = None  #: levels and states of the last checkpoint
        self._log: RowFile | None = None
        self._beginning: Beginning | None = None
        self._warnings: list[str] = []
        goal = options.checkpoint or options.resume
        assert goal is not None
        self._place = goal
        self._is_kept = options.keep_states is not None  #: whether the states are for `recheck` instead
        self._transport = transport_of(options.ranks)
        self._owners = f"{options.strategy}, {options.keep}, {options.bits} bits, seed {options.seed}"
        self._open_things = ExitStack()
        try:
            self._find_beginning(options, goal)
        except BaseException:
            self.close()
            raise

    def _open(self, path: Path, budget: DiskBudget) -> CheckpointDirectory:
        native = self._explorer.native
        directory = CheckpointDirectory(path, native.identity, native.model_bytes, budget)
        return self._open_things.enter_context(closing(directory))

    def _find_beginning(self, options: CheckOptions, goal: str) -> None:
        source = options.resume
        if source is not None and not Path(source).is_dir():
            raise UsageError(f"there is no checkpoint in '{source}'; name the directory given to --checkpoint")
        own = part_path(goal, self._transport)
        self._goal = self._open(own, self._explorer.disk)
        self._saves_where_it_began = source is not None and Path(goal).samefile(source)
        if not self._saves_where_it_began and find_parts(goal):
            if self._is_kept:
                raise UsageError(f"there are states in '{goal}' already; name another directory, or remove it")
            raise UsageError(f"there is a checkpoint in '{goal}' already; resume it with --resume, or remove it")
        self._goal.remove_leftovers()
        if source is None:
            return

        def open_part(path: Path) -> CheckpointDirectory:
            return self._goal if path.samefile(own) else self._open(path, DiskBudget())

        def stays(manifest: Manifest) -> bool:
            return manifest.owners == self._owners and not (options.owners == "hash" and manifest.owner_parts)

        self._beginning = find_beginning(source, self._transport, open_part, stays, self._warnings.append)
        if self._saves_where_it_began:
            self._saved = (self._beginning.level_count, self._beginning.states)

    @property
    def is_resumed(self) -> bool:
        return self._beginning is not None

    @property
    def owner_parts(self) -> States | None:
        """The partition of the states that the search starts with, if they stay with their owners."""
        beginning = self._beginning
        return None if beginning is None or not beginning.stays else read_parts(beginning.manifests[0].owner_parts)

    @property
    def stays(self) -> bool:
        """Whether the resumed states stay with the ranks that owned them."""
        return self._beginning is not None and self._beginning.stays

    @property
    def _continued(self) -> Manifest | None:
        """The manifest of the state file that the search continues to write, if there is one. A search that visits no
        state twice cannot continue a file that may hold states twice."""
        beginning = self._beginning
        if beginning is None or not beginning.stays or beginning.parts[0][0] is not self._goal:
            return None
        manifest = beginning.parts[0][1]
        return None if manifest.revisits and self._explorer.visited.drops_revisited else manifest

    def log(self, block_rows: int | None = None) -> RowFile:
        """Returns the state file, which a search may use as its state log."""
        if self._log is None:
            width = self._explorer.native.model_bytes
            rows = block_rows or max(256, min(_MOST_BLOCK_STATES, _BLOCK_BYTES // width))
            continued = self._continued
            if continued is not None:
                self._log = self._go_on_with(continued, rows)
            else:
                self._log = self._goal.new_log(rows)
            self._open_things.callback(self._log.close)
        return self._log

    def _go_on_with(self, manifest: Manifest, block_rows: int) -> RowFile:
        try:
            return self._goal.go_on_with(manifest, block_rows)
        except DiskFull as full:
            raise UsageError(f"no disk space for the checkpoint itself: {full}") from None

    def __enter__(self) -> Checkpoints:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Closes the files and keeps the checkpoints. May be called more than once."""
        self._open_things.close()

    # --- Resuming ----------------------------------------------------------------------------------------------

    def restore(self) -> None:
        """Marks the states of the checkpoint as visited, and restores the counters."""
        explorer, beginning = self._explorer, self._beginning
        assert beginning is not None
        for warning in self._warnings:
            explorer.watch.tell(Event(EventKind.WARNED, warning))
        with ExitStack() as files:
            parts = self._opened(beginning, files)
            rows = [_Rows(states.blocks(0, manifest.rows)) for states, manifest in parts]

            def read_level(level: int) -> Iterator[States]:
                takes = (each.take(manifest.levels[level]) for each, (_, manifest) in zip(rows, parts, strict=True))
                return chain.from_iterable(takes)

            first = beginning.manifests[0]
            Snapshot(
                own=[manifest for _, manifest in beginning.parts],
                everyone=beginning.manifests,
                read_level=read_level,
                stays=beginning.stays,
                check=self._check_levels,
                event=f"resumed from '{explorer.options.resume}': level {{level:,}}, {{states:,}} states, "
                f"{first.strategy} for {first.seconds:,.0f} s",
                event_kind=EventKind.RESUMED,
            ).resume(explorer)

    def _opened(self, beginning: Beginning, files: ExitStack) -> list[tuple[RowFile, Manifest]]:
        """Returns the state files that this rank reads: its own one, if the search continues to write it."""
        continued = self._continued
        if continued is not None:
            return [(self.log(), continued)]
        rows = self.log().block_rows
        return [
            (files.enter_context(closing(directory.open_states(manifest, rows))), manifest)
            for directory, manifest in beginning.parts
        ]

    def _check_levels(self, explorer: Explorer) -> None:
        continued = self._continued
        if continued is None or explorer.levels == continued.levels:
            return
        if not explorer.visited.keys:
            raise DamagedFile(self.log().file.path, "it holds a state twice")
        self._beginning = self._log = None  # two states have the same signature: write a new file

    # --- Saving ------------------------------------------------------------------------------------------------

    def level_is_complete(self) -> None:
        """Records the position of the search, and saves a checkpoint if one is due."""
        self._boundary = Boundary.of(self._explorer)
        is_due = time.monotonic() >= self._next_save
        if self._explorer.exchange.any(is_due):
            self._save(self._boundary)

    def save(self) -> None:
        """Saves the search as of its last complete level."""
        if self._boundary is not None and (self._saved is None or self._saved[0] < self._boundary.levels):
            self._save(self._boundary)

    @property
    def level_saved(self) -> int | None:
        """The level of the last checkpoint; None if there is none."""
        return None if self._saved is None else self._saved[0] - 1

    def search_has_stopped(self, stop: Stop) -> None:
        """Saves the search, unless the disk has failed, and reports how to resume it."""
        path = self._place
        try:
            if stop is not Stop.DISK_FAILED:
                self.save()
        except DiskFailed as failed:
            self._explorer.exchange.tell_others(failed)
            text = f"the checkpoint could not be written: {failed}"
            self._explorer.watch.tell(Event(EventKind.DISK_FAILED, text))
        if self._saved is None:
            what = "states" if self._is_kept else "checkpoint"
            text = f"no {what} in '{path}': the search stopped before its first level was complete"
            self._explorer.watch.tell(Event(EventKind.WARNED, text))
            return
        level, states = self._saved[0] - 1, self._saved[1]
        text = f"checkpoint of level {level:,}, {states:,} states: resume with --resume {shlex.quote(path)}"
        if self._is_kept:
            text = f"{states:,} states kept, up to level {level:,}: check invariants with recheck {shlex.quote(path)}"
        self._explorer.watch.tell(Event(EventKind.CHECKPOINT, text, {"level": level, "states": states}))

    def _save(self, boundary: Boundary) -> None:
        explorer = self._explorer
        levels = explorer.levels[: boundary.levels]
        try:
            try:
                log = self._complete_log(sum(levels))
            except (DiskFull, DiskFailed):
                explorer.exchange.all(False)
                raise
            self._goal.save(log, lambda part: self._describe(boundary, part), explorer.exchange.all)
            self._saved = (boundary.levels, sum(explorer.totals[: boundary.levels]))
            self._drop_source()
        except DiskFull as full:
            explorer.watch.tell(Event(EventKind.DISK_FULL, f"the checkpoint could not be written: {full}"))
        self._next_save = time.monotonic() + self._every

    def _complete_log(self, states: int) -> RowFile:
        """Returns the state file with exactly ``states`` states. Missing ones are copied from the arena."""
        log = self.log()
        if len(log) > states:
            log.cut(states)
        while len(log) < states:
            search = self._explorer.search
            log.append(search.packed_form(search.read_block(len(log), min(states, len(log) + log.block_rows))))
        return log

    def _drop_source(self) -> None:
        """Removes the parts that the search resumed from, once it has saved its own, and unfinished parts."""
        if self._beginning is not None and self._saves_where_it_began:
            for directory, _ in self._beginning.parts:
                if directory is not self._goal:
                    remove_checkpoint(directory.path, with_directory=directory.path != Path(self._place))
        if self._transport.rank == 0:
            remove_unfinished_parts(self._place)

    def _describe(self, boundary: Boundary, part: StatesPart) -> Manifest:
        return self._explorer.exchange.describe(boundary.describe(self._explorer, part), self._owners)


class _Rows:
    """Rows that come in blocks of one size and are taken in blocks of another."""

    def __init__(self, blocks: Iterator[States]) -> None:
        self._blocks = blocks
        self._rest: States | None = None

    def take(self, count: int) -> Iterator[States]:
        """Yields the next ``count`` rows."""
        while count:
            if self._rest is None or not len(self._rest):
                self._rest = next(self._blocks)
            rows, self._rest = self._rest[:count], self._rest[count:]
            count -= len(rows)
            yield rows

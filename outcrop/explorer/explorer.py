"""The Explorer: the common part of every search. It has the levels, limits, counters, findings and events.

A strategy gives it a Visited set and a Frontier, and contains the loop: ``begin``, then, while ``next_stop`` is None,
expand the newest level and call ``level_is_complete``. Each level is expanded to its end. Counts, verdict and paths do
not depend on the number of workers: findings are chosen by the bytes of states, never by the order of discovery.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from outcrop.dist.exchange import open_exchange
from outcrop.dist.levels import Levels
from outcrop.errors import DamagedFile, DiskFailed
from outcrop.explorer.arena import Arena
from outcrop.explorer.checkpoints import Checkpoints
from outcrop.explorer.context import Context
from outcrop.explorer.findings import Findings
from outcrop.explorer.frontier import Frontier
from outcrop.explorer.liveness import check_liveness
from outcrop.explorer.paths import Look
from outcrop.explorer.printing import open_printing
from outcrop.explorer.snapshot import Counted, Snapshot, can_be_copied, copied
from outcrop.explorer.visited import ExactTable, Visited
from outcrop.explorer.watch import Watch
from outcrop.interrupts import causes
from outcrop.kernels import Counts, Found, Marks, Search, StopReason
from outcrop.machine import resident_bytes
from outcrop.options import CheckOptions
from outcrop.outcome import Event, EventKind, FindingKind, Outcome, Progress, Stop, Stopped
from outcrop.store.frontier import RowFile
from outcrop.store.workdir import Directory, DiskBudget, DiskFull

if TYPE_CHECKING:
    from outcrop.dist.exchange import Exchange

_Result = TypeVar("_Result")

_STOPS = {
    StopReason.MEMORY: Stop.MEMORY,
    StopReason.NARROW: Stop.MEMORY,
    StopReason.DISK: Stop.DISK,
    StopReason.COLLISIONS: Stop.COLLISIONS,
}


class Explorer:
    """One search. ``search``: its kernels."""

    def __init__(self, search: Search, options: CheckOptions, context: Context | None = None) -> None:
        context = context or Context()
        self.search = search
        self.native = search.native
        self.options = options
        self.context = context
        self.tuning = context.tuning
        self.watch = Watch(options, context, self._standing, lambda: self.search.stop(), self._abandon)
        self.levels = Levels()  #: sizes of the levels; with several ranks, of the part that this rank owns
        self.generated: list[int | None] = []  #: successors generated for each level, duplicates included
        self.generated_so_far = 0  #: successors generated for all levels
        self.findings = Findings(options)
        snapshot = context.snapshot
        self.disk = DiskBudget(options.disk) if snapshot is None or snapshot.disk is None else snapshot.disk
        self.before = Counted()  #: counts of the snapshot that the search continues
        self.counters: list[Callable[[], tuple[Counts, Counts, Marks]]] = []  #: further sources of counts
        self.on_level: list[Callable[[], None]] = []  #: called whenever a level is complete
        self.on_stop_check: list[Callable[[], None]] = []  #: called first by stop_reason; may raise
        self.visited: Visited = ExactTable()
        self.frontier: Frontier = Arena(self)
        self.exchange: Exchange = open_exchange(self)
        self.printing = open_printing(
            search, context.put if self.exchange.is_first else None, is_shared=not self.exchange.holds_all_states
        )
        wants_checkpoints = options.checkpoint is not None or options.resume is not None
        self.checkpoints = Checkpoints(self, options) if wants_checkpoints else None
        self.keeps_boundaries = wants_checkpoints  #: whether the search may be continued from the end of a level

    # --- Running -----------------------------------------------------------------------------------------------

    def run(self, explore: Callable[[], Stop]) -> Outcome:
        """Runs a strategy to its end. Returns its outcome."""
        with self.watch.interruptible(), closing(self.watch), self.checkpoints or nullcontext():
            self.watch.sample()
            stop = self._explore(explore)
            if self.checkpoints is not None and not stop.is_conclusive:
                self.checkpoints.search_has_stopped(stop)
            elif self.checkpoints is not None and self.options.keep_states is not None:
                self.checkpoints.save()
            fired, covered, marks = self.count()
            enabled, deeper = self.coverage()
            seconds = self.watch.seconds()
            self.exchange.search_has_ended()
            self.watch.sample()
            self.watch.report_progress()
            levels = [size for size in self.totals if size]
            outcome = Outcome(
                stop=stop,
                levels=levels,
                fired=[int(count) for count in fired],
                covered=[int(count) for count in covered],
                noted=self.noted(marks),
                findings=self.findings.with_paths(self.look()),
                omission_bound=self.total_omission_bound(levels),
                seconds=seconds,
                peak_disk_bytes=self.disk.peak + self.search.standing().disk,
                events=self.watch.events,
                revisits=self.revisits,
                generated=self.generated,
                enabled=enabled,
                deeper=deeper,
                samples=self.watch.samples.columns(),
                collision_rate=self.visited.collision_rate,
            )
            return self.exchange.merged(outcome)

    def _explore(self, explore: Callable[[], Stop]) -> Stop:
        try:
            stop = explore()
            if stop is Stop.COMPLETE and self.native.liveness_count and not self.findings:
                check_liveness(self)
        except Stopped as stopped:
            stop = stopped.stop
        except DiskFull as full:
            self.watch.tell(Event(EventKind.DISK_FULL, f"disk: {full}"))
            stop = Stop.DISK
        except DiskFailed as failed:
            self.exchange.tell_others(failed)
            self.watch.tell(Event(EventKind.DISK_FAILED, f"disk: {failed}"))
            stop = Stop.DISK_FAILED
        for cause in causes() if stop is Stop.INTERRUPTED else ():
            self.watch.tell(Event(EventKind.INTERRUPTED, cause))
        return Stop.VIOLATION if stop is Stop.COMPLETE and self.findings.are_enough else stop

    def begin(self) -> None:
        """Creates the start states as the first level, or continues a checkpoint or a snapshot."""
        if self.context.snapshot is not None:
            self.context.snapshot.resume(self)
        elif self.checkpoints is not None and self.checkpoints.is_resumed:
            self.checkpoints.restore()
        else:
            self.frontier.start()
        self.before.seconds = max(0.0, self.before.seconds - self.context.seconds)  # the clock counts these
        self.level_is_complete()

    def snapshot(self) -> Snapshot | None:
        """Returns a copy of the search, whose newest level is complete. None, on all ranks, if one cannot be copied."""
        is_resumed = self.checkpoints is not None and self.checkpoints.is_resumed
        return copied(self) if self.exchange.all(can_be_copied(self) and not is_resumed) else None

    def next_stop(self) -> Stop | None:
        """Returns why the newest level is not to be expanded, or None if it is."""
        if not self.totals[-1]:
            return Stop.COMPLETE
        if self.findings.are_enough:
            return Stop.VIOLATION
        if self.options.depth is not None and len(self.levels) > self.options.depth:
            return Stop.DEPTH
        if self.options.states is not None and self.totals.states >= self.options.states:
            return Stop.STATES
        return None

    def level_is_complete(self) -> None:
        """Records the end of a level, and saves a checkpoint if one is due."""
        if self.checkpoints is not None:
            self.checkpoints.level_is_complete()
        for callback in self.on_level:
            callback()

    # --- Levels ------------------------------------------------------------------------------------------------

    @property
    def totals(self) -> Levels:
        """Sizes of the levels over all ranks."""
        return self.exchange.totals

    def fill_level(self, fill: Callable[[], None], size: Callable[[], int]) -> None:
        """Fills a new level, and records it even if it remains incomplete."""
        stop = self.stopped_by(fill)
        self.level_done([size()], None, stop)

    def stopped_by(self, action: Callable[[], object]) -> Stop | None:
        """Runs an action. Returns why it had to stop, or None if it did not."""
        try:
            action()
        except Stopped as stopped:
            return stopped.stop
        except DiskFull as full:
            self.watch.tell(Event(EventKind.DISK_FULL, f"disk: {full}"))
            return Stop.DISK
        return None

    def level_done(self, sizes: list[int], generated: list[int] | None = None, stop: Stop | None = None) -> None:
        """Records new levels, and collects the findings in them.

        ``generated``: successors generated for each level; None, for one level, means all since the previous one.
        ``stop``: why the last level is not complete. Raises Stopped when the search must end."""
        self.generated += [None] * (len(self.levels) - len(self.generated))  # not known for levels of a snapshot
        self.levels += sizes
        total = self.search.standing().generated
        self.generated += [total - self.generated_so_far] if generated is None else generated
        self.generated_so_far = total
        newest = len(self.levels) - 1
        self._collect(FindingKind.DEADLOCK, Found.DEADLOCK, newest - 1)
        self._collect(FindingKind.STATE, Found.STATE, newest)
        self._collect(FindingKind.RULE, Found.RULE, newest - 1)
        stop = self.exchange.agree_on_level(self.levels[newest] if sizes else 0, stop or self.stop_reason())
        event = self.findings.level_is_done(newest)
        if event is not None:
            self.watch.tell(event)
        if stop is not None:
            raise Stopped(stop)
        self.exchange.review_owners()

    def take_level_back(self) -> None:
        """Removes the last level, which is incomplete, from the record. It will be recorded again when it is filled."""
        self.levels.pop()
        self.generated_so_far -= self.generated.pop() or 0

    def _collect(self, kind: FindingKind, found: Found, level: int) -> None:
        for state in self.search.take_found(found):
            self.findings.add(kind, state, level)

    def stop_reason(self) -> Stop | None:
        """Returns why workers have returned early, or None."""
        for check in self.on_stop_check:
            check()
        reason = self.search.standing().stop
        if reason is StopReason.DAMAGED:
            raise DamagedFile(Path("states"), "its content is not what was written")
        return None if reason is StopReason.NONE else _STOPS.get(reason) or self.watch.asked or Stop.INTERRUPTED

    def check_stop(self) -> None:
        """Raises Stopped when a limit has made the workers return early."""
        stop = self.stop_reason()
        if stop is not None:
            raise Stopped(stop)

    # --- Workers, files, paths ---------------------------------------------------------------------------------

    def parallel(self, *tasks: Callable[[], _Result]) -> list[_Result]:
        """Runs each task in its own thread and watches the clock meanwhile. Returns their results."""
        return self.watch.parallel(*tasks)

    def _abandon(self) -> None:
        self.search.is_abandoned = True

    def open_log(self, directory: Directory, block_rows: int) -> RowFile:
        """Opens the state log. If checkpoints are kept, it is their state file."""
        if self.checkpoints is not None:
            return self.checkpoints.log(block_rows)
        return RowFile(directory, "states", self.native.state_bytes, block_rows)

    def look(self) -> Look:
        """Returns a function that finds predecessors among the states of all ranks."""
        return self.exchange.look(self.frontier.look())

    # --- Counters ----------------------------------------------------------------------------------------------

    @property
    def revisits(self) -> bool:
        """Whether a state may be in the levels more than once."""
        return self.before.revisits or self.visited.revisits

    def count(self) -> tuple[Counts, Counts, Marks]:
        """Returns how often each rule fired and each cover goal was met, and the marks of the notes."""
        fired, covered, marks = self.search.count()
        for counter in self.counters:
            more_fired, more_covered, more_marks = counter()
            fired, covered, marks = fired + more_fired, covered + more_covered, marks | more_marks
        return fired + self.before.fired, covered + self.before.covered, marks

    def coverage(self) -> tuple[list[int] | None, list[int] | None]:
        """Returns, per rule, how often it was enabled and how often it led one level deeper; None where unknown."""
        if not self.native.has_coverage:
            return None, None
        enabled, deeper = (counts.tolist() for counts in self.search.coverage())
        enabled, deeper = _added(enabled, self.before.enabled), _added(deeper, self.before.deeper)
        return enabled, deeper if self.visited.counts_deeper and self.exchange.holds_all_states else None

    def noted(self, marks: Marks) -> list[int]:
        """Returns the notes (see Property) whose events have happened."""
        seen = {note for note, mark in zip(self.native.notes, marks, strict=False) if mark}
        return sorted(seen | self.before.noted)

    def total_omission_bound(self, levels: list[int]) -> float:
        """Returns the omission bound of the whole search, including the snapshot that it continues."""
        before, since = self.before.omission_bound, self.visited.omission_bound(levels)
        return before + since - before * since

    def _standing(self) -> Progress:
        standing, position = self.search.standing(), self.frontier.position()
        progress = Progress(
            level=max(0, position.level),
            states=position.states,
            rules_fired=int(self.count()[0].sum()),
            frontier=position.states - position.expanded,
            seconds=self.watch.seconds(),
            generated=standing.generated,
            memory=resident_bytes(),
            disk=self.disk.used + standing.disk,
            levels=self.levels,
        )
        return self.exchange.progress_of_all(progress)


def _added(counts: list[int], before: list[int] | None) -> list[int] | None:
    return None if before is None else np.add(counts, before or 0).tolist()

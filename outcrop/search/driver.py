"""The skeleton of every search: levels, limits, counts, findings. As it stands it searches in RAM.

Breadth-first, level by level, each level to its end. Many levels are expanded inside one kernel call, the small ones by
one worker, so that deep, thin models pay nothing per level. Counts, verdict and paths do not depend on the number of
workers: what is reported is chosen by the bytes of states, never by who found them first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path

import numpy as np

from outcrop.dist.exchange import exchange_of
from outcrop.errors import DamagedFile
from outcrop.kernels import Counts, DeadlockRule, Found, Marks, Search, States, StopReason
from outcrop.machine import resident_bytes
from outcrop.options import CheckOptions, Deadlock
from outcrop.search.boundary import Before
from outcrop.search.levels import Levels
from outcrop.search.outcome import Finding, FindingKind, Outcome, Progress, Stop
from outcrop.search.outcome import Stopped as Stopped
from outcrop.search.paths import Look, PathFinder, look_in_arena
from outcrop.search.resume import Checkpoints
from outcrop.search.sharing import Sharing
from outcrop.search.watched import ShowProgress as ShowProgress
from outcrop.search.watched import Watched
from outcrop.store.frontier import RowFile
from outcrop.store.workdir import Directory, DiskBudget, DiskFull

#: Takes what the ``put`` statements of one worker have recorded.
TakePut = Callable[[Counts], None]

#: Levels that one kernel call may expand; and while checkpoints are kept, which know only where a call has ended, as
#: long as they are small.
_LEVELS_A_CALL = 4096
_LEVELS_A_CHECKPOINT = 256
_LARGEST_BEFORE_CHECKPOINT = 2048
#: Findings of one kind and level that are kept when there is no limit.
_MOST_FOUND = 10_000

_KIND_ORDER = {kind: position for position, kind in enumerate(FindingKind)}
_STOPS = {StopReason.MEMORY: Stop.MEMORY, StopReason.NARROW: Stop.MEMORY, StopReason.DISK: Stop.DISK}

DEADLOCK_RULES = {
    Deadlock.OFF: DeadlockRule.OFF,
    Deadlock.STUTTERING: DeadlockRule.STUTTERING,
    Deadlock.STUCK: DeadlockRule.STUCK,
}


def most_found(options: CheckOptions) -> int:
    return _MOST_FOUND if options.max_errors is None else min(options.max_errors, _MOST_FOUND)


class Exploration(Watched):
    """One run of a search, from start states to Outcome."""

    def __init__(
        self, search: Search, options: CheckOptions, progress: ShowProgress | None = None, put: TakePut | None = None
    ) -> None:
        super().__init__(search, options, progress)
        self.native = search.native
        self.levels = Levels()  #: sizes; with several ranks, of what this one owns
        self.totals = self.levels  #: of what all ranks own
        self.generated: list[int | None] = []  #: successors, known ones included, among which each level was found
        self._generated = 0  #: in all levels so far
        exchange = exchange_of(options.ranks)
        self.sharing: Sharing | None = None
        if not exchange.is_alone:
            self.totals = Levels()
            self.sharing = Sharing(self, exchange)
        self._put = put
        self.found: dict[tuple[FindingKind, bytes, int | None], int] = {}  #: with the level of the state
        self.has_failed_start = False
        self.traced: list[Finding] = []  #: what was found together with a path
        self.disk = DiskBudget(options.disk)
        self.before = Before()
        wants_checkpoints = options.checkpoint is not None or options.resume is not None
        self.checkpoints = Checkpoints(self, options) if wants_checkpoints else None

    def run(self) -> Outcome:
        with self._interruptible(), closing(self._workers), self.checkpoints or nullcontext():
            try:
                self._sample()
                stop = self.explore()
                if stop is Stop.COMPLETE and self.native.liveness_count and not self._count_findings():
                    self.check_liveness()
            except Stopped as stopped:
                stop = stopped.stop
            except DiskFull as full:
                self.tell(f"disk: {full}")
                stop = Stop.DISK
            if stop is Stop.COMPLETE and self._has_enough_findings():
                stop = Stop.VIOLATION
            if self.checkpoints is not None and not stop.is_conclusive:
                self.checkpoints.search_has_stopped()
            fired, covered, marks = self.count()
            enabled, deeper = self.coverage()
            seconds = self.seconds()
            if self.sharing is not None:
                self.sharing.search_has_ended()
            self._sample()
            self._report_progress()
            levels = [size for size in self.totals if size]
            outcome = Outcome(
                stop=stop,
                levels=levels,
                fired=[int(count) for count in fired],
                covered=[int(count) for count in covered],
                noted=self.noted(marks),
                findings=self._findings(),
                omission_bound=self.total_omission_bound(levels),
                seconds=seconds,
                peak_disk_bytes=self.disk.peak + self.search.standing().disk,
                events=self.events,
                revisits=self.revisits,
                generated=self.generated,
                enabled=enabled,
                deeper=deeper,
                samples=self.samples.columns(),
                collision_rate=self.collision_rate,
                signature_coverage=self.signature_coverage,
            )
            return outcome if self.sharing is None else self.sharing.merged(outcome)

    # --- How a strategy is characterised -----------------------------------------------------------------------

    #: Whether states that come twice from a checkpoint are told apart from new ones.
    drops_revisited = True
    #: What states are told apart by; empty for all of their bytes.
    keys = ""
    #: Of the hash, by which states find the rank that owns them.
    owner_bits = 64

    @property
    def knows_levels(self) -> bool:
        """Whether the level of each visited state is known to the kernels: all lie in RAM, level by level."""
        return not self.keys and self.sharing is None

    @property
    def may_be_taken_up(self) -> bool:
        """Whether it must be known where the search stood when a level was complete."""
        return self.checkpoints is not None

    @property
    def revisits(self) -> bool:
        """Whether levels may hold a state more than once."""
        return False

    @property
    def collision_rate(self) -> float | None:
        return None

    @property
    def signature_coverage(self) -> float | None:
        """About which part of the states was visited, where only signatures tell states apart."""
        return None

    def omission_bound(self, levels: list[int]) -> float:
        """The probability that a state is missing, when levels have these sizes."""
        return 0.0

    # --- What a search past RAM does otherwise -----------------------------------------------------------------

    def create_start_states(self) -> None:
        self.fill_level(self.start, self.search.finish_level)

    def start(self) -> None:
        """Creates the start states in the arena."""
        if self.sharing is not None:
            self.sharing.fill_level(self._start_once)
        else:
            self.together(partial(self._start_once, 0))

    def _start_once(self, worker: int) -> bool:
        if worker == 0 and not self.search.standing().has_started:
            self.has_failed_start |= self.search.start() > 0
        return False

    #: Levels that the next call may expand, at the most.
    most_levels = _LEVELS_A_CALL

    def expand(self) -> None:
        """Expands the last level, and perhaps some more; tells level_done of the new ones."""
        if self.sharing is not None:
            self.fill_level(partial(self.sharing.fill_level, self.sharing.expand_part), self.search.finish_level)
            return
        most, largest = self.most_levels, 2**63
        if self.may_be_taken_up:
            most, largest = min(most, _LEVELS_A_CHECKPOINT), _LARGEST_BEFORE_CHECKPOINT
        if self.options.depth is not None:
            most = min(most, self.options.depth + 1 - len(self.levels))
        sizes, generated = np.zeros(most, dtype=np.uint64), np.zeros(most, dtype=np.uint64)
        count, *_ = self.together(
            *(
                partial(self.search.expand_levels, worker, sizes, generated, largest)
                for worker in range(self.search.workers)
            )
        )
        differences = np.diff(generated[:count], prepend=np.uint64(self._generated))
        self.level_done(sizes[:count].tolist(), differences.tolist())

    def fill_level(self, fill: Callable[[], None], size: Callable[[], int]) -> None:
        """Makes a new level, and takes note of it also when it must remain incomplete."""
        stop = self.stopped_by(fill)
        self.level_done([size()], None, stop)

    def stopped_by(self, action: Callable[[], object]) -> Stop | None:
        """Does something, and says why that had to stop, if it had."""
        try:
            action()
        except Stopped as stopped:
            return stopped.stop
        except DiskFull as full:
            self.tell(f"disk: {full}")
            return Stop.DISK
        return None

    def go_past_memory(self, expand: Callable[[int], bool]) -> Callable[[int], bool] | None:
        """With several ranks, in the middle of a level: makes room, and gives what expands the rest of it. None: that
        cannot be done."""
        return None

    def bytes_in_memory(self) -> int:
        """What the states take."""
        return self.search.standing().memory

    def restore_level(self, blocks: Iterator[States]) -> None:
        """Takes the next level from a checkpoint."""
        for states in blocks:
            self.search.insert_block(0, self.search.kept_form(states))
            self.look_at_clock()
            self.check_stop()
        self.levels.append(self.search.finish_level())

    def open_log(self, directory: Directory, block_rows: int) -> RowFile:
        """A file for the states of all levels, one after the other: that of the checkpoints, if any are kept."""
        if self.checkpoints is not None:
            return self.checkpoints.log(block_rows)
        return RowFile(directory, "states", self.native.state_bytes, block_rows)

    def check_liveness(self) -> None:
        from outcrop.search.liveness import check_liveness

        check_liveness(self)

    def look(self) -> Look:
        """How to find predecessors."""
        return look_in_arena(self.search, self.levels, self.together)

    def snapshot(self) -> Progress:
        standing = self.search.standing()
        return self.progress_at(standing.levels - 1, standing.states, standing.expanded)

    def standing_of_all(self) -> Progress:
        return self.snapshot() if self.sharing is None else self.sharing.progress_of_all(self.snapshot())

    def progress_at(self, level: int, states: int, expanded: int) -> Progress:
        """A snapshot of a search that has visited so many states and expanded so many."""
        standing = self.search.standing()
        return Progress(
            level=max(0, level),
            states=states,
            rules_fired=int(self.count()[0].sum()),
            frontier=states - expanded,
            seconds=self.seconds(),
            generated=standing.generated,
            memory=resident_bytes(),
            disk=self.disk.used + standing.disk,
            levels=self.levels,
        )

    # --- Levels ------------------------------------------------------------------------------------------------

    def explore(self) -> Stop:
        self.begin()
        self.level_is_complete()
        return self.go_on()

    def begin(self) -> None:
        if self.checkpoints is not None and self.checkpoints.is_resumed:
            self.checkpoints.restore()
        else:
            self.create_start_states()

    def go_on(self) -> Stop:
        """Expands the last level, and all that follow."""
        while self.totals[-1]:
            if self._has_enough_findings():
                return Stop.VIOLATION
            if self.options.depth is not None and len(self.levels) > self.options.depth:
                return Stop.DEPTH
            if self.options.states is not None and self.totals.states >= self.options.states:
                return Stop.STATES
            self.expand()
            self.level_is_complete()
        return Stop.COMPLETE

    def level_is_complete(self) -> None:
        if self.checkpoints is not None:
            self.checkpoints.level_is_complete()

    def level_done(self, sizes: list[int], generated: list[int] | None = None, stop: Stop | None = None) -> None:
        """Takes note of new levels, and of what was found in and while expanding the last ones. ``generated``: the
        successors among which each was found; for one level, None is all those since the level before. ``stop``: why
        the last one is not complete. Raises Stopped when the search must end."""
        self.generated += [None] * (len(self.levels) - len(self.generated))  # those of a checkpoint
        self.levels += sizes
        total = self.search.standing().generated
        self.generated += [total - self._generated] if generated is None else generated
        self._generated = total
        newest = len(self.levels) - 1
        self.collect(FindingKind.DEADLOCK, Found.DEADLOCK, newest - 1)
        self.collect(FindingKind.STATE, Found.STATE, newest)
        self.collect(FindingKind.RULE, Found.RULE, newest - 1)
        stop = stop or self.stop_reason()
        if self.sharing is not None:
            stop = self.sharing.agree_on_level(self.levels[newest], stop)
        elif self.native.prints:
            self.print_put(self.search.take_put())
        if stop is not None:
            raise Stopped(stop)

    def print_put(self, recorded: list[Counts]) -> None:
        for words in recorded:
            if self._put is not None:
                self._put(words)

    def stop_reason(self) -> Stop | None:
        """Why workers have returned early, if they have."""
        reason = self.search.standing().stop
        if reason is StopReason.DAMAGED:
            raise DamagedFile(Path("states"), "what was read is not what was written")
        return None if reason is StopReason.NONE else _STOPS.get(reason) or self.asked or Stop.INTERRUPTED

    def take_level_back(self) -> None:
        """The last level is not complete: what is found of it from now on belongs to it too."""
        self.levels.pop()
        self._generated -= self.generated.pop() or 0

    def check_stop(self) -> None:
        """Raises Stopped when a limit has made the workers return early."""
        stop = self.stop_reason()
        if stop is not None:
            raise Stopped(stop)

    # --- Counts ------------------------------------------------------------------------------------------------

    def count(self) -> tuple[Counts, Counts, Marks]:
        """As the kernels count, and what was counted before the checkpoint that the search began with."""
        fired, covered, marks = self.search.count()
        return fired + self.before.fired, covered + self.before.covered, marks

    def coverage(self) -> tuple[list[int] | None, list[int] | None]:
        """Per rule, how often it was enabled, and how often it led one level deeper; None where that is not known."""
        if not self.native.has_coverage:
            return None, None
        enabled, deeper = (counts.tolist() for counts in self.search.coverage())
        enabled, deeper = _added(enabled, self.before.enabled), _added(deeper, self.before.deeper)
        return enabled, deeper if self.knows_levels else None

    def noted(self, marks: Marks) -> list[int]:
        """The notes (see Property) of what has happened."""
        seen = {note for note, mark in zip(self.native.notes, marks, strict=False) if mark}
        return sorted(seen | self.before.noted)

    def total_omission_bound(self, levels: list[int]) -> float:
        before, since = self.before.omission_bound, self.omission_bound(levels)
        return before + since - before * since

    # --- Findings ----------------------------------------------------------------------------------------------

    def collect(self, kind: FindingKind, found: Found, level: int) -> None:
        for state in self.search.take_found(found):
            self.find(kind, state, level)

    def find(self, kind: FindingKind, state: bytes, level: int, liveness: int | None = None) -> None:
        self.found.setdefault((kind, state, liveness), level)

    def _count_findings(self) -> int:
        return len(self.found) + self.has_failed_start + len(self.traced)

    def _has_enough_findings(self) -> bool:
        return self.options.max_errors is not None and self._count_findings() >= self.options.max_errors

    def _findings(self) -> list[Finding]:
        """The first few by length of the path, kind, and bytes of the last state; then the paths of those."""
        rows = sorted(
            (level, _KIND_ORDER[kind], state, -1 if liveness is None else liveness, kind)
            for (kind, state, liveness), level in self.found.items()
        )
        findings = [Finding(FindingKind.START, ())] if self.has_failed_start else []
        if self.options.max_errors is not None:
            rows = rows[: self.options.max_errors - len(findings)]
        look = self.look() if self.sharing is None else self.sharing.look(self.look())
        paths = PathFinder(look).paths([(state, level) for level, _, state, *_ in rows])
        for (_, _, _, liveness, kind), path in zip(rows, paths, strict=True):
            findings.append(Finding(kind, path, None if liveness < 0 else liveness))
        return [*findings, *self.traced][: self.options.max_errors]


def _added(counts: list[int], before: list[int] | None) -> list[int] | None:
    return None if before is None else np.add(counts, before or 0).tolist()

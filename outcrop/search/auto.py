"""The default: in RAM while that lasts, then on disk, exact.

Starts as ``ram``. When memory ends, all that was done is carried over: the states go to a log on disk, the arena
becomes a cache of the states met last, and the search goes on in the middle of the level in which it was. From there on
new states are told from old ones by comparing them, many at a time, with runs of states on disk (see spilling).

Before that, where it pays, states are squeezed to the bits that change, and the search goes on in RAM (see squeezing).

Exact; counts, verdicts and traces are those of ``ram``. Models that fit into memory cost nothing extra. Past it, disk
for each state twice and, while runs are merged, three times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial

from outcrop.errors import OutcropError, UsageError
from outcrop.kernels import FIRST_LINES, Native, Search, Settings, States, StopReason
from outcrop.kernels_squeeze import SqueezedSearch
from outcrop.options import CheckOptions
from outcrop.search.boundary import Boundary
from outcrop.search.budget import state_budget, worker_count
from outcrop.search.driver import DEADLOCK_RULES, Exploration, ShowProgress, Stopped, TakePut, most_found
from outcrop.search.forerunner import Forerunner, NarrowForerunner
from outcrop.search.outcome import Outcome, Progress, Stop
from outcrop.search.paths import Look, look_in_blocks
from outcrop.search.spilling import DiskLevels, PastRam, bytes_beside
from outcrop.search.squeezing import Reformed, Squeezing, reopened
from outcrop.store.workdir import DiskFull, WorkDirectory

#: The least that a search past RAM can work with: states for each worker.
_LEAST_STATES = 256
#: Which part of the memory for states must be in use for the kernels of searches past RAM to be made ready. Small
#: searches never wait for that, and when memory has ended a compiler would have no room.
_MADE_READY_FROM = 1 / 4


def search(
    native: Native,
    options: CheckOptions,
    progress: ShowProgress | None = None,
    put: TakePut | None = None,
    *,
    weak_hash: bool = False,
    exploration: type[Auto] | None = None,
    forerunner: Forerunner | None = None,
    seconds: float = 0.0,
) -> Outcome:
    """``weak_hash``, for tests: different states often have the same hash. ``exploration``: one that goes on otherwise
    when memory ends. ``forerunner``: a search that is to be taken up, after so many ``seconds``."""
    workers = worker_count(options)
    bytes_a_state = native.state_bytes + 8
    budget = max(state_budget(options, bytes_beside(options)), _LEAST_STATES * workers * bytes_a_state)
    settings = Settings(
        workers=workers,
        deadlock=DEADLOCK_RULES[options.deadlock],
        budget=budget,
        most_states=options.states,
        most_found=most_found(options),
        first_lines=min(FIRST_LINES, max(1, budget // (16 * bytes_a_state))),
        spills=True,
        seed=options.seed,
        weak_hash=weak_hash,
    )
    visited, takes_up, events = native.search(settings), forerunner, list[str]()
    while True:
        try:
            run = (exploration or Auto)(visited, options, progress, put, native, takes_up, seconds)
            outcome = run.run()
            return replace(outcome, events=events + outcome.events)
        except Reformed as better:
            seconds = better.seconds
            events += better.events
            options = better.options(options)
            takes_up = better.forerunner or forerunner
            visited = reopened(native, settings, better.form)
            if visited.native is native:
                # The next time that memory ends, fewer bits may have changed than are known to.
                options = replace(options, squeeze=False)


class Auto(Exploration):
    """``_disk`` is None while memory lasts. ``medium``: what it goes on with then."""

    medium = "runs"
    _is_ready = False
    _is_taken_up = False  #: by another search, which needs its files
    _disk: PastRam | None = None
    _directory: WorkDirectory | None = None
    _boundary: Boundary | None = None  #: where a search could be taken up that may have to be

    def __init__(
        self,
        search: Search,
        options: CheckOptions,
        progress: ShowProgress | None = None,
        put: TakePut | None = None,
        plain: Native | None = None,
        forerunner: Forerunner | None = None,
        seconds_before: float = 0.0,
    ) -> None:
        try:
            super().__init__(search, options, progress, put)
        except OutcropError:  # of its checkpoints
            search.close()
            raise
        self._started -= seconds_before
        self._seconds_before = seconds_before
        self.squeezing = Squeezing(self, plain or self.native)
        self._forerunner = forerunner
        if forerunner is not None and forerunner.disk is not None:
            self.disk = forerunner.disk

    def run(self) -> Outcome:
        try:
            return super().run()
        finally:
            if self._forerunner is not None:
                self._forerunner.close()
            if not self._is_taken_up:
                self.close_files()
                self.search.close()

    def close_files(self) -> None:
        if self._disk is not None:
            self._disk.close()
        if self._directory is not None:
            self._directory.close()

    def explore(self) -> Stop:
        try:
            stop = super().explore()
        except Reformed as better:
            self.tell(f"{better}, {self._hand_on(better)}")
            raise
        if self._disk is not None and stop is Stop.COMPLETE:
            # A state that a damaged file took for old was not explored. Violations need no such doubt: traces are
            # replayed.
            self._disk.check_files()
        return stop

    def begin(self) -> None:
        forerunner = self._forerunner
        if forerunner is None:
            super().begin()
            self.before.seconds = max(0.0, self.before.seconds - self._seconds_before)  # which its clock counts
            return
        forerunner.restore(self)
        self._forerunner = None
        forerunner.close()

    @property
    def may_be_taken_up(self) -> bool:
        return super().may_be_taken_up or isinstance(self.search, SqueezedSearch)

    def level_is_complete(self) -> None:
        super().level_is_complete()
        if self.checkpoints is None and self.may_be_taken_up:
            self._boundary = Boundary.of(self)

    def _hand_on(self, better: Reformed) -> str:
        """Keeps what another search can take up. Says how that will begin."""
        disk, directory, boundary = self._disk, self._directory, self._boundary
        if self.checkpoints is not None:
            if disk is not None:
                self.checkpoints.save()
            return "going on from the last checkpoint" if self.checkpoints.has_saved else "beginning anew"
        if disk is None or directory is None or boundary is None:
            return "beginning anew"
        try:
            better.forerunner = NarrowForerunner(self, disk, directory, boundary, better.form)
        except DiskFull:
            return "beginning anew"
        self._is_taken_up = True
        return f"going on with {better.form.state_bytes} from the last level"

    def create_start_states(self) -> None:
        if self.sharing is not None:
            self.fill_level(partial(self._fill_shared, self._start_once), self._new_states)
            return
        try:
            super().create_start_states()
        except Stopped as stopped:
            self._memory_has_ended(stopped)
            disk, _ = self._hand_over()
            self.fill_level(partial(self._start_on_disk, disk), self._new_states)

    def _start_on_disk(self, disk: PastRam) -> None:
        disk.make_room()
        while not self.search.standing().has_started:
            (failures,) = self.together(self.search.start)
            self.has_failed_start |= failures > 0
            disk.make_room()
        disk.resolve()

    def expand(self) -> None:
        if self.sharing is not None:
            end = self.levels.states
            part = self.sharing.expand_part if self._disk is None else self._disk.parts(end - self.levels[-1], end)
            self.fill_level(partial(self._fill_shared, part), self._new_states)
            return
        if self._disk is not None:
            self.fill_level(partial(self._disk.expand, self.levels.ends[-2], self.levels.states), self._new_states)
            return
        while self._disk is None:
            try:
                super().expand()
                self.most_levels = Exploration.most_levels
                return
            except Stopped as stopped:
                self._memory_has_ended(stopped)
            # What was found in this level is no longer with the kernels, which would go on to others.
            self.most_levels = 1
            if not self.squeezing.squeeze(self.search.standing().unexpanded):
                disk, begin = self._hand_over()
                self.fill_level(partial(self._expand_rest, disk, begin), self._new_states)

    def _expand_rest(self, disk: PastRam, begin: int) -> None:
        disk.make_room()
        disk.expand(begin, self.levels.states)

    # --- With several ranks, each of which goes to disk when it must -------------------------------------------

    def _fill_shared(self, expand: Callable[[int], bool]) -> None:
        assert self.sharing is not None
        self.sharing.fill_level(expand)
        if self._disk is not None:
            self._disk.resolve()

    def _new_states(self) -> int:
        return self.search.finish_level() if self._disk is None else self._disk.states - self.levels.states

    def go_past_memory(self, expand: Callable[[int], bool]) -> Callable[[int], bool]:
        if self._disk is not None:
            self._disk.make_room()
            return expand
        unexpanded = self.search.standing().expanded
        disk = self._go_to_disk()
        disk.make_room()
        return disk.parts(unexpanded, self.levels.states) if self.levels else expand

    # --- Carrying over -----------------------------------------------------------------------------------------

    def restore_level(self, blocks: Iterator[States]) -> None:
        for states in blocks:
            while len(states):
                states = states[len(self.search.insert_block(0, self.squeezing.kept_form(states))) :]
                self.look_at_clock()
                if len(states):
                    self._make_room()
        if self._disk is None:
            super().restore_level(iter(()))
        else:
            self._disk.resolve()
            self.levels.append(self._disk.states - self.levels.states)

    def _make_room(self) -> None:
        if self.search.standing().stop is not StopReason.MEMORY:
            self.check_stop()
        if self._disk is None:
            self._is_ready = True
            if self.levels and self.squeezing.squeeze(self.levels.ends[-2]):
                return
        disk = self._disk or self._go_to_disk()
        disk.make_room()

    def _memory_has_ended(self, stopped: Stopped) -> None:
        """In the middle of a level, unless something else has ended the search."""
        if stopped.stop is not Stop.MEMORY:
            raise stopped
        self._is_ready = True  # or it is too late
        self.take_level_back()

    def _hand_over(self) -> tuple[PastRam, int]:
        """Carries everything over to disk. Gives where in the log the rest of the level begins."""
        unexpanded = self.search.standing().unexpanded
        return self._go_to_disk(), unexpanded

    def look_at_clock(self) -> None:
        super().look_at_clock()
        search = self.search
        if self._disk is None and not self._is_ready and self.bytes_in_memory() > _MADE_READY_FROM * search.budget:
            self._is_ready = True
            # Workers go on meanwhile. What fails is tried again when it is needed.
            with suppress(OutcropError):
                _ = search.native.with_all_kernels
                self.squeezing.make_ready()

    def stop_reason(self) -> Stop | None:
        if self._disk is not None:
            self.squeezing.check_width()
        return super().stop_reason()

    # --- Going to disk -----------------------------------------------------------------------------------------

    def _go_to_disk(self) -> PastRam:
        self._directory = WorkDirectory(self.options.workdir, self.disk)
        try:
            self._disk = self._past_ram(self._directory)
        except UsageError as error:  # its kernels had to be compiled, and could not
            self.tell(f"memory budget reached, and no way past it: {error}")
            raise Stopped(Stop.MEMORY) from None
        self._disk.take_over()
        self.tell(
            f"memory budget reached at level {max(0, len(self.levels) - 1):,}: {self._disk.states:,} states written "
            f"to disk, going on with {self.medium} on disk"
        )
        return self._disk

    def _past_ram(self, directory: WorkDirectory) -> PastRam:
        return DiskLevels(self, directory)

    def look(self) -> Look:
        if self._disk is None:
            return super().look()
        return look_in_blocks(self.search, self._disk.read_level, self.together)

    def check_liveness(self) -> None:
        if self._disk is not None:
            self.tell("liveness was not checked: that needs all states in memory")
            raise Stopped(Stop.MEMORY)
        super().check_liveness()

    @property
    def knows_levels(self) -> bool:
        return self._disk is None and not self.squeezing.has_squeezed and super().knows_levels

    def snapshot(self) -> Progress:
        if self._disk is None:
            return super().snapshot()
        return self.progress_at(len(self.levels) - 1, self._disk.states, self._disk.expanded)

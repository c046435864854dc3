"""A frontier that starts in the arena and moves to disk, where the arena is a cache in front of the levels.

When the memory budget is used up, the search continues in the middle of its level, without losing work. Before it moves
to disk, states are squeezed to the bits that change, if that pays, and the search continues in RAM (see squeezing).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from outcrop.errors import DamagedFile, OutcropError, UsageError
from outcrop.explorer.arena import Arena
from outcrop.explorer.budget import kernel_settings, state_budget, worker_count
from outcrop.explorer.compressing import Compressing, reported
from outcrop.explorer.context import Context
from outcrop.explorer.explorer import Explorer
from outcrop.explorer.frontier import ExpandPart, Position
from outcrop.explorer.past_ram import PastRam
from outcrop.explorer.paths import Look
from outcrop.explorer.snapshot import Boundary, Snapshot
from outcrop.explorer.sorted_runs import worker_bytes
from outcrop.explorer.squeezing import Reformed, Squeezing, reopened
from outcrop.explorer.visited import ExactTable
from outcrop.kernels import FIRST_LINES, Native, Search, States, StopReason
from outcrop.kernels.spill import Spill
from outcrop.kernels.squeeze import Carrying, Form, SqueezedSearch
from outcrop.options import CheckOptions
from outcrop.outcome import Event, EventKind, Outcome, Stop, Stopped
from outcrop.store.workdir import DiskFull, WorkDirectory
from outcrop.strategies import Compression

_PastRam = TypeVar("_PastRam", bound=PastRam)


#: The loop of a strategy over its frontier. Returns why the loop ended.
Loop = Callable[[Explorer, "RamThenDisk[_PastRam]"], Stop]


def search_ram_first(
    native: Native,
    options: CheckOptions,
    context: Context,
    open_past_ram: Callable[[Explorer, WorkDirectory], _PastRam],
    loop: Loop[_PastRam],
) -> Outcome:
    """Runs a strategy that starts in RAM, and restarts it when its states must take another form."""
    workers = worker_count(options)
    bytes_a_state = native.state_bytes + 8
    budget = max(
        state_budget(options, worker_bytes(options)), context.tuning.least_states_a_worker * workers * bytes_a_state
    )
    settings = kernel_settings(
        options,
        context.tuning,
        budget=budget,
        first_lines=min(FIRST_LINES, max(1, budget // (16 * bytes_a_state))),
        spills=True,
        seed=options.seed,
    )
    search, given, form, events = native.search(settings), context.snapshot, None, list[Event]()
    while True:
        with closing(_Run[_PastRam](search)) as run:
            run.explorer = Explorer(search, options, context)
            run.frontier = RamThenDisk(run.explorer, native, open_past_ram, form)
            try:
                outcome = run.explorer.run(partial(run.frontier.explore, partial(loop, run.explorer, run.frontier)))
                past_ram = run.frontier.past_ram
                layers = run.explorer.exchange.merged_layers(None if past_ram is None else past_ram.store.report())
                return reported(run.explorer, replace(outcome, events=events + outcome.events, layers=layers))
            except Reformed as reformed:
                events += run.explorer.watch.events
                options, form = reformed.restart_options(), reformed.form
                if form is None:
                    options = options.with_own(compress=Compression.OFF)
                context = replace(context, snapshot=reformed.snapshot or given, seconds=reformed.seconds)
        search = native.search(settings) if form is None else reopened(native, settings, form, context.tuning)
        if form is not None and search.native is native:
            # At the next end of memory, fewer bits may have changed than are known to.
            options = options.with_own(squeeze=False)


class _Run(Generic[_PastRam]):
    """The resources of one search. ``close`` frees them, unless another search continues this one."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self.explorer: Explorer | None = None
        self.frontier: RamThenDisk[_PastRam] | None = None

    def close(self) -> None:
        if self.frontier is not None and self.frontier.is_handed_on:
            return
        if self.frontier is not None:
            self.frontier.close()
        search = self._search if self.explorer is None else self.explorer.search
        search.close()


class RamThenDisk(Generic[_PastRam]):
    """The frontier. ``plain``: the model, compiled for states as it packs them. ``form``: the form of its states, if it
    continues a search with states of another form."""

    def __init__(
        self,
        explorer: Explorer,
        plain: Native,
        open_past_ram: Callable[[Explorer, WorkDirectory], _PastRam],
        form: Form | None = None,
    ) -> None:
        self._explorer = explorer
        self._form = form
        self._arena = Arena(explorer)
        self._open_past_ram = open_past_ram
        self._directory: WorkDirectory | None = None
        self._boundary: Boundary | None = None  #: the last level from which the search can continue with wider states
        self._is_ready = False  #: whether the kernels for going past RAM are compiled
        self.is_handed_on = False  #: whether another search needs its files
        self.past_ram: _PastRam | None = None
        self.squeezing = Squeezing(explorer, plain)
        self.compressing = Compressing(explorer, plain)
        explorer.frontier = self
        explorer.keeps_boundaries |= isinstance(explorer.search, SqueezedSearch)
        explorer.watch.on_look.append(self._make_ready)
        explorer.on_level.append(self._note_boundary)
        explorer.on_stop_check.append(self._check_width)

    # --- Levels ------------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._explorer.fill_level(partial(self._fill, self._arena.create_start_states), self._new_states)

    def expand(self) -> None:
        """Expands the newest level, in RAM or on disk. In RAM it may expand several."""
        if self.past_ram is None:
            self._explorer.exchange.expand_arena(self)
        else:
            begin, end = self._explorer.levels.ends[-2:]
            self._explorer.fill_level(partial(self._fill, *self.past_ram.parts(begin, end)), self._new_states)

    def expand_level(self, expand: ExpandPart) -> None:
        """Expands the newest level in RAM, block by block."""
        self._explorer.fill_level(partial(self._fill, expand), self._new_states)

    def expand_levels(self) -> None:
        """Expands many levels in RAM. At the end of memory, continues with narrower states, or on disk."""
        explorer, arena = self._explorer, self._arena
        while self.past_ram is None:
            try:
                arena.expand_levels()
                arena.most_levels = explorer.tuning.levels_a_call
                return
            except Stopped as stopped:
                if stopped.stop is not Stop.MEMORY:
                    raise
            self._is_ready = True  # from here on, compiling ahead of time is too late
            explorer.take_level_back()
            # The kernels no longer hold the findings of this level, so they must not continue with the next one.
            arena.most_levels = 1
            self.compressing.check_memory()
            unexpanded = explorer.search.standing().unexpanded
            if not self.compressing.compress(unexpanded) and not self._squeezed(unexpanded):
                explorer.fill_level(partial(self._fill_rest, self._go_to_disk(), unexpanded), self._new_states)

    def _fill(self, expand: ExpandPart, pieces: int | None = None) -> None:
        self._explorer.exchange.fill_level(expand, pieces)
        if self.past_ram is not None:
            self.past_ram.resolve()

    def _fill_rest(self, past_ram: _PastRam, unexpanded: int) -> None:
        past_ram.make_room()
        self._fill(*past_ram.parts(unexpanded, self._explorer.levels.states))

    def _new_states(self) -> int:
        if self.past_ram is None:
            return self._explorer.search.finish_level()
        return self.past_ram.store.states - self._explorer.levels.states

    def _note_boundary(self) -> None:
        """Records the last level from which the search could continue with wider states."""
        if self._explorer.checkpoints is None and self._explorer.keeps_boundaries:
            self._boundary = Boundary.of(self._explorer)

    def restore(self, blocks: Iterator[States]) -> None:
        try:
            self._restore(blocks)
        except DiskFull:
            if self._form is None or self._explorer.context.snapshot is None:
                raise
            why = "the disk has no space for the levels of the previous search"
            raise Reformed(self._form, self._explorer, EventKind.DISK_FULL, why) from None

    def _restore(self, blocks: Iterator[States]) -> None:
        explorer = self._explorer
        for states in blocks:
            while len(states):
                states = states[len(self._insert(states)) :]
                explorer.watch.look()
                if len(states):
                    self._make_room()
        if self.past_ram is not None:
            self.past_ram.resolve()
        explorer.levels.append(self._new_states())

    def _insert(self, states: States) -> NDArray[np.bool_]:
        search = self._explorer.search
        if isinstance(search, SqueezedSearch):
            return search.insert_block(0, self.squeezing.kept_form(states))
        return search.insert_packed(0, states)

    def _make_room(self) -> None:
        explorer = self._explorer
        if explorer.search.standing().stop is not StopReason.MEMORY:
            explorer.check_stop()
        if self.past_ram is None:
            self._is_ready = True
            self.compressing.check_memory()
            begin = explorer.levels.ends[-2] if explorer.levels else 0
            if explorer.levels and (self.compressing.compress(begin) or self._squeezed(begin)):
                return
        (self.past_ram or self._go_to_disk()).make_room()

    # --- Past memory -------------------------------------------------------------------------------------------

    def go_past_memory(self, expand: ExpandPart) -> ExpandPart:
        if self.past_ram is not None:
            self.past_ram.make_room()
            return expand
        unexpanded = self._explorer.search.standing().expanded
        past_ram = self._go_to_disk()
        past_ram.make_room()
        return past_ram.parts(unexpanded, self._explorer.levels.states)[0] if self._explorer.levels else expand

    def _squeezed(self, unexpanded: int) -> bool:
        """Squeezes or widens the states. Returns whether the search continues in RAM."""
        if not self.squeezing.squeeze(unexpanded):
            return False
        self._explorer.visited = ExactTable(counts_deeper=False)
        self._explorer.keeps_boundaries |= isinstance(self._explorer.search, SqueezedSearch)
        return True

    def _make_ready(self) -> None:
        """Compiles the kernels for going past RAM while there is memory for it. Small searches never wait for it."""
        search = self._explorer.search
        is_due = self.past_ram is None and not self._is_ready
        if is_due and self.memory() > self._explorer.tuning.made_ready_from * search.budget:
            self._is_ready = True
            # Workers continue meanwhile. A failure is ignored: the compilation is repeated when it is needed.
            with suppress(OutcropError):
                _ = search.native.with_all_kernels
                self.compressing.make_ready()
                self.squeezing.make_ready()

    def leave_ram(self) -> None:
        """Continues on disk although memory is left."""
        if self.past_ram is None:
            self._go_to_disk("RAM cache off")

    def _go_to_disk(self, why: str = "memory budget used up") -> _PastRam:
        explorer = self._explorer
        self._directory = WorkDirectory(explorer.options.workdir, explorer.disk)
        try:
            past_ram = self._open_past_ram(explorer, self._directory)
        except UsageError as error:  # the kernels for it could not be compiled
            text = f"memory budget used up, and the search cannot continue on disk: {error}"
            explorer.watch.tell(Event(EventKind.GAVE_UP, text))
            raise Stopped(Stop.MEMORY) from None
        self.past_ram = past_ram
        explorer.visited = past_ram.store
        past_ram.store.take_over()
        level, states = max(0, len(explorer.levels) - 1), past_ram.store.states
        text = f"{why} at level {level:,}: {states:,} states written to disk, continuing with {past_ram.medium} on disk"
        explorer.watch.tell(Event(EventKind.SPILLED, text, {"level": level, "states": states}))
        return past_ram

    # --- Handover ----------------------------------------------------------------------------------------------

    def explore(self, loop: Callable[[], Stop]) -> Stop:
        """Runs the loop of a strategy. If it can only continue with states of another form, keeps what the next search
        needs to continue."""
        try:
            stop = loop()
        except Reformed as reformed:
            how, level = self._hand_on(reformed)
            form, plain = reformed.form, self._explorer.native.model_bytes
            before, after = self._explorer.native.state_bytes, plain if form is None else form.state_bytes
            data = {"from_level": level, "before": before, "after": after}
            self._explorer.watch.tell(Event(reformed.kind, f"{reformed}, {how}", data))
            raise
        if self.past_ram is not None and stop is Stop.COMPLETE:
            # A damaged file may have made a new state look old, so that it was not explored. Violations need no such
            # check, because their traces are replayed.
            self.past_ram.store.check_files()
        return stop

    def _check_width(self) -> None:
        """Raises Reformed if states past RAM do not fit their squeezed width. In RAM it counts as full memory."""
        if self.past_ram is not None:
            self.squeezing.check_width()

    def _hand_on(self, reformed: Reformed) -> tuple[str, int]:
        """Keeps what another search can continue. Returns how it will start, in words, and at which level."""
        checkpoints = self._explorer.checkpoints
        if checkpoints is not None:
            if self.past_ram is not None:
                checkpoints.save()
            if checkpoints.level_saved is not None:
                return "continuing from the last checkpoint", checkpoints.level_saved
            return "starting over", 0
        if reformed.form is None:
            reformed.snapshot = self.compressing.snapshot(self._boundary)
            self.is_handed_on = reformed.snapshot is not None
            how = "continuing from the last level"
        else:
            reformed.snapshot = self.snapshot()
            how = f"continuing with {reformed.form.state_bytes} bytes from the last level"
        if reformed.snapshot is None:
            return "starting over", 0
        return how, len(reformed.snapshot.own[0].levels) - 1

    def snapshot(self) -> Snapshot | None:
        """Returns a snapshot of the last complete level, for a search with states of another form. None: the levels are
        not on disk, or the disk is full."""
        explorer, past_ram, directory = self._explorer, self.past_ram, self._directory
        if past_ram is None or directory is None or self._boundary is None:
            return None
        manifest = self._boundary.describe(explorer)
        search = explorer.search
        try:
            past_ram.store.check_files()
            past_ram.store.keep_only_levels()
        except DiskFull:
            return None
        Carrying(search).let_go(Spill(search).resume())
        bytes_on_disk = explorer.disk.used

        def read_level(level: int) -> Iterator[States]:
            return map(search.packed_form, past_ram.store.read_level(level))

        def check(other: Explorer) -> None:
            if other.levels != manifest.levels:
                raise DamagedFile(directory.path, "its levels are not what was written")

        def close() -> None:
            search.close()
            directory.close()
            explorer.disk.release(bytes_on_disk)

        self.is_handed_on = True
        return Snapshot(
            own=[manifest],
            everyone=[manifest],
            read_level=read_level,
            check=check,
            event="continued at level {level:,} with {states:,} states of another width",
            disk=explorer.disk,
            close=close,
        )

    def close(self) -> None:
        self.compressing.close()
        if self.past_ram is not None:
            self.past_ram.store.close()
        if self._directory is not None:
            self._directory.close()

    # --- Frontier ----------------------------------------------------------------------------------------------

    @property
    def is_arena(self) -> bool:
        return self.past_ram is None

    def look(self) -> Look:
        if self.past_ram is None:
            return self._arena.look()
        return self.past_ram.store.look()

    def position(self) -> Position:
        if self.past_ram is None:
            return self._arena.position()
        return Position(len(self._explorer.levels) - 1, self.past_ram.store.states, self.past_ram.store.expanded)

    def memory(self) -> int:
        return self._arena.memory()

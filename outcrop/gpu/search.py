"""A breadth-first search on a GPU: exact, with all states in its memory, or by signatures.

The levels, limits, findings and paths are those of every other search (search/driver.py), and so are all counts: a
level is expanded to its end, and what is reported is chosen by the bytes of states. Start states are made on the
processor.

When the memory of the device ends, an exact search hands all its states over to the host, which goes on from the last
complete level. One by signatures goes on with memory of the host, and ends as unknown when that is full as well.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from outcrop.gpu.device import Device, OutOfDeviceMemory
from outcrop.gpu.engine import Engine, Wrong
from outcrop.gpu.memory import Shape, Sizes, TableFull
from outcrop.gpu.source import Tuning, translation_unit, why_not, words_of
from outcrop.kernels import Counts, Found, Marks, Native, Search, Settings, States
from outcrop.options import CheckOptions
from outcrop.report.text import size
from outcrop.search import auto
from outcrop.search.boundary import Before
from outcrop.search.budget import state_budget
from outcrop.search.compact import omission_bound
from outcrop.search.driver import DEADLOCK_RULES, Exploration, ShowProgress, Stopped, TakePut, most_found
from outcrop.search.forerunner import Forerunner
from outcrop.search.outcome import FindingKind, Outcome, Progress, Stop
from outcrop.search.paths import Look, Predecessors

if TYPE_CHECKING:
    from outcrop.codegen.c import Emitted
    from outcrop.ir.system import System

#: The strategies of the command line that there is something of on a GPU.
STRATEGIES = ("auto", "ram", "compact")
#: Bytes of a block of states.
BLOCK_BYTES = 1 << 28
#: ... of which there are so many at the least, if memory is small.
_LEAST_BLOCKS = 64
#: After so many levels it is seen whether they have so many states on average: a level takes a device as long as some
#: hundred states the processor.
_MANY_LEVELS = 1000
_FEW_STATES = 256
#: What the processor may keep of start states at the least.
_KERNEL_BYTES = 64 << 20
#: States that are read back from the device at a time.
_STATES_AT_A_TIME = 1 << 20

_KINDS = {Wrong.DEADLOCK: FindingKind.DEADLOCK, Wrong.STATE: FindingKind.STATE, Wrong.RULE: FindingKind.RULE}


@dataclass(frozen=True)
class Program:
    """A model, compiled for processor and device."""

    system: System
    emitted: Emitted
    native: Native

    @property
    def why_not(self) -> str | None:
        return why_not(self.system, self.emitted)


def search(
    program: Program,
    device: Device,
    options: CheckOptions,
    progress: ShowProgress | None = None,
    put: TakePut | None = None,
    *,
    sizes: Sizes | None = None,
    tuning: Tuning | None = None,
) -> Outcome:
    """``sizes`` and ``tuning``, for tests and measurements: other than what suits the device and the model."""
    started = time.monotonic()
    is_exact = options.strategy != "compact"
    source = program.emitted.source
    shape = Shape(
        state_bytes=program.native.state_bytes,
        rules=program.native.rule_count,
        covers=program.native.cover_count,
        notes=program.native.note_count,
        prepares="#define HAS_NORMALISE 1" in source or "#define HAS_ASSUMPTIONS 1" in source,
        checks=any(f"#define HAS_{each} 1" in source for each in ("ASSUMPTIONS", "INVARIANTS", "COVER_PROPERTIES")),
        is_exact=is_exact,
        deadlock=DEADLOCK_RULES[options.deadlock],
        seed=options.seed,
        most_found=most_found(options),
    )
    given = device.free_bytes() if options.device_memory is None else options.device_memory
    if tuning is None:
        tuning = Tuning.of(words_of(program.emitted), min(BLOCK_BYTES, given // _LEAST_BLOCKS))
    device.load(translation_unit(program.emitted, tuning))
    if sizes is None:
        sizes = Sizes.of(_device_budget(device, options.device_memory), state_budget(options))
    settings = Settings(
        deadlock=shape.deadlock,
        budget=max(_KERNEL_BYTES, state_budget(options)),
        most_found=shape.most_found,
        first_lines=1,
        seed=options.seed,
    )
    engine = Engine(device, tuning, shape, sizes)
    compiled = time.monotonic() - started
    with program.native.search(settings) as visited:
        run = DeviceExploration(visited, engine, options, progress, put, is_exact=is_exact)
        run.tell(f"device: {device.name}, {size(sizes.device_bytes)} for states, kernels ready after {compiled:.2f} s")
        try:
            outcome = run.run()
        except HandOver:
            outcome = _go_on_on_host(program.native, run, options, progress, put)
        engine.close()
    outcome.device = device.name
    return outcome


def _device_budget(device: Device, wanted: int | None) -> int:
    """Bytes for arrays."""
    free = int(device.free_bytes() * 0.95) - device.bytes_beside()
    return max(0, free if wanted is None else min(free, wanted))


class HandOver(Exception):
    """The memory of the device has ended in the middle of a level, or levels are so small that the host is faster."""


class DeviceExploration(Exploration):
    def __init__(
        self,
        search: Search,
        engine: Engine,
        options: CheckOptions,
        progress: ShowProgress | None,
        put: TakePut | None,
        *,
        is_exact: bool,
    ) -> None:
        super().__init__(search, options, progress, put)
        self.engine = engine
        engine.tell = self.tell
        self._is_exact = is_exact
        self._ends: list[int] = [0]  #: of levels, as positions
        self._starts: States | None = None
        self._fired = 0  #: in all complete levels
        if not is_exact:
            self.keys = f"compact, 64 bits, seed {options.seed}"

    # --- Levels ------------------------------------------------------------------------------------------------

    def explore(self) -> Stop:
        try:
            return super().explore()
        finally:
            self._tell_figures()

    def create_start_states(self) -> None:
        (failures,) = self.together(self.search.start)
        self.has_failed_start = failures > 0
        self._starts = self.search.read_block(0, self.search.finish_level())
        try:
            self.engine.start(self._starts)
        except (TableFull, OutOfDeviceMemory):
            raise OutOfDeviceMemory("the start states do not fit") from None
        self._ends.append(len(self._starts))
        self.level_done([len(self._starts)])

    def expand(self) -> None:
        begin, end = self._ends[-2:]
        self.engine.level_is_complete()
        level = len(self.levels) - 1
        if level >= _MANY_LEVELS and end < _FEW_STATES * level and not self.engine.blocks.first_kept():
            self.tell(f"device: {end:,} states in {level:,} levels, which are too small for a GPU")
            raise HandOver

        def find(wrong: Wrong, state: bytes) -> None:
            self.find(_KINDS[wrong], state, level + (wrong is Wrong.STATE))

        stopped: Stopped | None = None
        try:
            self.engine.expand(begin, end, find, self.poll)
        except Stopped as reason:
            stopped = reason
        except (TableFull, OutOfDeviceMemory):
            self.tell(
                f"the memory of the device ends at level {level:,}: {self.engine.states:,} states, table load "
                f"{self.engine.load:.2f}, {size(self.engine.host.used)} of host memory in use"
            )
            if self._is_exact:
                raise HandOver from None
            stopped = Stopped(Stop.MEMORY)
        self._ends.append(self.engine.states)
        fired = self.engine.fired()
        self.level_done([self.engine.states - end], [fired - self._fired])
        self._fired = fired
        if stopped is not None:
            raise stopped

    # --- Going back --------------------------------------------------------------------------------------------

    def look(self) -> Look:
        def look(level: int, targets: States) -> list[Predecessors]:
            if self._ends[level] < self.engine.blocks.first_kept():
                self._search_again(level)
            return self.engine.predecessors(self._ends[level], self._ends[level + 1], targets)

        return look

    def _search_again(self, level: int) -> None:
        """Searches as far as a level whose states have been dropped. This time fewer are, because it ends there."""
        self.tell(f"searching again up to level {level:,}, whose states were dropped, for a trace")
        assert self._starts is not None
        self.engine.forget()
        self.engine.start(self._starts)
        self._ends = [0, len(self._starts)]
        try:
            while len(self._ends) < level + 2:
                self.engine.expand(self._ends[-2], self._ends[-1], None, lambda: None)
                self._ends.append(self.engine.states)
        except (TableFull, OutOfDeviceMemory):
            raise OutOfDeviceMemory("too little to search again for a trace") from None
        if self._ends[level] < self.engine.blocks.first_kept():
            raise OutOfDeviceMemory(f"too little for level {level}, which a trace needs")

    # --- Counts ------------------------------------------------------------------------------------------------

    def count(self) -> tuple[Counts, Counts, Marks]:
        fired, covered, noted = super().count()
        more_fired, more_covered, more_noted = self.engine.count()
        return fired + more_fired, covered + more_covered, noted | more_noted

    def omission_bound(self, levels: list[int]) -> float:
        return 0.0 if self._is_exact else omission_bound(accumulate(levels), 64)

    def snapshot(self) -> Progress:
        expanded = self._ends[-2] if len(self._ends) > 1 else 0
        progress = self.progress_at(len(self.levels) - 1, self.engine.states, expanded)
        return replace(progress, generated=progress.rules_fired)

    def _tell_figures(self) -> None:
        engine = self.engine
        seconds = engine.device.kernel_seconds()
        moved = engine.bytes_moved(engine.fired())
        rate = moved / seconds if seconds else 0.0
        card = f" of {engine.device.bandwidth / 1e12:.2f}" if engine.device.bandwidth else ""
        self.tell(
            f"device: kernels {seconds:.3f} s, table of {engine.slots:,} slots at load {engine.load:.2f}, at least "
            f"{rate / 1e12:.2f}{card} TB/s, {size(engine.budget.peak)} of its memory"
            + (f", {size(engine.host.peak)} of the host's" if engine.host.peak else "")
        )

    # --- For the host ------------------------------------------------------------------------------------------

    def complete_levels(self) -> Iterator[Iterator[States]]:
        for begin, end in pairwise(self._ends):
            yield (
                self.engine.read(at, min(end, at + _STATES_AT_A_TIME)) for at in range(begin, end, _STATES_AT_A_TIME)
            )

    def counted_so_far(self) -> tuple[Counts, Counts, Marks]:
        """When the last level was complete; undefined reads may be of the next."""
        fired, covered, noted = self.search.count()
        more_fired, more_covered = self.engine.count_at_level()
        return fired + more_fired, covered + more_covered, noted | self.engine.count()[2]


class DeviceForerunner(Forerunner):
    """A search on a device, to be taken up by the processor."""

    def __init__(self, device: DeviceExploration) -> None:
        self._device = device

    def restore(self, run: Exploration) -> None:
        device = self._device
        for blocks in device.complete_levels():
            run.restore_level(blocks)
        fired, covered, marks = device.counted_so_far()
        for each in Found:
            run.search.take_found(each)
        own_fired, own_covered, _ = run.search.count()
        run.before = Before(
            fired - own_fired,
            covered - own_covered,
            enabled=None,
            deeper=None,
            noted=frozenset(device.noted(marks)),
            omission_bound=device.omission_bound(run.levels),
        )
        run.has_failed_start = device.has_failed_start
        last = len(run.levels) - 1
        for (kind, state, liveness), level in device.found.items():
            if level < last or (level == last and kind is FindingKind.STATE):
                run.find(kind, state, level, liveness)
        run.tell(f"going on on the processor from level {last:,}, {run.levels.states:,} states")


def _go_on_on_host(
    native: Native, device: DeviceExploration, options: CheckOptions, progress: ShowProgress | None, put: TakePut | None
) -> Outcome:
    """All work but that of the last level, which is expanded again."""
    forerunner, seconds = DeviceForerunner(device), device.seconds()
    outcome = auto.search(native, options, progress, put, forerunner=forerunner, seconds=seconds)
    return replace(outcome, events=device.events + outcome.events)

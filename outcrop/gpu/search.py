"""Breadth-first search on a GPU: exact, with all states in its memory, or by signatures.

Levels, limits, findings, paths and counts are those of every other search (explorer/explorer.py). A level is expanded
to its end, and findings are chosen by the bytes of states. The processor creates the start states.

When device memory is full, an exact search hands all its states over to the host, which continues from the last
complete level. A search by signatures continues with host memory, and ends as *unknown* when that is full too.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from outcrop.codegen.features import Feature
from outcrop.explorer.budget import DEADLOCK_RULES, state_budget
from outcrop.explorer.context import DEFAULT_CONTEXT, Context
from outcrop.explorer.explorer import Explorer
from outcrop.explorer.frontier import ExpandPart, Position
from outcrop.explorer.paths import Look, Predecessors
from outcrop.explorer.snapshot import Boundary, Snapshot
from outcrop.explorer.visited import ExactTable, SignatureTable
from outcrop.gpu.device import Device, OutOfDeviceMemory
from outcrop.gpu.engine import Engine, FoundFlag
from outcrop.gpu.memory import Shape, Sizes, TableFull
from outcrop.gpu.source import Tuning, translation_unit, why_not, words_of
from outcrop.kernels import Native, Settings, States
from outcrop.options import CheckOptions
from outcrop.outcome import Event, EventKind, FindingKind, Outcome, Restart, Stop, Stopped, most_found
from outcrop.search import auto
from outcrop.units import size

if TYPE_CHECKING:
    from outcrop.codegen.c import Emitted
    from outcrop.ir.system import System

#: Size of a block of states, in bytes.
BLOCK_BYTES = 1 << 28
#: Smallest number of blocks, if memory is small.
_LEAST_BLOCKS = 64
#: Number of levels after which their mean size is judged, and smallest mean size that pays, in states: a level takes a
#: device as long as some hundred states take the processor.
_MANY_LEVELS = 1000
_FEW_STATES = 256
#: Smallest memory for start states on the processor, in bytes.
_KERNEL_BYTES = 64 << 20
#: Number of states read back from the device at a time.
_STATES_AT_A_TIME = 1 << 20

#: Features that require work on successors before the lookup, and on new states.
_PREPARED = frozenset({Feature.NORMALISE, Feature.ASSUMPTIONS})
_CHECKED = frozenset({Feature.ASSUMPTIONS, Feature.INVARIANTS, Feature.COVER_PROPERTIES})

_KINDS = {
    FoundFlag.DEADLOCK: FindingKind.DEADLOCK,
    FoundFlag.STATE: FindingKind.STATE,
    FoundFlag.RULE: FindingKind.RULE,
}


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
    context: Context = DEFAULT_CONTEXT,
    *,
    sizes: Sizes | None = None,
    tuning: Tuning | None = None,
) -> Outcome:
    """Runs a search on a device. ``sizes`` and ``tuning`` replace the defaults, for tests and measurements."""
    started = time.monotonic()
    is_exact = options.strategy != "compact"
    features = program.emitted.features
    shape = Shape(
        state_bytes=program.native.state_bytes,
        rules=program.native.rule_count,
        covers=program.native.cover_count,
        notes=program.native.note_count,
        prepares=not _PREPARED.isdisjoint(features),
        checks=not _CHECKED.isdisjoint(features),
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
    with program.native.search(settings) as kernels:
        explorer = Explorer(kernels, options, context)
        explorer.visited = ExactTable(False) if is_exact else SignatureTable(64, "compact", options.seed)
        frontier = DeviceFrontier(explorer, engine, is_exact)
        text = f"device: {device.name}, {size(sizes.device_bytes)} for states, kernels ready after {compiled:.2f} s"
        explorer.watch.tell(Event(EventKind.DEVICE, text))
        try:
            outcome = explorer.run(partial(explore, explorer, frontier))
        except Restart as restart:
            context = replace(context, snapshot=frontier.snapshot(), seconds=restart.seconds)
            outcome = auto.search(program.native, options, context)
            outcome = replace(outcome, events=explorer.watch.events + outcome.events)
        engine.close()
    outcome.device = device.name
    return outcome


def _device_budget(device: Device, wanted: int | None) -> int:
    """Returns the device memory for arrays, in bytes."""
    free = int(device.free_bytes() * 0.95) - device.local_memory_bytes()
    return max(0, free if wanted is None else min(free, wanted))


class DeviceFrontier:
    """The levels of a search on a device, as ranges of the positions of its states."""

    is_arena = False

    def __init__(self, explorer: Explorer, engine: Engine, is_exact: bool) -> None:
        self._explorer = explorer
        self.engine = engine
        self._is_exact = is_exact
        self._ends: list[int] = [0]  #: ends of levels, as positions
        self._starts: States | None = None
        self._fired = 0  #: number of rules fired in all complete levels
        engine.tell = explorer.watch.tell
        explorer.frontier = self
        explorer.counters.append(engine.count)

    # --- Levels ------------------------------------------------------------------------------------------------

    def start(self) -> None:
        explorer = self._explorer
        (failures,) = explorer.parallel(explorer.search.start)
        explorer.findings.has_failed_start = failures > 0
        self._starts = explorer.search.read_block(0, explorer.search.finish_level())
        try:
            self.engine.start(self._starts)
        except (TableFull, OutOfDeviceMemory):
            raise OutOfDeviceMemory("the start states do not fit") from None
        self._ends.append(len(self._starts))
        explorer.level_done([len(self._starts)])

    @property
    def is_too_small(self) -> bool:
        """Whether levels are so small that the host is faster."""
        level, states = len(self._explorer.levels) - 1, self._ends[-1]
        return level >= _MANY_LEVELS and states < _FEW_STATES * level and not self.engine.blocks.first_kept()

    def expand(self) -> bool:
        """Expands the newest level. Returns False if device memory became full in the middle of it and the host can
        continue."""
        explorer = self._explorer
        begin, end = self._ends[-2:]
        level = len(explorer.levels) - 1

        def find(flag: FoundFlag, state: bytes) -> None:
            explorer.findings.add(_KINDS[flag], state, level + (flag is FoundFlag.STATE))

        stop: Stop | None = None
        try:
            self.engine.expand(begin, end, find, explorer.watch.poll)
        except Stopped as stopped:
            stop = stopped.stop
        except (TableFull, OutOfDeviceMemory):
            text = (
                f"device memory full at level {level:,}: {self.engine.states:,} states, table load "
                f"{self.engine.load:.2f}, {size(self.engine.host.used)} of host memory in use"
            )
            explorer.watch.tell(Event(EventKind.DEVICE_FULL, text))
            if self._is_exact:
                return False
            stop = Stop.MEMORY
        self._ends.append(self.engine.states)
        fired = self.engine.fired()
        explorer.level_done([self.engine.states - end], [fired - self._fired], stop)
        self._fired = fired
        return True

    # --- Predecessors ------------------------------------------------------------------------------------------

    def look(self) -> Look:
        def look(level: int, targets: States) -> list[Predecessors]:
            if self._ends[level] < self.engine.blocks.first_kept():
                self._search_again(level)
            return self.engine.predecessors(self._ends[level], self._ends[level + 1], targets)

        return look

    def _search_again(self, level: int) -> None:
        """Repeats the search up to a level whose states were dropped. Fewer are dropped this time, because it ends
        there."""
        text = f"searching again up to level {level:,} for a trace, because its states were dropped"
        self._explorer.watch.tell(Event(EventKind.RETRACED, text))
        assert self._starts is not None
        self.engine.forget()
        self.engine.start(self._starts)
        self._ends = [0, len(self._starts)]
        try:
            while len(self._ends) < level + 2:
                self.engine.expand(self._ends[-2], self._ends[-1], None, lambda: None)
                self._ends.append(self.engine.states)
        except (TableFull, OutOfDeviceMemory):
            raise OutOfDeviceMemory("too little device memory to search again for a trace") from None
        if self._ends[level] < self.engine.blocks.first_kept():
            raise OutOfDeviceMemory(f"too little device memory for level {level}, which the trace needs")

    # --- Frontier ----------------------------------------------------------------------------------------------

    def restore(self, blocks: Iterator[States]) -> None:
        raise NotImplementedError("a device continues no snapshot")

    def position(self) -> Position:
        expanded = self._ends[-2] if len(self._ends) > 1 else 0
        return Position(len(self._explorer.levels) - 1, self.engine.states, expanded)

    def memory(self) -> int:
        return 0

    def go_past_memory(self, expand: ExpandPart) -> ExpandPart | None:
        return None

    def tell_figures(self) -> None:
        engine = self.engine
        seconds = engine.device.kernel_seconds()
        moved = engine.bytes_moved(engine.fired())
        rate = moved / seconds if seconds else 0.0
        card = f" of {engine.device.bandwidth / 1e12:.2f}" if engine.device.bandwidth else ""
        host = f", {size(engine.host.peak)} of the host's" if engine.host.peak else ""
        text = (
            f"device: kernels {seconds:.3f} s, table of {engine.slots:,} slots at load {engine.load:.2f}, at least "
            f"{rate / 1e12:.2f}{card} TB/s, {size(engine.budget.peak)} of its memory{host}"
        )
        self._explorer.watch.tell(Event(EventKind.DEVICE, text))

    # --- Handover to the host ----------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Returns a snapshot of the last complete level. Its undefined reads may include those of the next one."""
        explorer, engine = self._explorer, self.engine
        fired, covered, marks = explorer.search.count()
        more_fired, more_covered = engine.count_at_level()
        boundary = Boundary(
            levels=len(explorer.levels),
            found=len(explorer.findings.states),
            has_failed_start=explorer.findings.has_failed_start,
            counts=(fired + more_fired, covered + more_covered, marks | engine.count()[2]),
            coverage=(None, None),
            revisits=False,
            collision_rate=None,
        )
        last = len(explorer.levels) - 1
        manifest = boundary.describe(explorer)
        # The level that is expanded again will give its findings again.
        found = [row for row in manifest.found if row[2] < last or (row[2] == last and row[0] == FindingKind.STATE)]
        manifest = replace(manifest, found=found, generated=[], seconds=0.0)
        ends = list(self._ends)

        def read_level(level: int) -> Iterator[States]:
            begin, end = ends[level : level + 2]
            return (engine.read(at, min(end, at + _STATES_AT_A_TIME)) for at in range(begin, end, _STATES_AT_A_TIME))

        event = "continuing on the processor from level {level:,}, {states:,} states"
        return Snapshot(own=[manifest], everyone=[manifest], read_level=read_level, event=event)


def explore(explorer: Explorer, frontier: DeviceFrontier) -> Stop:
    """Expands level after level on the device. Raises Restart if the host must continue, or is faster."""
    try:
        explorer.begin()
        while (stop := explorer.next_stop()) is None:
            frontier.engine.level_is_complete()
            if frontier.is_too_small:
                level, states = len(explorer.levels) - 1, explorer.levels.states
                text = f"device: {states:,} states in {level:,} levels, which is too few per level for a GPU"
                explorer.watch.tell(Event(EventKind.SWITCHED, text))
                raise Restart("levels are too small", explorer.options, explorer.watch.seconds())
            if not frontier.expand():
                raise Restart("device memory is full", explorer.options, explorer.watch.seconds())
            explorer.level_is_complete()
        return stop
    finally:
        frontier.tell_figures()

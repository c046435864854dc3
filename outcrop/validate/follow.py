"""Following a log: the states that agree with its lines, found by the compiled model."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain, islice
from types import TracebackType
from typing import NamedTuple

import numpy as np

from outcrop.codegen.c import emit
from outcrop.codegen.compiler import compile_model
from outcrop.errors import UsageError
from outcrop.ir.layout import Layout, State
from outcrop.ir.system import System
from outcrop.kernels import Settings
from outcrop.kernels.observe import STAY, STEP, Answer, Lines, Observer
from outcrop.kernels.states import States
from outcrop.validate.beginning import Beginning, Uncertain
from outcrop.validate.encode import Encoder, Line
from outcrop.validate.logs import Record
from outcrop.validate.options import Start, ValidateOptions

#: Number of lines that one call of the kernel reads, and that are in memory at a time.
_CHUNK = 1 << 12
#: Number of lines before the end whose sets of states are kept, to find the run that leads there.
_WINDOW = 200
#: Largest number of states of a set that is kept for that.
_MOST_KEPT = 1000
#: Largest number of states that are kept for coverage.
MOST_SEEN = 1_000_000


class Conformity(StrEnum):
    """The answer about a log."""

    CONFORMS = "conforms"
    DIFFERS = "does not conform"
    UNKNOWN = "unknown"

    @property
    def exit_code(self) -> int:
        return {Conformity.CONFORMS: 0, Conformity.DIFFERS: 1, Conformity.UNKNOWN: 3}[self]


class Numbered(NamedTuple):
    """A line of a log: its number, its text or object, its bits, and the name of the log."""

    number: int
    record: Record
    line: Line
    log: str


@dataclass
class _Chunk:
    """Lines that one call of the kernel has read, and the states before them."""

    before: States
    lines: list[Numbered]
    is_first: bool  #: whether they begin the log


@dataclass
class Followed:
    """The extent to which a log is a run."""

    conformity: Conformity
    lines: int  #: lines that agree
    widest: int = 0  #: most states that agreed with the lines up to one
    widest_line: int = 0  #: number of that line
    reason: str = ""  #: why the answer is unknown
    failing: Numbered | None = None
    others: list[Numbered] = field(default_factory=list)  #: lines of other writers that could come next as well
    possible: int = 0  #: number of states after the last line that agrees
    #: The last lines that agree, with some of the states after each; before them, the states that they begin with.
    window: list[tuple[Numbered, list[State]]] = field(default_factory=list)
    before: list[State] = field(default_factory=list)
    is_whole: bool = True  #: whether the window begins with the log
    identities: dict[str, str] = field(default_factory=dict)  #: values given to names that the model does not have

    @property
    def states(self) -> list[State]:
        """States after the last line that agrees; not all if there are very many."""
        return self.window[-1][1] if self.window else self.before


class Follower:
    """Follows logs with the compiled model. Close it, or use it in a ``with``."""

    def __init__(self, system: System, options: ValidateOptions) -> None:
        self.system = system
        self.options = options
        emitted = emit(system, symmetry=False, instances=True)
        native = compile_model(emitted.source, notes=emitted.notes, groups=emitted.groups, kernels=())
        self._layout = Layout(system)
        self.encoder = Encoder(system, options.mapping, native.normalise)
        self._search = native.search(Settings(budget=1 << 20))
        self.native = native
        self.hidden = set(self.encoder.instances_of(options.internal))
        self.observer = Observer(
            self._search,
            self.encoder.instance_count,
            options.gap,
            sorted(self.hidden),
            options.width,
            MOST_SEEN if options.state_coverage else 0,
        )
        self._end = None if options.time_limit is None else time.monotonic() + options.time_limit
        self._declared = (0, 0)

    def __enter__(self) -> Follower:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, traceback: TracebackType | None) -> None:
        self._search.close()

    @property
    def is_late(self) -> bool:
        """Whether the time limit is over."""
        return self._end is not None and time.monotonic() > self._end

    # --- Encoding ---

    def encoded(self, records: Iterable[tuple[int, Record]], name: str) -> Iterator[Numbered]:
        """Yields the lines that show something, as bits. Errors name the log and the line."""
        for number, record in records:
            try:
                line = self.encoder.line(record)
            except UsageError as error:
                raise UsageError(f"'{name}', line {number:,}: {error}") from None
            if line is not None:
                yield Numbered(number, record, line, name)

    def lines(self, numbered: list[Numbered], is_first: bool) -> Lines:
        """Returns lines for the kernel. ``is_first``: they begin the log."""
        encoder, without = self.encoder, STEP | (STAY if self.options.stutter else 0)
        ways, labels = [], []
        for at, each in enumerate(numbered):
            starts_here = is_first and at == 0
            label = each.line.label
            if each.line.starts is not None and label is None and not starts_here:
                raise UsageError(
                    f"line {each.number:,} names a start state, but its run has begun; write one log for each run"
                )
            in_place = starts_here and (label is None or each.line.starts is not None)
            ways.append(STAY if in_place else STEP if label is not None else without)
            labels.append(encoder.any_rule if label is None else label)
        size = self._layout.byte_count
        values = np.frombuffer(b"".join([each.line.values for each in numbered]), dtype=np.uint8)
        return Lines(
            np.array(ways, dtype=np.uint8),
            np.array(labels, dtype=np.uint32),
            np.array([each.line.mask for each in numbered], dtype=np.uint32),
            values.reshape(len(numbered), size),
        )

    def declare(self) -> None:
        """Tells the kernel about new labels and masks."""
        size = len(self.encoder.labels), len(self.encoder.masks)
        if size != self._declared:
            self.observer.declare(list(self.encoder.labels), self.encoder.mask_rows)
            self._declared = size

    # --- Following ---

    def start(self, first: Numbered | None) -> bool:
        """Begins with the start states that the first line may mean. Returns whether they fit."""
        starts = None if first is None else first.line.starts
        label = self.encoder.any_start if starts is None else starts
        self.declare()
        return self.observer.start(label)

    def enter(self, first: Numbered) -> States:
        """Begins in the middle of a run, with the states that agree with the first line, and returns them. Raises
        Uncertain if they cannot be listed."""
        line, encoder = first.line, self.encoder
        own = line._replace(label=None, starts=None, impossible="")  # it shows a state as it is
        mask = np.frombuffer(list(encoder.masks)[line.mask].to_bytes(self._layout.byte_count, "little"), dtype=np.uint8)
        values = np.frombuffer(line.values, dtype=np.uint8)
        self._beginning = Beginning(self.system, mask, values, self.options.width)
        if line.impossible:
            states = values[None][:0]
        elif self.options.start is Start.ANY:
            states = self._beginning.any()
        else:
            label = None if line.label is None else list(encoder.labels)[line.label]
            states = self._beginning.reachable(self.native, label)
        self.start(None)
        self.observer.restore(states)
        if len(states):
            encoded = self.lines([first._replace(line=own)], True)
            self.declare()
            self.observer.read_in_place(encoded)
            for fired in self._beginning.fired:
                np.add.at(self.observer.shown, fired, 1)
        return states

    def not_entered(self, first: Numbered) -> Followed:
        """Returns the answer about a log whose first line no state agrees with."""
        found = Followed(Conformity.DIFFERS, 0, failing=first, possible=self._beginning.possible, is_whole=False)
        found.before = self.unpacked(self._beginning.near)
        return found

    def follow(self, numbered: Iterable[Numbered]) -> Followed:
        """Follows the lines of one log."""
        rest = iter(numbered)
        first = next(rest, None)
        if first is None or self.options.start is Start.INITIAL:
            if not self.start(first):
                return Followed(Conformity.UNKNOWN, 0, reason=self.too_wide())
            return self._follow_rest(chain([] if first is None else [first], rest), 0)
        try:
            states = self.enter(first)
        except Uncertain as error:
            return Followed(Conformity.UNKNOWN, 0, reason=str(error), failing=first)
        return self._follow_rest(rest, 1) if len(states) else self.not_entered(first)

    def _follow_rest(self, rest: Iterator[Numbered], read: int) -> Followed:
        """Follows lines from the current states on, after those that were read."""
        recent: list[_Chunk] = []  # the last two
        while True:
            lines = list(islice(rest, _CHUNK))
            if not lines:
                return self._ended(Conformity.CONFORMS, recent, read)
            encoded = self.lines(lines, read == 0)
            self.declare()
            recent = [*recent[-1:], _Chunk(self.observer.states, lines, read == 0)]
            answer, done = self.observer.read(encoded, lambda: self.is_late)
            read += done
            if answer is Answer.PAUSED:
                return self._ended_late([], read)
            if answer is not Answer.ALL:
                return self._stopped(answer, recent, done, read)
            if self.is_late:
                return self._ended_late(recent, read)

    def _ended_late(self, recent: list[_Chunk], read: int) -> Followed:
        """Returns the answer about a log whose rest there was no time for."""
        found = self._ended(Conformity.UNKNOWN, recent, read)
        found.reason = "the time limit was reached"
        return found

    def _stopped(self, answer: Answer, recent: list[_Chunk], done: int, read: int) -> Followed:
        """Returns the answer about a log whose next line no state, or too many states, agree with."""
        next_line = recent[-1].lines[done]
        recent[-1].lines = recent[-1].lines[:done]
        if answer is Answer.NONE:
            found = self._ended(Conformity.DIFFERS, recent, read)
        else:
            found = self._ended(Conformity.UNKNOWN, recent, read)
            found.reason = self.too_wide()
        found.failing = next_line
        return found

    def _ended(self, conformity: Conformity, recent: list[_Chunk], read: int) -> Followed:
        """Returns the answer, with the sets of states of the last lines, which are found again one by one."""
        found = Followed(conformity, read, self.observer.widest, self.observer.widest_line)
        found.possible = len(self.observer.states)
        if not recent:
            found.before, found.is_whole = self.unpacked(self.observer.states), self.options.start is Start.INITIAL
            return found
        lines = [each for chunk in recent for each in chunk.lines]
        is_first, skipped = recent[0].is_first, max(0, len(lines) - _WINDOW)
        shown = self.observer.shown.copy()
        self.observer.restore(recent[0].before)
        if skipped:
            self.observer.read(self.lines(lines[:skipped], is_first))
        found.before, found.is_whole = self.unpacked(self.observer.states), is_first and not skipped
        for number, each in enumerate(lines[skipped:], skipped):
            self.observer.read(self.lines([each], is_first and number == 0))
            found.window.append((each, self.unpacked(self.observer.states)))
        self.observer.shown[:] = shown
        return found

    def unpacked(self, states: States) -> list[State]:
        """Returns packed states as the interpreter has them; only the first if there are very many."""
        return [self._layout.unpack(row.tobytes()) for row in states[:_MOST_KEPT]]

    def too_wide(self) -> str:
        """Returns the reason for giving up on too many states."""
        return (
            f"more than {self.options.width:,} states agree with a line. Show more of the state in the log, name the "
            "rules that may fire unlogged with --internal, or raise --width"
        )

"""What a search hands back: counts, and the raw findings that the trace module turns into violations.

A search never explains. It says where something is wrong by the packed states that lead there; the interpreter
replays them and finds out what, so that messages have one source and every trace is confirmed before it is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from outcrop.options import CheckOptions

#: Most findings that a search lists, and counts.
_MOST_FOUND = 10_000


class Stop(StrEnum):
    """Why a search ended. COMPLETE: every reachable state was expanded."""

    COMPLETE = "complete"
    VIOLATION = "violation"
    DEPTH = "depth bound reached"
    STATES = "state bound reached"
    TIME = "time limit reached"
    MEMORY = "out of memory"
    DISK = "out of disk"
    DISK_FAILED = "disk failed"
    COLLISIONS = "collision limit reached"
    REDUNDANT = "redundant work bound reached"
    INTERRUPTED = "interrupted"
    COVERAGE = "states may be missing"  #: nothing is left to be expanded, but the visited set proves nothing
    NO_STATES = "no-states"  #: assumptions drop every start state, so that nothing was checked

    @property
    def is_conclusive(self) -> bool:
        """Whether the search decides what it was asked."""
        return self in (Stop.COMPLETE, Stop.VIOLATION)

    @property
    def is_final(self) -> bool:
        """Whether nothing is left to be searched."""
        return self.is_conclusive or self in (Stop.NO_STATES, Stop.COVERAGE)


class Stopped(Exception):
    """The search must end before it is complete."""

    def __init__(self, stop: Stop) -> None:
        self.stop = stop


class Restart(Exception):
    """Raised, on all ranks, when a search must restart with other options; carries those options."""

    def __init__(self, why: str, options: CheckOptions, seconds: float) -> None:
        super().__init__(why)
        self.options = options
        self.seconds = seconds  #: spent so far, which count against the limit


class EventKind(StrEnum):
    """What happened to a search, beside its levels. An event's text says it to people, its kind to programs."""

    SQUEEZED = "squeezed"  #: memory ended, and states were squeezed to the bits that change
    WIDENED = "widened"  #: some state did not fit what states were squeezed to, so that all became wider
    SPILLED = "spilled"  #: memory ended, and the search went on with states on disk, or in the host's memory
    CONTINUED = "continued"  #: another search took up what one had done until then
    RESUMED = "resumed"  #: the search began with a checkpoint
    CHECKPOINT = "checkpoint"  #: the search has stopped and can be resumed
    DISK_FULL = "disk full"  #: no room on disk, or none left in its budget
    DISK_FAILED = "disk failed"  #: the disk can no longer be trusted
    INTERRUPTED = "interrupted"  #: a signal ended the search
    UNLISTED = "unlisted"  #: as many violations were found as are listed, and the search goes on
    DEVICE = "device"  #: which device searches, and what it has done
    DEVICE_FULL = "device full"  #: the memory of the device has ended
    SWITCHED = "switched"  #: the search runs on another device than it was asked for, or than it began on
    RETRACED = "retraced"  #: a part is searched again, for a trace
    WARNED = "warned"  #: something is not as one would expect, and the search goes on
    GAVE_UP = "gave up"  #: the search, or a part of it, was given up


@dataclass(frozen=True)
class Event:
    """One thing that a search did on the way. Events of one kind that say the same are the same."""

    kind: EventKind
    text: str  #: one line
    #: Figures. ``level``: where the search stands. ``states``: their number. ``before``, ``after``: bytes of a state.
    #: ``from_level``: where a search that must restart goes on from, 0 for its beginning.
    data: Mapping[str, int] = field(default_factory=dict, compare=False)

    def __str__(self) -> str:
        return self.text


class FindingKind(StrEnum):
    """In the order in which findings of one level are preferred."""

    START = "start"  #: a runtime error in a startstate; the path is empty
    DEADLOCK = "deadlock"  #: the last state of the path is one
    STATE = "state"  #: an invariant is false in the last state, or evaluating a property fails there
    RULE = "rule"  #: a runtime error in a guard or body that the last state enables
    LIVENESS = "liveness"  #: no path from the last state to one that satisfies a liveness property
    LASSO = "lasso"  #: the last state leads back to an earlier one, and between them lies an accepting state


@dataclass(frozen=True)
class Finding:
    """``path``: packed states, each a successor of the one before, from a start state. Under symmetry each is
    the representative of its orbit."""

    kind: FindingKind
    path: tuple[bytes, ...]
    liveness: int | None = None  #: which liveness instance, counted over all liveness properties in order
    loop_start: int | None = None  #: of a lasso: the state of the path that the last one leads back to


def most_found(options: CheckOptions) -> int:
    """Returns how many findings a search lists: the first by level, kind and bytes of the state."""
    return _MOST_FOUND if options.max_errors is None else min(options.max_errors, _MOST_FOUND)


def are_enough(found: int, options: CheckOptions) -> bool:
    """Returns whether a search with so many findings ends with its level. Past what is listed it goes on to the end:
    how many more were found depends on threads and revisits."""
    return options.max_errors is not None and options.max_errors <= min(found, _MOST_FOUND)


@dataclass(frozen=True)
class RankReport:
    """What one of several processes has done."""

    rank: int
    host: str
    states: int  #: that it owns
    rules_fired: int
    successors_of_others: int  #: however often each was made
    states_sent: int  #: of these, those that the filter let through
    bytes_sent: int
    messages_sent: int
    seconds_waiting: float
    peak_rss_bytes: int
    peak_disk_bytes: int


@dataclass(frozen=True)
class LayerRow:
    """A layer of a layered search, once it is complete."""

    level: int
    states: int
    candidates: int  #: successors that RAM did not have
    longest_back_edge: int  #: by the delayed check, in levels
    kept: int | None  #: layers that stay as they are; None for all
    layer_bytes: int  #: of all layers, on disk
    disk_bytes: int  #: of all files


@dataclass(frozen=True)
class LayerReport:
    layers: int | str  #: as asked for
    forget: bool
    kept: int | None  #: layers that stay as they are; None for all
    longest_back_edge: int
    states_estimate: int | None  #: where layers were forgotten
    rows: list[LayerRow]


@dataclass
class Outcome:
    stop: Stop
    levels: list[int]  #: new states per level; the start states are level 0
    fired: list[int]  #: times fired, per rule of the System
    covered: list[int]  #: times met, per cover goal of the System
    noted: list[int] = field(default_factory=list)  #: the notes (see Property) of what has happened
    findings: list[Finding] = field(default_factory=list)  #: shortest path first
    omission_bound: float = 0.0  #: probability that a state was missed; 0 is exact
    seconds: float = 0.0
    peak_disk_bytes: int = 0
    events: list[Event] = field(default_factory=list)  #: what the search did on the way
    device: str = ""  #: what searched, if not the processor
    revisits: bool = False  #: levels may count a state more than once
    #: For each level, also for an empty last one, the successors among which it was found; None where nobody counted.
    generated: list[int | None] = field(default_factory=list)
    missed: list[int] | None = None  #: of those found new while a level was expanded, how many were old; None: unknown
    enabled: list[int] | None = None  #: times enabled, per rule
    deeper: list[int] | None = None  #: times that a rule led to a state of the next level
    samples: dict[str, list[float]] = field(default_factory=dict, compare=False)  #: see Samples.columns
    ranks: list[RankReport] = field(default_factory=list)  #: where there are several
    collision_rate: float | None = None  #: of a table that forgets: insertions that overwrote a state
    signature_coverage: float | None = None  #: about which part of the states was visited, if signatures were kept
    layers: LayerReport | None = field(default=None, compare=False)  #: of a layered search past RAM

    @property
    def visited(self) -> int:
        """States visited, each as often as it was."""
        return sum(self.levels)

    @property
    def states(self) -> int | None:
        """Different states, None where that is not known."""
        return None if self.revisits else self.visited

    def without_states_undecided(self) -> Outcome:
        """Returns the outcome, with the reason NO_STATES where a search came to its end without a single state."""
        is_empty = self.stop is Stop.COMPLETE and not self.visited
        return replace(self, stop=Stop.NO_STATES) if is_empty else self

    @property
    def duplicates(self) -> list[int | None]:
        """For each level, how many successors of its states were known already; None where nobody counted."""
        sizes = [*self.levels, 0]
        found = [*self.generated, *[None] * len(sizes)]
        return [
            None if count is None else max(0, count - size)
            for count, size in zip(found[1 : len(sizes)], sizes[1:], strict=True)
        ]

    @property
    def missed_duplicates(self) -> list[int] | None:
        """For each level, how many of the successors that were taken for new had been visited before."""
        return [0] * len(self.levels) if self.missed is None and not self.revisits else self.missed

    @property
    def rules_fired(self) -> int:
        return sum(self.fired)


@dataclass(frozen=True)
class Progress:
    """A snapshot for the progress line."""

    level: int
    states: int
    rules_fired: int
    frontier: int
    seconds: float
    generated: int = 0  #: successors, known ones included
    memory: int = 0  #: bytes that the process holds
    disk: int = 0  #: bytes of its files
    levels: Sequence[int] = ()  #: sizes of those that are complete
    event: Event | None = None  #: what the search has just done, if it is worth a line


@dataclass(frozen=True, kw_only=True)
class WalkProgress(Progress):
    """A snapshot of random walks. ``states`` are different ones, about."""

    walks: int
    steps: int

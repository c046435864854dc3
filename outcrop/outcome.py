"""The outcome of a search: counts, and the raw findings that the trace package turns into violations.

A search does not explain. A finding is the list of packed states that leads to a violation. The interpreter replays
them and determines the violation, so that messages have one source and every trace is confirmed before it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from outcrop.options import CheckOptions

if TYPE_CHECKING:
    from outcrop.explorer.snapshot import Snapshot

#: Largest number of findings that a search lists and counts.
MOST_FOUND = 10_000


class Stop(StrEnum):
    """The reason why a search ended. COMPLETE: every reachable state was expanded."""

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
    #: No state is left to expand, but the visited set does not show that all were visited.
    COVERAGE = "states may be missing"
    NO_STATES = "no-states"  #: assumptions exclude every start state, so that nothing was checked

    @property
    def is_conclusive(self) -> bool:
        """Returns whether the search decides the question."""
        return self in (Stop.COMPLETE, Stop.VIOLATION)

    @property
    def is_final(self) -> bool:
        """Returns whether no state is left to expand."""
        return self.is_conclusive or self in (Stop.NO_STATES, Stop.COVERAGE)


class Stopped(Exception):
    """Raised when a search must end before it is complete."""

    def __init__(self, stop: Stop) -> None:
        self.stop = stop


class Restart(Exception):
    """Raised, on all ranks, when a search must restart with other options; carries those options."""

    def __init__(self, why: str, options: CheckOptions, seconds: float) -> None:
        super().__init__(why)
        self.options = options
        self.seconds = seconds  #: time spent so far, which counts against the limit
        self.snapshot: Snapshot | None = None  #: the search to continue; None: the next one starts over


class EventKind(StrEnum):
    """The kind of an event, for programs; the text of the event is for people."""

    SQUEEZED = "squeezed"  #: RAM is full, and states were squeezed to the bits that change
    COMPRESSED = "compressed"  #: RAM is full, and visited states were compressed; or RAM is full for these too
    WIDENED = "widened"  #: a state did not fit the squeezed width, so that all states became wider
    SPILLED = "spilled"  #: RAM is full, and the search continues with states on disk, or in the memory of the host
    CONTINUED = "continued"  #: another search took over the work done so far
    RESUMED = "resumed"  #: the search began from a checkpoint
    CHECKPOINT = "checkpoint"  #: the search stopped and can be resumed
    NOT_COPIED = "not copied"  #: the checkpoint could not be copied to its remote place, and is kept here
    DISK_FULL = "disk full"  #: the disk is full, or its budget is spent
    DISK_FAILED = "disk failed"  #: the disk returned errors or wrong data
    ENLARGED = "enlarged"  #: a bound that was guessed was too small, and the search began again with a larger one
    INTERPRETED = "interpreted"  #: there is no C compiler, so that the interpreter searches
    INTERRUPTED = "interrupted"  #: a signal ended the search
    UNLISTED = "unlisted"  #: the list of violations is full, and the search continues
    DEVICE = "device"  #: the device that searches, and what it has done
    DEVICE_FULL = "device full"  #: the memory of the device is full
    SWITCHED = "switched"  #: the search runs on another device than requested, or than it began on
    RETRACED = "retraced"  #: part of the space is searched again, for a trace
    WARNED = "warned"  #: something is unusual, and the search continues
    REORDERED = "reordered"  #: not all shortest traces were compared
    GAVE_UP = "gave up"  #: the search, or a part of it, was abandoned


@dataclass(frozen=True)
class Event:
    """One event of a search. Two events are equal if their kinds and texts are."""

    kind: EventKind
    text: str  #: one line
    #: Figures. ``level``: current level. ``states``: number of states. ``before``, ``after``: bytes of a state.
    #: ``from_level``: level from which a search that must restart continues; 0 is the beginning.
    data: Mapping[str, int] = field(default_factory=dict, compare=False)

    def __str__(self) -> str:
        return self.text


class FindingKind(StrEnum):
    """The kind of a finding. Among findings of one level, earlier kinds are reported first."""

    START = "start"  #: a runtime error in a startstate; the path is empty
    DEADLOCK = "deadlock"  #: the last state of the path is a deadlock
    STATE = "state"  #: an invariant is false in the last state, or evaluating a property fails there
    RULE = "rule"  #: a runtime error in a guard or body that the last state enables
    LIVENESS = "liveness"  #: no state that satisfies a liveness property can be reached from the last state
    LASSO = "lasso"  #: the last state leads back to an earlier one, with an accepting state between them


@dataclass(frozen=True)
class Finding:
    """A violation as a search records it. ``path`` holds packed states from a start state on, each a successor of the
    one before. Under symmetry each is the representative of its orbit."""

    kind: FindingKind
    path: tuple[bytes, ...]
    liveness: int | None = None  #: number of the liveness instance, counted over all liveness properties in order
    loop_start: int | None = None  #: for a lasso: index of the state in the path that the last state leads back to


@dataclass(frozen=True)
class Ending:
    """The states in which a trace may end: those of one level with a finding of one kind that ``accepts`` accepts. For
    liveness, the state of the finding alone."""

    finding: Finding
    accepts: Callable[[bytes], bool]

    @property
    def level(self) -> int:
        return len(self.finding.path) - 1

    @property
    def last_level(self) -> int:
        """The level that a search must have reached. It finds deadlocks and failing rules when it expands a state."""
        return self.level + (self.finding.kind in (FindingKind.DEADLOCK, FindingKind.RULE))

    def states(self, found: Iterable[bytes]) -> set[bytes]:
        """Returns the states that are such ends, out of those of the level that have a finding of the kind."""
        if self.finding.kind is FindingKind.LIVENESS:
            return {self.finding.path[-1]}
        return {state for state in found if self.accepts(state)}


#: States on shortest runs, as the model packs them, by level: each has a successor in the next set.
ShortestRuns = list[set[bytes]]

#: Largest number of states in all levels that are searched again for the shortest runs.
MOST_SEARCHED_AGAIN = 300_000
#: Largest number of states on the shortest runs.
MOST_ON_SHORTEST_RUNS = 20_000


def most_found(options: CheckOptions) -> int:
    """Returns how many findings a search lists. The first ones by level, kind and bytes of the state are listed."""
    return MOST_FOUND if options.max_errors is None else min(options.max_errors, MOST_FOUND)


def are_enough(found: int, options: CheckOptions) -> bool:
    """Returns whether a search with this many findings ends with its level. Once the list is full a search continues to
    the end, since the number of further findings depends on threads and revisits."""
    return options.max_errors is not None and options.max_errors <= min(found, MOST_FOUND)


@dataclass(frozen=True)
class RankReport:
    """The counters of one rank."""

    rank: int
    host: str
    states: int  #: states that it owns
    rules_fired: int
    successors_of_others: int  #: successors that other ranks own, counted each time one is generated
    states_sent: int  #: the part of these that passed the filter
    bytes_sent: int
    messages_sent: int
    seconds_waiting: float
    peak_rss_bytes: int
    peak_disk_bytes: int


@dataclass(frozen=True)
class LayerRow:
    """A complete layer of a layered search."""

    level: int
    states: int
    candidates: int  #: successors that were not found in RAM
    longest_back_edge: int  #: as found by delayed duplicate detection, in levels
    kept: int | None  #: number of unpacked layers; None: all
    layer_bytes: int  #: size of all layers on disk
    disk_bytes: int  #: size of all files


@dataclass(frozen=True)
class LayerReport:
    """The layers of a layered search that has some on disk."""

    layers: int | str  #: as requested
    forget: bool
    kept: int | None  #: number of unpacked layers; None: all
    longest_back_edge: int
    states_estimate: int | None  #: estimate of different states, if layers were forgotten
    rows: list[LayerRow]


@dataclass(frozen=True)
class CompressionReport:
    """The memory of a compressed search by its parts, in bytes."""

    form: str  #: "tree", or "quotient" for states that are keys themselves
    queue: str  #: where the queue is: "RAM" or "disk"
    state_bytes: int  #: size of a packed state
    nodes: int  #: inner nodes of all trees
    node_bytes: int
    index_bytes: int  #: size of the table that finds nodes
    root_bytes: int  #: size of the tables of remainders
    queue_bytes: int  #: size of the part of the queue that is in RAM
    bytes_a_state: float
    ratio: float  #: size of the packed states divided by all of this


@dataclass(frozen=True)
class ReductionReport:
    """The effect of partial-order reduction on a search."""

    reason: str  #: why the model was searched in full; empty if it was reduced
    instances: int  #: rule instances of the model
    states: int = 0  #: states expanded
    reduced: int = 0  #: those that fired a part of the instances that they enable
    enabled: int = 0  #: instances enabled, summed over states
    fired: int = 0  #: those of them that were fired
    blamed: tuple[str, ...] = ()  #: variables through which most pairs of instances depend on each other


@dataclass
class Outcome:
    """The counters and findings of one search."""

    stop: Stop
    levels: list[int]  #: new states per level; the start states are level 0
    fired: list[int]  #: number of firings, per rule of the System
    covered: list[int]  #: number of states that met it, per cover goal of the System
    noted: list[int] = field(default_factory=list)  #: numbers of the notes (see Property) whose condition was met
    findings: list[Finding] = field(default_factory=list)  #: shortest path first
    omission_bound: float = 0.0  #: largest probability that a state was missed; 0 is exact
    seconds: float = 0.0
    peak_disk_bytes: int = 0
    events: list[Event] = field(default_factory=list)  #: events in order
    device: str = ""  #: name of the device that searched, if not the processor
    revisits: bool = False  #: whether levels may count a state more than once
    #: For each level, including an empty last one, the number of successors among which it was found; None if unknown.
    generated: list[int | None] = field(default_factory=list)
    #: Per expanded level, successors taken for new that were visited before; None: unknown.
    missed: list[int] | None = None
    enabled: list[int] | None = None  #: number of times enabled, per rule
    deeper: list[int] | None = None  #: number of firings that led to a state of the next level, per rule
    samples: dict[str, list[float]] = field(default_factory=dict, compare=False)  #: see Samples.columns
    ranks: list[RankReport] = field(default_factory=list)  #: counters of each rank, if there are several
    collision_rate: float | None = None  #: evictions divided by insertions, of a cache of visited states
    #: Estimate of the share of states that were visited, if signatures were stored.
    signature_coverage: float | None = None
    layers: LayerReport | None = field(default=None, compare=False)  #: for a layered search past RAM
    compression: CompressionReport | None = field(default=None, compare=False)  #: for compressed visited states
    reduction: ReductionReport | None = field(default=None, compare=False)  #: if partial-order reduction was requested

    @property
    def visited(self) -> int:
        """Number of states visited, counting revisits."""
        return sum(self.levels)

    @property
    def has_begun(self) -> bool:
        """Whether the search was not interrupted before its first state, as while the model was compiled."""
        return self.stop is not Stop.INTERRUPTED or bool(self.levels)

    @property
    def states(self) -> int | None:
        """Number of different states; None if unknown."""
        return None if self.revisits else self.visited

    def without_states_undecided(self) -> Outcome:
        """Returns the outcome, with the reason NO_STATES if the search ended without a single state."""
        is_empty = self.stop in (Stop.COMPLETE, Stop.COVERAGE) and not self.visited
        return replace(self, stop=Stop.NO_STATES) if is_empty else self

    @property
    def duplicates(self) -> list[int | None]:
        """For each level, the number of successors of its states that were visited before; None if not counted."""
        sizes = [*self.levels, 0]
        found = [*self.generated, *[None] * len(sizes)]
        return [
            None if count is None else max(0, count - size)
            for count, size in zip(found[1 : len(sizes)], sizes[1:], strict=True)
        ]

    @property
    def missed_duplicates(self) -> list[int] | None:
        """For each level, the number of successors that were taken for new although they had been visited before."""
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
    generated: int = 0  #: successors, including duplicates
    memory: int = 0  #: bytes of resident memory of the process
    disk: int = 0  #: bytes of the files of the search
    levels: Sequence[int] = ()  #: sizes of the complete levels
    event: Event | None = None  #: the latest event, if it deserves a line
    compiling: float | None = None  #: seconds that the C compiler has been running, if it is


def announce(progress: Callable[[Progress], None] | None, event: Event) -> None:
    """Reports an event before a search has begun."""
    if progress is not None:
        progress(Progress(level=0, states=0, rules_fired=0, frontier=0, seconds=0.0, event=event))


@dataclass(frozen=True, kw_only=True)
class WalkProgress(Progress):
    """A snapshot of random walks. ``states`` is an estimate of the different states."""

    walks: int
    steps: int

"""Verdict, violations and traces: what a check gives its caller."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from outcrop.ir.layout import State
from outcrop.ir.system import System
from outcrop.source import Diagnostic, Span

#: Version of the JSON document; raised when a first-level key changes its meaning.
FORMAT = 1

#: Where it says what each verdict promises, and how that is tested.
TRUST = "docs/TRUST.md"


class Verdict(StrEnum):
    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"

    @property
    def exit_code(self) -> int:
        return {Verdict.HOLDS: 0, Verdict.VIOLATED: 1, Verdict.UNKNOWN: 3}[self]


class ViolationKind(StrEnum):
    INVARIANT = "invariant"
    ASSERTION = "assertion"
    ERROR = "error"  #: an ``error`` statement
    RUNTIME = "runtime"  #: range, undefined, index, division, overflow, ...
    DEADLOCK = "deadlock"
    COVER = "cover"
    LIVENESS = "liveness"
    LTL = "ltl"  #: a run that violates a formula


@dataclass(frozen=True)
class Step:
    """``label`` is the rule (or startstate) with its parameter values; ``state`` what it led to."""

    label: str
    state: State
    span: Span
    truths: tuple[bool, ...] = ()  #: of the trace's propositions in the state


@dataclass(frozen=True)
class Trace:
    """A run of the model from a start state. The first step is the startstate.

    A run that goes on for ever comes back: ``closing`` leads from the last state to that of the step number
    ``loop_start``, and what follows from there repeats."""

    system: System
    steps: tuple[Step, ...]
    loop_start: int | None = None
    closing: Step | None = None
    propositions: tuple[str, ...] = ()  #: of the formula that the run violates

    def __len__(self) -> int:
        return len(self.steps)


@dataclass(frozen=True)
class Violation:
    kind: ViolationKind
    message: str  #: one sentence, values included
    span: Span | None
    trace: Trace | None
    property: str = ""  #: the name of what is violated, if it has one
    failing_step: str = ""  #: for an error inside a rule, that rule's label: it has no resulting state
    because: tuple[str, ...] = ()  #: which parts of the property are false, outermost first
    condition: Span | None = None  #: what should be true
    false_parts: tuple[Span, ...] = ()  #: where in it the parts of ``because`` stand


@dataclass
class Result:
    """The outcome of a check. ``to_dict`` is the JSON document."""

    verdict: Verdict
    kind: str  #: what was violated, or why unknown; "" when it holds
    guarantee: str  #: "exact", or the omission bound in words
    model: str
    constants: dict[str, int | float | str]
    strategy: str
    engine: str
    threads: int
    states: int | None  #: different ones; None where states were visited again and nobody counted
    states_visited: int
    rules_fired: int
    levels: list[int]
    seconds: float
    compile_seconds: float
    state_bits: int
    peak_rss_bytes: int
    properties: list[dict[str, Any]]
    coverage: list[dict[str, Any]]
    violations: list[Violation] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)
    ranks: int = 1
    per_rank: list[dict[str, Any]] = field(default_factory=list)  #: what each has done, where there are several
    peak_disk_bytes: int = 0
    events: list[str] = field(default_factory=list)  #: what the search did on the way, a line each
    layers: dict[str, Any] | None = None  #: of a layered search, once it has some on disk
    duplicates: list[int | None] = field(default_factory=list)  #: per level, successors that were known already
    missed: list[int] | None = None  #: per level, successors taken for new that were not; None where nobody counted
    collision_rate: float | None = None  #: of a table that forgets: the part of insertions that overwrote a state
    samples: dict[str, list[float]] = field(default_factory=dict)  #: time, level, states, memory, disk
    variables: list[dict[str, Any]] = field(default_factory=list)  #: names and types, see report/types.py
    deadlock: str = ""  #: what counted as one
    states_checked: str = "all"  #: in which states something wrong was looked for: all, product or none
    device: str = ""  #: the GPU that searched; empty for the processor

    @property
    def diameter(self) -> int:
        """The deepest level; start states are 0."""
        return max(0, len(self.levels) - 1)

    @property
    def trace(self) -> Trace | None:
        """The trace of the first violation."""
        return self.violations[0].trace if self.violations else None

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of ``--json``, with the trace in ITF."""
        from outcrop.report.json import document

        return document(self)

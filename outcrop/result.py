"""Verdict, violations and traces: what a check gives its caller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, ClassVar

from outcrop.ir.layout import State
from outcrop.ir.nodes import Variable
from outcrop.ir.system import System
from outcrop.outcome import Event, LayerReport, RankReport
from outcrop.source import Diagnostic, Span

#: Version of the JSON document; raised when a first-level key changes its meaning.
FORMAT = 1

#: Where it says what each verdict promises, and how that is tested.
TRUST = "outcrop docs trust"


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
    printed: str = ""  #: what the rule's ``put`` statements print


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
    printed: str = ""  #: what that rule printed before it failed
    because: tuple[str, ...] = ()  #: which parts of the property are false, outermost first
    condition: Span | None = None  #: what should be true
    false_parts: tuple[Span, ...] = ()  #: where in it the parts of ``because`` stand
    hint: str = ""  #: what to do about it, where that is known


@dataclass(frozen=True)
class PropertyResult:
    """How a property of states fared."""

    kind: str
    name: str
    span: Span
    status: str  #: holds, violated, unknown; an assumption is assumed
    vacuous: tuple[str, ...] | None = None  #: what stands before an arrow in it and was never true; None: unknown
    met: int | None = None  #: of a cover goal: how often it was


@dataclass(frozen=True)
class FormulaResult:
    """How a formula about runs fared, and how large its product with the model was; None where it was not searched."""

    kind: ClassVar[str] = "ltl"
    name: str
    span: Span
    status: str
    formula: str | None  #: None for a property process
    instances: int  #: that the one which was checked stands for
    automaton_states: int
    automaton_strength: str
    strategy: str
    states: int | None
    transitions: int | None
    seconds: float | None
    symmetry: bool  #: whether states that symmetry maps to each other were counted once
    vacuous: tuple[str, ...] | None


@dataclass(frozen=True)
class RuleCounts:
    """What ``--coverage`` counts of a rule; None where the search does not."""

    enabled: int | None
    new: int | None  #: times that it led to a state of the next level


@dataclass(frozen=True)
class RuleCoverage:
    """How a rule fared."""

    name: str
    span: Span
    instances: int
    fired: int
    counts: RuleCounts | None = None  #: None unless it was asked for


@dataclass
class Result:
    """The outcome of a check. ``to_dict`` is the JSON document."""

    make_document: ClassVar[Callable[[Result], dict[str, Any]]]  #: by the public face, which knows of reports

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
    properties: list[PropertyResult | FormulaResult]
    coverage: list[RuleCoverage]
    violations: list[Violation] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)
    ranks: int = 1
    per_rank: list[RankReport] = field(default_factory=list)  #: what each has done, where there are several
    peak_disk_bytes: int = 0
    events: list[Event] = field(default_factory=list)  #: what the search did on the way
    layers: LayerReport | None = None  #: of a layered search, once it has some on disk
    generated: list[int | None] = field(default_factory=list)  #: per level, successors among which it was found
    duplicates: list[int | None] = field(default_factory=list)  #: per level, successors that were known already
    missed: list[int] | None = None  #: per level, successors taken for new that were not; None where nobody counted
    collision_rate: float | None = None  #: of a table that forgets: the part of insertions that overwrote a state
    samples: dict[str, list[float]] = field(default_factory=dict)  #: time, level, states, memory, disk
    variables: Sequence[Variable] = ()
    deadlock: str = ""  #: what counted as one
    states_checked: str = "all"  #: in which states something wrong was looked for: all, product or none
    device: str = ""  #: the GPU that searched; empty for the processor
    reason: str = ""  #: why nothing was checked, where no state was visited
    fairness: str = "none"  #: which runs the formulas were checked on: none (all of them), weak or strong
    symmetry: dict[str, bool] = field(default_factory=dict)  #: whether reduction was asked for, and used
    options: dict[str, Any] = field(default_factory=dict)  #: those that are not the default
    command: list[str] | None = None  #: the command line, None where there was none
    date: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    compiler: str = ""  #: name and version of the C compiler; empty for the interpreter
    model_sha256: str = ""  #: of the model's text, as it was read

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
        return Result.make_document(self)

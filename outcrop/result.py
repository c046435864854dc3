"""The result of a check: verdict, violations and traces."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from outcrop.errors import UsageError
from outcrop.ir.layout import State
from outcrop.ir.nodes import Variable
from outcrop.ir.system import ProcessText, StatementLine, System
from outcrop.ir.types import Type
from outcrop.outcome import CompressionReport, Event, LayerReport, RankReport, ReductionReport
from outcrop.source import Diagnostic, Span
from outcrop.views import StateView

#: Version of the JSON document. It is raised when a first-level key changes its meaning.
FORMAT = 1

#: The command that says what each verdict promises, and how that is tested.
TRUST = "outcrop docs trust"


def _cut(text: str, most: int = 100) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


def frame(library: str, rows: list[dict[str, Any]]) -> Any:
    """Returns rows as a DataFrame of pandas or polars; raises UsageError where the library is not installed."""
    try:
        return import_module(library).DataFrame(rows)
    except ImportError:
        raise UsageError(f"{library} is not installed; install it, or use to_rows()") from None


class Verdict(StrEnum):
    """The verdict of a check."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"

    @property
    def exit_code(self) -> int:
        return {Verdict.HOLDS: 0, Verdict.VIOLATED: 1, Verdict.UNKNOWN: 3}[self]


class ViolationKind(StrEnum):
    """The kind of a violation."""

    INVARIANT = "invariant"
    ASSERTION = "assertion"
    ERROR = "error"  #: an ``error`` statement
    RUNTIME = "runtime"  #: range, undefined, index, division, overflow, ...
    DEADLOCK = "deadlock"
    COVER = "cover"
    LIVENESS = "liveness"
    LTL = "ltl"  #: a run violates a formula


@dataclass(frozen=True)
class Argument:
    """A parameter of a rule with its value in one firing, as the model's author would write them."""

    name: str
    type: str
    value: str


@dataclass(frozen=True)
class Message:
    """A message that a step hands over. ``source`` and ``target``: numbers of the processes of the step, from 0."""

    source: int
    target: int
    text: str


@dataclass(frozen=True)
class Step:
    """A step of a trace. ``label``: the rule or startstate with its parameter values. ``state``: the state after it."""

    label: str
    state: State
    span: Span
    truths: tuple[bool, ...] = ()  #: values of the trace's propositions in the state
    printed: str = ""  #: output of the rule's ``put`` statements
    arguments: tuple[Argument, ...] = ()  #: the parameters of the rule with their values
    processes: tuple[str, ...] = ()  #: processes that take part in the step, in languages with processes
    messages: tuple[Message, ...] = ()  #: messages that the step hands over, which no state shows
    statements: tuple[StatementLine, ...] = ()  #: what the step executes, in languages where a rule may be several


@dataclass(frozen=True)
class Trace:
    """The states and rules that lead from a start state to a violation. The first step is the startstate.

    The trace of a run is a lasso: ``closing`` leads from the last state back to step ``loop_start``, and the steps from
    there on repeat.
    """

    system: System
    steps: tuple[Step, ...]
    loop_start: int | None = None
    closing: Step | None = None
    propositions: tuple[str, ...] = ()  #: propositions of the formula that the run violates

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def states(self) -> list[StateView]:
        """The states of the run as objects: ``trace.states[-1].phase["Node_1"]``."""
        return [StateView(self.system, step.state) for step in self.steps]

    def to_rows(self) -> list[dict[str, Any]]:
        """Returns a dictionary for each step: its number, its rule, and the simple values of its state by name."""
        rows = zip(self.steps, self.states, strict=True)
        return [{"step": at, "rule": step.label, **state.flat()} for at, (step, state) in enumerate(rows)]

    def to_pandas(self) -> Any:
        """Returns the rows as a pandas DataFrame."""
        return frame("pandas", self.to_rows())

    def to_polars(self) -> Any:
        """Returns the rows as a polars DataFrame."""
        return frame("polars", self.to_rows())

    def __repr__(self) -> str:
        return f"<Trace of {len(self.steps):,} steps: {_cut(' -> '.join(step.label for step in self.steps))}>"

    def _repr_html_(self) -> str:
        return Result.make_html(self)


@dataclass(frozen=True)
class Violation:
    """A violated property, with the trace that shows it."""

    kind: ViolationKind
    message: str  #: one sentence that includes the values
    span: Span | None
    trace: Trace | None
    property: str = ""  #: name of the violated property, if it has one
    failing_step: str = ""  #: for an error inside a rule, the label of that rule, which has no resulting state
    failing: tuple[StatementLine, ...] = ()  #: statements of that rule up to the one that fails
    printed: str = ""  #: output of that rule before it failed
    because: tuple[str, ...] = ()  #: the parts of the property that are false, outermost first
    condition: Span | None = None  #: the condition that should be true
    false_parts: tuple[Span, ...] = ()  #: the places of the parts in ``because``
    hint: str = ""  #: remedy, if one is known
    calls: tuple[tuple[str, Span], ...] = ()  #: functions around an error and where each was called, inmost first

    def __repr__(self) -> str:
        steps = "no trace" if self.trace is None else f"a trace of {len(self.trace):,} steps"
        return f"<Violation of {self.property or self.kind}: {_cut(self.message)}; {steps}>"


@dataclass(frozen=True)
class DistinctFault:
    """Violations of one property, or of one rule at one position: the first of them, and how many there are."""

    violation: Violation
    number: int  #: index of the violation, from 0
    count: int


def fault_of(violation: Violation) -> object:
    """Returns what is at fault in a violation: two with equal faults have one cause."""
    span = violation.span
    place = None if span is None else (span.source.name, span.start, span.end)
    return violation.kind, place, violation.failing_step.partition(", ")[0]


def distinct_faults(violations: Sequence[Violation]) -> list[DistinctFault]:
    """Returns the violations by what is at fault. The first of each has the shortest trace, because searches list their
    findings in that order."""
    groups: dict[object, list[int]] = {}
    for number, each in enumerate(violations):
        groups.setdefault(fault_of(each), []).append(number)
    return [DistinctFault(violations[numbers[0]], numbers[0], len(numbers)) for numbers in groups.values()]


@dataclass(frozen=True)
class PropertyResult:
    """The status of a property of states."""

    kind: str
    name: str
    span: Span
    status: str  #: holds, violated or unknown; for an assumption: assumed
    vacuous: tuple[str, ...] | None = None  #: left sides of implications that were never true; None: unknown
    met: int | None = None  #: for a cover goal: number of states that met it


@dataclass(frozen=True)
class FormulaResult:
    """The status of a formula about runs, and the size of its product with the model; None where it was not
    searched."""

    kind: ClassVar[str] = "ltl"
    name: str
    span: Span
    status: str
    formula: str | None  #: None for a property process
    instances: int  #: number of instances that the checked one stands for
    automaton_states: int
    automaton_strength: str
    strategy: str
    states: int | None
    transitions: int | None
    seconds: float | None
    symmetry: bool  #: whether the search used symmetry reduction
    vacuous: tuple[str, ...] | None


@dataclass(frozen=True)
class RuleCounts:
    """The counts that ``--coverage`` adds to a rule; None where the search does not count."""

    enabled: int | None
    new: int | None  #: firings that led to a state of the next level


@dataclass(frozen=True)
class RuleCoverage:
    """The firing counts of a rule."""

    name: str
    span: Span
    instances: int
    fired: int
    counts: RuleCounts | None = None  #: None unless ``--coverage`` was given
    parameters: tuple[tuple[str, Type], ...] = ()  #: name and type of each
    processes: tuple[str, ...] = ()  #: processes that take part in its firings, in languages with processes
    is_subsumed: bool = False  #: whether it is another way through statements that rules which fired execute

    @property
    def never_fired(self) -> bool:
        """Whether it did not fire, and neither did its statements as parts of other rules."""
        return not self.fired and not self.is_subsumed


@dataclass
class Result:
    """The result of a check.

    Most fields have the name and the meaning of a first-level key of the JSON document (``outcrop docs json``), which
    ``to_dict`` returns.
    """

    make_document: ClassVar[Callable[[Result], dict[str, Any]]]  #: set by outcrop.api, since reports import this module
    make_html: ClassVar[Callable[[Any], str]]  #: likewise, for notebooks
    make_page: ClassVar[Callable[[Any], str]]  #: likewise, for files

    verdict: Verdict
    kind: str  #: kind of the violation, or reason why the verdict is unknown; "" for holds
    guarantee: str  #: "exact", or the omission bound in words
    model: str
    constants: dict[str, int | float | str]
    strategy: str
    engine: str
    threads: int
    states: int | None  #: number of different states; None if states were revisited and not counted
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
    unreached: list[ProcessText] = field(default_factory=list)  #: texts, each with the places that no process reached
    notes: list[Diagnostic] = field(default_factory=list)
    ranks: int = 1
    per_rank: list[RankReport] = field(default_factory=list)  #: counters of each rank, if there are several
    peak_disk_bytes: int = 0
    events: list[Event] = field(default_factory=list)  #: events of the search, in order
    layers: LayerReport | None = None  #: for a layered search that has layers on disk
    compression: CompressionReport | None = None  #: for a search with compressed visited states
    reduction: ReductionReport | None = None  #: if partial-order reduction was requested
    #: Per level, the number of successors among which it was found.
    generated: list[int | None] = field(default_factory=list)
    #: Per level, the number of successors that were visited before.
    duplicates: list[int | None] = field(default_factory=list)
    missed: list[int] | None = None  #: per level, successors taken for new that were not; None if not counted
    collision_rate: float | None = None  #: evictions divided by insertions, of a cache of visited states
    samples: dict[str, list[float]] = field(default_factory=dict)  #: time, level, states, memory, disk
    variables: Sequence[Variable] = ()
    deadlock: str = ""  #: definition of a deadlock that was used
    states_checked: str = "all"  #: states that were checked for violations: all, product or none
    device: str = ""  #: name of the GPU that searched; empty for the processor
    reason: str = ""  #: why nothing was checked, if no state was visited
    fairness: str = "none"  #: runs on which formulas were checked: none (all runs), weak or strong
    #: Whether symmetry reduction was requested, and whether it was used.
    symmetry: dict[str, bool] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)  #: options that differ from their defaults
    command: list[str] | None = None  #: the command line; None for an API call
    date: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    compiler: str = ""  #: name and version of the C compiler; empty for the interpreter
    model_sha256: str = ""  #: SHA-256 of the model's text, as it was read

    @property
    def diameter(self) -> int:
        """The number of the deepest level; start states are level 0."""
        return max(0, len(self.levels) - 1)

    @property
    def faults(self) -> list[DistinctFault]:
        """The violations by what is at fault, those of the shortest traces first."""
        return distinct_faults(self.violations)

    @property
    def trace(self) -> Trace | None:
        """The trace of the first violation."""
        return self.violations[0].trace if self.violations else None

    def __repr__(self) -> str:
        states = "" if self.states is None else f", {self.states:,} states"
        kind = f" ({self.kind})" if self.kind else ""
        return f"<Result {self.verdict}{kind}: {self.model}{states}, {len(self.levels):,} levels, {self.seconds:.2f} s>"

    def _repr_html_(self) -> str:
        return Result.make_html(self)

    def to_rows(self) -> list[dict[str, Any]]:
        """Returns a dictionary for each level: its number, its states, and the successors it was found among."""
        more = {"generated": self.generated, "duplicates": self.duplicates}
        return [
            {"level": at, "states": size, **{name: row[at] for name, row in more.items() if at < len(row)}}
            for at, size in enumerate(self.levels)
        ]

    def to_pandas(self) -> Any:
        """Returns the levels as a pandas DataFrame."""
        return frame("pandas", self.to_rows())

    def to_polars(self) -> Any:
        """Returns the levels as a polars DataFrame."""
        return frame("polars", self.to_rows())

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes the HTML report."""
        Path(path).write_text(Result.make_page(self), encoding="utf-8")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the JSON document, which ``outcrop.load_result`` and ``outcrop report`` read."""
        Path(path).write_text(json.dumps(self.to_dict(), ensure_ascii=False, default=str), encoding="utf-8")

    def to_dict(self) -> dict[str, Any]:
        """Returns the JSON document of ``--json``, with the trace in ITF."""
        return Result.make_document(self)

"""The comparison of two models: exploration, labels, relation, and a run that tells them apart."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from outcrop.api import Model
from outcrop.compare.bisimulation import Union, are_bisimilar, coarsest_partition, union
from outcrop.compare.graph import Graph, graph_of
from outcrop.compare.labels import HIDDEN, LabelNumbers, Labels, labellings
from outcrop.compare.runs import Difference, Quotient, TooManyPairs, branching, only_in
from outcrop.errors import UsageError
from outcrop.explorer.budget import worker_count
from outcrop.ir.interpreter import Firing, Interpreter
from outcrop.ir.layout import State
from outcrop.ir.system import System
from outcrop.options import CheckOptions
from outcrop.result import Trace, Verdict
from outcrop.trace.replay import step_of

#: Most states of a level that are followed to show a run.
_MOST_SHOWN = 2_000


class Relation(StrEnum):
    """The relation that two models may have."""

    BISIMULATION = "bisimulation"  #: the same steps are possible in corresponding states
    INCLUSION = "inclusion"  #: every run of the first model is a run of the second


@dataclass(frozen=True)
class CompareOptions:
    """The relation, and the correspondence of rules."""

    relation: Relation = Relation.BISIMULATION
    renamed: Mapping[str, str] = field(default_factory=dict)  #: rules of the first model, by those of the second
    hidden: Sequence[str] = ()  #: rules of the first model that the second does not see

    def __post_init__(self) -> None:
        if self.hidden and self.relation is Relation.BISIMULATION:
            raise UsageError("rules are hidden only with --relation inclusion")


@dataclass(frozen=True, eq=False)
class Comparison:
    """The answer. ``verdict`` says whether the relation holds."""

    verdict: Verdict
    relation: Relation
    models: tuple[System, System]
    graphs: tuple[Graph, Graph]
    labels: Labels
    difference: Difference | None  #: None if the relation holds, or if no run shows why not
    owner: int  #: the model that has the run: 0 or 1
    trace: Trace | None  #: the run, in the model that has it
    reason: str  #: why the verdict is unknown
    seconds: float  #: of the comparison, without the searches


def compare(first: Model, second: Model, options: CompareOptions, check: CheckOptions) -> Comparison:
    """Explores both models and compares their graphs. Raises Undecided if a limit ends a search."""
    models = first.system, second.system
    graphs = graph_of(first, check), graph_of(second, check)
    started = time.monotonic()
    likely: tuple[Labels, Union] | None = None
    for labels in labellings(models, graphs, options.renamed, options.hidden):
        together = union(*graphs, labels, worker_count(check))
        likely = likely or (labels, together)
        if options.relation is Relation.BISIMULATION and are_bisimilar(together):
            seconds = time.monotonic() - started
            return Comparison(Verdict.HOLDS, options.relation, models, graphs, labels, None, 0, None, "", seconds)
        if options.relation is Relation.INCLUSION:
            break
    assert likely is not None
    labels, together = likely
    verdict, difference, owner, reason = _told_apart(together, options.relation)
    trace = None
    if difference is not None:
        of_rules = labels.of_second if owner else labels.of_first
        trace = _shown(models[owner], of_rules, difference.labels)
    seconds = time.monotonic() - started
    return Comparison(verdict, options.relation, models, graphs, labels, difference, owner, trace, reason, seconds)


def _told_apart(together: Union, relation: Relation) -> tuple[Verdict, Difference | None, int, str]:
    """Returns the verdict, a run that tells the graphs apart, the graph that has it, and why the verdict is unknown."""
    quotient = Quotient(together, coarsest_partition(together))
    is_bisimulation = relation is Relation.BISIMULATION
    try:
        found = [(only_in(quotient, number), number) for number in range(2 if is_bisimulation else 1)]
        runs = [(difference, number) for difference, number in found if difference is not None]
        if runs:
            difference, number = min(runs, key=lambda each: (len(each[0].labels), each[1]))
            return Verdict.VIOLATED, difference, number, ""
        return (Verdict.VIOLATED, branching(quotient), 0, "") if is_bisimulation else (Verdict.HOLDS, None, 0, "")
    except TooManyPairs:
        if is_bisimulation:
            return Verdict.VIOLATED, None, 0, ""
        return Verdict.UNKNOWN, None, 0, "too many sets of states are possible after a run"


def _shown(system: System, of_rules: LabelNumbers, labels: tuple[int, ...]) -> Trace | None:
    """Returns a run of a model with these labels; None if it takes too many states to find one."""
    interpreter = Interpreter(system, symmetry=False)
    rules = {id(rule): int(of_rules[number]) for number, rule in enumerate(system.rules)}
    levels: list[dict[State, tuple[State | None, Firing]]] = [
        {firing.successor: (None, firing) for firing in interpreter.start_states() if firing.successor is not None}
    ]
    for label in labels:
        following: dict[State, tuple[State | None, Firing]] = {}
        for state in levels[-1]:
            for firing in interpreter.successors(state):
                if firing.successor is not None and rules.get(id(firing.origin), HIDDEN) == label:
                    following.setdefault(firing.successor, (state, firing))
        if not following or len(following) > _MOST_SHOWN:
            return None
        levels.append(following)
    steps, state = [], next(iter(levels[-1]))
    for level in reversed(levels):
        before, firing = level[state]
        steps.append(step_of(firing, interpreter.printed(firing, before)))
        state = before if before is not None else state
    return Trace(system, tuple(reversed(steps)))

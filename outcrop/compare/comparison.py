"""The comparison of two models: exploration, labels, relation, and a run that tells them apart."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from outcrop.api import Model
from outcrop.compare.bisimulation import Union, are_bisimilar, are_paired, coarsest_partition
from outcrop.compare.graph import Graph, graph_of
from outcrop.compare.labels import LabelKind, LabelNumbers, LabelOptions, Labels, labellings
from outcrop.compare.observe import Classifier, Observation, common_classes
from outcrop.compare.runs import Difference, Quotient, TooManyPairs, branching, only_in
from outcrop.errors import UsageError
from outcrop.explorer.budget import worker_count
from outcrop.ir.interpreter import Firing, Interpreter
from outcrop.ir.layout import State
from outcrop.ir.system import System
from outcrop.kernels.refine import Numbers, Part
from outcrop.options import CheckOptions
from outcrop.result import Trace, Verdict
from outcrop.trace.replay import replayed

#: Most states of a level that are followed to show a run.
_MOST_SHOWN = 2_000


class Relation(StrEnum):
    """The relation that two models may have."""

    BISIMULATION = "bisimulation"  #: the same steps are possible in corresponding states
    INCLUSION = "inclusion"  #: every run of the first model is a run of the second


@dataclass(frozen=True)
class CompareOptions:
    """The relation, and the correspondence of steps and states."""

    relation: Relation = Relation.BISIMULATION
    labels: LabelOptions = field(default_factory=LabelOptions)
    observed: Sequence[tuple[str, str]] = ()  #: values of the first and of the second model that must agree

    def __post_init__(self) -> None:
        if (self.labels.hidden or self.labels.mapping.hides) and self.relation is Relation.BISIMULATION:
            raise UsageError("steps can be hidden only with --relation inclusion; hide none, or add that option")


@dataclass(frozen=True, eq=False)
class Comparison:
    """The answer. ``verdict`` says whether the relation holds."""

    verdict: Verdict
    relation: Relation
    models: tuple[System, System]
    graphs: tuple[Graph, Graph]
    labels: Labels
    observation: Observation
    difference: Difference | None  #: None if the relation holds, or if no run shows why not
    owner: int  #: the model that has the run: 0 or 1
    trace: Trace | None  #: the run, in the model that has it
    reason: str  #: why the verdict is unknown
    seconds: float  #: time of the comparison, without the searches


def compare(first: Model, second: Model, options: CompareOptions, check: CheckOptions) -> Comparison:
    """Explores both models and compares their graphs. Raises Undecided if a limit ends a search."""
    models = first.system, second.system
    observation = Observation((first, second), options.observed)
    graphs, classes = _explored((first, second), observation, options.labels.kind, check)
    started = time.monotonic()
    likely: tuple[Labels, Union] | None = None
    for labels in labellings(models, graphs, options.labels):
        together = _together(graphs, labels, classes, worker_count(check))
        likely = likely or (labels, together)
        is_inclusion = options.relation is Relation.INCLUSION
        if are_paired(together) if is_inclusion else are_bisimilar(together):
            seconds = time.monotonic() - started
            return Comparison(
                *(Verdict.HOLDS, options.relation, models, graphs, labels, observation, None, 0, None, "", seconds)
            )
        if is_inclusion:
            break
    assert likely is not None
    labels, together = likely
    verdict, difference, owner, reason = _told_apart(together, options.relation)
    trace = None
    if difference is not None:
        numbers = labels.of_second if owner else labels.of_first
        keys = [observation.keys[each] if observation.keys else () for each in difference.observed]
        trace = _shown(
            models[owner], numbers, difference.labels, lambda at, state: observation.key(owner, state) == keys[at]
        )
    seconds = time.monotonic() - started
    return Comparison(
        *(verdict, options.relation, models, graphs, labels, observation, difference, owner, trace, reason, seconds)
    )


def _explored(
    models: tuple[Model, Model], observation: Observation, labels: LabelKind, check: CheckOptions
) -> tuple[tuple[Graph, Graph], Numbers | None]:
    """Returns the graphs of both models, and the class of each state if values are observed. States stand for their
    orbits only where the observed values, and the labels of steps, are the same in all states of an orbit."""
    reduces = (
        check.symmetry and observation.is_symmetric(number) and not labels.names_values(model.system)
        for number, model in enumerate(models)
    )
    own = [replace(check, symmetry=each) for each in reduces]
    if not observation.observables:
        return (graph_of(models[0], own[0]), graph_of(models[1], own[1])), None
    one, other = (Classifier(observation, number, model.system) for number, model in enumerate(models))
    graphs = graph_of(models[0], own[0], one.look), graph_of(models[1], own[1], other.look)
    return graphs, common_classes(observation, (one, other))


def _together(graphs: tuple[Graph, Graph], labels: Labels, classes: Numbers | None, threads: int) -> Union:
    """Returns two graphs as one, with common labels. ``classes``: the class of each state (default: one for all)."""
    tables = labels.of_first.view(np.uint32), labels.of_second.view(np.uint32)
    one, other = (
        Part(graph.offsets, graph.instances, graph.targets, table) for graph, table in zip(graphs, tables, strict=True)
    )
    if classes is None:
        classes = np.zeros(one.states + other.states, dtype=np.uint32)
    return Union(graphs[0].native, (one, other), (graphs[0].starts, graphs[1].starts), classes, threads)


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
        return (
            Verdict.UNKNOWN,
            None,
            0,
            "too many sets of states are possible after a run; compare with smaller constants",
        )


def _shown(
    system: System, numbers: LabelNumbers, labels: tuple[int, ...], agrees: Callable[[int, State], bool]
) -> Trace | None:
    """Returns a run of a model with these labels; None if it takes too many states to find one. ``agrees`` says whether
    a state can be that of a position in the run."""
    interpreter = Interpreter(system, symmetry=False)
    instances = ((id(rule), arguments) for rule in system.rules for arguments in rule.instances())
    label_of = dict(zip(instances, numbers.tolist(), strict=True))
    levels: list[dict[State, tuple[State | None, Firing]]] = [
        {
            firing.successor: (None, firing)
            for firing in interpreter.start_states()
            if firing.successor is not None and agrees(0, firing.successor)
        }
    ]
    for at, label in enumerate(labels, 1):
        following: dict[State, tuple[State | None, Firing]] = {}
        for state in levels[-1]:
            for firing in interpreter.successors(state):
                after = firing.successor
                if after is None or label_of[id(firing.origin), firing.arguments] != label or after in following:
                    continue
                if agrees(at, after):
                    following[after] = state, firing
        if not following or len(following) > _MOST_SHOWN:
            return None
        levels.append(following)
    steps, state = [], next(iter(levels[-1]))
    for level in reversed(levels):
        before, firing = level[state]
        steps.append(replayed(interpreter, firing, before))
        state = before if before is not None else state
    return Trace(system, tuple(reversed(steps)))

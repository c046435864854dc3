"""Validation of logs against a model: one answer for each run, and the coverage of the model by all of them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from outcrop.api import Model
from outcrop.result import RuleCoverage, Trace
from outcrop.validate.clocks import Writer, writers
from outcrop.validate.coverage import StateCoverage, state_coverage
from outcrop.validate.explain import Explainer, Explanation
from outcrop.validate.follow import Conformity, Followed, Follower
from outcrop.validate.identities import Conflict, Identities
from outcrop.validate.logs import records
from outcrop.validate.merge import follow_merged
from outcrop.validate.options import Start, ValidateOptions
from outcrop.validate.runs import meaning, run_of


@dataclass(frozen=True)
class LogAnswer:
    """The answer about one run: a log, or several merged ones."""

    name: str
    followed: Followed
    explanation: Explanation | None  #: for a run that does not conform
    run: Trace | None  #: steps of the model that agree with the last lines

    @property
    def conformity(self) -> Conformity:
        return self.followed.conformity


@dataclass(frozen=True)
class Validation:
    """The answers about all logs."""

    model: Model
    answers: tuple[LogAnswer, ...]
    coverage: tuple[RuleCoverage, ...]  #: ``fired``: steps of each rule that agree with a line
    instances_shown: int
    instances: int
    seconds: float
    states: StateCoverage | None = None  #: None unless it was asked for
    start: Start = Start.INITIAL

    @property
    def conformity(self) -> Conformity:
        """One log that does not conform decides; otherwise one that is unknown."""
        found = {each.conformity for each in self.answers}
        order = (Conformity.DIFFERS, Conformity.UNKNOWN, Conformity.CONFORMS)
        return next((each for each in order if each in found), Conformity.CONFORMS)


def validate(model: Model, logs: Sequence[str], options: ValidateOptions) -> Validation:
    """Returns whether each log is a run of the model. With a clock, all logs together are one run."""
    begun = time.monotonic()
    with Follower(model.system, options) as follower:
        groups = [list(logs)] if options.merges else [[each] for each in logs]
        answers = tuple(_answer(follower, group) for group in groups)
        shown = follower.observer.shown
        coverage, first = [], 0
        for rule in model.system.rules:
            fired = int(shown[first : first + rule.instance_count].sum())
            parameters = tuple((each.local.name, each.type) for each in rule.parameters)
            coverage.append(
                RuleCoverage(rule.name, rule.span, rule.instance_count, fired, None, parameters, rule.processes)
            )
            first += rule.instance_count
        instances_shown = int((shown[:first] > 0).sum())
        states = state_coverage(follower) if options.state_coverage else None
    seconds = time.monotonic() - begun
    return Validation(model, answers, tuple(coverage), instances_shown, first, seconds, states, options.start)


def _answer(follower: Follower, paths: Sequence[str]) -> LogAnswer:
    followed = _follow(follower, paths)
    followed.identities = follower.encoder.identities.shown
    explainer = Explainer(follower.system, follower.options, follower.hidden)
    explanation, failing = None, followed.failing
    if followed.conformity is Conformity.DIFFERS and failing is not None:
        label, _ = meaning(follower, failing, followed.lines == 0)
        shown = explainer.shown(failing.line, list(follower.encoder.masks))
        explanation = explainer.explain(followed.states, failing.line, shown, label)
    return LogAnswer(", ".join(paths), followed, explanation, run_of(follower, followed, explainer))


def _follow(follower: Follower, paths: Sequence[str]) -> Followed:
    """Follows a run. A log that names a value which one of its identities was given is read again."""
    identities = Identities(follower.system)
    is_field = _field_test(follower)
    while True:
        follower.encoder.begin(identities)
        try:
            if not follower.options.merges:
                return follower.follow(follower.encoded(records(paths[0], is_field), paths[0]))
            merged: list[Writer] = []
            for path in paths:
                merged += writers(path, follower.encoded(records(path, is_field), path), follower.options)
            return follow_merged(follower, merged)
        except Conflict:
            follower.observer.shown[:] = 0


def _field_test(follower: Follower) -> Callable[[str], bool]:
    """Returns a test whether a column of a CSV file is a field of the line, and no variable."""
    variables = {each.name for each in follower.system.variables}
    options, has_events = follower.options, bool(follower.options.mapping.events)
    fields = {"writer", options.clock, options.real_time} - variables
    return lambda name: name in fields or (has_events and re.split(r"[\[.]", name)[0] not in variables)

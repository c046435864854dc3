"""Random walks through a model: no proof of anything, but quick to find what is wrong far from the start.

Each walk begins at a start state picked at random, and takes one enabled rule instance after the other, picked at
random by the weights of the rules. Every state met is checked as `check` would check it. A walk depends on the seed and
its number alone; with bounds on walks and steps, but not on time, a simulation always ends in the same way.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from outcrop.api import Model
from outcrop.codegen.build import build
from outcrop.errors import InternalError, UsageError
from outcrop.ir.system import System
from outcrop.kernels import Settings
from outcrop.kernels_walks import Ending, Walked, Walks, estimate
from outcrop.machine import resident_bytes
from outcrop.options import CheckOptions, Deadlock
from outcrop.report.json import position
from outcrop.report.walk_progress import WalkProgress
from outcrop.result import Violation
from outcrop.search.budget import worker_count
from outcrop.search.driver import DEADLOCK_RULES, Exploration, ShowProgress, TakePut
from outcrop.search.outcome import Finding, FindingKind, Outcome, Progress, Stop
from outcrop.search.shrink import shrink
from outcrop.trace.replay import explain

#: Nothing grows with the walks.
_BUDGET = 8 << 20

_KINDS = {Ending.DEADLOCK: FindingKind.DEADLOCK, Ending.STATE: FindingKind.STATE, Ending.RULE: FindingKind.RULE}


@dataclass(frozen=True)
class SimulationOptions:
    """None is no bound. At least one of ``walks`` and ``time_limit`` should be given."""

    walks: int | None = None
    steps: int = 10_000  #: of a walk
    time_limit: float | None = 10.0  #: seconds
    weights: Mapping[str, int] | None = None  #: of rules, by name; 1 for those not named, 0 never takes it
    seed: int = 0
    threads: int | None = None
    deadlock: Deadlock = Deadlock.STUTTERING
    shrink_seconds: float = 3.0  #: 0 leaves the walk as it is

    def __post_init__(self) -> None:
        for name in ("walks", "steps", "threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"{name} must be at least 1, not {value}")


@dataclass(frozen=True)
class Simulation:
    """What the walks have met."""

    model: str
    constants: dict[str, int | float | str]
    seed: int
    walks: int
    steps: int
    dead_ends: int
    different_states: int  #: about
    seconds: float
    stop: str  #: why it ended
    coverage: list[dict[str, Any]]
    violation: Violation | None = None
    walk: int | None = None  #: the number of the walk on which something is wrong
    walk_steps: int | None = None  #: how long that walk was before it was shrunk

    def to_dict(self) -> dict[str, Any]:
        """The JSON document."""
        from outcrop.report.json import violation_document

        violation = None if self.violation is None else violation_document(self.violation)
        return {
            "verdict": "unknown" if self.violation is None else "violated",
            "kind": self.stop if self.violation is None else str(self.violation.kind),
            "model": self.model,
            "constants": self.constants,
            "seed": self.seed,
            "walks": self.walks,
            "steps": self.steps,
            "dead_ends": self.dead_ends,
            "different_states": self.different_states,
            "seconds": round(self.seconds, 6),
            "walk": self.walk,
            "walk_steps": self.walk_steps,
            "coverage": self.coverage,
            "violation": violation,
            "trace": violation and violation["trace"],
        }


def simulate(
    model: Model, options: SimulationOptions, put: TakePut | None = None, progress: ShowProgress | None = None
) -> Simulation:
    """Walks until a bound is reached or something is wrong. ``progress`` is called with a WalkProgress now and then."""
    system = model.system
    weights = _weights(system, options.weights or {})
    native, _ = build(system, symmetry=False, coverage=True)
    check = CheckOptions(
        symmetry=False, deadlock=options.deadlock, threads=options.threads, time_limit=options.time_limit
    )
    settings = Settings(workers=worker_count(check), deadlock=DEADLOCK_RULES[options.deadlock], budget=_BUDGET)
    with native.search(settings) as search:
        run = _Simulation(search, check, progress, put)
        run.walks = Walks(search, options.seed, options.walks, options.steps, weights)
        outcome = run.run()
        violation, walk_steps = _violation(system, check, run, options)
        return Simulation(
            model=system.name,
            constants=dict(system.constants),
            seed=options.seed,
            walks=sum(part.walks for part in run.walked),
            steps=sum(part.steps for part in run.walked),
            dead_ends=sum(part.dead_ends for part in run.walked),
            different_states=estimate(run.walked),
            seconds=outcome.seconds,
            stop=str(outcome.stop) if outcome.stop in (Stop.TIME, Stop.INTERRUPTED) else "all walks done",
            coverage=_coverage(system, run.walked, outcome),
            violation=violation,
            walk=run.walks.first_wrong,
            walk_steps=walk_steps,
        )


class _Simulation(Exploration):
    """A search that walks instead of exploring."""

    walks: Walks
    walked: Sequence[Walked] = ()

    def snapshot(self) -> Progress:
        return WalkProgress(
            level=0,
            states=estimate(self.walked) if self.walked else 0,
            rules_fired=0,
            frontier=0,
            seconds=self.seconds(),
            memory=resident_bytes(),
            walks=sum(part.walks for part in self.walked),
            # Those of walks that are still under way as well.
            steps=sum(int(part.taken.sum()) for part in self.walked),
        )

    def explore(self) -> Stop:
        self.walked = [Walked(self.native.rule_count) for _ in range(self.search.workers)]
        self.together(*(partial(self.walks.walk, worker, walked) for worker, walked in enumerate(self.walked)))
        self.level_done([])
        return Stop.DEPTH

    def check_liveness(self) -> None:
        """No walk can tell."""


def _violation(
    system: System, check: CheckOptions, run: _Simulation, options: SimulationOptions
) -> tuple[Violation | None, int | None]:
    """What is wrong on the first walk that found something, and how long that was."""
    number = run.walks.first_wrong
    if number is None:
        return None, None
    # The walks are over; shrinking expands states once more, which a search that was asked to stop still does.
    ending, path = run.walks.again(number)
    if ending is Ending.START:
        return explain(system, Finding(FindingKind.START, ()), check), 0
    if ending not in _KINDS:
        raise InternalError(f"walk {number} ended otherwise when it was walked again ({ending.name})")
    kind = _KINDS[ending]
    shorter = shrink(run.search, kind, path, options.shrink_seconds) if options.shrink_seconds else path
    return explain(system, Finding(kind, tuple(shorter)), check), len(path) - 1


def _coverage(system: System, walked: Sequence[Walked], outcome: Outcome) -> list[dict[str, Any]]:
    """Per rule: how often an instance was enabled, and how often one was taken."""
    return [
        {
            "name": rule.name,
            "position": position(rule.span),
            "instances": rule.instance_count,
            "enabled": outcome.fired[number],
            "taken": sum(int(part.taken[number]) for part in walked),
        }
        for number, rule in enumerate(system.rules)
    ]


def _weights(system: System, given: Mapping[str, int]) -> list[int]:
    names = [rule.name for rule in system.rules]
    for name in given:
        if name not in names:
            guesses = difflib.get_close_matches(name, names, 1)
            hint = f"; did you mean '{guesses[0]}'?" if guesses else "; `outcrop show` lists the rules"
            raise UsageError(f"the model has no rule '{name}'{hint}")
    weights = [given.get(name, 1) for name in names]
    if names and not any(weights):
        raise UsageError("every rule has weight 0, so that no step can be taken")
    return weights

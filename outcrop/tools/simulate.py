"""Random walks through a model: no proof of anything, but quick to find what is wrong far from the start.

Each walk begins at a start state picked at random, and takes one enabled rule instance after the other, picked at
random by the weights of the rules. Every state met is checked as `check` would check it. A walk depends on the seed and
its number alone; with bounds on walks and steps, but not on time, a simulation always ends in the same way.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from outcrop.api import Model
from outcrop.codegen.build import build
from outcrop.codegen.puts import printer
from outcrop.errors import InternalError, UsageError
from outcrop.explorer.arena import Arena
from outcrop.explorer.budget import DEADLOCK_RULES, worker_count
from outcrop.explorer.context import Context, ShowProgress
from outcrop.explorer.explorer import Explorer
from outcrop.ir.system import System
from outcrop.kernels import Search, Settings
from outcrop.kernels.walks import Ending, Walked, Walks, estimate
from outcrop.options import CheckOptions, Deadlock
from outcrop.outcome import Finding, FindingKind, Outcome, Progress, Stop, WalkProgress
from outcrop.result import Violation
from outcrop.source import Span
from outcrop.tools.shrink import shrink
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
class RuleWalks:
    """How a rule fared on all walks."""

    name: str
    span: Span
    instances: int
    enabled: int  #: times that an instance was
    taken: int


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
    coverage: list[RuleWalks]
    violation: Violation | None = None
    walk: int | None = None  #: the number of the walk on which something is wrong
    walk_steps: int | None = None  #: how long that walk was before it was shrunk


def simulate(
    model: Model,
    options: SimulationOptions,
    output: Callable[[str], object] | None = None,
    progress: ShowProgress | None = None,
) -> Simulation:
    """Walks until a bound is reached or something is wrong. ``output`` is called with what the steps that are taken
    print, walk by walk in no particular order; ``progress`` with a WalkProgress now and then."""
    system = model.system
    weights = _weights(system, options.weights or {})
    native, emitted = build(system, symmetry=False, coverage=True, prints=output is not None)
    put = None if output is None else printer(emitted, output)
    check = CheckOptions(
        symmetry=False, deadlock=options.deadlock, threads=options.threads, time_limit=options.time_limit
    )
    settings = Settings(workers=worker_count(check), deadlock=DEADLOCK_RULES[options.deadlock], budget=_BUDGET)
    with native.search(settings) as search:
        walks = Walks(search, options.seed, options.walks, options.steps, weights)
        run = _Simulation(search, check, Context(put=put), walks, progress)
        outcome = run.explorer.run(run.walk)
        violation, walk_steps = _violation(system, check, run, options)
        different_states = estimate(run.walked)
        return Simulation(
            model=system.name,
            constants=dict(system.constants),
            seed=options.seed,
            walks=sum(part.walks for part in run.walked),
            steps=sum(part.steps for part in run.walked),
            dead_ends=sum(part.dead_ends for part in run.walked),
            different_states=different_states,
            seconds=outcome.seconds,
            stop=_stop(outcome, bool(different_states)),
            coverage=_coverage(system, run.walked, outcome),
            violation=violation,
            walk=run.walks.first_wrong,
            walk_steps=walk_steps,
        )


def _stop(outcome: Outcome, has_states: bool) -> str:
    """Why walks ended; that none of them met a state comes first."""
    if not has_states and outcome.stop is not Stop.INTERRUPTED:
        return str(Stop.NO_STATES)
    return str(outcome.stop) if outcome.stop in (Stop.TIME, Stop.INTERRUPTED) else "all walks done"


class _Simulation:
    """Walks, watched as a search is."""

    def __init__(
        self, search: Search, options: CheckOptions, context: Context, walks: Walks, progress: ShowProgress | None
    ) -> None:
        self.walks = walks
        self.walked: Sequence[Walked] = ()
        show = None if progress is None else lambda snapshot: progress(self._walk_progress(snapshot))
        self.explorer = Explorer(search, options, replace(context, progress=show))
        self.explorer.frontier = Arena(self.explorer)

    def _walk_progress(self, progress: Progress) -> WalkProgress:
        return WalkProgress(
            level=0,
            states=estimate(self.walked) if self.walked else 0,
            rules_fired=0,
            frontier=0,
            seconds=progress.seconds,
            memory=progress.memory,
            event=progress.event,
            walks=sum(part.walks for part in self.walked),
            # Those of walks that are still under way as well.
            steps=sum(int(part.taken.sum()) for part in self.walked),
        )

    def walk(self) -> Stop:
        explorer = self.explorer
        self.walked = [Walked(explorer.native.rule_count) for _ in range(explorer.search.workers)]
        explorer.parallel(*(partial(self.walks.walk, worker, walked) for worker, walked in enumerate(self.walked)))
        explorer.level_done([])
        return Stop.DEPTH


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
    shorter = shrink(run.explorer.search, kind, path, options.shrink_seconds) if options.shrink_seconds else path
    return explain(system, Finding(kind, tuple(shorter)), check), len(path) - 1


def _coverage(system: System, walked: Sequence[Walked], outcome: Outcome) -> list[RuleWalks]:
    return [
        RuleWalks(
            rule.name,
            rule.span,
            rule.instance_count,
            enabled=outcome.fired[number],
            taken=sum(int(part.taken[number]) for part in walked),
        )
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

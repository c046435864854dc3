"""Random walks through a model: they prove nothing, but find violations far from the start states fast.

Each walk begins at a random start state and fires one enabled rule instance after the other, chosen at random by the
weights of the rules. Every state on the way is checked as `check` would check it. A walk depends only on the seed and
on its number. With limits on walks and steps but not on time, a simulation always gives the same result.
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
from outcrop.ir.interpreter import Interpreter
from outcrop.ir.layout import Layout, State
from outcrop.ir.system import System
from outcrop.kernels import Search, Settings
from outcrop.kernels.walks import Ending, Walked, Walks, estimate
from outcrop.options import CheckOptions, Deadlock
from outcrop.outcome import Finding, FindingKind, Outcome, Progress, Stop, WalkProgress
from outcrop.result import Violation, ViolationKind
from outcrop.source import Span
from outcrop.tools.shrink import shrink
from outcrop.trace.order import needed_states
from outcrop.trace.replay import explain

#: State memory in bytes; it does not grow with the walks.
_BUDGET = 8 << 20

_KINDS = {Ending.DEADLOCK: FindingKind.DEADLOCK, Ending.STATE: FindingKind.STATE, Ending.RULE: FindingKind.RULE}


@dataclass(frozen=True)
class SimulationOptions:
    """The options of a simulation. None means no limit. Give at least one of ``walks`` and ``time_limit``."""

    walks: int | None = None
    steps: int = 10_000  #: largest number of steps of a walk
    time_limit: float | None = 10.0  #: seconds
    weights: Mapping[str, int] | None = None  #: weights of rules by name; 1 for others, 0 never fires it
    seed: int = 0
    threads: int | None = None
    deadlock: Deadlock = Deadlock.STUTTERING
    shrink_seconds: float = 3.0  #: 0 leaves the walk unchanged

    def __post_init__(self) -> None:
        for name in ("walks", "steps", "threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"{name} must be at least 1, not {value}")


@dataclass(frozen=True)
class RuleWalks:
    """The counts of a rule on all walks."""

    name: str
    span: Span
    instances: int
    enabled: int  #: number of times that an instance was enabled
    taken: int


@dataclass(frozen=True)
class Simulation:
    """The result of a simulation."""

    model: str
    constants: dict[str, int | float | str]
    seed: int
    walks: int
    steps: int
    dead_ends: int
    different_states: int  #: an estimate
    seconds: float
    stop: str  #: reason why it ended
    coverage: list[RuleWalks]
    violation: Violation | None = None
    walk: int | None = None  #: number of the walk with the violation
    walk_steps: int | None = None  #: length of that walk before shrinking


def simulate(
    model: Model,
    options: SimulationOptions,
    output: Callable[[str], object] | None = None,
    progress: ShowProgress | None = None,
) -> Simulation:
    """Walks until a limit is reached or a violation is found. ``output`` receives the output of the model, walk by walk
    in no particular order; ``progress`` receives a WalkProgress from time to time."""
    system = model.system
    weights = _weights(system, options.weights or {})
    native, emitted = build(system, symmetry=False, coverage=True, prints=output is not None)
    put = None if output is None else printer(emitted, output)
    if system.says_where_runs_end and options.deadlock is Deadlock.STUTTERING:
        options = replace(options, deadlock=Deadlock.STUCK)
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
    """Returns the reason why the walks ended. No visited state takes precedence."""
    if not has_states and outcome.stop is not Stop.INTERRUPTED:
        return str(Stop.NO_STATES)
    return str(outcome.stop) if outcome.stop in (Stop.TIME, Stop.INTERRUPTED) else "all walks done"


class _Simulation:
    """Random walks under the watch of a search."""

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
            # Includes walks that have not ended.
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
    """Returns the violation of the first walk that found one, and the length of that walk."""
    number = run.walks.first_wrong
    if number is None:
        return None, None
    # The walks are over; shrinking expands more states, which a search that was asked to stop still does.
    ending, path = run.walks.replay(number)
    if ending is Ending.START:
        return explain(system, Finding(FindingKind.START, ()), check), 0
    if ending not in _KINDS:
        raise InternalError(f"walk {number} ended differently when it was repeated ({ending.name})")
    kind = _KINDS[ending]
    shorter = shrink(run.explorer.search, kind, path, options.shrink_seconds) if options.shrink_seconds else path
    violation = explain(system, Finding(kind, tuple(shorter)), check)
    if options.shrink_seconds and violation.trace is not None:
        needed = needed_states(violation.trace, _is_like(violation, check.deadlock), options.shrink_seconds / 2)
        if len(needed) < len(violation.trace):
            # Dropping steps leaves loops and detours of another kind, which the first pass takes out.
            packed = [Layout(system).pack(state) for state in needed]
            shorter = shrink(run.explorer.search, kind, packed, options.shrink_seconds / 2)
            violation = explain(system, Finding(kind, tuple(shorter)), check)
    return violation, len(path) - 1


def _is_like(violation: Violation, deadlock: Deadlock) -> Callable[[Interpreter, State], bool]:
    """Returns a test for states in which the same thing is wrong."""

    def is_wrong(interpreter: Interpreter, state: State) -> bool:
        if violation.failing_step:
            faults = [each.fault for each in interpreter.successors(state) if each.fault is not None]
            return any(each.message == violation.message for each in faults)
        if violation.kind is ViolationKind.DEADLOCK:
            moves = [each for each in interpreter.successors(state) if not each.is_abandoned]
            return all(each.fault is None and deadlock is not Deadlock.STUCK and each.raw == state for each in moves)
        failure = interpreter.check(state).failure
        return failure is not None and failure.subject.name == violation.property

    return is_wrong


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
            hint = f"; did you mean '{guesses[0]}'?" if guesses else "; 'outcrop show' lists the rules"
            raise UsageError(f"the model has no rule '{name}'{hint}")
    weights = [given.get(name, 1) for name in names]
    if names and not any(weights):
        raise UsageError("every rule has the weight 0, so that no walk can take a step; give one rule a larger weight")
    return weights

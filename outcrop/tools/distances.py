"""Transition locality: how many levels of the breadth-first search a transition leads forwards or back.

As defined in section 3 of "Exploiting transition locality in automatic verification of finite-state concurrent systems"
(Della Penna, Intrigila, Melatti, Tronci, Venturini Zilli, 2004):

- a k-transition leads from a state of level l to one of level l + k; k is 1 at the most;
- delta(s, k) is the part of the transitions of state s that are k-transitions;
- Delta(k) is delta(s, k) of a state s that is picked at random. Its mean E{Delta(k)} and standard deviation sigma(k)
  are taken over all reachable states; SumAvg is E{Delta(-1)} + E{Delta(0)} + E{Delta(1)}.

Two things the definition leaves open are decided as the published figures have it. Each enabled rule instance is a
transition, but one that leads from a state to itself is not counted. And delta of a state without transitions is 0 for
every k, so that the means of all k may add up to less than 1.

The search is that of `ram`; then all states are expanded again, divided among the workers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from math import sqrt
from typing import Any

import numpy as np

from outcrop.api import Model
from outcrop.codegen.build import build
from outcrop.errors import Undecided
from outcrop.explorer.budget import state_budget, worker_count
from outcrop.explorer.context import Context, ShowProgress
from outcrop.explorer.explorer import Explorer
from outcrop.ir.vacuity import vacuity
from outcrop.kernels import Settings
from outcrop.kernels.distances import UNIT, Distances
from outcrop.options import CheckOptions, Deadlock
from outcrop.outcome import Outcome, Stop
from outcrop.search.ram import breadth_first

#: Number of pieces of the arena per worker, since some states have more successors than others.
_PIECES_A_WORKER = 8


@dataclass(frozen=True)
class Distance:
    """The k-transitions of a model, for one k."""

    k: int
    transitions: int  #: number of k-transitions
    mean: float  #: E{Delta(k)}
    stddev: float  #: sigma(k)


@dataclass(frozen=True)
class Locality:
    """The distribution of k-transitions over all reachable states of a model."""

    model: str
    constants: dict[str, int | float | str]
    symmetry: bool
    counts_loops: bool
    states: int
    levels: list[int]
    rules_fired: int
    self_loops: int  #: rule instances that lead from a state to itself
    stuck: int  #: states without transitions
    distances: list[Distance]  #: for k from 1 downwards, to the last one with any transition
    seconds: float

    @property
    def transitions(self) -> int:
        return sum(each.transitions for each in self.distances)

    @property
    def sum_avg(self) -> float:
        """The mean share of transitions that lead to the previous, the same or the next level."""
        return sum(each.mean for each in self.distances if abs(each.k) <= 1)

    def of(self, k: int) -> Distance:
        return next((each for each in self.distances if each.k == k), Distance(k, 0, 0.0, 0.0))

    def to_dict(self) -> dict[str, Any]:
        """Returns the JSON document."""
        return {
            "model": self.model,
            "constants": self.constants,
            "symmetry": self.symmetry,
            "counts_self_loops": self.counts_loops,
            "states": self.states,
            "levels": self.levels,
            "diameter": len(self.levels) - 1,
            "rules_fired": self.rules_fired,
            "transitions": self.transitions,
            "self_loops": self.self_loops,
            "states_without_transitions": self.stuck,
            "sum_avg": self.sum_avg,
            "distances": [
                {"k": each.k, "transitions": each.transitions, "mean": each.mean, "stddev": each.stddev}
                for each in self.distances
            ],
            "seconds": round(self.seconds, 6),
        }


def measure(
    model: Model, options: CheckOptions, with_loops: bool = False, progress: ShowProgress | None = None
) -> Locality:
    """Explores every reachable state, despite violations, and measures locality. Raises Undecided if a limit ends the
    search, since a part of the states has another distribution."""
    options = replace(options, deadlock=Deadlock.OFF, max_errors=None)
    symmetry = options.symmetry and model.system.allows_symmetry and bool(model.system.scalarsets)
    # The System and the symmetry of a check, so that a model which was just checked is not compiled again.
    searched = vacuity(model.system, dict.fromkeys(model.system.temporal)).system
    native, _ = build(searched, options.symmetry and searched.allows_symmetry, options.keep_c, options.coverage)
    settings = Settings(
        workers=worker_count(options), budget=state_budget(options), most_states=options.states, most_found=1
    )
    with native.search(settings) as visited:
        parts: list[Distances] = []
        explorer = Explorer(visited, options, Context(progress=progress))
        outcome = explorer.run(partial(_explore, explorer, with_loops, parts))
        if outcome.stop is not Stop.COMPLETE:
            raise Undecided(
                f"locality needs all reachable states, and the search ended early: {outcome.stop} after "
                f"{outcome.visited:,} states. Raise the limit"
            )
        return _conclude(model, symmetry, with_loops, parts, outcome)


def _explore(explorer: Explorer, with_loops: bool, parts: list[Distances]) -> Stop:
    """Searches as `ram` does, then measures. ``parts`` receives the measurements of each worker."""
    stop = breadth_first(explorer)
    if stop is Stop.COMPLETE:
        parts += _measured(explorer, with_loops)
    return stop


def _measured(explorer: Explorer, with_loops: bool) -> list[Distances]:
    ends = np.array(list(accumulate(size for size in explorer.levels if size)) or [0], dtype=np.uint64)
    workers = explorer.search.workers
    pieces = workers * _PIECES_A_WORKER if workers > 1 else 1
    cuts = [int(ends[-1]) * number // pieces for number in range(pieces + 1)]

    def work(worker: int) -> Distances:
        distances = Distances(len(ends))
        for piece in range(worker, pieces, workers):
            distances.measure(explorer.search, worker, cuts[piece], cuts[piece + 1], ends, with_loops)
        return distances

    measured = explorer.parallel(*(partial(work, worker) for worker in range(workers)))
    explorer.check_stop()
    return measured


def _conclude(model: Model, symmetry: bool, with_loops: bool, parts: list[Distances], outcome: Outcome) -> Locality:
    distances = [_distance(parts, number, outcome.visited) for number in range(len(outcome.levels) + 1)]
    while distances and not distances[-1].transitions:
        distances.pop()
    return Locality(
        model=model.system.name,
        constants=dict(model.system.constants),
        symmetry=symmetry,
        counts_loops=with_loops,
        states=outcome.visited,
        levels=outcome.levels,
        rules_fired=outcome.rules_fired,
        self_loops=sum(part.loops for part in parts),
        stuck=sum(part.stuck for part in parts),
        distances=distances,
        seconds=outcome.seconds,
    )


def _distance(parts: list[Distances], number: int, states: int) -> Distance:
    rows = [part.row(number) for part in parts]
    transitions, part, square = (sum(column) for column in zip(*rows, strict=True))
    mean = part / max(1, states) / UNIT
    variance = max(0.0, square / max(1, states) / UNIT - mean * mean)
    return Distance(1 - number, transitions, mean, sqrt(variance))

"""All shortest runs to a violation, found by the interpreter: the oracle of outcrop/explorer/shortest.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from outcrop.ir.layout import State
from outcrop.ir.system import System
from outcrop.options import CheckOptions
from outcrop.oracle.search import ReferenceSearch
from outcrop.outcome import MOST_ON_SHORTEST_RUNS, MOST_SEARCHED_AGAIN, Ending, ShortestRuns
from outcrop.reduction.stubborn import Reduction


def shortest_runs(
    system: System, options: CheckOptions, endings: Sequence[Ending], reduction: Reduction | None = None
) -> list[ShortestRuns | None]:
    """Returns the states on shortest runs to each of the endings; None where there are too many."""
    depth = max(each.last_level for each in endings)
    options = replace(options, depth=depth, states=MOST_SEARCHED_AGAIN, max_errors=None, time_limit=None)
    repeated = ReferenceSearch(system, options, lambda snapshot: None, None, reduction)
    repeated.keeps_predecessors = True
    repeated.run()
    level_of = {state: number for number, level in enumerate(repeated.levels) for state in level}
    return [_runs(repeated, level_of, each) for each in endings]


def _runs(repeated: ReferenceSearch, level_of: dict[State, int], ending: Ending) -> ShortestRuns | None:
    if len(repeated.levels) <= ending.last_level:
        return None
    pack, unpack = repeated.layout.pack, repeated.layout.unpack
    found = [
        pack(state)
        for kind, state, _ in repeated.found
        if kind is ending.finding.kind and state is not None and level_of[state] == ending.level
    ]
    runs = [{unpack(state) for state in ending.states(found)}]
    for level in range(ending.level - 1, -1, -1):
        if not runs[-1] or sum(map(len, runs)) > MOST_ON_SHORTEST_RUNS:
            return None
        before = (each for state in runs[-1] for each in repeated.predecessors.get(state, ()))
        runs.append({each for each in before if level_of[each] == level})
    return [{pack(state) for state in members} for members in reversed(runs)]

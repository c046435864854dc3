"""AG EF: from every reachable state, a state that satisfies the property can be reached.

After a complete search without findings. States that satisfy a property are marked, then, in passes over the arena from
its last state to its first, every state with a marked successor, until a pass changes nothing. Each pass expands the
states that are still unmarked; in most models the first one or two passes mark all. A byte a state, for eight
properties at a time.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from outcrop.kernels import Found, Marks
from outcrop.kernels_liveness import Liveness
from outcrop.search.budget import state_budget
from outcrop.search.driver import Exploration, Stopped
from outcrop.search.outcome import FindingKind, Stop

_AT_A_TIME = 8


def check_liveness(run: Exploration) -> None:
    """Adds a finding for each liveness instance that some state cannot reach: the first such state."""
    standing = run.search.standing()
    if standing.positions > state_budget(run.options):
        raise Stopped(Stop.MEMORY)
    ends = run.levels.ends[1:]
    levels = list(zip([0, *ends], ends, strict=False))
    for first in range(0, run.native.liveness_count, _AT_A_TIME):
        count = min(_AT_A_TIME, run.native.liveness_count - first)
        marks = np.zeros(standing.positions, dtype=np.uint8)
        if _mark_satisfied(run, levels, first, marks):
            return
        _mark_predecessors(run, ends[-1], (1 << count) - 1, marks)
        for number in range(count):
            _find_unmarked(run, levels, first + number, 1 << number, marks)


def _mark_satisfied(run: Exploration, levels: list[tuple[int, int]], first: int, marks: Marks) -> bool:
    """Whether some property could not be evaluated somewhere, which is a finding of its own."""
    liveness, has_failed = Liveness(run.search), False
    for level, (begin, end) in enumerate(levels):
        liveness.mark_satisfied(0, begin, end, first, marks)
        failed = run.search.take_found(Found.STATE)
        for state in failed:
            run.find(FindingKind.STATE, state, level)
        has_failed = has_failed or bool(failed)
    return has_failed


def _mark_predecessors(run: Exploration, states: int, wanted: int, marks: Marks) -> None:
    search, liveness = run.search, Liveness(run.search)
    cuts = [states * number // search.workers for number in range(search.workers + 1)]
    while True:
        changes = run.together(
            *(
                partial(liveness.mark_predecessors, worker, cuts[worker], cuts[worker + 1], wanted, marks)
                for worker in range(search.workers)
            )
        )
        run.check_stop()
        if not sum(changes):
            return


def _find_unmarked(run: Exploration, levels: list[tuple[int, int]], liveness: int, bit: int, marks: Marks) -> None:
    for level, (begin, end) in enumerate(levels):
        state = Liveness(run.search).least_unmarked(begin, end, bit, marks)
        if state is not None:
            run.find(FindingKind.LIVENESS, state, level, liveness)
            return

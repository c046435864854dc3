"""AG EF: from every reachable state, some state that satisfies the property can be reached.

The check follows a complete search without findings. It marks the states that satisfy a property. Then passes over the
arena, from the last state to the first, mark every state with a marked successor, until a pass changes nothing. Each
pass expands the unmarked states; in most models one or two passes mark all. Costs one byte a state for eight properties
at a time.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from outcrop.explorer.budget import state_budget
from outcrop.kernels import Found, Marks
from outcrop.kernels.liveness import Liveness
from outcrop.outcome import Event, EventKind, FindingKind, Stop, Stopped

if TYPE_CHECKING:
    from outcrop.explorer.explorer import Explorer

#: Number of liveness instances checked in one pass.
_AT_A_TIME = 8


def check_liveness(explorer: Explorer) -> None:
    """Adds a finding for each liveness instance that some state cannot reach, with the first such state."""
    if not explorer.frontier.is_arena:
        text = "liveness was not checked: it needs all states in memory; give more with --memory"
        explorer.watch.tell(Event(EventKind.GAVE_UP, text))
        raise Stopped(Stop.MEMORY)
    standing = explorer.search.standing()
    if standing.positions > state_budget(explorer.options):
        raise Stopped(Stop.MEMORY)
    ends = explorer.levels.ends[1:]
    levels = list(zip([0, *ends], ends, strict=False))
    for first in range(0, explorer.native.liveness_count, _AT_A_TIME):
        count = min(_AT_A_TIME, explorer.native.liveness_count - first)
        marks = np.zeros(standing.positions, dtype=np.uint8)
        if _mark_satisfied(explorer, levels, first, marks):
            return
        _mark_predecessors(explorer, ends[-1], (1 << count) - 1, marks)
        for number in range(count):
            _find_unmarked(explorer, levels, first + number, 1 << number, marks)


def _mark_satisfied(explorer: Explorer, levels: list[tuple[int, int]], first: int, marks: Marks) -> bool:
    """Marks the states that satisfy the properties. Returns whether evaluating one failed, which is a finding."""
    liveness, has_failed = Liveness(explorer.search), False
    for level, (begin, end) in enumerate(levels):
        liveness.mark_satisfied(0, begin, end, first, marks)
        failed = explorer.search.take_found(Found.STATE)
        for state in failed:
            explorer.findings.add(FindingKind.STATE, state, level)
        has_failed = has_failed or bool(failed)
    return has_failed


def _mark_predecessors(explorer: Explorer, states: int, wanted: int, marks: Marks) -> None:
    search, liveness = explorer.search, Liveness(explorer.search)
    cuts = [states * number // search.workers for number in range(search.workers + 1)]
    while True:
        changes = explorer.parallel(
            *(
                partial(liveness.mark_predecessors, worker, cuts[worker], cuts[worker + 1], wanted, marks)
                for worker in range(search.workers)
            )
        )
        explorer.check_stop()
        if not sum(changes):
            return


def _find_unmarked(explorer: Explorer, levels: list[tuple[int, int]], liveness: int, bit: int, marks: Marks) -> None:
    for level, (begin, end) in enumerate(levels):
        state = Liveness(explorer.search).least_unmarked(begin, end, bit, marks)
        if state is not None:
            explorer.findings.add(FindingKind.LIVENESS, state, level, liveness)
            return

"""All shortest runs to a violation: the states that lie on one of them, level by level.

The search is repeated in RAM, whatever strategy found the violation, up to the level of the violation. From the states
there that violate the property, one level after the other is expanded again, backwards, and the states that lead to one
of the next level are kept. Costs about two searches of those levels, which are limited in size.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from functools import partial

import numpy as np

from outcrop.explorer.arena import Arena
from outcrop.explorer.budget import kernel_settings, state_budget
from outcrop.explorer.explorer import Explorer
from outcrop.explorer.tuning import current_tuning
from outcrop.kernels import Native, States
from outcrop.options import CheckOptions
from outcrop.outcome import MOST_ON_SHORTEST_RUNS, MOST_SEARCHED_AGAIN, Ending, ShortestRuns, Stopped, most_found

#: Smallest number of states for which another worker pays.
_STATES_A_WORKER = 4096


def shortest_runs(native: Native, options: CheckOptions, endings: Sequence[Ending]) -> list[ShortestRuns | None]:
    """Returns the states on shortest runs to each of the endings; None where there are too many."""
    options = _repeating(options, max(each.last_level for each in endings))
    settings = kernel_settings(options, current_tuning(), budget=state_budget(options))
    with native.search(settings) as search:
        explorer = Explorer(search, options)
        arena = explorer.frontier = Arena(explorer)
        try:
            with explorer.watch.interruptible(), closing(explorer.watch):
                arena.start()
                while explorer.next_stop() is None:
                    arena.expand()
                return [_runs(explorer, each) for each in endings]
        except (Stopped, MemoryError):
            return [None] * len(endings)


def _repeating(options: CheckOptions, depth: int) -> CheckOptions:
    """Returns options of a search for the same states that lists all findings."""
    return CheckOptions(
        depth=depth,
        states=MOST_SEARCHED_AGAIN,
        symmetry=options.symmetry,
        deadlock=options.deadlock,
        threads=options.threads,
        memory=options.memory,
        max_errors=None,
    )


def _runs(explorer: Explorer, ending: Ending) -> ShortestRuns | None:
    """Returns the states on shortest runs to the ending."""
    level = ending.level
    found = [
        state
        for (kind, state, _), at in explorer.findings.states.items()
        if kind is ending.finding.kind and at == level
    ]
    if len(explorer.levels) <= ending.last_level or len(explorer.findings) >= most_found(explorer.options):
        return None
    runs = [ending.states(found)]
    ends = explorer.levels.ends
    for at in range(level - 1, -1, -1):
        if not runs[-1] or sum(map(len, runs)) > MOST_ON_SHORTEST_RUNS:
            return None
        runs.append(_leading(explorer, ends[at], ends[at + 1], runs[-1]))
    return runs[::-1]


def _leading(explorer: Explorer, begin: int, end: int, targets: set[bytes]) -> set[bytes]:
    """Returns the states of a range of the arena that lead to a target."""
    search = explorer.search
    rows: States = np.frombuffer(b"".join(sorted(targets)), dtype=np.uint8).reshape(len(targets), -1)
    workers = max(1, min(search.workers, (end - begin) // _STATES_A_WORKER))
    cuts = [begin + (end - begin) * number // workers for number in range(workers + 1)]
    marks = explorer.parallel(
        *(partial(search.leading, worker, cuts[worker], cuts[worker + 1], rows) for worker in range(workers))
    )
    numbers = begin + np.flatnonzero(np.concatenate(marks))
    blocks = (search.packed_form(search.read_block(int(number), int(number) + 1)) for number in numbers)
    return {block.tobytes() for block in blocks}

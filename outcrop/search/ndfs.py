"""Nested depth-first search: is there a reachable cycle with an accepting state? On the fly, with one worker.

C. Courcoubetis, M. Vardi, P. Wolper and M. Yannakakis, "Memory-efficient algorithms for the verification of temporal
properties" (1992), with the improvements of S. Schwoon and J. Esparza, "A note on on-the-fly verification algorithms"
(2005). The first search visits the states depth first. From each accepting state that it is about to leave, a second
search looks for a path back to the stack of the first. Each state is visited at most twice, and a cycle is found as
soon as it is closed. The search itself is native/ndfs.c.

Exact. Depth-first search finds long lassos, so the result is shortened: a shortest path to an accepting state of the
cycle, and a shortest cycle from there, among the states found. Costs the memory of ``ram``, two bits more a state, and
the stack. Levels are not known: all states count as one level. Out of memory: *unknown*.
"""

from __future__ import annotations

from contextlib import closing
from functools import partial

import numpy as np

from outcrop.errors import InternalError, UsageError
from outcrop.explorer.arena import Arena
from outcrop.explorer.budget import cycle_settings
from outcrop.explorer.context import DEFAULT_CONTEXT, Context
from outcrop.explorer.explorer import Explorer
from outcrop.explorer.lasso import indexes_of, lasso, shortest_path
from outcrop.kernels import Found, Native
from outcrop.kernels.cycles import DepthFirst, DfsEnd, Indexes, Paths, accepting_states
from outcrop.options import CheckOptions
from outcrop.outcome import Finding, FindingKind, Outcome, Stop


def search(native: Native, options: CheckOptions, context: Context = DEFAULT_CONTEXT) -> Outcome:
    if options.depth is not None:
        raise UsageError("ndfs does not record depths; use --strategy owcty to search up to a depth")
    settings = cycle_settings(options, context.tuning, workers=1)
    with native.search(settings) as kernels:
        explorer = Explorer(kernels, options, context)
        return explorer.run(partial(nested_depth_first, explorer))


def nested_depth_first(explorer: Explorer) -> Stop:
    """Searches from the start states, and turns the search stack into a finding if the search ended early."""
    explorer.frontier = Arena(explorer, has_levels=False)
    explorer.frontier.start()
    if explorer.findings:
        return Stop.VIOLATION
    starts, search = explorer.levels.states, explorer.search
    with closing(DepthFirst(search)) as depth_first:
        (end,) = explorer.parallel(depth_first.run)
        path, loop_start = depth_first.path()
    search.finish_level()
    explorer.levels.set([search.standing().level_end])
    explorer.generated = [search.standing().generated]
    if end is DfsEnd.CYCLE:
        explorer.findings.traced.append(_lasso(explorer, path[loop_start:], starts))
    elif end is DfsEnd.FOUND:
        explorer.findings.traced += _found(explorer, path)
    else:
        explorer.check_stop()
    return {DfsEnd.COMPLETE: Stop.COMPLETE, DfsEnd.STATES: Stop.STATES}.get(end, Stop.VIOLATION)


def _lasso(explorer: Explorer, on_cycle: Indexes, starts: int) -> Finding:
    """Returns a short lasso through an accepting state of a cycle. ``starts``: the number of start states."""
    paths, everything = Paths(explorer.search), explorer.levels[0]
    target = accepting_states(explorer.search, paths.states(on_cycle))[0].tobytes()
    (index,) = indexes_of(paths, target).tolist()
    cycle = shortest_path(explorer, paths, indexes_of(paths, target), target, everything)
    prefix: list[bytes] | None = [target]
    if index >= starts:
        prefix = shortest_path(explorer, paths, np.arange(starts, dtype=np.uint32), target, everything)
    if cycle is None or prefix is None:
        explorer.check_stop()
        raise InternalError("the cycle that the search reported is not in the states found")
    return lasso(tuple(prefix), cycle[:-1])


def _found(explorer: Explorer, indexes: Indexes) -> list[Finding]:
    """Returns the errors in the state at which the search stopped, or in one of its successors."""
    search = explorer.search
    path = tuple(row.tobytes() for index in indexes.tolist() for row in search.read_block(index, index + 1))
    failed = search.take_found(Found.RULE)
    if any(state != path[-1] for state in failed):
        raise InternalError("a rule failed in a state other than the one that the search expanded")
    wrong = search.take_found(Found.STATE)
    return [
        *(Finding(FindingKind.RULE, path) for _ in failed),
        *(Finding(FindingKind.STATE, (*path, state)) for state in wrong),
    ]

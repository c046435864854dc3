"""Nested depth-first search: is there a reachable cycle with an accepting state? One worker, on the fly.

C. Courcoubetis, M. Vardi, P. Wolper and M. Yannakakis, "Memory-efficient algorithms for the verification of temporal
properties" (1992), with the improvements of S. Schwoon and J. Esparza, "A note on on-the-fly verification algorithms"
(2005). A first search visits the states depth first; from each accepting state that it is about to leave, a second one
looks for a way back to its stack. Each state is visited at most twice, and a cycle is found as soon as it is closed.
The search itself is native/ndfs.c.

Exact. The lasso on its stacks is as long as depth-first search makes it, so it is shortened: a shortest way to an
accepting state of its cycle, and a shortest cycle from there, among the states found. Costs what ``ram`` does, a
quarter of a byte more a state, and the stack. There are no levels: all states count as one. At the end of memory:
unknown.
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
        raise UsageError("ndfs does not record depths. Use --strategy owcty to search up to a depth")
    settings = cycle_settings(options, context.tuning, workers=1)
    with native.search(settings) as kernels:
        explorer = Explorer(kernels, options, context)
        return explorer.run(partial(nested_depth_first, explorer))


def nested_depth_first(explorer: Explorer) -> Stop:
    """Searches from the start states, and makes findings of the path to where the search ended."""
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
        raise InternalError("the cycle found cannot be found again")
    return lasso(tuple(prefix), cycle[:-1])


def _found(explorer: Explorer, indexes: Indexes) -> list[Finding]:
    """Returns what is wrong with the state that the search was at, or with one that follows it."""
    search = explorer.search
    path = tuple(row.tobytes() for index in indexes.tolist() for row in search.read_block(index, index + 1))
    failed = search.take_found(Found.RULE)
    if any(state != path[-1] for state in failed):
        raise InternalError("a rule failed in another state than the one that the search was at")
    wrong = search.take_found(Found.STATE)
    return [
        *(Finding(FindingKind.RULE, path) for _ in failed),
        *(Finding(FindingKind.STATE, (*path, state)) for state in wrong),
    ]

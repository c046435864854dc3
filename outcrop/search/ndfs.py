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

import numpy as np

from outcrop.errors import InternalError
from outcrop.kernels import Found, Native, Settings
from outcrop.kernels_cycles import DepthFirst, DfsEnd, Indexes, Paths, accepting_states
from outcrop.options import CheckOptions
from outcrop.search.budget import state_budget
from outcrop.search.driver import Exploration, ShowProgress, TakePut, most_found
from outcrop.search.lasso import lasso, one, shortest_path
from outcrop.search.outcome import Finding, FindingKind, Outcome, Progress, Stop
from outcrop.search.owcty import refuse


def search(
    native: Native, options: CheckOptions, progress: ShowProgress | None = None, put: TakePut | None = None
) -> Outcome:
    refuse(options)
    settings = Settings(budget=state_budget(options), most_states=options.states, most_found=most_found(options))
    with native.search(settings) as visited:
        return Ndfs(visited, options, progress, put).run()


class Ndfs(Exploration):
    starts = 0  #: how many start states there are

    def explore(self) -> Stop:
        self.create_start_states()
        if self._count_findings():
            return Stop.VIOLATION
        self.starts = self.levels.states
        depth_first = DepthFirst(self.search)
        try:
            (end,) = self.together(depth_first.run)
            path, loop_start = depth_first.path()
        finally:
            depth_first.close()
        self.search.finish_level()
        self.levels.set([self.search.standing().level_end])
        self.generated = [self.search.standing().generated]
        if end is DfsEnd.CYCLE:
            self.traced.append(self._lasso(path, loop_start))
        elif end is DfsEnd.FOUND:
            self._trace_found(self._states(path))
        else:
            self.check_stop()
        return {DfsEnd.COMPLETE: Stop.COMPLETE, DfsEnd.STATES: Stop.STATES}.get(end, Stop.VIOLATION)

    def _lasso(self, path: Indexes, loop_start: int) -> Finding:
        paths = Paths(self.search)
        target = paths.index(accepting_states(self.search, paths.states(path[loop_start:]))[0].tobytes())
        assert target is not None
        everything = self.levels[0]
        cycle = shortest_path(paths, one(target), target, everything)
        prefix: list[bytes] | None = [paths.states(one(target)).tobytes()]
        if target >= self.starts:
            prefix = shortest_path(paths, np.arange(self.starts, dtype=np.uint32), target, everything)
        if cycle is None or prefix is None:
            self.check_stop()
            raise InternalError("the cycle found cannot be found again")
        return lasso(tuple(prefix), cycle[:-1])

    def _trace_found(self, path: tuple[bytes, ...]) -> None:
        """Something is wrong with the state that the search was at, or with one that follows it."""
        for state in self.search.take_found(Found.RULE):
            self.traced.append(Finding(FindingKind.RULE, path))
            if state != path[-1]:
                raise InternalError("a rule failed in another state than the one that the search was at")
        for state in self.search.take_found(Found.STATE):
            self.traced.append(Finding(FindingKind.STATE, (*path, state)))

    def _states(self, indexes: Indexes) -> tuple[bytes, ...]:
        return tuple(row.tobytes() for index in indexes for row in self.search.read_block(int(index), int(index) + 1))

    def snapshot(self) -> Progress:
        states = self.search.standing().states
        return self.progress_at(0, states, states)

"""Strong fairness: is there a reachable cycle with an accepting state that is fair to all? Exact, in RAM.

O. Lichtenstein and A. Pnueli, "Checking that finite state concurrent programs satisfy their linear specification"
(1985); E. A. Emerson and C.-L. Lei, "Modalities for model checking: branching time logic strikes back" (1987). A cycle
is strongly fair if for each fairness set (see outcrop.ir.automaton) it takes a step of the set, or passes no state
where one is possible. All cycles lie within strongly connected components. If steps of a set are possible in some
states of a component, and none leads from one of its states to another, no fair cycle passes those states: without them
the component is taken apart anew. A component in which no set is missed, and that has an accepting state, has a fair
cycle: one that goes through all of it.

First all states are found, as by ``ram``; then their edges are laid out in memory, each with whose step it is; then
the components are found, by one worker, until all are fair or gone. Each time a component is taken apart one more set
has no step that is possible, so each state is looked at once for each set at the most. Costs what ``ram`` does, 52
bytes more a state and 12 an edge. At the end of memory: unknown. The lasso is that of the first accepting state on a
fair cycle, and goes from there by shortest ways to a step of each set and back; it does not depend on the number of
workers.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import partial

from outcrop.errors import InternalError, UsageError
from outcrop.kernels import Native, Settings
from outcrop.kernels_streett import FairGraph
from outcrop.options import CheckOptions
from outcrop.search.budget import state_budget, worker_count
from outcrop.search.driver import ShowProgress, Stopped, TakePut, most_found
from outcrop.search.lasso import lasso, one
from outcrop.search.outcome import Outcome, Stop
from outcrop.search.owcty import CycleExploration, CycleFound, refuse
from outcrop.search.paths import PathFinder

#: States whose edges a worker notes at a time.
_SOME_STATES = 1 << 14


def search(
    native: Native, options: CheckOptions, progress: ShowProgress | None = None, put: TakePut | None = None
) -> Outcome:
    refuse(options)
    if (options.ranks or 1) > 1:
        raise UsageError("strong fairness is looked at by one rank, not by several")
    settings = Settings(
        workers=worker_count(options),
        budget=state_budget(options),
        most_states=options.states,
        most_found=most_found(options),
    )
    with native.search(settings) as visited:
        return Streett(visited, options, progress, put).run()


class Streett(CycleExploration):
    def look_for_cycles(self) -> None:
        try:
            graph = FairGraph(self.search, self.levels.states)
        except MemoryError:
            raise Stopped(Stop.MEMORY) from None
        try:
            self._note_edges(graph)
            graph.lay_out()
            self._note_edges(graph)
            (is_found,) = self.together(lambda: graph.has_fair_components())
            self.check_stop()
            if is_found:
                self._report(graph)
        except MemoryError:
            raise Stopped(Stop.MEMORY) from None
        finally:
            graph.close()

    def _note_edges(self, graph: FairGraph) -> None:
        begins = iter(range(0, self.levels.states, _SOME_STATES))

        def work(worker: int) -> None:
            for begin in begins:
                graph.note(worker, begin, min(self.levels.states, begin + _SOME_STATES))

        self.together(*(partial(work, worker) for worker in range(self.search.workers)))
        self.check_stop()

    def _report(self, graph: FairGraph) -> None:
        end = 0
        for size in self.levels:
            begin, end = end, end + size
            start = graph.least_accepting(begin, end)
            if start is None:
                continue
            cycle = [(int(index), graph.states(one(int(index))).tobytes()) for index in graph.cycle(start)[:-1]]
            level, state, at = min((self._level(index), state, at) for at, (index, state) in enumerate(cycle))
            (prefix,) = PathFinder(self.look()).paths([(state, level)])
            self.traced.append(lasso(prefix, [each for _, each in cycle[at:] + cycle[:at]]))
            raise CycleFound
        raise InternalError("a fair component has no accepting state")

    def _level(self, index: int) -> int:
        return bisect_right(self.levels.ends[1:], index)

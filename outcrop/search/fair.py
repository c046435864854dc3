"""Fair cycles: is there a reachable cycle with an accepting state that is fair to all? Exact, in RAM.

O. Lichtenstein and A. Pnueli, "Checking that finite state concurrent programs satisfy their linear specification"
(1985); E. A. Emerson and C.-L. Lei, "Modalities for model checking: branching time logic strikes back" (1987). A cycle
is fair to a set of steps (see outcrop.ir.automaton) if it takes one of them; or if it passes a state where none is
possible (weak fairness), or no state where one is (strong fairness). All cycles lie within strongly connected
components. If a component is unfair to a set, because steps of it are possible in all of its states, or with strong
fairness in some, and none leads from one of its states to another, then no fair cycle passes these states: without them
the component is taken apart anew. A component that is fair to all, and has an accepting state, has a fair cycle: one
that goes through all of it.

First all states are found, as by ``ram``; then their edges are laid out in memory, each with whose step it is; then the
components are found, by one worker, until all are fair or gone. With strong fairness, each time a component is taken
apart one more set has no step that is possible in it, so each state is looked at once for each set at the most. The
same is done with those found so far whenever they have become a few times more, so that a cycle does not have to wait
for the end. If no cycle of the automaton mixes accepting and other states, edges of accepting ones are enough.

Costs what ``ram`` does, 52 bytes more a state and 12 an edge. At the end of memory: unknown. The lasso is that of the
first accepting state on a fair cycle, and goes from there by shortest ways to a step that is fair to each set and back;
it does not depend on the number of workers. Without this, weak fairness can be counted by the product, which has more
states then, by any search for cycles.
"""

from __future__ import annotations

from bisect import bisect_right
from contextlib import closing, suppress
from functools import partial
from itertools import pairwise

from outcrop.errors import InternalError
from outcrop.kernels import Native
from outcrop.kernels_fair import FairGraph
from outcrop.options import CheckOptions
from outcrop.search.driver import ShowProgress, Stopped, TakePut
from outcrop.search.outcome import Outcome, Stop
from outcrop.search.owcty import CycleExploration, refuse, settings_of

#: Expanded states among which cycles are looked for first, and how many times more there must be each time.
_FIRST_LOOK = 1 << 14
_TIMES_MORE = 6
#: Levels that are expanded between looks, as long as they have fewer states than that.
_LEVELS_A_CALL = 8
_SMALL_LEVEL = 1 << 10
#: States whose edges a worker notes at a time.
_SOME_STATES = 1 << 14


def search(
    native: Native, options: CheckOptions, progress: ShowProgress | None = None, put: TakePut | None = None
) -> Outcome:
    refuse(options)
    with native.search(settings_of(options)) as visited:
        return FairCycles(visited, options, progress, put).run()


class FairCycles(CycleExploration):
    _next_look = _FIRST_LOOK  #: how many states must have been expanded for it

    @property
    def most_levels(self) -> int:  # type: ignore[override]
        """One at a time where levels are so large that it costs nothing: the next look may be due after each."""
        return _LEVELS_A_CALL if self.levels[-1] < _SMALL_LEVEL else 1

    def expand(self) -> None:
        super().expand()
        expanded = self.levels.ends[-2]
        if expanded >= self._next_look and not self.found:
            self._next_look = _TIMES_MORE * expanded
            with suppress(MemoryError):
                self._look_among(expanded)

    def look_for_cycles(self) -> None:
        try:
            self._look_among(self.levels.states)
        except MemoryError:
            raise Stopped(Stop.MEMORY) from None

    def _look_among(self, states: int) -> None:
        """Reports a fair cycle among so many states, the first ones."""
        with closing(FairGraph(self.search, states, self.native.strength != "general")) as graph:
            self._note_edges(graph, states)
            graph.lay_out()
            self._note_edges(graph, states)
            (is_found,) = self.together(graph.has_fair_components)
            self.check_stop()
            if is_found:
                self._report(graph, states)

    def _note_edges(self, graph: FairGraph, states: int) -> None:
        begins = iter(range(0, states, _SOME_STATES))

        def work(worker: int) -> None:
            for begin in begins:
                graph.note(worker, begin, min(states, begin + _SOME_STATES))

        self.together(*(partial(work, worker) for worker in range(self.search.workers)))
        self.check_stop()

    def _report(self, graph: FairGraph, states: int) -> None:
        for begin, end in pairwise(self.levels.ends):
            start = graph.least_accepting(begin, min(end, states))
            if start is None:
                continue
            cycle = [state.tobytes() for state in graph.states(graph.cycle(start)[:-1])]
            self.report(cycle, lambda state: bisect_right(self.levels.ends[1:], graph.index(state) or 0))
        raise InternalError("a fair component has no accepting state")

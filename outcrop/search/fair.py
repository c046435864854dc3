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
from outcrop.explorer.arena import Arena
from outcrop.explorer.budget import cycle_settings
from outcrop.explorer.context import DEFAULT_CONTEXT, Context
from outcrop.explorer.explorer import Explorer
from outcrop.explorer.lasso import closest_lasso
from outcrop.kernels import Native
from outcrop.kernels.fair import FairGraph
from outcrop.options import CheckOptions
from outcrop.outcome import Finding, Outcome, Stop, Stopped

#: Levels that are expanded between looks, as long as they have fewer states than that.
_LEVELS_A_CALL = 8
_SMALL_LEVEL = 1 << 10
#: States whose edges a worker notes at a time.
_SOME_STATES = 1 << 14


def search(native: Native, options: CheckOptions, context: Context = DEFAULT_CONTEXT) -> Outcome:
    with native.search(cycle_settings(options, context.tuning)) as kernels:
        explorer = Explorer(kernels, options, context)
        return explorer.run(partial(find_fair_cycle, explorer))


def find_fair_cycle(explorer: Explorer) -> Stop:
    """Finds all states, and fair cycles among them: now and then on the way, and at the end."""
    arena = explorer.frontier = Arena(explorer)
    tuning, findings = explorer.tuning, explorer.findings
    next_look = tuning.first_look
    explorer.begin()
    while (stop := explorer.next_stop()) is None:
        # One at a time where levels are so large that it costs nothing: the next look may be due after each.
        arena.most_levels = _LEVELS_A_CALL if explorer.levels[-1] < _SMALL_LEVEL else 1
        arena.expand()
        expanded = explorer.levels.ends[-2]
        if expanded >= next_look and not findings.states:
            next_look = tuning.times_more * expanded
            with suppress(MemoryError):
                findings.traced += fair_cycles(explorer, expanded)
        explorer.level_is_complete()
    if stop is Stop.COMPLETE and not findings:
        try:
            findings.traced += fair_cycles(explorer, explorer.levels.states)
        except MemoryError:
            raise Stopped(Stop.MEMORY) from None
    return Stop.VIOLATION if findings.traced else stop


def fair_cycles(explorer: Explorer, states: int) -> list[Finding]:
    """Returns a fair cycle among the first states, this many of them, if there is one."""
    with closing(FairGraph(explorer.search, states, explorer.native.strength != "general")) as graph:
        note_edges(explorer, graph, states)
        graph.lay_out()
        note_edges(explorer, graph, states)
        (is_found,) = explorer.parallel(graph.has_fair_components)
        explorer.check_stop()
        return [first_cycle(explorer, graph, states)] if is_found else []


def note_edges(explorer: Explorer, graph: FairGraph, states: int) -> None:
    begins = iter(range(0, states, _SOME_STATES))

    def work(worker: int) -> None:
        for begin in begins:
            graph.note(worker, begin, min(states, begin + _SOME_STATES))

    explorer.parallel(*(partial(work, worker) for worker in range(explorer.search.workers)))
    explorer.check_stop()


def first_cycle(explorer: Explorer, graph: FairGraph, states: int) -> Finding:
    """Returns the fair cycle through the first accepting state that lies on one."""
    ends = explorer.levels.ends
    for begin, end in pairwise(ends):
        start = graph.least_accepting(begin, min(end, states))
        if start is not None:
            cycle = [state.tobytes() for state in graph.states(graph.cycle(start)[:-1])]
            return closest_lasso(
                explorer, [(bisect_right(ends[1:], graph.index(state) or 0), state) for state in cycle]
            )
    raise InternalError("a fair component has no accepting state")

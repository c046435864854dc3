"""Fair cycles: is there a reachable cycle that has an accepting state and is fair? Exact, in RAM.

O. Lichtenstein and A. Pnueli, "Checking that finite state concurrent programs satisfy their linear specification"
(1985); E. A. Emerson and C.-L. Lei, "Modalities for model checking: branching time logic strikes back" (1987). Fairness
is given by sets of steps (see outcrop.ir.automaton). A cycle is fair to a set if it takes one of its steps. It is also
weakly fair if some state of it enables no step of the set, and strongly fair if none of its states enables one. Every
cycle lies within a strongly connected component. A component is unfair to a set if none of the set's steps stays within
it, although all of its states (weak fairness) or some of them (strong fairness) enable one. No fair cycle passes the
states that enable such a step: they are removed, and the rest is decomposed again. A component that is fair to all sets
and has an accepting state contains a fair cycle: one that passes all of its states.

The search first finds all states, as ``ram`` does. It then stores their edges in memory, each with the process that
takes the step. One worker then finds components until all are fair or removed. With strong fairness, each decomposition
leaves one set fewer that is enabled in the component, so each state is examined at most once for each set. The same
check runs during the search, whenever the number of states has grown by a factor, so that a cycle is found early. If no
cycle of the automaton mixes accepting and other states, the edges of accepting states suffice.

Costs the memory of ``ram``, plus 52 bytes a state and 12 an edge. Out of memory: *unknown*. The lasso passes the first
accepting state on a fair cycle, and goes by shortest paths to a fair step of each set and back. It does not depend on
the number of workers. Alternatively the product can count weak fairness; it then has more states, and any search for
cycles can check it.
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

#: Number of small levels that one kernel call expands between two checks for cycles.
_LEVELS_A_CALL = 8
#: Levels below this size are small, in states.
_SMALL_LEVEL = 1 << 10
#: Number of states whose edges a worker notes in one call.
_SOME_STATES = 1 << 14


def search(native: Native, options: CheckOptions, context: Context = DEFAULT_CONTEXT) -> Outcome:
    with native.search(cycle_settings(options, context.tuning)) as kernels:
        explorer = Explorer(kernels, options, context)
        return explorer.run(partial(find_fair_cycle, explorer))


def find_fair_cycle(explorer: Explorer) -> Stop:
    """Finds all states, and checks for fair cycles at intervals on the way and at the end."""
    arena = explorer.frontier = Arena(explorer)
    tuning, findings = explorer.tuning, explorer.findings
    next_look = tuning.first_look
    explorer.begin()
    while (stop := explorer.next_stop()) is None:
        # Large levels are expanded one a call, at no cost, because a check may be due after each.
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
    """Returns a fair cycle among the first ``states`` states, if there is one."""
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
    """Returns the lasso of the first accepting state that lies on a fair cycle."""
    ends = explorer.levels.ends
    for begin, end in pairwise(ends):
        start = graph.least_accepting(begin, min(end, states))
        if start is not None:
            cycle = [state.tobytes() for state in graph.states(graph.cycle(start)[:-1])]
            return closest_lasso(
                explorer, [(bisect_right(ends[1:], graph.index(state) or 0), state) for state in cycle]
            )
    raise InternalError("a fair component has no accepting state")

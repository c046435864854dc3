"""OWCTY, One Way Catch Them Young: is there a reachable cycle with an accepting state? Breadth-first, in parallel.

I. Cerna and R. Pelanek, "Distributed explicit fair cycle detection" (2003), as J. Barnat, J. Havlicek and P. Rockai
give it in "Distributed LTL model checking with hash compaction" (2012), Algorithm 1 and section 2.3. The set S
approximates the states that lie on or behind an accepting cycle. REACHABILITY keeps of it what accepting states in it
lead to, and counts predecessors; ELIMINATION takes out, one after the other, what has none left. When S no longer
shrinks, it is empty or holds a cycle.

Cycles are looked for while states are still being found: accepting states that are their own successors, and those that
are their own greatest accepting predecessor (one pass of the algorithm MAP). A cycle is confirmed before it counts.

How much there is to do depends on the automaton. No cycle of a weak one mixes accepting and other states: S is made of
accepting states, their predecessors are counted while the states are found, and one ELIMINATION decides. Whatever
follows an accepting state of a terminal one is accepted: to reach one, and a cycle behind it, is enough.

Exact. S, the counts and the lasso do not depend on the number of workers. Costs what ``ram`` does, 4 bytes more a
state (8 for a weak automaton), and the time of two or three such searches. At the end of memory: unknown.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from functools import partial

from outcrop.errors import InternalError
from outcrop.explorer.arena import Arena
from outcrop.explorer.budget import cycle_settings
from outcrop.explorer.closest_cycle import closest_cycle
from outcrop.explorer.context import DEFAULT_CONTEXT, Context
from outcrop.explorer.explorer import Explorer
from outcrop.explorer.lasso import closest_lasso, indexes_of, lasso, shortest_path, way_to
from outcrop.kernels import Found, Native
from outcrop.kernels.cycles import Acceptance, Cycles, Phase
from outcrop.options import CheckOptions
from outcrop.outcome import Finding, Outcome, Restart, Stop
from outcrop.strategies import OwctyOptions

#: Candidates of a level that are looked at for cycles; as many as each worker keeps.
_MOST_CANDIDATES = 16


def search(native: Native, options: CheckOptions, context: Context = DEFAULT_CONTEXT) -> Outcome:
    if options.of(OwctyOptions).compact:
        from outcrop.search import owcty_compact  # which imports this module

        return owcty_compact.search(native, options, context)
    try:
        return _search(native, options, context, Acceptance[native.strength.upper()])
    except Restart as restart:
        if restart.options is not options:
            raise
        return _search(native, options, replace(context, seconds=restart.seconds), Acceptance.WEAK)


def _search(native: Native, options: CheckOptions, context: Context, strength: Acceptance) -> Outcome:
    with native.search(cycle_settings(options, context.tuning)) as kernels:
        explorer = Explorer(kernels, options, context)
        return explorer.run(Owcty(explorer, strength).OWCTY)


class Owcty:
    """The algorithm's data: S, and the counts of predecessors, are with the kernels."""

    def __init__(self, explorer: Explorer, strength: Acceptance) -> None:
        self._explorer = explorer
        self._arena = Arena(explorer)
        self._strength = strength
        self.S = Cycles(explorer.search, strength)

    # --- Algorithm 1 -------------------------------------------------------------------------------------------

    def OWCTY(self) -> Stop:
        """Algorithm 1. Returns Stop.VIOLATION where there is a cycle, which is then among the findings."""
        stop = self.INITIALIZE()
        if stop is Stop.COMPLETE and not self._explorer.findings.states and self._holds_a_cycle():
            self._explorer.findings.traced.append(self._cycle_in_S())
            return Stop.VIOLATION
        return stop

    def INITIALIZE(self) -> Stop:
        """Line 1: finds all states, and cycles on the fly."""
        explorer = self._explorer
        explorer.frontier = self._arena
        explorer.begin()
        while (stop := explorer.next_stop()) is None:
            self._arena.expand()
            candidates = explorer.exchange.found_by_all(explorer.search.take_found(Found.CYCLE))
            if candidates and not explorer.findings.states:
                cycle = self._confirmed(candidates[:_MOST_CANDIDATES])
                if cycle is not None:
                    explorer.findings.traced.append(cycle)
                    return Stop.VIOLATION
            explorer.level_is_complete()
        return stop

    def _holds_a_cycle(self) -> bool:
        """Lines 2 to 9. Without a general automaton, nothing is left for a second iteration to do."""
        size, phase = self._explorer.totals.states, Phase.FIRST
        while True:
            old_size = size
            size = self._run(phase)  # Reset; S is S and F
            if self._strength is Acceptance.GENERAL:
                size = self.REACHABILITY()
            if size:
                size = self.ELIMINATION()
            if size in (0, old_size) or self._strength is not Acceptance.GENERAL:
                return size > 0
            phase = Phase.RESET

    def REACHABILITY(self) -> int:
        """Keeps in S what its accepting states lead to, and counts predecessors. Returns the size of S."""
        return self._run_where_work_makes_work(Phase.REACH)

    def ELIMINATION(self) -> int:
        """Takes out of S what has no predecessor in it. Returns the size of S."""
        return self._run_where_work_makes_work(Phase.ELIMINATE)

    def _run(self, phase: Phase) -> int:
        explorer, S = self._explorer, self.S
        S.begin(phase)
        explorer.parallel(*(partial(S.work, worker) for worker in range(explorer.search.workers)))
        explorer.exchange.agree_to_go_on()
        return explorer.exchange.sum(S.end())

    def _run_where_work_makes_work(self, phase: Phase) -> int:
        exchange, S = self._explorer.exchange, self.S
        S.begin(phase)
        exchange.work_phase(S.work, S.part, S.take_message, S.has_work)
        return exchange.sum(S.end())

    # --- Cycles ------------------------------------------------------------------------------------------------

    def _confirmed(self, candidates: list[bytes]) -> Finding | None:
        """Returns a cycle among the states that have been expanded, if there is one."""
        limit = self._explorer.levels.ends[-2]
        for level, state in sorted((self._level(state), state) for state in candidates):
            if self._strength is Acceptance.TERMINAL:
                return self._endless_run(level, state)
            path = self._shortest_cycle(state, limit)
            if path is not None:
                return self._lasso(path)
        return None

    def _endless_run(self, level: int, state: bytes) -> Finding:
        """Returns the run through an accepting state of a terminal automaton. Raises Restart, for a search that counts
        predecessors, where no cycle is near: there may be none, for assumptions can end runs."""
        explorer = self._explorer
        run = closest_cycle(explorer.search, state)
        if run is None:
            explorer.exchange.agree_to_go_on()
            raise Restart("no cycle is near an accepting state", explorer.options, explorer.watch.seconds())
        way, cycle = run
        return lasso((*way_to(explorer, state, level), *way[1:]), cycle)

    def _cycle_in_S(self) -> Finding:
        """Returns a cycle through the states of S that come first. What a state leads to that is on no cycle need not
        be looked at again: at the fixpoint every state of S lies behind some cycle, and the cycles behind which nothing
        lies remain."""
        levels = self._explorer.levels
        for begin, end in zip(levels.ends, levels.ends[1:], strict=False):
            while (state := self._least_accepting(begin, end)) is not None:
                path = self._shortest_cycle(state, levels.states, within_s=True, keeps_marks=True)
                if path is not None:
                    return self._lasso(path)
        raise InternalError("S does not shrink any more, and yet no cycle is found in it")

    def _shortest_cycle(self, state: bytes, limit: int, **marks: bool) -> list[bytes] | None:
        """Returns a shortest way from a state back to it. Raises Stopped when the search for one had to stop."""
        path = shortest_path(self._explorer, self.S, indexes_of(self.S, state), state, limit, **marks)
        if path is None:
            self._explorer.exchange.agree_to_go_on()
        return path

    def _lasso(self, path: list[bytes]) -> Finding:
        return closest_lasso(self._explorer, [(self._level(state), state) for state in path[:-1]])

    def _least_accepting(self, begin: int, end: int) -> bytes | None:
        """Returns the least accepting state of S in a level, among those of all ranks."""
        index = self.S.least_accepting(begin, end)
        own = None if index is None else bytes(self._explorer.search.read_block(index, index + 1))
        return min((each for each in self._explorer.exchange.gather(own) if each is not None), default=None)

    def _level(self, state: bytes) -> int:
        """Returns the level of a state, which its owner knows."""
        index = self.S.index(state)
        own = None if index is None else bisect_right(self._explorer.levels.ends[1:], index)
        level = self._explorer.exchange.level_of(own)
        assert level is not None
        return level

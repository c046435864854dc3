"""OWCTY, One Way Catch Them Young: is there a reachable cycle with an accepting state? Breadth-first and parallel.

I. Cerna and R. Pelanek, "Distributed explicit fair cycle detection" (2003), as J. Barnat, J. Havlicek and P. Rockai
give it in "Distributed LTL model checking with hash compaction" (2012), Algorithm 1 and section 2.3. The set S
approximates the states that lie on or behind an accepting cycle. REACHABILITY reduces S to the states that its
accepting states lead to, and counts predecessors. ELIMINATION removes the states without predecessors, one after the
other. When S no longer shrinks, it is empty or contains a cycle.

Two checks look for cycles while states are still being found. They find accepting states that are their own successor,
or their own greatest accepting predecessor (one pass of the algorithm MAP). A cycle is confirmed before it counts.

The work depends on the automaton. No cycle of a weak automaton mixes accepting and other states. S then has accepting
states only, their predecessors are counted while the states are found, and one ELIMINATION decides. In a terminal
automaton, every continuation of an accepting state is accepted: an accepting state and a cycle behind it suffice.

Exact. S, the counts and the lasso do not depend on the number of workers. Costs the memory of ``ram``, plus 4 bytes a
state (8 for a weak automaton), and the time of two or three such searches. With ``--compress tree``, and when memory is
used up, states are folded into trees and take 13 to 17 bytes. Out of memory then: *unknown*.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from functools import partial

import numpy as np

from outcrop.errors import InternalError
from outcrop.explorer.arena import Arena
from outcrop.explorer.closest_cycle import closest_cycle
from outcrop.explorer.compressing import reported
from outcrop.explorer.context import DEFAULT_CONTEXT, Context
from outcrop.explorer.explorer import Explorer
from outcrop.explorer.folded_cycles import cycle_kernels, refuse_folding, search_folding
from outcrop.explorer.lasso import closest_lasso, indexes_of, lasso, shortest_path, way_to
from outcrop.kernels import Found, Native
from outcrop.kernels.cycles import Acceptance, Cycles, Phase
from outcrop.options import CheckOptions
from outcrop.outcome import Finding, Outcome, Restart, Stop
from outcrop.strategies import OwctyOptions

#: Largest number of candidates of a level that are checked for cycles; each worker keeps as many.
_MOST_CANDIDATES = 16


class NoCycleNear(Restart):
    """Raised if an accepting state of a terminal automaton has no cycle nearby; the next search counts predecessors."""


def search(native: Native, options: CheckOptions, context: Context = DEFAULT_CONTEXT) -> Outcome:
    refuse_folding(options)
    if options.of(OwctyOptions).compact:
        from outcrop.search import owcty_compact  # needed for --compact only

        return owcty_compact.search(native, options, context)

    def run(context: Context, is_folded: bool) -> Outcome:
        try:
            return _search(native, options, context, Acceptance[native.strength.upper()], is_folded)
        except NoCycleNear as restart:
            return _search(native, options, replace(context, seconds=restart.seconds), Acceptance.WEAK, is_folded)

    return search_folding(native, options, context, run)


def _search(native: Native, options: CheckOptions, context: Context, strength: Acceptance, is_folded: bool) -> Outcome:
    with cycle_kernels(native, options, context, is_folded) as kernels:
        explorer = Explorer(kernels, options, context)
        return reported(explorer, explorer.run(Owcty(explorer, strength).OWCTY))


class Owcty:
    """The data of the algorithm. The kernels hold S and the counts of predecessors."""

    def __init__(self, explorer: Explorer, strength: Acceptance) -> None:
        self._explorer = explorer
        self._arena = Arena(explorer)
        self._strength = strength
        self.S = Cycles(explorer.search, strength)

    # --- Algorithm 1 -------------------------------------------------------------------------------------------

    def OWCTY(self) -> Stop:
        """Runs Algorithm 1. Returns Stop.VIOLATION if there is a cycle, which is then among the findings."""
        stop = self.INITIALIZE()
        if stop is Stop.COMPLETE and not self._explorer.findings.states and self._holds_a_cycle():
            self._explorer.findings.traced.append(self._cycle_in_S())
            return Stop.VIOLATION
        return stop

    def INITIALIZE(self) -> Stop:
        """Runs line 1: finds all states, and cycles on the fly."""
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
        """Runs lines 2 to 9. Unless the automaton is general, one iteration decides."""
        size, phase = self._explorer.totals.states, Phase.FIRST
        while True:
            old_size = size
            size = self._run(phase)  # Reset; S becomes the intersection of S and F
            if self._strength is Acceptance.GENERAL:
                size = self.REACHABILITY()
            if size:
                size = self.ELIMINATION()
            if size in (0, old_size) or self._strength is not Acceptance.GENERAL:
                return size > 0
            phase = Phase.RESET

    def REACHABILITY(self) -> int:
        """Reduces S to what its accepting states lead to, and counts predecessors. Returns the size of S."""
        return self._run_where_work_makes_work(Phase.REACH)

    def ELIMINATION(self) -> int:
        """Removes from S the states without a predecessor in S. Returns the size of S."""
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
        """Returns a cycle among the expanded states through one of the candidates, if there is one."""
        limit = self._explorer.levels.ends[-2]
        for level, state in sorted((self._level(state), state) for state in candidates):
            if self._strength is Acceptance.TERMINAL:
                return self._endless_run(level, state)
            path = self._shortest_cycle(state, limit)
            if path is not None:
                return self._lasso(path)
        return None

    def _endless_run(self, level: int, state: bytes) -> Finding:
        """Returns the lasso through an accepting state of a terminal automaton. Raises NoCycleNear if it
        finds none nearby. There may be none, because assumptions can end runs."""
        explorer = self._explorer
        run = closest_cycle(explorer.search, state)
        if run is None:
            explorer.exchange.agree_to_go_on()
            raise NoCycleNear("no cycle is near an accepting state", explorer.options, explorer.watch.seconds())
        way, cycle = run
        return lasso((*way_to(explorer, state, level), *way[1:]), cycle)

    def _cycle_in_S(self) -> Finding:
        """Returns a cycle through the first possible state of S. States that are on no cycle keep their marks and are
        not visited again. At the fixpoint every state of S lies behind a cycle, so the last cycles of S remain."""
        levels = self._explorer.levels
        for begin, end in zip(levels.ends, levels.ends[1:], strict=False):
            while (state := self._least_accepting(begin, end)) is not None:
                path = self._shortest_cycle(state, levels.states, within_s=True, keeps_marks=True)
                if path is not None:
                    return self._lasso(path)
        raise InternalError("S has stopped shrinking, but contains no cycle")

    def _shortest_cycle(self, state: bytes, limit: int, **marks: bool) -> list[bytes] | None:
        """Returns a shortest path from a state back to itself. Raises Stopped if the search for it had to stop."""
        path = shortest_path(self._explorer, self.S, indexes_of(self.S, state), state, limit, **marks)
        if path is None:
            self._explorer.exchange.agree_to_go_on()
        return path

    def _lasso(self, path: list[bytes]) -> Finding:
        return closest_lasso(self._explorer, [(self._level(state), state) for state in path[:-1]])

    def _least_accepting(self, begin: int, end: int) -> bytes | None:
        """Returns the least accepting state of S in a level, over all ranks."""
        index = self.S.least_accepting(begin, end)
        own = None if index is None else self.S.states(np.array([index], dtype=np.uint32)).tobytes()
        return min((each for each in self._explorer.exchange.gather(own) if each is not None), default=None)

    def _level(self, state: bytes) -> int:
        """Returns the level of a state. Its owner knows it and tells the other ranks."""
        index = self.S.index(state)
        own = None if index is None else bisect_right(self._explorer.levels.ends[1:], index)
        level = self._explorer.exchange.level_of(own)
        assert level is not None
        return level

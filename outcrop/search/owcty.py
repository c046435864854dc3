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

import time
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NoReturn

from outcrop.errors import InternalError, UsageError
from outcrop.kernels import Found, Native, Search, Settings
from outcrop.kernels_cycles import Acceptance, Cycles, Phase
from outcrop.options import CheckOptions
from outcrop.search.budget import state_budget, worker_count
from outcrop.search.closest import closest_cycle
from outcrop.search.driver import Exploration, ShowProgress, TakePut, most_found
from outcrop.search.lasso import lasso, one, shortest_path
from outcrop.search.outcome import Outcome, Stop
from outcrop.search.owcty_ranks import SharedCycles
from outcrop.search.paths import PathFinder

#: Of a level, that are looked at for cycles; as many as each worker keeps.
_MOST_CANDIDATES = 16


def search(
    native: Native, options: CheckOptions, progress: ShowProgress | None = None, put: TakePut | None = None
) -> Outcome:
    refuse(options)
    if options.compact:
        from outcrop.search import owcty_compact

        return owcty_compact.search(native, options, progress, put)
    strength = Acceptance[native.strength.upper()]
    begun = time.monotonic()
    try:
        return _search(native, options, progress, put, strength)
    except EndlessRunNotFound:
        spent = time.monotonic() - begun
        outcome = _search(native, options.after(spent), progress, put, Acceptance.WEAK)
        return replace(outcome, seconds=outcome.seconds + spent)


def refuse(options: CheckOptions) -> None:
    """What no search for cycles can do."""
    if options.checkpoint is not None or options.resume is not None:
        raise UsageError(f"the strategy {options.strategy} keeps no checkpoints")
    if (options.ranks or 1) > 1 and options.strategy == "ndfs":
        raise UsageError("the strategy ndfs goes depth first, in one process; owcty runs over several ranks")
    if options.depth is not None and options.strategy == "ndfs":
        raise UsageError("the strategy ndfs goes depth first, and knows of no state how deep it lies; owcty does")


def settings_of(options: CheckOptions) -> Settings:
    """Of a search that keeps states in full."""
    return Settings(
        workers=worker_count(options),
        budget=state_budget(options),
        most_states=options.states,
        most_found=most_found(options),
    )


def _search(
    native: Native,
    options: CheckOptions,
    progress: ShowProgress | None,
    put: TakePut | None,
    strength: Acceptance,
) -> Outcome:
    with native.search(settings_of(options)) as visited:
        return Owcty(visited, options, progress, put, strength).run()


class CycleFound(Exception):
    """The rest of the search is not needed."""


class EndlessRunNotFound(Exception):
    """From an accepting state of a terminal automaton no cycle is near. There may be none: assumptions can end runs."""


class CycleExploration(Exploration):
    """Finds all states, and then cycles among them."""

    def explore(self) -> Stop:
        try:
            stop = super().explore()  # INITIALIZE
            if stop is Stop.COMPLETE and not self.found:
                self.look_for_cycles()
        except CycleFound:
            return Stop.VIOLATION
        return stop

    def look_for_cycles(self) -> None:
        raise NotImplementedError

    def report(self, cycle: list[bytes], level_of: Callable[[bytes], int]) -> NoReturn:
        """Reports a cycle from where it is closest to a start state."""
        level, state = min((level_of(state), state) for state in cycle)
        at = cycle.index(state)
        self.traced.append(lasso(self.way_to(state, level), cycle[at:] + cycle[:at]))
        raise CycleFound

    def way_to(self, state: bytes, level: int) -> tuple[bytes, ...]:
        """A shortest way to a state of a level."""
        look = self.look() if self.sharing is None else self.sharing.look(self.look())
        return PathFinder(look).paths([(state, level)])[0]


class Owcty(CycleExploration):
    def __init__(
        self,
        search: Search,
        options: CheckOptions,
        progress: ShowProgress | None,
        put: TakePut | None,
        strength: Acceptance,
    ) -> None:
        super().__init__(search, options, progress, put)
        self.strength = strength
        self.cycles = Cycles(search, strength)
        self._shared = None if self.sharing is None else SharedCycles(self, self.sharing)

    def look_for_cycles(self) -> None:
        if self.holds_a_cycle():
            self._cycle_in_s()

    def holds_a_cycle(self) -> bool:
        """Algorithm 1, from its second line on."""
        size, phase = self.totals.states, Phase.FIRST
        while True:
            old_size = size
            size = self._all_workers(phase)  # Reset; S is S and F
            if self.strength is Acceptance.GENERAL:
                size = self._all_workers(Phase.REACH)
            if size:
                size = self._all_workers(Phase.ELIMINATE)
            if size in (0, old_size) or self.strength is not Acceptance.GENERAL:
                return size > 0
            phase = Phase.RESET

    def _all_workers(self, phase: Phase) -> int:
        """One phase. Gives the size of S after it."""
        self.cycles.begin(phase)
        sharing = self.sharing
        if sharing is not None and phase in (Phase.REACH, Phase.ELIMINATE):
            sharing.work_off(self.cycles.part, self.cycles.take_message, self.cycles.has_work)
            return sharing.sum(self.cycles.end())
        self.together(*(partial(self.cycles.work, worker) for worker in range(self.search.workers)))
        self._agree_to_go_on()
        size = self.cycles.end()
        return size if sharing is None else sharing.sum(size)

    def _agree_to_go_on(self) -> None:
        """Raises Stopped when the search must end: on all ranks, if there are several."""
        if self.sharing is None:
            self.check_stop()
        else:
            self.sharing.agree_to_go_on()

    # --- Cycles ------------------------------------------------------------------------------------------------

    def expand(self) -> None:
        super().expand()
        found = self.search.take_found(Found.CYCLE) if self._shared is None else self._shared.candidates()
        if found and not self.found:
            self._confirm(found[:_MOST_CANDIDATES])

    def _confirm(self, candidates: list[bytes]) -> None:
        """Cycles among the states that have been expanded, if there are any."""
        limit = self.levels.ends[-2]
        for level, state in sorted((self._level(state), state) for state in candidates):
            if self.strength is Acceptance.TERMINAL:
                self._endless_run(level, state)
            self._conclude(self._shortest_cycle(state, limit))

    def _endless_run(self, level: int, state: bytes) -> None:
        run = closest_cycle(self.search, state)
        if run is None:
            self._agree_to_go_on()
            raise EndlessRunNotFound
        way, cycle = run
        prefix = self.way_to(state, level)
        self.traced.append(lasso((*prefix, *way[1:]), cycle))
        raise CycleFound

    def _cycle_in_s(self) -> None:
        """Of those of S that come first. What a state leads to that is on no cycle need not be looked at again: at the
        fixpoint every state of S lies behind some cycle, and the cycles behind which nothing lies remain."""
        end = 0
        for size in self.levels:
            begin, end = end, end + size
            while (state := self._least_accepting(begin, end)) is not None:
                self._conclude(self._shortest_cycle(state, self.levels.states, within_s=True, keeps_marks=True))
        raise InternalError("S does not shrink any more, and yet no cycle is found in it")

    def _conclude(self, path: list[bytes] | None) -> None:
        """Reports a cycle, as a path that ends where it begins. None is also what a search for one gives that had to
        stop."""
        if path is None:
            self._agree_to_go_on()
            return
        self.report(path[:-1], self._level)

    # --- States, wherever they lie -----------------------------------------------------------------------------

    def _least_accepting(self, begin: int, end: int) -> bytes | None:
        if self._shared is not None:
            return self._shared.least_accepting(begin, end)
        index = self.cycles.least_accepting(begin, end)
        return None if index is None else self.cycles.states(one(index)).tobytes()

    def _shortest_cycle(
        self, state: bytes, limit: int, *, within_s: bool = False, keeps_marks: bool = False
    ) -> list[bytes] | None:
        if self._shared is not None:
            return self._shared.shortest_cycle(state, limit, within_s=within_s, keeps_marks=keeps_marks)
        index = self._index(state)
        return shortest_path(self.cycles, one(index), index, limit, within_s=within_s, keeps_marks=keeps_marks)

    def _index(self, state: bytes) -> int:
        index = self.cycles.index(state)
        assert index is not None
        return index

    def _level(self, state: bytes) -> int:
        if self._shared is not None:
            return self._shared.level(state)
        return bisect_right(self.levels.ends[1:], self._index(state))

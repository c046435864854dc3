"""OWCTY with hash compaction: the visited set holds signatures instead of states.

J. Barnat, J. Havlicek and P. Rockai, "Distributed LTL model checking with hash compaction" (2012), Algorithms 2 and 3.
Two states with the same signature count as one: the one that is met first. States can therefore be missed, and edges
can seem to lead to other states. Accepting states are kept in full, in a queue on disk (Qacc). Each iteration begins
with those that edges of the previous iteration led to. The iterations end when S no longer shrinks. The remaining S
need not contain a cycle. VERIFICATION therefore searches for a path from an accepting state back to itself, comparing
all of its bytes. A reported cycle is real. *Holds* means that no cycle was found among the visited states. It comes
with the omission bound and the expected coverage.

Some steps differ from the paper. Line 7 of Algorithm 2 passes ELIMINATION the accepting states to which REACHABILITY
has just found edges. None of those is without predecessors. Those without are the seeds of REACHABILITY, which line 5
has cleared from the queue. We pass the seeds, as Algorithm 1 does. Each iteration draws a new hash, so a false cycle
rarely outlives its iteration and need not be broken state by state. For a weak automaton, one elimination among
accepting states precedes the iterations, as without compaction. It mostly leaves nothing.

All queues are files. The queue of the first search is also the log from which the path to a cycle is rebuilt. Costs 5
to 9 bytes a state in RAM: the count of predecessors is in the slot of the signature.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import partial

import numpy as np

from outcrop.explorer.arena import Arena, disk_limit, nameless_file
from outcrop.explorer.block_phases import Blocks, rows_of
from outcrop.explorer.budget import cycle_settings
from outcrop.explorer.closest_cycle import closest_cycle
from outcrop.explorer.compacted import CompactedSet
from outcrop.explorer.context import DEFAULT_CONTEXT, Context
from outcrop.explorer.explorer import Explorer
from outcrop.explorer.find_path import find_level, path_by_search
from outcrop.explorer.lasso import lasso, way_to
from outcrop.explorer.paths import PathFinder, look_in_blocks
from outcrop.explorer.tuning import Tuning
from outcrop.explorer.visited import SignatureTable, expected_coverage
from outcrop.kernels import Found, Native, Settings, with_spare_bytes
from outcrop.kernels.cycles import NOTE_BITS, Acceptance, BlockPhase
from outcrop.options import CheckOptions
from outcrop.outcome import Event, EventKind, Finding, Outcome, Stop
from outcrop.store.workdir import WorkDirectory, work_place

#: Default size of a signature, in bits, as in the paper.
BITS = 32
#: Number of bits added to the signature when a second search looks for a state that the first one missed.
_MORE_BITS = 24


def search(native: Native, options: CheckOptions, context: Context = DEFAULT_CONTEXT) -> Outcome:
    with ExitStack() as resources:
        bits = options.bits or BITS
        settings = _settings(resources, options, context.tuning, bits, options.seed)
        explorer = Explorer(resources.enter_context(native.search(settings)), options, context)
        explorer.visited = SignatureTable(bits, "owcty", options.seed)
        directory = resources.enter_context(WorkDirectory(options.workdir, explorer.disk))
        outcome = explorer.run(CompactedOwcty(explorer, bits, directory).OWCTY)
        return replace(outcome, signature_coverage=expected_coverage(outcome.visited, bits))


def _settings(resources: ExitStack, options: CheckOptions, tuning: Tuning, bits: int, seed: int) -> Settings:
    place = work_place(options.workdir)
    file = resources.enter_context(nameless_file(place))
    room = disk_limit(options, place)
    return cycle_settings(options, tuning, bits=bits, seed=seed, file=file, disk_limit=room, note_bits=NOTE_BITS)


class CompactedOwcty:
    """The data of the algorithms. S and the counts of predecessors are with the signatures; Qacc is on disk."""

    def __init__(self, explorer: Explorer, bits: int, directory: WorkDirectory) -> None:
        self._explorer = explorer
        self._bits = bits
        self._strength = Acceptance[explorer.native.strength.upper()]
        self.S = CompactedSet(explorer, self._strength, directory)

    # --- Algorithm 2 -------------------------------------------------------------------------------------------

    def OWCTY(self) -> Stop:
        """Runs Algorithm 2. Returns Stop.VIOLATION if there is a cycle, which is then among the findings."""
        explorer, S = self._explorer, self.S
        stop = self.INITIALIZE()
        if stop is not Stop.COMPLETE or explorer.findings:
            return stop
        size, seeds = explorer.totals.states, S.all_states
        if self._strength is not Acceptance.GENERAL:
            S.run(BlockPhase.FIRST, seeds)
            size = S.size
            seeds = S.members(seeds) if size else seeds
        while size and not explorer.findings:
            old_size = size
            S.reset()
            self.REACHABILITY(seeds)
            self.ELIMINATION(seeds)
            size = S.size
            if size >= old_size:
                self.VERIFICATION()
                break
            seeds = S.members(partial(rows_of, S.Qacc))
            S.Qacc.clear()
        return Stop.VIOLATION if explorer.findings else stop

    def INITIALIZE(self) -> Stop:
        """Finds all states, and the accepting states that are their own successor."""
        explorer = self._explorer
        arena = explorer.frontier = Arena(explorer)
        explorer.begin()
        while (stop := explorer.next_stop()) is None:
            arena.expand()
            self._report_loops()
            explorer.level_is_complete()
        return stop

    # --- Algorithm 3 -------------------------------------------------------------------------------------------

    def REACHABILITY(self, seeds: Blocks) -> None:
        """Reduces S to what the seeds lead to, and counts predecessors."""
        self.S.run(BlockPhase.REACH, seeds)
        self._report_loops()

    def ELIMINATION(self, seeds: Blocks) -> None:
        """Removes from S the states without a predecessor in S."""
        self.S.run(BlockPhase.ELIMINATE, seeds)

    def VERIFICATION(self) -> None:
        """Searches for a path back from each accepting state that no earlier search has reached. All ranks take the
        same state: the least of those that they propose."""
        if self._explorer.findings:
            return
        self.S.reset()
        own = (block[number : number + 1] for block in rows_of(self.S.Qacc) for number in range(len(block)))
        state = next(own, None)
        while not self._explorer.findings:
            while state is not None and state in self.S:
                state = next(own, None)
            proposed = None if state is None else state.tobytes()
            proposals = [each for each in self._explorer.exchange.gather(proposed) if each is not None]
            if not proposals:
                return
            self._verify(min(proposals), min(proposals) == proposed)

    def _verify(self, state: bytes, is_own: bool) -> None:
        """Searches, level by level, for a path from a state back to itself."""
        target = with_spare_bytes(np.frombuffer(state, dtype=np.uint8).reshape(1, -1))
        S, exchange = self.S, self._explorer.exchange
        S.queue.clear()
        if is_own:
            S.begin_search(target)
        ends = [0, len(S.queue)]
        while exchange.any(ends[-1] > ends[-2]):
            if S.search_level(ends[-2], ends[-1], target):
                self._explorer.findings.traced.append(self._cycle(state, ends))
                return
            ends.append(len(S.queue))

    # --- Lassos ------------------------------------------------------------------------------------------------

    def _report_loops(self) -> None:
        """Reports an accepting state that is its own successor, or any accepting one if the automaton is terminal."""
        explorer = self._explorer
        for state in explorer.exchange.found_by_all(explorer.search.take_found(Found.CYCLE)):
            run = None if explorer.findings else closest_cycle(explorer.search, state)
            if run is not None:
                way, cycle = run
                explorer.findings.traced.append(lasso((*self._prefix(state), *way[1:]), cycle))

    def _cycle(self, state: bytes, ends: list[int]) -> Finding:
        """Returns the lasso of a state. The queue holds the levels of a search from the state back to itself."""
        explorer, queue = self._explorer, self.S.queue
        look = look_in_blocks(
            explorer.search, lambda level: queue.blocks(ends[level], ends[level + 1]), explorer.parallel
        )
        (cycle,) = PathFinder(explorer.exchange.look(look)).paths([(state, len(ends) - 1)])
        return lasso(self._prefix(state), list(cycle[:-1]))

    def _prefix(self, state: bytes) -> tuple[bytes, ...]:
        """Returns a path to a state. If the first search missed the state, a second one with other signatures finds
        the path."""
        explorer = self._explorer
        level = explorer.exchange.level_of(find_level(explorer.search, explorer.levels, state))
        if level is not None:
            return way_to(explorer, state, level)
        explorer.watch.tell(Event(EventKind.RETRACED, "owcty: searching again for a path to the cycle"))
        with ExitStack() as resources:
            bits, seed = min(64, self._bits + _MORE_BITS), explorer.options.seed + 1
            settings = _settings(resources, explorer.options, explorer.tuning, bits, seed)
            return path_by_search(resources.enter_context(explorer.native.search(settings)), state, explorer)

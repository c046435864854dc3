"""OWCTY with hash compaction: signatures instead of states.

J. Barnat, J. Havlicek and P. Rockai, "Distributed LTL model checking with hash compaction" (2012), Algorithms 2 and 3.
Two states with the same signature are taken for one, the one that is met first. So states can be missed, and edges can
seem to lead where they do not. Accepting states are therefore kept in full, in a queue on disk (Qacc); each iteration
begins with those that edges of the last one led to, and ends when S does not shrink. What is then left of S need not
hold a cycle: VERIFICATION looks for a way from an accepting state back to that very state, all of its bytes compared.
A cycle that is reported is therefore real. *Holds* means that none was found among the states visited, and comes with
the bound for missing a state and the part of the states that was probably visited.

Some steps are not as printed. Line 7 of Algorithm 2 hands ELIMINATION the accepting states that REACHABILITY has just
been led to by edges. But none of those is without predecessors, and those that are, the ones it began with, have been
cleared from the queue in line 5. We hand it the latter, as Algorithm 1 does. Each iteration draws another hash: a false
cycle then does not have to be broken where it begins, state by state, but hardly ever outlives its iteration. And for
a weak automaton, as without compaction, one elimination among accepting states precedes the iterations; mostly it
leaves nothing.

The first search has its queue, which is also the log of all states for the path to a cycle, in a file. So have all
others. Costs 5 to 9 bytes a state in RAM: the count of predecessors is in the slot of the signature.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import accumulate

from outcrop.kernels import Found, Native, Search, Settings, States, with_spare_bytes
from outcrop.kernels_cycles import NOTE_BITS, Acceptance, BlockPhase, CompactedCycles
from outcrop.kernels_route import Message
from outcrop.options import CheckOptions
from outcrop.search.budget import state_budget, worker_count
from outcrop.search.closest import closest_cycle
from outcrop.search.compact import disk_limit, nameless_file, omission_bound
from outcrop.search.driver import ShowProgress, TakePut, most_found
from outcrop.search.hunt import Hunt, find_level, read_arena
from outcrop.search.lasso import lasso
from outcrop.search.outcome import Outcome, Stop
from outcrop.search.owcty import CycleExploration, CycleFound
from outcrop.search.owcty_compact_ranks import SharedPhases
from outcrop.search.paths import Look, PathFinder, look_in_blocks
from outcrop.store.frontier import RowFile
from outcrop.store.workdir import DiskFull, WorkDirectory, work_place

#: Gives states, as often as it is asked.
Blocks = Callable[[], Iterator[States]]

#: Of a signature, as in the paper.
BITS = 32
#: States that a worker deals with at a time, and of those that follow, how few it deals with at once; and, where states
#: are large, what these may take: as many successors as they have may be on their way.
_BLOCK_STATES = 4096
_FEW_STATES = 16384
_MOST_BYTES = 1 << 18
#: Bits more, to find a path to a state that the first search has missed.
_MORE_BITS = 24


def search(
    native: Native, options: CheckOptions, progress: ShowProgress | None = None, put: TakePut | None = None
) -> Outcome:
    with ExitStack() as resources:
        bits = options.bits or BITS
        visited = resources.enter_context(native.search(_settings(resources, options, bits, options.seed)))
        directory = resources.enter_context(WorkDirectory(options.workdir))
        return CompactedOwcty(visited, options, progress, put, bits, directory).run()


def _settings(resources: ExitStack, options: CheckOptions, bits: int, seed: int) -> Settings:
    place = work_place(options.workdir)
    return Settings(
        workers=worker_count(options),
        bits=bits,
        seed=seed,
        budget=state_budget(options),
        most_states=options.states,
        most_found=most_found(options),
        file=resources.enter_context(nameless_file(place)),
        disk_limit=disk_limit(options, place),
        note_bits=NOTE_BITS,
    )


def _rows(file: RowFile) -> Iterator[States]:
    return file.blocks(0, len(file))


class CompactedOwcty(CycleExploration):
    def __init__(
        self,
        search: Search,
        options: CheckOptions,
        progress: ShowProgress | None,
        put: TakePut | None,
        bits: int,
        directory: WorkDirectory,
    ) -> None:
        super().__init__(search, options, progress, put)
        self.bits = bits
        self.owner_bits = bits
        self._shared = None if self.sharing is None else SharedPhases(self, self.sharing)
        self.strength = Acceptance[self.native.strength.upper()]
        self.cycles = CompactedCycles(search, self.strength)
        self._resets = 0
        directory.budget = self.disk
        fitting = max(1, _MOST_BYTES // self.native.state_bytes)
        self._few = min(_FEW_STATES, fitting)
        names = ("seeds", "accepting", "queue")
        #: Accepting states that a phase begins with; Qacc, those that edges have led to; and states to be expanded.
        self.seeds, self.accepting, self.queue = (
            RowFile(directory, name, self.native.state_bytes, min(_BLOCK_STATES, fitting)) for name in names
        )

    # --- Algorithm 2 -------------------------------------------------------------------------------------------

    def look_for_cycles(self) -> None:
        size, seeds = self.totals.states, self._log
        if self.strength is not Acceptance.GENERAL:
            self._work_off(BlockPhase.FIRST, seeds)
            size = self._size
            if size:
                seeds = self._in_s(seeds)
        while size:
            old_size = size
            self._reset()
            self.reachability(seeds)
            self.elimination(seeds)
            size = self._size
            if size >= old_size:
                self.verification()
                return
            seeds = self._in_s(partial(_rows, self.accepting))
            self.accepting.clear()

    @property
    def _size(self) -> int:
        """Of S."""
        return self.cycles.size if self.sharing is None else self.sharing.sum(self.cycles.size)

    # --- Algorithm 3 -------------------------------------------------------------------------------------------

    def reachability(self, seeds: Blocks) -> None:
        self._work_off(BlockPhase.REACH, seeds)
        self._report_loops()

    def elimination(self, seeds: Blocks) -> None:
        self._work_off(BlockPhase.ELIMINATE, seeds)

    def verification(self) -> None:
        """From each accepting state that none before it has led to: is there a way back to it?"""
        self._reset()
        own = (block[number : number + 1] for block in _rows(self.accepting) for number in range(len(block)))
        if self._shared is not None:
            for state, is_own in self._shared.candidates(own):
                self._verify(state, is_own)
            return
        for state in own:
            if not len(self.cycles.in_s(state)):
                self._verify(state)

    def _verify(self, state: States, is_own: bool = True) -> None:
        self.queue.clear()
        if is_own:
            self.cycles.block(0, BlockPhase.VERIFY, state, begins=True)
            self.queue.append(state)
        target = with_spare_bytes(state)
        ends = [0, len(self.queue)]
        while self._any(ends[-1] > ends[-2]):
            is_found = self._any(self._spread(ends[-2], ends[-1], target))
            if is_found:
                self._report_cycle(state.tobytes(), ends)
            ends.append(len(self.queue))

    def _any(self, is_so: bool) -> bool:
        """On some rank."""
        return is_so if self.sharing is None else self.sharing.any(is_so)

    def _spread(self, begin: int, end: int, target: States) -> bool:
        """One level of a search for ``target``; whether it was found."""
        found: list[bool] = []

        def deal(worker: int, states: States) -> States:
            follow, _, is_found = self.cycles.block(worker, BlockPhase.VERIFY, states, target=target)
            found.append(is_found)
            return follow

        def take(worker: int, message: Message) -> States:
            follow, _, is_found = self.cycles.message(worker, BlockPhase.VERIFY, message, target)
            found.append(is_found)
            return follow

        if self._shared is not None:
            self._shared.spread(self.queue.blocks(begin, end), deal, take)
        else:
            self._share(self.queue.blocks(begin, end), deal)
        return any(found)

    # --- Phases ------------------------------------------------------------------------------------------------

    def _work_off(self, phase: BlockPhase, seeds: Blocks) -> None:
        """What a phase does to the seeds, and to all that follow."""
        lock = threading.Lock()

        def enqueued(states: States) -> None:
            if len(states):
                with lock:
                    self.accepting.append(states)

        def deal(worker: int, states: States, begins: bool = False) -> States:
            # With FIRST, a state that has left S looks like one that nothing ever led to: first all of these are found.
            # And with several ranks those that follow must first be sent.
            few = 0 if (begins and phase is BlockPhase.FIRST) or self.sharing is not None else self._few
            follow, enqueue, _ = self.cycles.block(worker, phase, states, begins=begins, few=few)
            enqueued(enqueue)
            return follow

        def take(worker: int, message: Message) -> States:
            follow, enqueue, _ = self.cycles.message(worker, phase, message)
            enqueued(enqueue)
            return follow

        self._share(seeds(), partial(deal, begins=True))
        if self._shared is not None:
            self._shared.work_off(deal, take)
            self.queue.clear()
            return
        done = 0
        while done < len(self.queue):
            begin, done = done, len(self.queue)
            self._share(self.queue.blocks(begin, done), deal)
        self.queue.clear()

    def _share(
        self, blocks: Iterator[States], deal: Callable[[int, States], States], into: RowFile | None = None
    ) -> None:
        """Has the workers deal with blocks, and queues the states that follow."""
        lock = threading.Lock()
        queue = self.queue if into is None else into

        def work(worker: int) -> None:
            while self.asked is None:
                with lock:
                    states = next(blocks, None)
                if states is None:
                    return
                follow = deal(worker, states)
                with lock:
                    queue.append(follow)

        try:
            self.together(*(partial(work, worker) for worker in range(self.search.workers)))
        except DiskFull as full:
            self.disk_is_full(full)
        if self.sharing is not None:
            self.sharing.agree_to_go_on()
        self.check_stop()

    def disk_is_full(self, full: DiskFull) -> None:
        """The search stops, on all ranks, when all have come to the same point."""
        self.tell(f"disk: {full}")
        self._ask_to_stop(Stop.DISK)

    def _reset(self) -> None:
        """Forgets S. What comes has other signatures, so that it meets other states that are taken for one another."""
        self._resets += 1
        seed = self.options.seed + (self._resets << 32)
        self.together(*(partial(self.cycles.reset, worker, seed) for worker in range(self.search.workers)))

    def _log(self) -> Iterator[States]:
        """All states that the first search met. Phases begin with the accepting ones only."""
        return read_arena(self.search, 0, self.levels.states)

    def _in_s(self, blocks: Blocks) -> Blocks:
        self.seeds.clear()
        self._share(blocks(), lambda worker, states: self.cycles.in_s(states), self.seeds)
        return partial(_rows, self.seeds)

    # --- Lassos ------------------------------------------------------------------------------------------------

    def expand(self) -> None:
        super().expand()
        if not self.found:
            self._report_loops()

    def _report_loops(self) -> None:
        """Accepting states that are their own successors; or any, if the automaton is terminal."""
        found = self.search.take_found(Found.CYCLE)
        for state in found if self.sharing is None else self.sharing.found_by_all(found):
            run = closest_cycle(self.search, state)
            if run is not None:
                way, cycle = run
                self.traced.append(lasso((*self._prefix(state), *way[1:]), cycle))
                raise CycleFound

    def _report_cycle(self, state: bytes, ends: list[int]) -> None:
        """The queue has the levels of a search from ``state`` that came back to it."""

        def read_level(level: int) -> Iterator[States]:
            return self.queue.blocks(ends[level], ends[level + 1])

        look = self._everywhere(look_in_blocks(self.search, read_level, self.together))
        (cycle,) = PathFinder(look).paths([(state, len(ends) - 1)])
        self.traced.append(lasso(self._prefix(state), list(cycle[:-1])))
        raise CycleFound

    def _prefix(self, state: bytes) -> tuple[bytes, ...]:
        level = find_level(self.search, self.levels, state)
        if self.sharing is not None:
            level = self.sharing.level_of(level)
        if level is not None:
            return PathFinder(self._everywhere(self.look())).paths([(state, level)])[0]
        return self._prefix_by_more_bits(state)

    def _everywhere(self, look: Look) -> Look:
        return look if self.sharing is None else self.sharing.look(look)

    def _prefix_by_more_bits(self, state: bytes) -> tuple[bytes, ...]:
        """A later phase has come upon a state that the first one missed: another search, with other signatures."""
        self.tell("owcty: searching again, for a path to the cycle found")
        with ExitStack() as resources:
            settings = _settings(resources, self.options, min(64, self.bits + _MORE_BITS), self.options.seed + 1)
            return Hunt(resources.enter_context(self.native.search(settings)), self).path(state)

    # --- What is said of it ------------------------------------------------------------------------------------

    def omission_bound(self, levels: list[int]) -> float:
        return omission_bound(accumulate(levels), self.bits)

    @property
    def signature_coverage(self) -> float | None:
        return expected_coverage(self.totals.states, self.bits)


def expected_coverage(signatures: int, bits: int) -> float:
    """The part of the states that was visited if so many different signatures were met: states fall on signatures as
    balls do on bins. Those that only a missed state leads to come on top of what is missed.

    >>> f"{expected_coverage(6_000_000, 32):.4%}"
    '99.9301%'
    """
    share = signatures / 2.0**bits
    return 1.0 if share == 0 else 0.0 if share >= 1 else share / -math.log1p(-share)

"""The set S of OWCTY with hash compaction: signatures with counts of predecessors, and phases over states on disk."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial

from outcrop.explorer.block_phases import BlockPhases, Blocks, rows_of
from outcrop.explorer.explorer import Explorer
from outcrop.explorer.find_path import read_arena
from outcrop.kernels import States
from outcrop.kernels.cycles import Acceptance, BlockPhase, CompactedCycles
from outcrop.kernels.route import Message
from outcrop.store.workdir import WorkDirectory


class CompactedSet:
    """The set S, and Qacc: the accepting states that transitions have led to. Create it before the start states."""

    def __init__(self, explorer: Explorer, strength: Acceptance, directory: WorkDirectory) -> None:
        self._explorer = explorer
        self._cycles = CompactedCycles(explorer.search, strength)
        self._phases = BlockPhases(explorer, directory)
        self._seeds = self._phases.open_file("seeds")  #: accepting states that a phase begins with
        self.Qacc = self._phases.open_file("accepting")
        self.queue = self._phases.queue
        self._resets = 0

    @property
    def size(self) -> int:
        """Number of states in S, over all ranks."""
        return self._explorer.exchange.sum(self._cycles.size)

    def reset(self) -> None:
        """Empties S and draws a new hash, so that other states share a signature."""
        explorer = self._explorer
        self._resets += 1
        seed = explorer.options.seed + (self._resets << 32)
        explorer.parallel(*(partial(self._cycles.reset, worker, seed) for worker in range(explorer.search.workers)))

    def all_states(self) -> Iterator[States]:
        """Yields all states that the first search met. Phases start with the accepting ones."""
        return read_arena(self._explorer.search, 0, self._explorer.levels.states)

    def members(self, blocks: Blocks) -> Blocks:
        """Returns the states that are accepting and in S."""
        self._seeds.clear()
        self._phases.share(blocks(), lambda worker, states: self._cycles.in_s(states), self._seeds)
        return partial(rows_of, self._seeds)

    def __contains__(self, state: States) -> bool:
        return len(self._cycles.in_s(state)) > 0

    def run(self, phase: BlockPhase, seeds: Blocks) -> None:
        """Runs a phase on the seeds, and on all states that follow."""
        lock = threading.Lock()

        def enqueued(following: States, accepting: States) -> States:
            if len(accepting):
                with lock:
                    self.Qacc.append(accepting)
            return following

        def work(worker: int, states: States, *, begins: bool, few: int) -> States:
            return enqueued(*self._cycles.block(worker, phase, states, begins=begins, few=few)[:2])

        def take(worker: int, message: Message) -> States:
            return enqueued(*self._cycles.message(worker, phase, message)[:2])

        # In FIRST, a state that has left S looks like one without predecessors. All of the latter are found first.
        few = self._phases.few
        begin = partial(work, begins=True, few=0 if phase is BlockPhase.FIRST else few)
        self._phases.run(seeds, begin, partial(work, begins=False, few=few), take)

    def begin_search(self, state: States) -> None:
        """Starts a search for a path from a state back to itself."""
        self._cycles.block(0, BlockPhase.VERIFY, state, begins=True)
        self.queue.append(state)

    def search_level(self, begin: int, end: int, target: States) -> bool:
        """Expands a range of the queue, and queues the states that follow. Returns whether ``target`` is among them."""
        found: list[bool] = []

        def follow(worker: int, states: States) -> States:
            following, _, is_found = self._cycles.block(worker, BlockPhase.VERIFY, states, target=target)
            found.append(is_found)
            return following

        def take(worker: int, message: Message) -> States:
            following, _, is_found = self._cycles.message(worker, BlockPhase.VERIFY, message, target)
            found.append(is_found)
            return following

        self._phases.spread(begin, end, follow, take)
        return self._explorer.exchange.any(any(found))

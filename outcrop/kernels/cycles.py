"""The kernels that search for accepting cycles, as Python objects.

Only models compiled with an automaton have them.
"""

from __future__ import annotations

import ctypes
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from outcrop.kernels import SPARE_BYTES, Search, States, with_spare_bytes
from outcrop.kernels.route import Message

Indexes = NDArray[np.uint32]  #: indexes of states in the arena

#: Number of bits that OWCTY keeps with each signature.
NOTE_BITS = 8

#: Number of batches that a worker expands before it handles arrived messages.
_BATCHES_A_PART = 32

_NONE = 2**64 - 1

_FUNCTIONS = (
    "outcrop_cycles_open",
    "outcrop_cycles_begin",
    "outcrop_cycles_work",
    "outcrop_cycles_end",
    "outcrop_find_state",
    "outcrop_read_states",
    "outcrop_step",
    "outcrop_take_step",
    "outcrop_pass",
    "outcrop_keep_accepting",
    "outcrop_successors",
    "outcrop_least_accepting",
)
#: Functions for searches over several ranks.
_SHARED = (
    "outcrop_cycles_part",
    "outcrop_cycles_message",
    "outcrop_cycles_has_work",
    "outcrop_step_to",
)
_COMPACTED = (
    "outcrop_compacted_open",
    "outcrop_compacted_size",
    "outcrop_compacted_reset",
    "outcrop_compacted_block",
    "outcrop_compacted_message",
    "outcrop_compacted_take",
    "outcrop_compacted_keep",
)
_DEPTH_FIRST = (
    "outcrop_dfs_open",
    "outcrop_dfs_close",
    "outcrop_dfs",
    "outcrop_dfs_path",
)


class Acceptance(IntEnum):
    """The strength of the automaton; see outcrop.ltl.graph.Strength."""

    GENERAL = 0
    WEAK = 1
    TERMINAL = 2


class Phase(IntEnum):
    """A phase of OWCTY, which all workers run over all states found."""

    FIRST = 0  #: S becomes the set of accepting states, before the first iteration
    RESET = 1  #: S becomes its accepting states, before the next iteration
    REACH = 2
    ELIMINATE = 3


class BlockPhase(IntEnum):
    """A phase of OWCTY with hash compaction, which works block by block."""

    REACH = 0
    ELIMINATE = 1
    VERIFY = 2
    FIRST = 3  #: as ELIMINATE, after predecessors were counted while the states were found


class DfsEnd(IntEnum):
    """The reason why a nested depth-first search ended."""

    COMPLETE = 0
    CYCLE = 1
    FOUND = 2  #: a finding other than a cycle
    STOPPED = 3
    STATES = 4  #: the bound on the number of states is reached


def accepting_states(search: Search, states: States) -> States:
    """Returns the accepting ones of some states."""
    rows = _copy(states)
    library = search.native.library_with(_FUNCTIONS)
    return rows[: library.outcrop_keep_accepting(rows.ctypes.data, len(rows))]


def successors(search: Search, states: States) -> States:
    """Returns all successors of some states, without counting anything. All are as the model packs them."""
    rows = with_spare_bytes(search.folded(states))
    library = search.native.library_with(_FUNCTIONS)
    count = library.outcrop_successors(search.handle, rows.ctypes.data, len(rows))
    if count == _NONE:
        raise MemoryError("no memory for the successors of a state")
    return search.packed_form(search.take_successors(0, count)[0])


def _room(count: int, width: int) -> States:
    return np.empty(count * width + SPARE_BYTES, dtype=np.uint8)[: count * width].reshape(count, width)


def _copy(states: States) -> States:
    rows = _room(*states.shape)
    rows[:] = states
    return rows


class Places:
    """The indexes of the states in the arena of an exact search."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self._library = search.native.library_with(_FUNCTIONS)

    def index(self, state: bytes) -> int | None:
        """Returns the index of a state, as the model packs it, in the arena; None if it is not there."""
        row = with_spare_bytes(np.frombuffer(state, dtype=np.uint8).reshape(1, -1))
        index = self._library.outcrop_find_state(self.search.handle, row.ctypes.data)
        return None if index == _NONE else int(index)

    def states(self, indexes: Indexes) -> States:
        """Returns the states at some indexes, as the model packs them."""
        states = self.search.native.packed_states(len(indexes))
        self._library.outcrop_read_states(self.search.handle, indexes.ctypes.data, len(indexes), states.ctypes.data)
        return states


class Paths(Places):
    """Paths through the states of an exact search."""

    def __init__(self, search: Search, strength: Acceptance = Acceptance.GENERAL) -> None:
        super().__init__(search)
        if not self._library.outcrop_cycles_open(search.handle, strength):
            raise MemoryError("no memory for a search for cycles")

    @property
    def _shared(self) -> ctypes.CDLL:
        return self.search.native.library_with(_SHARED)

    def step(self, indexes: Indexes, limit: int, within_s: bool, target: int) -> tuple[Indexes, bool]:
        """Returns the successors of some states that are below ``limit`` (and in S) and were not reached before; and
        whether ``target`` is a successor."""
        hit = ctypes.c_uint64()
        count = self._library.outcrop_step(
            self.search.handle, indexes.ctypes.data, len(indexes), limit, within_s, target, ctypes.byref(hit)
        )
        return self._reached(count), bool(hit.value)

    def step_to(self, message: Message, limit: int, within_s: bool, target: int) -> tuple[Indexes, bool]:
        """Takes successors that other ranks have sent. Returns what ``step`` would return for them."""
        hit = ctypes.c_uint64()
        count = self._shared.outcrop_step_to(
            self.search.handle, message.ctypes.data, limit, within_s, target, ctypes.byref(hit)
        )
        return self._reached(count), bool(hit.value)

    def _reached(self, count: int) -> Indexes:
        if count == _NONE:
            raise MemoryError("no memory for a search for a path")
        reached = np.empty(count, dtype=np.uint32)
        self._library.outcrop_take_step(self.search.handle, reached.ctypes.data)
        return reached

    def mark_passed(self, indexes: Indexes, passed: bool) -> None:
        """Marks states as reached, so that steps avoid them; or removes the marks."""
        self._library.outcrop_pass(self.search.handle, indexes.ctypes.data, len(indexes), passed)


class Cycles(Paths):
    """OWCTY on full states. Create it before the start states."""

    def begin(self, phase: Phase) -> None:
        """Starts a phase. No worker may be running; all of them must call ``work`` afterwards."""
        self._library.outcrop_cycles_begin(self.search.handle, phase)

    def work(self, worker: int) -> None:
        self._library.outcrop_cycles_work(self.search.handle, worker)

    def part(self, worker: int) -> bool:
        """Runs a part of a phase in a worker. Returns whether there may be more work for now."""
        return bool(self._shared.outcrop_cycles_part(self.search.handle, worker, _BATCHES_A_PART))

    def take_message(self, worker: int, message: Message) -> None:
        """Runs the phase on states that other ranks have sent."""
        self._shared.outcrop_cycles_message(self.search.handle, worker, message.ctypes.data)

    def has_work(self) -> bool:
        return bool(self._shared.outcrop_cycles_has_work(self.search.handle))

    def end(self) -> int:
        """Ends a phase. Returns the size of S."""
        return int(self._library.outcrop_cycles_end(self.search.handle))

    def least_accepting(self, begin: int, end: int) -> int | None:
        """Returns the least accepting state of S in a range of the arena that was not reached by a step."""
        index = self._library.outcrop_least_accepting(self.search.handle, begin, end)
        return None if index == _NONE else int(index)


class CompactedCycles:
    """OWCTY on signatures. Create it before the start states."""

    def __init__(self, search: Search, strength: Acceptance) -> None:
        self.search = search
        self._library = search.native.library_with(_COMPACTED)
        if not self._library.outcrop_compacted_open(search.handle, strength):
            raise MemoryError("no memory for a search for cycles")

    @property
    def size(self) -> int:
        """Number of states in S."""
        return int(self._library.outcrop_compacted_size(self.search.handle))

    def reset(self, worker: int, seed: int) -> None:
        """Empties S, clears the counts of predecessors, and draws a new hash. All workers must take part."""
        self._library.outcrop_compacted_reset(self.search.handle, worker, seed % 2**64)

    def block(
        self,
        worker: int,
        phase: BlockPhase,
        states: States,
        *,
        begins: bool = False,
        few: int = 0,
        target: States | None = None,
    ) -> tuple[States, States, bool]:
        """Runs a phase on some states: on its seeds if ``begins``, otherwise on states that follow.

        Returns the states that follow these, accepting states to be enqueued, and whether ``target`` was met. While
        fewer than ``few`` states follow, they are handled at once."""
        accepting, found = ctypes.c_uint64(), ctypes.c_uint64()
        rows = with_spare_bytes(states)
        count = self._library.outcrop_compacted_block(
            self.search.handle,
            worker,
            phase,
            begins,
            rows.ctypes.data,
            len(rows),
            few,
            None if target is None else target.ctypes.data,
            ctypes.byref(accepting),
            ctypes.byref(found),
        )
        return (*self._taken(worker, count, accepting.value), bool(found.value))

    def message(
        self, worker: int, phase: BlockPhase, message: Message, target: States | None = None
    ) -> tuple[States, States, bool]:
        """Runs a phase on successors that other ranks have sent. Returns what ``block`` would return."""
        accepting, found = ctypes.c_uint64(), ctypes.c_uint64()
        count = self._library.outcrop_compacted_message(
            self.search.handle,
            worker,
            phase,
            message.ctypes.data,
            None if target is None else target.ctypes.data,
            ctypes.byref(accepting),
            ctypes.byref(found),
        )
        return (*self._taken(worker, count, accepting.value), bool(found.value))

    def _taken(self, worker: int, count: int, accepting: int) -> tuple[States, States]:
        width = self.search.native.state_bytes
        follow, enqueue = _room(count, width), _room(accepting, width)
        self._library.outcrop_compacted_take(self.search.handle, worker, follow.ctypes.data, enqueue.ctypes.data)
        return follow, enqueue

    def in_s(self, states: States) -> States:
        """Returns the accepting states that are in S."""
        rows = _copy(states)
        return rows[: self._library.outcrop_compacted_keep(self.search.handle, rows.ctypes.data, len(rows))]


class DepthFirst:
    """A nested depth-first search from the states of the first level. Close it."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._library = search.native.library_with(_DEPTH_FIRST)
        self._handle = self._library.outcrop_dfs_open(search.handle)
        if self._handle is None:
            raise MemoryError("no memory for a depth-first search")

    def close(self) -> None:
        if self._handle is not None and not self._search.is_abandoned:
            self._library.outcrop_dfs_close(self._handle)
            self._handle = None

    def run(self) -> DfsEnd:
        return DfsEnd(self._library.outcrop_dfs(self._search.handle, self._handle))

    def path(self) -> tuple[Indexes, int]:
        """Returns the path to the state where the search is, and the position in it at which the cycle starts."""
        loop_start = ctypes.c_uint64()
        length = self._library.outcrop_dfs_path(self._handle, None, ctypes.byref(loop_start))
        indexes = np.empty(length, dtype=np.uint32)
        self._library.outcrop_dfs_path(self._handle, indexes.ctypes.data, ctypes.byref(loop_start))
        return indexes, loop_start.value

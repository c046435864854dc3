"""One exploration inside a compiled model: arena, visited set, workers.

Calls release the GIL, so workers are plain Python threads, each with a number of its own.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from outcrop.errors import InternalError
from outcrop.kernels.abi import callback, structure
from outcrop.kernels.native import Native
from outcrop.kernels.states import SPARE_BYTES, Counts, Marks, States, with_spare_bytes

_FUNCTIONS = (
    "outcrop_open",
    "outcrop_close",
    "outcrop_stop",
    "outcrop_standing",
    "outcrop_start",
    "outcrop_finish_level",
    "outcrop_expand_levels",
    "outcrop_count",
    "outcrop_coverage",
    "outcrop_take_found",
    "outcrop_take_put",
    "outcrop_drain_put",
    "outcrop_read_block",
    "outcrop_empty_arena",
    "outcrop_insert_block",
    "outcrop_expand_block",
    "outcrop_take_successors",
    "outcrop_check_block",
    "outcrop_find_predecessors",
    "outcrop_find_predecessors_among",
)

#: Lines of 64 bytes that the exact table starts with, in all 256 KB.
FIRST_LINES = 4096


class StopReason(IntEnum):
    NONE = 0
    REQUESTED = 1
    MEMORY = 2
    DISK = 3
    DAMAGED = 4  #: the arena is a file, and not what was written
    COLLISIONS = 6  #: a cache forgets too much, and other processes must not wait for this one
    NARROW = 5  #: some states cannot be squeezed any more; see outcrop.kernels.squeeze


class DeadlockRule(IntEnum):
    OFF = 0
    STUTTERING = 1
    STUCK = 2


class Found(IntEnum):
    """Kinds of findings that kernels make."""

    DEADLOCK = 0
    STATE = 1
    RULE = 2
    CYCLE = 3  #: an accepting state that probably lies on a cycle; for outcrop.kernels.cycles


@dataclass(frozen=True)
class Standing:
    """Where a search stands. Taken while workers are at work, it is approximate."""

    states: int  #: visited
    expanded: int  #: of them, those expanded or being expanded
    levels: int  #: found, the current one included
    level_begin: int  #: the current level, as a range of the arena
    level_end: int
    memory: int  #: bytes of arena and visited set
    disk: int  #: bytes
    positions: int  #: how many marks mark_* needs
    stop: StopReason
    has_started: bool  #: all start states are created
    unexpanded: int  #: the first state of the level before that was not expanded, because the search had to stop
    generated: int  #: successors, known ones included


@dataclass(frozen=True)
class Settings:
    """How a search is set up. ``bits`` None keeps states; otherwise signatures of so many bits."""

    workers: int = 1
    bits: int | None = None
    seed: int = 0
    deadlock: DeadlockRule = DeadlockRule.OFF
    budget: int = 1 << 30  #: bytes for arena and visited set
    most_states: int | None = None  #: expand_levels stops when there are so many
    most_found: int = 1  #: findings of each kind that are kept for a level
    file: int | None = None  #: descriptor of an empty file that is to be the arena; None keeps it in RAM
    disk_limit: int = 0  #: bytes of that file
    first_lines: int = FIRST_LINES
    wide: bool = False  #: start with 64-bit slots in the exact table
    spills: bool = False  #: goes on past RAM, with outcrop.kernels.spill
    note_bits: int = 0  #: kept with each signature, for outcrop.kernels.cycles
    weak_hash: bool = False  #: for tests of spilling: hashes the first eight bytes of a state only


class Search:
    """One exploration. Close it, or use it in a ``with``: it holds memory that Python does not see."""

    #: Its memory is left to the end of the process, because workers that cannot be waited for still use it.
    is_abandoned = False

    def __init__(self, native: Native, settings: Settings) -> None:
        self.native = native
        self.settings = settings
        self.budget = settings.budget
        self.workers = settings.workers
        self._library = native.library_with(_FUNCTIONS)
        self._handle: int | None = None
        given = structure("Settings")(
            workers=settings.workers,
            exact=settings.bits is None,
            bits=settings.bits or 0,
            seed=settings.seed % 2**64,
            deadlock=settings.deadlock,
            budget=settings.budget,
            disk_limit=settings.disk_limit,
            most_states=2**64 - 1 if settings.most_states is None else settings.most_states,
            most_found=settings.most_found,
            file=-1 if settings.file is None else settings.file,
            first_lines=settings.first_lines,
            wide=settings.wide,
            spills=settings.spills * (1 + settings.weak_hash),
            note_bits=settings.note_bits,
        )
        self._handle = self._library.outcrop_open(ctypes.byref(given))
        if self._handle is None:
            raise MemoryError("no memory to start a search in")

    def __enter__(self) -> Search:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        if self._handle is not None and not self.is_abandoned:
            self._library.outcrop_close(self._handle)
            self._handle = None

    @property
    def handle(self) -> int:
        """For other parts of the kernels."""
        if self._handle is None:
            raise InternalError("a search is used after it was closed")
        return self._handle

    # --- Levels ------------------------------------------------------------------------------------------------

    def start(self) -> int:
        """Creates the start states; finish_level makes them the current level. Gives how many instances failed."""
        return int(self._library.outcrop_start(self._handle))

    def finish_level(self) -> int:
        """Makes the new states the current level and gives its size. No worker may be at work."""
        return int(self._library.outcrop_finish_level(self._handle))

    def expand_levels(self, worker: int, sizes: Counts, generated: Counts, largest: int) -> int:
        """Takes part in expanding and finishing up to ``len(sizes)`` levels, until one is empty or larger than
        ``largest``, something is found, or the search must stop. All workers must call it at the same time, with the
        same arguments. Gives how many levels there are; ``sizes`` gets the size of each, ``generated`` how many
        successors all levels up to it had."""
        pointers = sizes.ctypes.data, generated.ctypes.data
        return int(self._library.outcrop_expand_levels(self._handle, worker, len(sizes), largest, *pointers))

    def stop(self) -> None:
        """Asks all workers to return soon. May be called at any time."""
        self._library.outcrop_stop(self._handle)

    def is_stopping(self) -> bool:
        return self.standing().stop is not StopReason.NONE

    def standing(self) -> Standing:
        raw = structure("Standing")()
        self._library.outcrop_standing(self._handle, ctypes.byref(raw))
        return Standing(
            raw.states,
            raw.expanded,
            raw.levels,
            raw.level_begin,
            raw.level_end,
            raw.memory,
            raw.disk,
            raw.positions,
            StopReason(raw.stop),
            bool(raw.started),
            raw.unexpanded,
            raw.generated,
        )

    def count(self) -> tuple[Counts, Counts, NDArray[np.uint8]]:
        """Times fired per rule, times met per cover goal, and a mark for each note of what has happened."""
        fired = np.zeros(self.native.rule_count, dtype=np.uint64)
        covered = np.zeros(self.native.cover_count, dtype=np.uint64)
        noted = np.zeros(self.native.note_count, dtype=np.uint8)
        self._library.outcrop_count(self._handle, fired.ctypes.data, covered.ctypes.data, noted.ctypes.data)
        return fired, covered, noted

    def coverage(self) -> tuple[Counts, Counts]:
        """Per rule, how often it was enabled, and how often it led to a state of the next level. The latter is known
        only while all states lie in RAM, level by level; both only to a model that was compiled to count them."""
        enabled = np.zeros(self.native.rule_count, dtype=np.uint64)
        deeper = np.zeros(self.native.rule_count, dtype=np.uint64)
        self._library.outcrop_coverage(self._handle, enabled.ctypes.data, deeper.ctypes.data)
        return enabled, deeper

    def take_found(self, kind: Found) -> list[bytes]:
        """The states found since the last call, each worker's least few."""
        found: set[bytes] = set()
        for worker in range(self.workers):
            count = int(self._library.outcrop_take_found(self._handle, worker, kind, None))
            if count:
                states = self.native.packed_states(count)
                self._library.outcrop_take_found(self._handle, worker, kind, states.ctypes.data)
                found.update(row.tobytes() for row in states)
        return sorted(found)

    def take_put(self) -> list[Counts]:
        """What ``put`` statements have recorded since the last call, for each worker."""
        taken = [self._put_of(worker) for worker in range(self.workers)]
        return [words for words in taken if len(words)]

    def drain_put(self, take: Callable[[Counts], None]) -> None:
        """Has workers call ``take``, from their own threads, whenever they have recorded much. It must not raise."""
        # Kept, because the kernels call it.
        self._drain = callback("Drain")(lambda worker: take(self._put_of(worker)))
        self._library.outcrop_drain_put(self._handle, ctypes.cast(self._drain, ctypes.c_void_p))

    def _put_of(self, worker: int) -> Counts:
        words = np.zeros(int(self._library.outcrop_take_put(self._handle, worker, None)), dtype=np.uint64)
        if len(words):
            self._library.outcrop_take_put(self._handle, worker, words.ctypes.data)
        return words

    # --- Blocks ------------------------------------------------------------------------------------------------

    def read_block(self, begin: int, end: int) -> States:
        """States of the arena."""
        states = self.native.states(end - begin)
        self._library.outcrop_read_block(self._handle, begin, end, states.ctypes.data)
        return states

    def empty_arena(self) -> None:
        """Gives the file that is the arena back to the disk: its states are kept elsewhere from now on."""
        self._library.outcrop_empty_arena(self._handle)

    def insert_block(self, worker: int, states: States) -> NDArray[np.bool_]:
        """Adds states to those visited and to the new level, and says which were new, as far as there is room."""
        rows = self._rows(states)
        is_new = np.zeros(len(rows), dtype=np.uint8)
        dealt = self._library.outcrop_insert_block(
            self._handle, worker, rows.ctypes.data, len(rows), is_new.ctypes.data
        )
        return is_new[:dealt].astype(np.bool_)

    def expand_block(self, worker: int, states: States) -> tuple[States, Counts]:
        """Expands states that lie anywhere. Gives all successors, duplicates included, and the hash of each. Firings,
        deadlocks and failures are counted and found as in a level; whether a successor is new is the caller's to say,
        and check_block its to call."""
        successors, hashes, _ = self.expand_some(worker, states, 2**64 - 1, with_loops=True)
        return successors, hashes

    def expand_some(
        self, worker: int, states: States, most: int, *, with_loops: bool = False
    ) -> tuple[States, Counts, int]:
        """The same, until there are ``most`` successors or somewhat more; gives also how many states it expanded.
        Without successors that are the state they lead from, unless ``with_loops``."""
        rows, made = self._rows(states), ctypes.c_uint64()
        expanded = int(
            self._library.outcrop_expand_block(
                *(self._handle, worker, rows.ctypes.data, len(rows), with_loops, most, ctypes.byref(made))
            )
        )
        if not expanded and len(rows):
            raise MemoryError("no memory for the successors of a block")
        return (*self.take_successors(worker, made.value), expanded)

    def take_successors(self, worker: int, count: int) -> tuple[States, Counts]:
        """What a worker has gathered."""
        successors = np.empty(count * self.native.state_bytes + SPARE_BYTES, dtype=np.uint8)
        hashes = np.empty(count, dtype=np.uint64)
        self._library.outcrop_take_successors(self._handle, worker, successors.ctypes.data, hashes.ctypes.data)
        return successors[:-SPARE_BYTES].reshape(count, self.native.state_bytes), hashes

    def check_block(self, worker: int, states: States) -> None:
        """Checks the properties of new states, and counts the cover goals that they meet."""
        rows = self._rows(states)
        self._library.outcrop_check_block(self._handle, worker, rows.ctypes.data, len(rows))

    def find_predecessors(self, worker: int, begin: int, end: int, targets: States) -> tuple[States, NDArray[np.bool_]]:
        """Expands a range of the arena again. Gives the least predecessor of each target in it, and whether it has
        one. Targets differ from one another; they and their predecessors are as the model packs them."""
        rows = self._rows(self.kept_form(targets))
        least = self.native.packed_states(len(rows))
        is_found = np.zeros(len(rows), dtype=np.uint8)
        complete = self._library.outcrop_find_predecessors(
            self._handle, worker, begin, end, rows.ctypes.data, len(rows), least.ctypes.data, is_found.ctypes.data
        )
        if not complete:
            raise MemoryError("no memory to look for predecessors with")
        return least, is_found.astype(np.bool_)

    def find_predecessors_among(
        self, worker: int, states: States, targets: States, least: States, is_found: Marks
    ) -> None:
        """The same among some states that lie anywhere. ``least`` and ``is_found``, one row for each target, take what
        is found, and hold what was found before."""
        rows, wanted = self._rows(states), self._rows(self.kept_form(targets))
        complete = self._library.outcrop_find_predecessors_among(
            self._handle,
            worker,
            rows.ctypes.data,
            len(rows),
            wanted.ctypes.data,
            len(wanted),
            least.ctypes.data,
            is_found.ctypes.data,
        )
        if not complete:
            raise MemoryError("no memory to look for predecessors with")

    # --- The two forms of a state ------------------------------------------------------------------------------

    def kept_form(self, states: States) -> States:
        """States that the model has packed, as they are kept."""
        return states

    def packed_form(self, states: States) -> States:
        """States that are kept, as the model packs them."""
        return states

    def _rows(self, states: States) -> States:
        if states.ndim != 2 or states.shape[1] != self.native.state_bytes:
            raise InternalError(f"states of {self.native.state_bytes} bytes wanted, not an array {states.shape}")
        return with_spare_bytes(states)

"""One search inside a compiled model: arena, visited set, workers.

Calls release the GIL, so workers are Python threads, each with a number.
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
    "outcrop_mark_leading",
)

#: Number of 64-byte lines that the exact table starts with: 256 KB.
FIRST_LINES = 4096


class StopReason(IntEnum):
    """The reason for which workers have returned early."""

    NONE = 0
    REQUESTED = 1
    MEMORY = 2
    DISK = 3
    DAMAGED = 4  #: the arena is a file, and its content is not what was written
    COLLISIONS = 6  #: the collision rate of a cache is too high, and other ranks must not wait for this one
    NARROW = 5  #: some states no longer fit their squeezed width; see outcrop.kernels.squeeze


class DeadlockRule(IntEnum):
    """The definition of a deadlock."""

    OFF = 0
    STUTTERING = 1
    STUCK = 2


class Found(IntEnum):
    """The kinds of findings that kernels record."""

    DEADLOCK = 0
    STATE = 1
    RULE = 2
    CYCLE = 3  #: an accepting state that probably lies on a cycle; for outcrop.kernels.cycles


@dataclass(frozen=True)
class Standing:
    """The position of a search. While workers run, it is approximate."""

    states: int  #: number of visited states
    expanded: int  #: number of states that are expanded or being expanded
    levels: int  #: number of levels found, including the current one
    level_begin: int  #: the current level, as a range of the arena
    level_end: int
    memory: int  #: bytes of arena and visited set
    disk: int  #: bytes on disk
    positions: int  #: number of marks that the kernels of liveness need
    stop: StopReason
    has_started: bool  #: whether all start states are created
    unexpanded: int  #: the first state of the previous level that was not expanded, because the search had to stop
    generated: int  #: number of successors generated, duplicates included


@dataclass(frozen=True)
class Settings:
    """The settings of a search. ``bits``: size of a signature; None keeps whole states."""

    workers: int = 1
    bits: int | None = None
    seed: int = 0
    deadlock: DeadlockRule = DeadlockRule.OFF
    budget: int = 1 << 30  #: bytes for arena and visited set
    most_states: int | None = None  #: number of states at which expand_levels stops
    most_found: int = 1  #: findings of each kind that are kept for a level
    file: int | None = None  #: descriptor of an empty file to use as arena; None keeps the arena in RAM
    disk_limit: int = 0  #: largest size of that file, in bytes
    first_lines: int = FIRST_LINES
    wide: bool = False  #: whether the exact table starts with 64-bit slots
    spills: bool = False  #: whether it can continue past RAM, with outcrop.kernels.spill
    note_bits: int = 0  #: number of bits kept with each signature, for outcrop.kernels.cycles
    weak_hash: bool = False  #: for tests of spilling and compression: hash little of a state


class Search:
    """One search. Close it, or use it in a ``with``, because it holds memory that Python does not manage."""

    #: Whether its memory is left to the end of the process, because workers that are not waited for still use it.
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
            raise MemoryError("no memory to start a search")

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
        """The address of the search, for other modules of this package."""
        if self._handle is None:
            raise InternalError("a search is used after it was closed")
        return self._handle

    # --- Levels ------------------------------------------------------------------------------------------------

    def start(self) -> int:
        """Creates the start states, which finish_level makes the current level. Returns how many instances failed."""
        return int(self._library.outcrop_start(self._handle))

    def finish_level(self) -> int:
        """Makes the new states the current level. Returns its size. No worker may be running."""
        return int(self._library.outcrop_finish_level(self._handle))

    def expand_levels(self, worker: int, sizes: Counts, generated: Counts, largest: int) -> int:
        """Expands and finishes up to ``len(sizes)`` levels, until one is empty or larger than ``largest``, there is a
        finding, or the search must stop. All workers must call it at the same time, with the same arguments.

        Returns the number of levels. Writes the size of each to ``sizes``, and the number of successors generated up to
        each to ``generated``."""
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
        """Returns how often each rule fired and each cover goal was met, and a mark for each note."""
        fired = np.zeros(self.native.rule_count, dtype=np.uint64)
        covered = np.zeros(self.native.cover_count, dtype=np.uint64)
        noted = np.zeros(self.native.note_count, dtype=np.uint8)
        self._library.outcrop_count(self._handle, fired.ctypes.data, covered.ctypes.data, noted.ctypes.data)
        return fired, covered, noted

    def coverage(self) -> tuple[Counts, Counts]:
        """Returns how often each rule was enabled, and how often it led to a state of the next level. The latter is
        known only while all states lie in RAM, level by level; both only if the model was compiled with coverage."""
        enabled = np.zeros(self.native.rule_count, dtype=np.uint64)
        deeper = np.zeros(self.native.rule_count, dtype=np.uint64)
        self._library.outcrop_coverage(self._handle, enabled.ctypes.data, deeper.ctypes.data)
        return enabled, deeper

    def take_found(self, kind: Found) -> list[bytes]:
        """Returns the states found since the last call: the least few of each worker."""
        found: set[bytes] = set()
        for worker in range(self.workers):
            count = int(self._library.outcrop_take_found(self._handle, worker, kind, None))
            if count:
                states = self.native.packed_states(count)
                self._library.outcrop_take_found(self._handle, worker, kind, states.ctypes.data)
                found.update(row.tobytes() for row in states)
        return sorted(found)

    def take_put(self) -> list[Counts]:
        """Returns what ``put`` statements have recorded since the last call, for each worker."""
        taken = [self._put_of(worker) for worker in range(self.workers)]
        return [words for words in taken if len(words)]

    def drain_put(self, take: Callable[[Counts], None]) -> None:
        """Makes workers call ``take``, in their own threads, whenever they have recorded much. It must not raise."""
        # The reference keeps the function alive, because the kernels call it.
        self._drain = callback("Drain")(lambda worker: take(self._put_of(worker)))
        self._library.outcrop_drain_put(self._handle, ctypes.cast(self._drain, ctypes.c_void_p))

    def _put_of(self, worker: int) -> Counts:
        words = np.zeros(int(self._library.outcrop_take_put(self._handle, worker, None)), dtype=np.uint64)
        if len(words):
            self._library.outcrop_take_put(self._handle, worker, words.ctypes.data)
        return words

    # --- Blocks ------------------------------------------------------------------------------------------------

    def read_block(self, begin: int, end: int) -> States:
        """Returns a range of the arena."""
        states = self.native.states(end - begin)
        self._library.outcrop_read_block(self._handle, begin, end, states.ctypes.data)
        return states

    def empty_arena(self) -> None:
        """Frees the file that is the arena, after its states were copied elsewhere."""
        self._library.outcrop_empty_arena(self._handle)

    def insert_block(self, worker: int, states: States) -> NDArray[np.bool_]:
        """Adds states to the visited set and to the new level, as far as memory allows. Returns which were new."""
        rows = self._rows(states)
        is_new = np.zeros(len(rows), dtype=np.uint8)
        dealt = self._library.outcrop_insert_block(
            self._handle, worker, rows.ctypes.data, len(rows), is_new.ctypes.data
        )
        return is_new[:dealt].astype(np.bool_)

    def insert_packed(self, worker: int, states: States) -> NDArray[np.bool_]:
        """Does the same with states as the model packs them."""
        return self.insert_block(worker, self.kept_form(states))

    def expand_block(self, worker: int, states: States) -> tuple[States, Counts]:
        """Expands states that lie anywhere. Returns all successors, duplicates included, and their hashes.

        Firings, deadlocks and failures are counted and recorded as in a level. The caller decides which successors are
        new, and calls check_block on them."""
        successors, hashes, _ = self.expand_some(worker, states, 2**64 - 1, with_loops=True)
        return successors, hashes

    def expand_some(
        self, worker: int, states: States, most: int, *, with_loops: bool = False
    ) -> tuple[States, Counts, int]:
        """Expands states until there are ``most`` successors or slightly more. Returns also the number of expanded
        states. Leaves out successors that equal their source, unless ``with_loops``."""
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
        """Returns the successors that a worker has gathered."""
        successors = np.empty(count * self.native.state_bytes + SPARE_BYTES, dtype=np.uint8)
        hashes = np.empty(count, dtype=np.uint64)
        self._library.outcrop_take_successors(self._handle, worker, successors.ctypes.data, hashes.ctypes.data)
        return successors[:-SPARE_BYTES].reshape(count, self.native.state_bytes), hashes

    def check_block(self, worker: int, states: States) -> None:
        """Checks the properties of new states, and counts the cover goals that they meet."""
        rows = self._rows(states)
        self._library.outcrop_check_block(self._handle, worker, rows.ctypes.data, len(rows))

    def find_predecessors(self, worker: int, begin: int, end: int, targets: States) -> tuple[States, NDArray[np.bool_]]:
        """Expands a range of the arena again. Returns the least predecessor of each target in it, and whether it has
        one. Targets must be distinct. They and their predecessors are as the model packs them."""
        rows = self._packed_rows(targets)
        least = self.native.packed_states(len(rows))
        is_found = np.zeros(len(rows), dtype=np.uint8)
        complete = self._library.outcrop_find_predecessors(
            self._handle, worker, begin, end, rows.ctypes.data, len(rows), least.ctypes.data, is_found.ctypes.data
        )
        if not complete:
            raise MemoryError("no memory to find predecessors")
        return least, is_found.astype(np.bool_)

    def find_predecessors_among(
        self, worker: int, states: States, targets: States, least: States, is_found: Marks
    ) -> None:
        """Finds predecessors among states that lie anywhere. ``least`` and ``is_found`` have a row for each target,
        hold what was found before, and are updated."""
        rows, wanted = self._rows(states), self._packed_rows(targets)
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
            raise MemoryError("no memory to find predecessors")

    # --- The two forms of a state ------------------------------------------------------------------------------

    def leading(self, worker: int, begin: int, end: int, targets: States) -> NDArray[np.bool_]:
        """Expands a range of the arena again. Returns for each of its states whether it leads to a target. Targets must
        be distinct, as the model packs them."""
        rows = self._packed_rows(targets)
        marks = np.zeros(end - begin, dtype=np.uint8)
        if not self._library.outcrop_mark_leading(
            self._handle, worker, begin, end, rows.ctypes.data, len(rows), marks.ctypes.data
        ):
            raise MemoryError("no memory to find predecessors")
        return marks.astype(np.bool_)

    def kept_form(self, states: States) -> States:
        """Converts states from the form that the model packs to the form that the search keeps."""
        return states

    def folded(self, states: States) -> States:
        """Converts states that may not have been visited as ``kept_form`` does visited ones."""
        return self.kept_form(states)

    def packed_form(self, states: States) -> States:
        """Converts states from the form that the search keeps to the form that the model packs."""
        return states

    def _rows(self, states: States) -> States:
        return _checked_rows(states, self.native.state_bytes)

    def _packed_rows(self, states: States) -> States:
        """Returns rows of states as the model packs them."""
        return _checked_rows(states, self.native.model_bytes)


def _checked_rows(states: States, width: int) -> States:
    if states.ndim != 2 or states.shape[1] != width:
        raise InternalError(f"expected states of {width} bytes, got an array {states.shape}")
    return with_spare_bytes(states)

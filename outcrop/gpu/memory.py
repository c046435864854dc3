"""The memory of a search on the device: the table of visited states, buffers for successors, counters.

The table is an array of buckets, each of which one access fetches. Its entries are signatures, or positions of states
with a few bits of their hash. To grow, it is rebuilt: from the states, if the device has them all, otherwise from the
old table. Signatures that do not fit in device memory go to a second, lower table in host memory. From then on nothing
is added to the first table, and the device looks into the lower one if a signature is not in the first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from outcrop.errors import InternalError
from outcrop.gpu.blocks import Blocks, Budget, pinned_words
from outcrop.gpu.device import Array, Device, OutOfDeviceMemory
from outcrop.gpu.source import Tuning
from outcrop.kernels import DeadlockRule, States
from outcrop.outcome import Event, EventKind
from outcrop.units import size

#: Number of slots in a bucket, which one memory access of a GPU fetches.
BUCKET = 4
#: Number of successors of a state that the buffers hold at first.
_FIRST_ROOM = 16
#: Load at which a table grows, and largest load when it cannot grow.
_LOAD = 0.65
_LAST_LOAD = 0.94
#: Factor by which a table grows. The last growth but one leaves memory for both tables while signatures move.
_GROWTH = 8
#: Fractions of host memory for the lower table, as 1/N: first, and when it is full. The rest is for waiting blocks.
_LOWER_PARTS = (64, 8, 2)
#: Number of words of Control in kernels.cu, rounded up to a multiple of eight.
_CONTROL_WORDS = 8
#: Number of pieces that are expanded before the host reads the results.
WINDOW = 8
#: Largest number of rows of blocks in a launch: successors of a state.
_MOST_ROWS = 65_535


@dataclass(frozen=True)
class Shape:
    """The properties of a model and its search that the engine needs."""

    state_bytes: int
    rules: int
    covers: int
    notes: int
    prepares: bool  #: whether successors need a normal form, or have assumptions
    checks: bool  #: whether new states have properties to check
    is_exact: bool
    deadlock: DeadlockRule
    seed: int
    most_found: int

    @property
    def words(self) -> int:
        return -(-self.state_bytes // 8)


@dataclass(frozen=True)
class Sizes:
    """The partition of memory. The defaults are for a GPU; tests use smaller ones."""

    device_bytes: int
    host_bytes: int = 0
    first_slots: int = 1 << 27
    buffer_bytes: int = 1 << 29  #: bytes of a buffer of successors
    buffers: int = 2  #: number of buffers: one is filled while the successors in the other are looked up
    least_piece: int = 1 << 16  #: fewest states expanded by one launch, if the buffer holds their successors
    most_piece: int = 1 << 21

    @staticmethod
    def of(device_bytes: int, host_bytes: int) -> Sizes:
        """Returns sizes in which the first table takes a small fraction of the memory."""
        return Sizes(device_bytes, host_bytes, first_slots=max(4, min(Sizes.first_slots, device_bytes // 64)))


@dataclass(frozen=True)
class Buffer:
    """The successors of a piece."""

    successors: Array  #: word by word: all first words of first successors, and so on
    counts: Array  #: number of successors of each state

    @property
    def nbytes(self) -> int:
        return int(self.successors.nbytes + self.counts.nbytes)


@dataclass
class LowerTable:
    """A table of signatures in host memory. ``above``: number of signatures in the table of the device."""

    above: int
    recent: Array  #: a cache of recent signatures in device memory
    slots: Array | None = None
    part: int = -1  #: index in _LOWER_PARTS
    keys: Array | None = None  #: keys of successors that the device's table does not have
    places: Array | None = None  #: their places in the buffer

    @property
    def count(self) -> int:
        return 0 if self.slots is None else len(self.slots)

    @property
    def nbytes(self) -> int:
        """Device memory that it takes, in bytes."""
        lists = 0 if self.keys is None else 2 * self.keys.nbytes
        return int(self.recent.nbytes + lists)

    @property
    def limit(self) -> int:
        """Largest number of states in both tables."""
        return self.above + int(self.count * (_LAST_LOAD if self.part == len(_LOWER_PARTS) - 1 else _LOAD))


class TableFull(Exception):
    """Raised when neither the table nor the blocks can grow."""


class Memory:
    """The memory of one search on a device. The device must have loaded the kernels."""

    def __init__(self, device: Device, tuning: Tuning, shape: Shape, sizes: Sizes) -> None:
        self.device = device
        self._shape = shape
        self._sizes = sizes
        self._tuning = tuning
        self.tell: Callable[[Event], None] = lambda event: None
        device.set_constant("outcrop_hasher", hash_keys(shape.words, shape.seed))
        self.budget = Budget(sizes.device_bytes)
        self.host = Budget(sizes.host_bytes)
        self.blocks = Blocks(device, shape.words, tuning.block_shift, self.budget, self.host)
        # One array, so that one copy reads all of it.
        self._status = device.zeros(_CONTROL_WORDS + shape.rules + 1 + shape.covers + 1)
        self._control, self._counters = self._status[:_CONTROL_WORDS], self._status[_CONTROL_WORDS:]
        self._fired, self._covered = self._counters[: shape.rules + 1], self._counters[shape.rules + 1 :]
        self._seen = np.zeros(len(self._status), dtype=np.uint64)  #: as of the last read by the host
        self._counted = np.zeros(len(self._counters), dtype=np.uint64)  #: the counters without interrupted windows
        self._at_level = self._counted  #: the counters as of the last complete level
        self._noted = device.zeros(shape.notes + 1, np.uint8)
        self._scratch = device.zeros(max(shape.rules, shape.covers) + 1)
        self.states = 0  #: number of visited states
        self._checked = 0  #: number of states whose properties have been checked
        self.growths = 0
        self._room = 0  #: number of successors of a state that buffers hold
        self._most_seen = 0  #: largest number of successors of a state so far
        self._buffers: list[Buffer] = []
        self._most_piece = 0
        self._is_last = False  #: whether the table cannot grow any more
        self._lower: LowerTable | None = None
        self._make_table(sizes.first_slots // BUCKET)
        self._make_buffers(_FIRST_ROOM)

    # --- Memory ------------------------------------------------------------------------------------------------

    @property
    def slots(self) -> int:
        return self._buckets * BUCKET + (0 if self._lower is None else self._lower.count)

    @property
    def load(self) -> float:
        return self.states / self.slots

    def _make_table(self, buckets: int, least: int | None = None) -> None:
        """Allocates a table. ``least``: smallest number of buckets, if other processes have taken device memory."""
        buckets = max(4, buckets // 2 * 2)
        self.budget.take(buckets * BUCKET * 8)
        try:
            self._table = self.device.zeros(buckets * BUCKET)
        except OutOfDeviceMemory:
            self.budget.give_back(buckets * BUCKET * 8)
            if least is None or buckets * 3 // 4 < least:
                raise
            self._make_table(buckets * 3 // 4, least)
            return
        self._buckets = buckets

    def _make_buffers(self, room: int) -> None:
        """Allocates buffers for ``room`` successors of each state of a piece."""
        room = self._rounded(room)
        if room > _MOST_ROWS:
            raise OutOfDeviceMemory(f"a state has {room:,} successors, and a launch handles {_MOST_ROWS:,}")
        bytes_a_state = room * self._shape.words * 8 + 4
        old = sum(each.nbytes for each in self._buffers)
        wanted = max(self._sizes.least_piece, min(self._sizes.most_piece, self._sizes.buffer_bytes // bytes_a_state))
        piece = min(wanted, (self.budget.left + old) // 4 // bytes_a_state // self._sizes.buffers)
        if piece < 1:
            raise OutOfDeviceMemory("too little device memory for the successors of one state")
        self._room, self._most_piece, self._buffers = room, piece, []
        self.budget.give_back(old)
        for _ in range(self._sizes.buffers):
            self.budget.take(self._most_piece * bytes_a_state)
            successors = self.device.empty(self._most_piece * self._room * self._shape.words)
            self._buffers.append(Buffer(successors, self.device.empty(self._most_piece, np.uint32)))

    def _fit_buffers(self) -> None:
        """Makes buffers smaller and pieces larger, once the number of successors of states is known."""
        if self._most_seen and self._room * 2 >= self._rounded(self._most_seen) * 3:
            self._make_buffers(self._most_seen)

    def _rounded(self, room: int) -> int:
        """Rounds up to whole groups, which threads take."""
        group = self._tuning.group
        return -(-room // group) * group

    def _grow_table(self, keep_from: int, level_end: int) -> None:
        """Enlarges the table. ``keep_from``: first position that is still needed. ``level_end``: first position that
        is needed only later. Raises TableFull."""
        if self._lower is not None or (self._is_last and self._shape.is_exact):
            self._grow_lower()
            return
        rebuilds = self._shape.is_exact or self.blocks.has_all
        before, old = self._table, self._buckets * BUCKET * 8
        wanted = self._next_table(old)
        held = 0 if rebuilds else old
        if self.budget.left + old - held < wanted and not self._shape.is_exact:
            self.blocks.drop(keep_from)
            while self.budget.left + old - held < wanted and self._send_away(keep_from, level_end):
                held = old
            rebuilds = self.blocks.has_all
            held = 0 if rebuilds else old
        # Some memory is left for the states still to come.
        spare = max(self.budget.limit // 16, 2 * self._room * self._shape.words * 8)
        wanted = min(wanted, self.budget.left + old - held - spare)
        if wanted < old + old // 4:
            if self._is_last:
                self._grow_lower()
            self._is_last = True
            return
        if rebuilds:
            self._table = before = None
            self.budget.give_back(old)
            self._make_table(wanted // 8 // BUCKET, old // 8 // BUCKET)
            self._enter(0, self.states)
        else:
            try:
                self._make_table(wanted // 8 // BUCKET, (old + old // 4) // 8 // BUCKET)
            except OutOfDeviceMemory:
                self._is_last = True
                self._grow_lower()
                return
            self._write_control()
            self._launch("rehash_signatures", old // 8, before, np.uint64(old // 8), *self._table_arguments())
            self._expect_room()
            before = None
            self.budget.give_back(old)
        self.growths += 1

    def _grow_lower(self) -> None:
        """Takes more host memory for signatures. Raises TableFull."""
        if self._shape.is_exact:
            raise TableFull
        lower = self._lower or LowerTable(self.states, self._make_recent())
        if lower.part + 1 == len(_LOWER_PARTS):
            raise TableFull
        count = self.host.limit // _LOWER_PARTS[lower.part + 1] // 8 // (2 * BUCKET) * (2 * BUCKET)
        if count < 4 * BUCKET or count <= lower.count:
            raise TableFull
        try:
            slots = pinned_words(self.device, self.host, count)
        except MemoryError:
            raise TableFull from None
        before, self._lower = lower, replace(lower, slots=slots, part=lower.part + 1)
        self._launch("clear_words", count, slots, np.uint64(count))
        if before.slots is not None:
            arguments = slots, np.uint64(count // BUCKET), self._control
            self._write_control()
            self._launch("rehash_signatures", before.count, before.slots, np.uint64(before.count), *arguments)
            self._expect_room()
            self.host.give_back(8 * before.count)
        self.growths += 1
        text = f"table full with {self.states:,} signatures, continuing with {size(8 * count)} of host memory for more"
        self.tell(Event(EventKind.SPILLED, text))

    def _make_lists(self, lower: LowerTable) -> tuple[Array, Array]:
        """Returns lists for all successors of a piece. No other piece is expanded meanwhile, so one buffer suffices."""
        count = self._most_piece * self._room
        if lower.keys is None or len(lower.keys) < count:
            self.budget.give_back(lower.nbytes + sum(each.nbytes for each in self._buffers[1:]))
            del self._buffers[1:]
            lower.keys = lower.places = None
            lower.keys, lower.places = self.device.empty(count), self.device.empty(count)
            self.budget.take(lower.nbytes, even_if_too_much=True)
        return lower.keys, lower.places

    def _make_recent(self) -> Array:
        """Allocates the cache of recent signatures in half of the remaining device memory, or less if that fails."""
        count = max(1, self.budget.left // 16)
        while True:
            try:
                recent = self.device.zeros(count)
            except OutOfDeviceMemory:
                if count == 1:
                    raise
                count = max(1, count // 8)
            else:
                self.budget.take(8 * count, even_if_too_much=True)
                return recent

    def _next_table(self, old: int) -> int:
        """Returns the bytes of the table after one of ``old`` bytes. An exact table shares memory with the states."""
        if self._shape.is_exact:
            return min(old * _GROWTH, int(self.budget.limit * 8 / (8 + _LOAD * 8 * self._shape.words)))
        largest = self.budget.limit * 7 // 8
        last_but_one = largest // _GROWTH
        if old * _GROWTH <= last_but_one:
            return old * _GROWTH
        return last_but_one if old * 2 <= last_but_one else largest

    def _table_arguments(self) -> tuple[object, ...]:
        return self._table, np.uint64(self._buckets), self._control

    def _enter(self, begin: int, end: int) -> None:
        """Enters visited states into the table."""
        self._write_control()
        kernel = "enter_states" if self._shape.is_exact else "enter_signatures"
        for piece in self.blocks.pieces(begin, end, 1 << 30):
            arguments = piece.states, np.uint64(piece.begin), np.uint32(len(piece)), *self._table_arguments()
            self._launch(kernel, len(piece), *arguments)
        self._expect_room()

    def _expect_room(self) -> None:
        if self._read_control()["halted"]:
            raise InternalError("a table that has just grown is full")

    def _states_with_room(self) -> int:
        """Returns the number of states that can be expanded, whatever they lead to."""
        return (self.blocks.capacity - self.states) // self._room

    def _make_room(self, positions: int, keep_from: int, level_end: int) -> None:
        """Makes space for states up to a position, or at least for the successors of one state, by dropping or moving
        blocks that are not needed now. The states being expanded begin at ``keep_from`` and end at ``level_end``.
        Raises OutOfDeviceMemory."""
        while True:
            try:
                self.blocks.reserve(positions)
                return
            except OutOfDeviceMemory:
                if self._shape.is_exact:
                    if self._states_with_room():
                        return
                    raise
                gained = self.blocks.drop(keep_from) or self._send_away(keep_from, level_end)
                if not gained and self._states_with_room():
                    return
                if not gained:
                    raise

    def _send_away(self, keep_from: int, level_end: int) -> bool:
        """Moves a block that will be needed late to the host. Returns whether there was one."""
        if self.blocks.send_away(level_end, self._checked):
            return True
        return self.blocks.send_away(keep_from + self._most_piece * WINDOW, level_end)

    # --- Control -----------------------------------------------------------------------------------------------

    FIELDS = ("used", "halted", "most", "found", "limit", "matches", "missing")

    def _read_control(self) -> dict[str, int]:
        """Returns the fields of Control. Updates the counters in ``_seen`` too."""
        self.device.copy(self._seen, self._status)
        return dict(zip(self.FIELDS, self._seen[: len(self.FIELDS)].tolist(), strict=True))

    def _write_control(self) -> None:
        limit = int(self.slots * (_LAST_LOAD if self._is_last else _LOAD)) if self._lower is None else self._lower.limit
        self.device.copy(self._control, np.array([self.states, 0, 0, 0, limit, 0, 0, 0], dtype=np.uint64))

    def _launch(
        self,
        name: str,
        items: int,
        *arguments: object,
        rows: int = 1,
        threads: int = 256,
        share: float = 4,
        aside: bool = False,
    ) -> None:
        """Launches a kernel. ``share``: largest number of threads, relative to those that the device runs at a time."""
        most = max(1, int(share * self.device.threads) // threads)
        blocks = max(1, min(most, -(-items // threads)))
        self.device.launch(name, (blocks, rows), threads, *arguments, aside=aside)

    # --- Start -------------------------------------------------------------------------------------------------

    def start(self, states: States) -> None:
        """Takes the states of the first level, which are distinct and have been checked."""
        self.blocks.reserve(len(states))
        while len(states) > self.slots * _LOAD:
            self._grow_table(0, 0)
            if self._is_last:
                raise TableFull
        self.blocks.append(0, self._words_of(states))
        self.states = self._checked = len(states)
        self._enter(0, len(states))

    def forget(self) -> None:
        """Drops all states. The table keeps its size, and the counters stay."""
        self.blocks.clear()
        self._table[:] = 0
        if self._lower is not None:
            self.host.give_back(8 * self._lower.count)
            self.budget.give_back(self._lower.nbytes)
            self._lower = None
        self.states = self._checked = 0

    def close(self) -> None:
        """Frees the memory at once, without waiting for garbage collection."""
        del self.blocks, self._table, self._buffers, self._lower

    def _words_of(self, states: States) -> NDArray[np.uint64]:
        rows = np.zeros((len(states), self._shape.words * 8), dtype=np.uint8)
        rows[:, : self._shape.state_bytes] = states
        return rows.view(np.uint64)

    def _states_of(self, words: NDArray[np.uint64]) -> States:
        rows = words.reshape(-1, self._shape.words).view(np.uint8)
        return np.ascontiguousarray(rows[:, : self._shape.state_bytes])

    def read(self, begin: int, end: int) -> States:
        parts = [self._states_of(self.device.get(piece.states)) for piece in self.blocks.pieces(begin, end, 1 << 30)]
        return np.concatenate(parts) if parts else np.zeros((0, self._shape.state_bytes), dtype=np.uint8)


def hash_keys(words: int, seed: int) -> NDArray[np.uint64]:
    """Returns the keys of the hash as kernels keep them. They are drawn as by hasher_seed in native/hash.h."""
    sequence = seed % 2**64

    def draw() -> int:
        nonlocal sequence
        sequence = (sequence + 0x9E3779B97F4A7C15) % 2**64
        mixed = (sequence ^ sequence >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
        return mixed ^ mixed >> 31

    pairs = [(draw(), draw()) for _ in range(words)]
    upper, lower = draw(), draw()
    return np.array([*(low for low, _ in pairs), *(high for _, high in pairs), lower, upper], dtype=np.uint64)

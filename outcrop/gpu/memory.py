"""What a search keeps in the memory of the device: the table of what was visited, buffers for successors, counters.

The table is an array of buckets, each of which one access fetches. Its entries are signatures, or positions of states
with a few bits of their hash. It grows by being built anew: from the states, where the device has them all, else from
the old table. Signatures that the device has no room for go to a second, lower table in the memory of the host, into
which the device looks when the first one, to which nothing is added any more, does not have what it looks for.
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

#: Slots of a bucket, which is what one access to the memory of a GPU fetches.
BUCKET = 4
#: Successors of a state that the buffer has room for at first.
_FIRST_ROOM = 16
#: The share of its slots that a table may fill before it grows, and at the end when it cannot.
_LOAD = 0.65
_LAST_LOAD = 0.94
#: How much larger a table becomes, and how small a part of the memory it is before it becomes as large as it can: while
#: signatures go over to it, both must be there.
_GROWTH = 8
#: What the lower table takes of the host's memory: first, and when that is full. The rest is for states that wait.
_LOWER_PARTS = (64, 8, 2)
#: Of Control in kernels.cu, and what is left to the next multiple of eight.
_CONTROL_WORDS = 8
#: Pieces that are expanded before the host looks.
WINDOW = 8
#: Rows of blocks that a launch may have: successors of a state.
_MOST_ROWS = 65_535


@dataclass(frozen=True)
class Shape:
    """What the engine must know of a model and its search."""

    state_bytes: int
    rules: int
    covers: int
    notes: int
    prepares: bool  #: successors need a normal form, or are subject to assumptions
    checks: bool  #: new states are subject to properties
    is_exact: bool
    deadlock: DeadlockRule
    seed: int
    most_found: int

    @property
    def words(self) -> int:
        return -(-self.state_bytes // 8)


@dataclass(frozen=True)
class Sizes:
    """How memory is shared out. The defaults are for a GPU; tests take smaller ones."""

    device_bytes: int
    host_bytes: int = 0
    first_slots: int = 1 << 27
    buffer_bytes: int = 1 << 29  #: of successors
    buffers: int = 2  #: of successors: one is filled while the states of the other are looked up
    least_piece: int = 1 << 16  #: states that are expanded by one launch, if the buffer has room for them
    most_piece: int = 1 << 21

    @staticmethod
    def of(device_bytes: int, host_bytes: int) -> Sizes:
        """The first table takes a small part of a small memory."""
        return Sizes(device_bytes, host_bytes, first_slots=max(4, min(Sizes.first_slots, device_bytes // 64)))


@dataclass(frozen=True)
class Buffer:
    """Successors of a piece."""

    successors: Array  #: word by word: all first words of first successors, and so on
    counts: Array  #: of each state

    @property
    def nbytes(self) -> int:
        return int(self.successors.nbytes + self.counts.nbytes)


@dataclass
class LowerTable:
    """Signatures in the memory of the host. ``above``: how many the table of the device has."""

    above: int
    recent: Array  #: in the memory of the device: some that were met lately
    slots: Array | None = None
    part: int = -1  #: which of _LOWER_PARTS it is
    keys: Array | None = None  #: of successors that the device's table does not have, and their places in the buffer
    places: Array | None = None

    @property
    def count(self) -> int:
        return 0 if self.slots is None else len(self.slots)

    @property
    def nbytes(self) -> int:
        """Of the device's memory."""
        lists = 0 if self.keys is None else 2 * self.keys.nbytes
        return int(self.recent.nbytes + lists)

    @property
    def limit(self) -> int:
        """States that both tables take."""
        return self.above + int(self.count * (_LAST_LOAD if self.part == len(_LOWER_PARTS) - 1 else _LOAD))


class TableFull(Exception):
    """Neither the table nor the states have room to grow."""


class Memory:
    def __init__(self, device: Device, tuning: Tuning, shape: Shape, sizes: Sizes) -> None:
        """The device has loaded the kernels."""
        self.device = device
        self._shape = shape
        self._sizes = sizes
        self._tuning = tuning
        self.tell: Callable[[Event], None] = lambda event: None
        device.set_constant("outcrop_hasher", hash_keys(shape.words, shape.seed))
        self.budget = Budget(sizes.device_bytes)
        self.host = Budget(sizes.host_bytes)
        self.blocks = Blocks(device, shape.words, tuning.block_shift, self.budget, self.host)
        # One array, so that one look shows all of it.
        self._status = device.zeros(_CONTROL_WORDS + shape.rules + 1 + shape.covers + 1)
        self._control, self._counters = self._status[:_CONTROL_WORDS], self._status[_CONTROL_WORDS:]
        self._fired, self._covered = self._counters[: shape.rules + 1], self._counters[shape.rules + 1 :]
        self._seen = np.zeros(len(self._status), dtype=np.uint64)  #: when the host last looked
        self._counted = np.zeros(len(self._counters), dtype=np.uint64)  #: the counters, without what was interrupted
        self._at_level = self._counted  #: ... when the last level was complete
        self._noted = device.zeros(shape.notes + 1, np.uint8)
        self._scratch = device.zeros(max(shape.rules, shape.covers) + 1)
        self.states = 0  #: visited
        self._checked = 0  #: of them, those whose properties have been
        self.growths = 0
        self._room = 0  #: successors of a state that buffers have room for
        self._most_seen = 0  #: successors of a state
        self._buffers: list[Buffer] = []
        self._most_piece = 0
        self._is_last = False  #: the table cannot grow any more
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
        """``least``: of buckets, if others have taken memory of the device meanwhile."""
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
        """For successors: ``room`` of each state of a piece."""
        room = self._rounded(room)
        if room > _MOST_ROWS:
            raise OutOfDeviceMemory(f"a state has {room:,} successors")
        bytes_a_state = room * self._shape.words * 8 + 4
        old = sum(each.nbytes for each in self._buffers)
        wanted = max(self._sizes.least_piece, min(self._sizes.most_piece, self._sizes.buffer_bytes // bytes_a_state))
        piece = min(wanted, (self.budget.left + old) // 4 // bytes_a_state // self._sizes.buffers)
        if piece < 1:
            raise OutOfDeviceMemory("too little for the successors of one state")
        self._room, self._most_piece, self._buffers = room, piece, []
        self.budget.give_back(old)
        for _ in range(self._sizes.buffers):
            self.budget.take(self._most_piece * bytes_a_state)
            successors = self.device.empty(self._most_piece * self._room * self._shape.words)
            self._buffers.append(Buffer(successors, self.device.empty(self._most_piece, np.uint32)))

    def _fit_buffers(self) -> None:
        """Once it is known how many successors states have, buffers may be smaller and pieces larger."""
        if self._most_seen and self._room * 2 >= self._rounded(self._most_seen) * 3:
            self._make_buffers(self._most_seen)

    def _rounded(self, room: int) -> int:
        """Threads take successors by groups."""
        group = self._tuning.group
        return -(-room // group) * group

    def _grow_table(self, keep_from: int, level_end: int) -> None:
        """``keep_from``: the first position that is still needed; ``level_end``: where those begin that will be wanted
        only later. Raises TableFull."""
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
        # Some room is left for the states that are yet to come.
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
        """Takes more of the host's memory for signatures. Raises TableFull."""
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
        text = f"table full with {self.states:,} signatures, {size(8 * count)} of the host's memory for more"
        self.tell(Event(EventKind.SPILLED, text))

    def _make_lists(self, lower: LowerTable) -> tuple[Array, Array]:
        """Room for all successors of a piece. No others are expanded meanwhile, so there need not be two buffers."""
        count = self._most_piece * self._room
        if lower.keys is None or len(lower.keys) < count:
            self.budget.give_back(lower.nbytes + sum(each.nbytes for each in self._buffers[1:]))
            del self._buffers[1:]
            lower.keys = lower.places = None
            lower.keys, lower.places = self.device.empty(count), self.device.empty(count)
            self.budget.take(lower.nbytes, even_if_too_much=True)
        return lower.keys, lower.places

    def _make_recent(self) -> Array:
        """Of what is left of the device's memory, half, if there is as much as there should be."""
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
        """Bytes of a table that follows one of so many. A table that keeps states shares the memory with them."""
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
            raise InternalError("a table that has just grown has no room")

    def _states_with_room(self) -> int:
        """How many states could be expanded, whatever they lead to."""
        return (self.blocks.capacity - self.states) // self._room

    def _make_room(self, positions: int, keep_from: int, level_end: int) -> None:
        """Room for states up to a position, or at least for the successors of one state, at the cost of blocks that are
        not needed now. What is being expanded begins at ``keep_from`` and ends at ``level_end``. Raises
        OutOfDeviceMemory."""
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
        """Sends a block to the host that will be wanted late. Says whether there was one."""
        if self.blocks.send_away(level_end, self._checked):
            return True
        return self.blocks.send_away(keep_from + self._most_piece * WINDOW, level_end)

    # --- Control -----------------------------------------------------------------------------------------------

    FIELDS = ("used", "halted", "most", "found", "limit", "matches", "missing")

    def _read_control(self) -> dict[str, int]:
        """Leaves the counters in ``_seen`` as well."""
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
        """``share``: of the threads that the device runs at the same time, how many there are at most."""
        most = max(1, int(share * self.device.threads) // threads)
        blocks = max(1, min(most, -(-items // threads)))
        self.device.launch(name, (blocks, rows), threads, *arguments, aside=aside)

    # --- Start -------------------------------------------------------------------------------------------------

    def start(self, states: States) -> None:
        """Takes the states of the first level, all different, which have been checked."""
        self.blocks.reserve(len(states))
        while len(states) > self.slots * _LOAD:
            self._grow_table(0, 0)
            if self._is_last:
                raise TableFull
        self.blocks.append(0, self._words_of(states))
        self.states = self._checked = len(states)
        self._enter(0, len(states))

    def forget(self) -> None:
        """Back to before the start, with the table as large as it is. Counters stay."""
        self.blocks.clear()
        self._table[:] = 0
        if self._lower is not None:
            self.host.give_back(8 * self._lower.count)
            self.budget.give_back(self._lower.nbytes)
            self._lower = None
        self.states = self._checked = 0

    def close(self) -> None:
        """Gives memory back, which must not wait until garbage is collected. It cannot be used any more."""
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
    """The keys of the hash as kernels keep them: drawn as hasher_seed of native/hash.h draws them."""
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

"""Levels on the device: expanding them, inserting new states, and finding predecessors.

A level is expanded window by window. A window is several pieces, one after the other, without waiting for the device in
between. Then the host reads the results. If a kernel had to halt, because a state has more successors than the buffer
holds, or the table is full, the host makes space and repeats the whole window from the earlier counters. States that
the first attempt inserted are not new in the second, so nothing is lost and nothing is counted twice.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from outcrop.errors import InternalError
from outcrop.explorer.paths import Predecessors
from outcrop.gpu.blocks import Piece
from outcrop.gpu.device import Array, OutOfDeviceMemory
from outcrop.gpu.memory import BUCKET, WINDOW, Buffer, LowerTable, Memory
from outcrop.kernels import Counts, Marks, States

#: Largest number of pairs of a state and a predecessor that are found at a time.
_MOST_PAIRS = 1 << 16


#: Index in Control of the number of successors that only the lower table may have.
_MISSING = Memory.FIELDS.index("missing")
#: 1/_CHEAP_PART of the memory may be allocated for a small search.
_CHEAP_PART = 32


class Halt(IntEnum):
    """The reason for which a kernel has halted."""

    NONE = 0
    SUCCESSORS = 1
    TABLE = 2


class FoundFlag(IntEnum):
    """The kinds of findings in a state, as bits."""

    DEADLOCK = 1
    STATE = 2
    RULE = 4


class Engine(Memory):
    """The kernels of a search on a device, and the order in which they are launched."""

    # --- Levels ------------------------------------------------------------------------------------------------

    def expand(
        self, begin: int, end: int, find: Callable[[FoundFlag, bytes], None] | None, poll: Callable[[], None]
    ) -> None:
        """Expands a range of positions. New states follow all others. ``find`` None: do not count or record findings.
        Raises TableFull or OutOfDeviceMemory when device memory is full. Then some states have been inserted although
        not all states of the range are expanded."""
        at = begin
        while at < end:
            poll()
            at = self._window(at, begin, end, find)

    def _window(self, begin: int, level_begin: int, end: int, find: Callable[[FoundFlag, bytes], None] | None) -> int:
        if end - begin >= self._sizes.least_piece:
            self._fit_buffers()
        until = self._window_end(begin, end)
        self._write_control()
        self.device.begin_timing()
        self._expand_and_insert(begin, until)
        if self._shape.checks:
            self._check(None, self._most_piece * self._room)
        self.device.end_timing()
        control = self._read_control()
        self.states = control["used"]
        self._most_seen = max(self._most_seen, control["most"])
        if self.states > self.blocks.capacity:
            raise InternalError("states were written past the end of their blocks")
        if find is None or control["halted"]:
            self.device.copy(self._counters, self._counted)
        else:
            self._counted = self._seen[len(self._control) :].copy()
        if control["halted"] == Halt.SUCCESSORS:
            self._make_buffers(max(control["most"], self._room + self._room // 4))
            return begin
        if control["halted"] == Halt.TABLE:
            self._grow_table(begin, end)
            return begin
        if find is not None and control["found"] & (FoundFlag.DEADLOCK | FoundFlag.RULE):
            self._examine(begin, until, find)
        if find is not None and control["found"] & FoundFlag.STATE:
            self._examine_new(self._checked, self.states, find)
        self._checked = self.states
        return until

    def _expand_and_insert(self, begin: int, end: int) -> None:
        """Expands pieces and inserts their successors. While the successors of one piece are looked up, the next one is
        expanded into another buffer: lookups mostly wait for memory, and expansion computes."""
        device = self.device
        aside = end - begin > self._most_piece and len(self._buffers) > 1
        if aside:
            device.wait(device.mark(), aside=True)
        inserted: list[object] = []
        for number, piece in enumerate(self.blocks.pieces(begin, end, self._most_piece)):
            buffer = self._buffers[number % len(self._buffers)]
            if aside and number >= len(self._buffers):
                device.wait(inserted[number - len(self._buffers)], aside=True)
            self._expand_piece(piece, buffer, aside=aside)
            if aside:
                device.wait(device.mark(aside=True))
            self._insert_piece(piece, buffer)
            if aside:
                inserted.append(device.mark())

    def _window_end(self, begin: int, end: int) -> int:
        """Returns the end of the next window: as many states as there is space for the most successors."""
        # A small search should not allocate as much as a large one.
        cheap = self.budget.limit // _CHEAP_PART // (8 * self._shape.words * self._room)
        usual = max(self._sizes.least_piece, self.states // self._room, cheap)
        size = min(end - begin, WINDOW * self._most_piece, usual)
        least = min(size, self._most_piece)
        try:
            self.blocks.reserve(self.states + size * self._room)
        except OutOfDeviceMemory:
            if self._states_with_room() < least:
                self._make_room(self.states + least * self._room, begin, end)
        return begin + min(size, self._states_with_room())

    def _expand_piece(
        self,
        piece: Piece,
        buffer: Buffer,
        flags: Array | None = None,
        *,
        counts: bool = True,
        aside: bool = False,
    ) -> None:
        stride = np.uint32(self._most_piece)
        counters = (self._fired, self._covered) if counts else (self._scratch, self._scratch)
        self._launch(
            "expand",
            len(piece),
            piece.states,
            np.uint32(len(piece)),
            buffer.successors,
            stride,
            np.uint32(self._room),
            buffer.counts,
            flags,
            np.uint32(self._shape.deadlock),
            self._control,
            *counters,
            self._noted,
            threads=self._tuning.expand_threads,
            share=self._tuning.expand_share if aside else 4,
            aside=aside,
        )
        if self._shape.prepares:
            self._launch(
                "prepare",
                len(piece),
                piece.states,
                np.uint32(len(piece)),
                buffer.successors,
                stride,
                buffer.counts,
                self._control,
                self._noted,
                rows=self._room,
                threads=self._tuning.prepare_threads,
                share=self._tuning.expand_share if aside else 4,
                aside=aside,
            )

    def _insert_piece(self, piece: Piece, buffer: Buffer) -> None:
        if self._lower is not None:
            self._insert_lower(self._lower, piece, buffer)
            return
        self._launch(
            "insert_states" if self._shape.is_exact else "insert_signatures",
            len(piece),
            buffer.successors,
            np.uint32(self._most_piece),
            buffer.counts,
            np.uint32(len(piece)),
            self._table,
            np.uint64(self._buckets),
            self.blocks.addresses,
            self._control,
            rows=self._room // self._tuning.group,
            threads=self._tuning.insert_threads,
        )

    def _insert_lower(self, lower: LowerTable, piece: Piece, buffer: Buffer) -> None:
        keys, places = self._make_lists(lower)
        recent = lower.recent, np.uint64(len(lower.recent))
        given = buffer.successors, np.uint32(self._most_piece)
        self._launch(
            "find_missing",
            len(piece),
            *given,
            buffer.counts,
            np.uint32(len(piece)),
            self._table,
            np.uint64(self._buckets),
            *recent,
            keys,
            places,
            self._control,
            rows=self._room // self._tuning.group,
            threads=self._tuning.insert_threads,
        )
        missing = self._read_control()["missing"]
        if not missing:
            return
        self.device.sort(keys[:missing])
        table = lower.slots, np.uint64(lower.count // BUCKET)
        arguments = *given, *table, *recent, self.blocks.addresses, self._control
        count = np.uint32(missing)
        self._launch("insert_lower", missing, keys, places, count, *arguments, threads=self._tuning.insert_threads)
        self.device.copy(self._control[_MISSING : _MISSING + 1], np.zeros(1, dtype=np.uint64))

    def _check(self, flags: Array | None, most: int, *, counts: bool = True) -> None:
        """Checks all states from ``_checked`` on."""
        counters = (self._fired, self._covered) if counts else (self._scratch, self._scratch)
        arguments = self.blocks.addresses, np.uint64(self._checked), flags, self._control, *counters, self._noted
        self._launch("check", most, *arguments)

    # --- Findings ----------------------------------------------------------------------------------------------

    def _examine(self, begin: int, end: int, find: Callable[[FoundFlag, bytes], None]) -> None:
        """Expands states again, to find those with findings."""
        self._write_control()
        flags = self.device.zeros(self._most_piece, np.uint8)
        for piece in self.blocks.pieces(begin, end, self._most_piece):
            self._expand_piece(piece, self._buffers[0], flags, counts=False)
            marks = self.device.get(flags)[: len(piece)]
            if marks.any():
                self._report(self._states_of(self.device.get(piece.states)), marks, find)

    def _examine_new(self, begin: int, end: int, find: Callable[[FoundFlag, bytes], None]) -> None:
        self._write_control()
        flags = self.device.zeros(end - begin, np.uint8)
        self._check(flags, end - begin, counts=False)
        marks = self.device.get(flags)
        for piece in self.blocks.pieces(begin, end, 1 << 30):
            part = marks[piece.begin - begin : piece.end - begin]
            if part.any():
                self._report(self._states_of(self.device.get(piece.states)), part, find)

    def _report(self, states: States, marks: Marks, find: Callable[[FoundFlag, bytes], None]) -> None:
        for flag in FoundFlag:
            rows = sorted(row.tobytes() for row in states[(marks & flag) != 0])
            for row in rows[: self._shape.most_found]:
                find(flag, row)

    # --- Predecessors ------------------------------------------------------------------------------------------

    def predecessors(self, begin: int, end: int, targets: States) -> list[Predecessors]:
        """Returns the least predecessor of each target among the states of a range."""
        device, words = self.device, self._words_of(targets)
        hashes = device.empty(len(targets))
        self._launch("hash_all", len(targets), device.put(words), np.uint32(len(targets)), hashes)
        host_hashes = device.get(hashes)
        order = np.argsort(host_hashes, kind="stable")
        given = device.put(words[order]), device.put(host_hashes[order]), np.uint32(len(targets))
        least: list[bytes | None] = [None] * len(targets)
        pairs = device.empty(_MOST_PAIRS)
        buffer, most = self._buffers[0], self._most_piece
        while begin < end:
            self._write_control()
            piece = next(self.blocks.pieces(begin, end, most))
            self._expand_piece(piece, buffer, counts=False)
            self._launch(
                "match",
                len(piece),
                buffer.successors,
                np.uint32(self._most_piece),
                buffer.counts,
                np.uint32(len(piece)),
                *given,
                pairs,
                np.uint32(_MOST_PAIRS),
                self._control,
                rows=self._room,
            )
            count = self._read_control()["matches"]
            if count > _MOST_PAIRS:
                most = max(1, len(piece) // 2)
                continue
            if count:
                self._take_pairs(device.get(pairs)[:count], piece, order, least)
            begin = piece.end
        found = np.array([each is not None for each in least], dtype=np.bool_)
        rows = [each if each is not None else bytes(self._shape.state_bytes) for each in least]
        return [(np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), -1), found)]

    def _take_pairs(
        self, pairs: NDArray[np.uint64], piece: Piece, order: NDArray[np.intp], least: list[bytes | None]
    ) -> None:
        states = self._states_of(self.device.get(piece.states))
        for pair in pairs.tolist():
            target, candidate = int(order[pair >> 32]), states[pair & 0xFFFFFFFF].tobytes()
            known = least[target]
            if known is None or candidate < known:
                least[target] = candidate

    # --- Counts ------------------------------------------------------------------------------------------------

    def count(self) -> tuple[Counts, Counts, Marks]:
        return *self._split(self._counted), self.device.get(self._noted)[: self._shape.notes]

    def fired(self) -> int:
        """Returns the number of rules fired."""
        return int(self._counted[: self._shape.rules].sum())

    def level_is_complete(self) -> None:
        self._at_level = self._counted

    def count_at_level(self) -> tuple[Counts, Counts]:
        """Returns the counters as of the last complete level."""
        return self._split(self._at_level)

    def _split(self, counters: Counts) -> tuple[Counts, Counts]:
        rules = self._shape.rules
        return counters[:rules], counters[rules + 1 : rules + 1 + self._shape.covers]

    def bytes_moved(self, fired: int) -> int:
        """Returns the least number of bytes that kernels moved through memory for ``fired`` rules: each successor
        written and read, and its bucket read; each state read and written, and its entry written."""
        state = 8 * self._shape.words
        passes = 4 if self._shape.prepares else 2
        return fired * (passes * state + 8 * BUCKET) + self.states * (2 * state + 8 * BUCKET)

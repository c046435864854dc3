"""Sets of states that agree with the lines of a log, and transitions with their rule instances, as Python objects.

Models must be compiled with instances.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from outcrop.kernels.abi import structure
from outcrop.kernels.search import Search
from outcrop.kernels.states import SPARE_BYTES, Counts, States, with_spare_bytes

_FUNCTIONS = ("outcrop_observe_start", "outcrop_observe_lines")
_NAMING = ("outcrop_name_steps",)

#: Number of expansions after which a call returns, so that an interrupt is noticed: about a second.
_MOST_WORK = 1 << 20

_ALL = 2**64 - 1

#: The ways in which a state can agree with a line: after a step, or as the state is.
STEP, STAY = 1, 2


class Answer(IntEnum):
    """The reason why a call returned, as in native/observe.c."""

    ALL = 0
    NONE = 1
    TOO_MANY = 2
    PAUSED = 3


@dataclass(frozen=True)
class Label:
    """The rule instances that a line may mean: those from ``first`` to before ``end``, or only the listed ones."""

    first: int
    end: int
    only: tuple[int, ...] | None = None


@dataclass(frozen=True, eq=False)
class Lines:
    """Encoded lines of a log. ``labels`` and ``masks`` are indexes of the lists that the Observer was given."""

    ways: NDArray[np.uint8]
    labels: NDArray[np.uint32]
    masks: NDArray[np.uint32]
    values: States

    def __len__(self) -> int:
        return len(self.ways)


class Observer:
    """The states that agree with all lines so far. ``hidden``: instances that may fire between two lines.
    ``most_seen``: largest number of states that are kept for coverage."""

    def __init__(
        self, search: Search, instances: int, gap: int, hidden: Sequence[int], most: int, most_seen: int = 0
    ) -> None:
        self._search = search
        self._library = search.native.library_with(_FUNCTIONS)
        self._bytes = search.native.state_bytes
        self._instances = instances
        self.shown: Counts = np.zeros(instances + 1, dtype=np.uint64)
        self._hidden = self._bits(hidden)
        sizes = (most, most, most_seen)
        self._rows = [np.zeros(size * self._bytes + SPARE_BYTES, dtype=np.uint8) for size in sizes]
        self._slots = [np.zeros(max(64, 4 << size.bit_length()), dtype=np.uint64) for size in sizes]
        self._raw = structure("Observation")(
            gap=gap, hidden=self._hidden.ctypes.data, most=most, most_work=_MOST_WORK, shown=self.shown.ctypes.data
        )
        self._raw.most_seen = most_seen
        for number, each in enumerate((*self._raw.sets, self._raw.seen)):
            each.rows, each.slots = self._rows[number].ctypes.data, self._slots[number].ctypes.data
            each.slot_mask, each.generation = 63, 1  # slots of generation 0 are empty
        self.widest, self.widest_line = 0, 0
        self._base = 0  #: number of lines read by earlier calls

    def _bits(self, numbers: Sequence[int]) -> NDArray[np.uint64]:
        size = max([self._instances, 1, *(each + 1 for each in numbers)])
        flags = np.zeros(-(-size // 64) * 64, dtype=np.uint8)
        flags[list(numbers)] = 1
        return np.packbits(flags, bitorder="little").view(np.uint64)

    # --- The sets ---

    @property
    def states(self) -> States:
        """A copy of the states that agree with all lines so far."""
        number = int(self._raw.current)
        count = int(self._raw.sets[number].count)
        return self._rows[number][: count * self._bytes].reshape(count, self._bytes).copy()

    def restore(self, states: States) -> None:
        """Sets the current states, which must differ from one another."""
        number = int(self._raw.current)
        self._rows[number][: states.size] = states.reshape(-1)
        self._raw.sets[number].count = len(states)

    @property
    def seen(self) -> States:
        """A copy of the states that agree with some line."""
        count = int(self._raw.seen.count)
        return self._rows[2][: count * self._bytes].reshape(count, self._bytes).copy()

    @property
    def seen_is_full(self) -> bool:
        """Whether there were more than could be kept."""
        return bool(self._raw.seen_is_full)

    @property
    def work(self) -> int:
        """Number of states expanded so far."""
        return int(self._raw.work)

    def declare(self, labels: Sequence[Label], masks: States) -> None:
        """Sets the labels and masks to which lines refer."""
        words: list[NDArray[np.uint64]] = []
        offsets, used = [], 0
        for each in labels:
            offsets.append(_ALL if each.only is None else used)
            if each.only is not None:
                words.append(self._bits(each.only))
                used += len(words[-1])
        self._label_first = np.array([each.first for each in labels] or [0], dtype=np.uint32)
        self._label_end = np.array([each.end for each in labels] or [0], dtype=np.uint32)
        self._label_words = np.array(offsets or [0], dtype=np.uint64)
        self._words = np.concatenate(words) if words else np.zeros(1, dtype=np.uint64)
        self._masks = np.ascontiguousarray(masks)
        raw = self._raw
        raw.label_first, raw.label_end = self._label_first.ctypes.data, self._label_end.ctypes.data
        raw.label_words, raw.words = self._label_words.ctypes.data, self._words.ctypes.data
        raw.mask_rows = self._masks.ctypes.data

    def start(self, label: int) -> bool:
        """Begins with the start states whose instances a label names. Returns whether they fit."""
        fits = self._library.outcrop_observe_start(self._search.handle, ctypes.byref(self._raw), label)
        self.widest, self.widest_line, self._base = len(self.states), 0, 0
        self._raw.widest = self.widest
        return bool(fits)

    def read_in_place(self, lines: Lines) -> None:
        """Reads a first line that shows the states that were restored, without hidden steps before it."""
        gap, self._raw.gap, self._raw.widest = self._raw.gap, 0, 0
        self.read(lines)
        self._raw.gap = gap

    def read(self, lines: Lines, is_late: Callable[[], bool] = lambda: False) -> tuple[Answer, int]:
        """Reads lines. Returns the answer, and how many of them agree. After about a second, ``is_late`` may end the
        call between two lines; the answer is then PAUSED."""
        raw = self._raw
        raw.lines, raw.done = len(lines), 0
        raw.ways, raw.labels = lines.ways.ctypes.data, lines.labels.ctypes.data
        raw.masks, raw.values = lines.masks.ctypes.data, lines.values.ctypes.data
        before = int(raw.widest)
        answer = Answer.PAUSED
        while answer is Answer.PAUSED:
            answer = Answer(self._library.outcrop_observe_lines(self._search.handle, ctypes.byref(raw)))
            if answer is Answer.PAUSED and is_late():
                break
        if int(raw.widest) > before:
            self.widest, self.widest_line = int(raw.widest), self._base + int(raw.widest_line)
        self._base += int(raw.done)
        return answer, int(raw.done)


@dataclass(frozen=True, eq=False)
class Steps:
    """Transitions: each successor with the number of its state within the block, and its rule instance."""

    successors: States
    owners: NDArray[np.uint32]
    instances: NDArray[np.uint32]


class StepNamer:
    """Expands blocks of states. ``room``: largest number of successors of a call, more than a state has."""

    def __init__(self, search: Search, room: int) -> None:
        self._search = search
        self._library = search.native.library_with(_NAMING)
        width = search.native.state_bytes
        self._successors = np.zeros((room, width), dtype=np.uint8)
        self._owners = np.zeros(room, dtype=np.uint32)
        self._instances = np.zeros(room, dtype=np.uint32)
        self._raw = structure("NamedSteps")(
            room=room,
            successors=self._successors.ctypes.data,
            owners=self._owners.ctypes.data,
            instances=self._instances.ctypes.data,
        )

    def expand(self, states: States) -> tuple[int, Steps]:
        """Returns how many of the states were expanded, and their transitions. Raises MemoryError when the successors
        of a single state do not fit."""
        rows = with_spare_bytes(states)
        done = int(
            self._library.outcrop_name_steps(self._search.handle, rows.ctypes.data, len(rows), ctypes.byref(self._raw))
        )
        if not done and len(states):
            raise MemoryError("a state has too many successors")
        count = int(self._raw.count)
        return done, Steps(self._successors[:count].copy(), self._owners[:count].copy(), self._instances[:count].copy())

"""Random walks, as Python objects. Models must be compiled with coverage, which gives the rule of each successor."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from enum import IntEnum

import numpy as np

from outcrop.kernels import Counts, Search
from outcrop.kernels.abi import structure

_NONE = 2**64 - 1

_FUNCTIONS = ("outcrop_walk", "outcrop_replay_walk")

#: Number of registers of the HyperLogLog estimate, as in native/walks.c.
_REGISTERS = 1 << 12


class Ending(IntEnum):
    """The reason why a walk ended, as in native/walks.c."""

    BOUND = 0
    DEADLOCK = 1
    STATE = 2
    RULE = 3
    START = 4
    DEAD_END = 5
    STOPPED = 6


class Walked:
    """The counts of one worker's walks."""

    def __init__(self, rules: int) -> None:
        self.taken: Counts = np.zeros(rules + 1, dtype=np.uint64)
        self.registers = np.zeros(_REGISTERS, dtype=np.uint8)
        self.raw = structure("Walked")(taken=self.taken.ctypes.data, registers=self.registers.ctypes.data)

    @property
    def walks(self) -> int:
        return int(self.raw.walks)

    @property
    def steps(self) -> int:
        return int(self.raw.steps)

    @property
    def dead_ends(self) -> int:
        """Number of walks that ended in a state without a step."""
        return int(self.raw.dead_ends)


class Walks:
    """The walks of one simulation, which workers share. ``weights``: weight of each rule; 0 excludes a rule."""

    def __init__(
        self, search: Search, seed: int, most_walks: int | None, most_steps: int, weights: Sequence[int]
    ) -> None:
        self._search = search
        self._library = search.native.library_with(_FUNCTIONS)
        self._weights = np.array([*weights, 0], dtype=np.uint64)
        self._raw = structure("Walks")(
            seed=seed % 2**64,
            most_walks=_NONE if most_walks is None else most_walks,
            most_steps=most_steps,
            weights=self._weights.ctypes.data,
            next=0,
            first_wrong=_NONE,
        )

    def walk(self, worker: int, walked: Walked) -> None:
        """Takes walk after walk, until there are enough, one has a finding, or the search must stop."""
        self._library.outcrop_walk(self._search.handle, worker, ctypes.byref(self._raw), ctypes.byref(walked.raw))

    @property
    def first_wrong(self) -> int | None:
        """Number of the first walk with a finding; None if there is none."""
        number = int(self._raw.first_wrong)
        return None if number == _NONE else number

    def replay(self, number: int) -> tuple[Ending, list[bytes]]:
        """Repeats a walk. Returns its ending and its states."""
        native = self._search.native
        room = native.states(int(self._raw.most_steps) + 1)
        walked, steps = Walked(native.rule_count), ctypes.c_uint64()
        ending = Ending(
            self._library.outcrop_replay_walk(
                self._search.handle,
                number,
                ctypes.byref(self._raw),
                ctypes.byref(walked.raw),
                room.ctypes.data,
                ctypes.byref(steps),
            )
        )
        states = [] if ending is Ending.START else [row.tobytes() for row in room[: steps.value + 1]]
        return ending, states


def estimate(walked: Sequence[Walked]) -> int:
    """Returns the estimated number of different states that the walks have met (HyperLogLog, within a few percent)."""
    registers = np.max([each.registers for each in walked], axis=0).astype(np.float64)
    raw = 0.7213 / (1 + 1.079 / _REGISTERS) * _REGISTERS**2 / float(np.sum(2.0**-registers))
    empty = int(np.count_nonzero(registers == 0))
    if raw <= 2.5 * _REGISTERS and empty:
        raw = _REGISTERS * float(np.log(_REGISTERS / empty))
    return round(raw)

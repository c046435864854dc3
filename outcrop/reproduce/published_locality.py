"""Transition locality as the 2004 paper measured it, which for models with scalarsets is not as it defines it.

Its checker keeps one normal form of each orbit. The successor of a state was looked up among these before it was itself
brought into the normal form: one that is no normal form is not found, and counted as leading to a new state, hence
forwards. And each start state after the first adds a transition forwards from nowhere. So the printed figures come out;
the paper does not say so. Which states are normal forms is told in murphi_symmetry.py.

Slow, in Python; for models of up to some hundred thousand states.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from math import sqrt

import numpy as np

from outcrop.codegen.build import build
from outcrop.ir.layout import Layout
from outcrop.ir.symmetry import Encoded
from outcrop.ir.system import System
from outcrop.kernels import Search, Settings
from outcrop.reproduce.murphi_symmetry import MurphiNormalForm

_BUDGET = 64 << 20
#: Normal forms that are remembered.
_MOST_KNOWN = 1_000_000


class TooLate(Exception):
    """The time was up before all states were visited."""


class PublishedLocality:
    """``states`` as Murphi counts them; ``of`` gives E{Delta(k)} and sigma(k)."""

    def __init__(self, system: System, deadline: float) -> None:
        self._layout = Layout(system)
        self._normal_form = MurphiNormalForm(system)
        self._known: dict[bytes, bytes] = {}
        self._deadline = deadline
        self._sums: defaultdict[int, float] = defaultdict(float)
        self._squares: defaultdict[int, float] = defaultdict(float)
        native, emitted = build(system, symmetry=False)
        with native.search(Settings(budget=_BUDGET)) as search:
            levels, successors = self._explore(search)
        for state, found in successors.items():
            self._measure(levels, state, found)
        self.states = len(levels)
        self._count = self.states + emitted.start_count - 1
        self._sums[1] += emitted.start_count - 1
        self._squares[1] += emitted.start_count - 1

    def of(self, k: int) -> tuple[float, float]:
        mean = self._sums[k] / self._count
        return mean, sqrt(max(0.0, self._squares[k] / self._count - mean * mean))

    def _explore(self, search: Search) -> tuple[dict[bytes, int], dict[bytes, list[bytes]]]:
        """The level of each normal form, and the successors of each that differ from it, as the rules left them."""
        search.start()
        starts = search.read_block(0, search.finish_level())
        levels = {self._normal(row.tobytes()): 0 for row in starts}
        pending = list(levels)
        successors: dict[bytes, list[bytes]] = {}
        for state in pending:
            if time.monotonic() > self._deadline:
                raise TooLate
            rows, _ = search.expand_block(0, np.frombuffer(state, dtype=np.uint8).reshape(1, -1).copy())
            successors[state] = [each for each in (row.tobytes() for row in rows) if each != state]
            for each in dict.fromkeys(successors[state]):
                normal = self._normal(each)
                if normal not in levels:
                    levels[normal] = levels[state] + 1
                    pending.append(normal)
        return levels, successors

    def _measure(self, levels: dict[bytes, int], state: bytes, successors: list[bytes]) -> None:
        level = levels[state]
        # A normal form of a later level was not there yet when it was looked up.
        targets = (min(levels.get(each, level + 1), level + 1) for each in successors)
        for k, count in Counter(target - level for target in targets).items():
            part = count / len(successors)
            self._sums[k] += part
            self._squares[k] += part * part

    def _normal(self, packed: bytes) -> bytes:
        found = self._known.get(packed)
        if found is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            found = self._known[packed] = self._pack(self._normal_form(self._unpack(packed)))
        return found

    def _unpack(self, packed: bytes) -> Encoded:
        whole = int.from_bytes(packed, "little")
        return tuple(whole >> bit & (1 << bits) - 1 for bit, bits, _ in self._layout.leaves)

    def _pack(self, state: Encoded) -> bytes:
        whole = 0
        for (bit, _, _), value in zip(self._layout.leaves, state, strict=True):
            whole |= value << bit
        return whole.to_bytes(self._layout.byte_count, "little")

"""Transition locality as the 2004 paper measured it, which for models with scalarsets differs from its definition.

Its checker stores one normal form of each orbit. The successor of a state was looked up among these before it was
itself converted to the normal form. A successor that is not a normal form is not found, and counts as leading to a new
state, hence forwards. In addition, each start state after the first adds a transition forwards from nowhere. These
assumptions give the printed figures; the paper does not state them. murphi_symmetry.py defines the normal forms.

Slow, in Python; for models of up to some hundred thousand states.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from math import sqrt

import numpy as np

from outcrop.codegen.c import emit
from outcrop.codegen.compiler import compile_model
from outcrop.ir.system import System
from outcrop.kernels import Native, Search, Settings
from outcrop.reproduce.murphi_symmetry import normal_form_source

_BUDGET = 64 << 20
#: Largest number of normal forms that are cached.
_MOST_KNOWN = 1_000_000
_DECLARATIONS = "void outcrop_murphi_normal_forms(uint8_t *states, uint64_t count);"


class BudgetSpent(Exception):
    """Raised when the time is up before all states were visited."""


def compile_with_normal_form(system: System) -> Native:
    """Compiles the model without normalising its states."""
    emitted = emit(system, symmetry=False, normalise=False)
    return compile_model(emitted.source + "\n" + normal_form_source(system))


class NormalForm:
    """Function that returns Murphi's normal forms of packed states."""

    def __init__(self, native: Native) -> None:
        self._normal_forms = native.library_declaring(_DECLARATIONS).outcrop_murphi_normal_forms
        self._known: dict[bytes, bytes] = {}

    def __call__(self, states: list[bytes]) -> list[bytes]:
        """Returns the normal form of each state."""
        known = self._known
        if len(known) >= _MOST_KNOWN:
            known.clear()
        new = list({each for each in states if each not in known})
        if new:
            rows = np.frombuffer(b"".join(new), dtype=np.uint8).reshape(len(new), -1).copy()
            self._normal_forms(rows.ctypes.data, len(rows))
            known.update(zip(new, (row.tobytes() for row in rows), strict=True))
        return [known[each] for each in states]


class PublishedLocality:
    """The measured locality. ``states`` is the number that Murphi counts; ``of`` returns E{Delta(k)} and sigma(k)."""

    def __init__(self, system: System, deadline: float) -> None:
        self._deadline = deadline
        self._sums: defaultdict[int, float] = defaultdict(float)
        self._squares: defaultdict[int, float] = defaultdict(float)
        native = compile_with_normal_form(system)
        self._normal = NormalForm(native)
        with native.search(Settings(budget=_BUDGET)) as search:
            levels, successors = self._explore(search)
        for state, found in successors.items():
            self._measure(levels, state, found)
        self.states = len(levels)
        starts = sum(start.instance_count for start in system.start_states)
        self.transitions = sum(map(len, successors.values()))  #: without those from a state to itself
        self._count = self.states + starts - 1
        self._sums[1] += starts - 1
        self._squares[1] += starts - 1

    def of(self, k: int) -> tuple[float, float]:
        mean = self._sums[k] / self._count
        return mean, sqrt(max(0.0, self._squares[k] / self._count - mean * mean))

    def _explore(self, search: Search) -> tuple[dict[bytes, int], dict[bytes, list[bytes]]]:
        """Returns the level of each normal form, and its successors that differ from it, as the rules left them."""
        search.start()
        starts = search.read_block(0, search.finish_level())
        levels = dict.fromkeys(self._normal([row.tobytes() for row in starts]), 0)
        pending = list(levels)
        successors: dict[bytes, list[bytes]] = {}
        for state in pending:
            if time.monotonic() > self._deadline:
                raise BudgetSpent
            rows, _ = search.expand_block(0, np.frombuffer(state, dtype=np.uint8).reshape(1, -1).copy())
            found = successors[state] = [each for each in (row.tobytes() for row in rows) if each != state]
            for normal in self._normal(found):
                if normal not in levels:
                    levels[normal] = levels[state] + 1
                    pending.append(normal)
        return levels, successors

    def _measure(self, levels: dict[bytes, int], state: bytes, successors: list[bytes]) -> None:
        level = levels[state]
        # A normal form of a later level was not yet stored when it was looked up.
        targets = (min(levels.get(each, level + 1), level + 1) for each in successors)
        for k, count in Counter(target - level for target in targets).items():
            part = count / len(successors)
            self._sums[k] += part
            self._squares[k] += part * part

"""The states after the first line of a log that begins in the middle of a run.

*reachable*: the line shows any reachable state or, if it names a rule, follows a step of it from any reachable state.
*any*: the line shows any state at all that agrees with its values, whatever rule it names.
"""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from outcrop.ir.interpreter import Interpreter
from outcrop.ir.layout import Layout, encode
from outcrop.ir.system import System
from outcrop.ir.types import Multiset, Real, Simple
from outcrop.kernels import Native
from outcrop.kernels.observe import Label
from outcrop.kernels.states import States
from outcrop.validate.reachable import Block, reachable

#: Number of states that are kept for the explanation of a line that no state agrees with.
_MOST_NEAR = 1000


class Uncertain(Exception):
    """Raised when the states that a log may begin with cannot be listed. The text is the reason."""


class Beginning:
    """The states that agree with a first line: the bits of ``mask`` are those of ``values``."""

    def __init__(self, system: System, mask: States, values: States, most: int) -> None:
        self._system = system
        self._mask, self._values = mask, values
        self._most = most
        self.possible = 0  #: number of states that were looked at
        self.fired: list[NDArray[np.uint32]] = []  #: instances of the steps that lead to the states that agree
        self.near: States = values[None][:0]  #: some of them, those with the fewest differences first

    # --- Reachable states ---

    def reachable(self, native: Native, label: Label | None) -> States:
        """Returns the reachable states that agree, and with a label those to which one of its steps leads."""
        wanted = None if label is None else np.array(label.only or range(label.first, label.end), dtype=np.uint32)
        found: list[States] = []
        try:
            for blocks in reachable(native):
                for block in blocks:
                    found.append(self._agreeing(block, wanted))
                    self.possible += len(block.new)
                if sum(map(len, found)) > self._most:
                    found = [self._distinct(found)]
        except MemoryError:
            raise Uncertain(f"after {self.possible:,} reachable states there is no memory for more") from None
        return self._distinct(found)

    def _agreeing(self, block: Block, wanted: NDArray[np.uint32] | None) -> States:
        """Returns the states of a block that agree, and keeps the nearest of its new ones."""
        differing = np.count_nonzero((block.new ^ self._values) & self._mask, axis=1)
        if wanted is None:
            rows = np.concatenate([self.near, block.new[np.argsort(differing, kind="stable")[:_MOST_NEAR]]])
            order = np.argsort(np.count_nonzero((rows ^ self._values) & self._mask, axis=1), kind="stable")
            self.near = rows[order[:_MOST_NEAR]]
            agreeing: States = block.new[differing == 0]
            return agreeing
        self.near = np.concatenate([self.near, block.new])[:_MOST_NEAR]
        if block.steps is None:
            return block.new[:0]
        after = block.steps.successors
        shows = np.count_nonzero((after ^ self._values) & self._mask, axis=1) == 0
        agrees = np.isin(block.steps.instances, wanted) & shows
        self.fired.append(block.steps.instances[agrees])
        meant: States = after[agrees]
        return meant

    def _distinct(self, found: list[States]) -> States:
        states = np.unique(np.concatenate(found), axis=0)
        if len(states) > self._most:
            raise self._too_many()
        return states

    # --- Any states ---

    def any(self) -> States:
        """Returns all states that agree and satisfy the assumptions, reachable or not."""
        layout = Layout(self._system)
        mask, values = (int.from_bytes(each.tobytes(), "little") for each in (self._mask, self._values))
        open_leaves = [each for each in layout.leaves if not mask >> each[0] & 1]
        self._refuse_endless(mask, layout)
        if prod(kind.cardinality + 1 for _, _, kind in open_leaves) > self._most:
            raise self._too_many()
        choices = [[encode(kind, leaf) << bit for leaf in _values(kind)] for bit, _, kind in open_leaves]
        states = [(values | sum(bits)).to_bytes(layout.byte_count, "little") for bits in product(*choices)]
        interpreter = Interpreter(self._system, symmetry=False)
        kept = [each for each in states if interpreter.check(layout.unpack(each)).is_kept]
        return np.frombuffer(b"".join(kept), dtype=np.uint8).reshape(len(kept), layout.byte_count)

    def _refuse_endless(self, mask: int, layout: Layout) -> None:
        """Raises Uncertain for a variable that the line does not show, and whose values cannot be listed."""
        for variable in self._system.variables:
            leaves = layout.leaves[variable.offset : variable.offset + variable.type.leaf_count]
            is_open = any(not mask >> bit & 1 for bit, _, _ in leaves)
            if is_open and any(isinstance(part, Multiset | Real) for part in variable.type.parts()):
                raise Uncertain(
                    f"the first line does not show '{variable.name}', whose values are too many to try. Show it, or "
                    "begin with --start reachable"
                )

    def _too_many(self) -> Uncertain:
        return Uncertain(
            f"more than {self._most:,} states agree with the first line. Show more of the state in it, or raise --width"
        )


def _values(kind: Simple) -> list[int | None]:
    return [None, *range(kind.low, kind.high + 1)]

"""Conditions and frames for the interpreter, with which rules, properties and automata are evaluated in a state."""

from __future__ import annotations

from collections.abc import Iterator

from outcrop.ir.execute import Executor
from outcrop.ir.faults import Abandoned
from outcrop.ir.nodes import Expression
from outcrop.ir.places import Evaluate, Store, blank_frame
from outcrop.ir.system import Instantiable
from outcrop.ir.walk import writes_state


class Instances:
    """The frames of the instances of a rule, startstate or property."""

    def __init__(self, of: Instantiable, executor: Executor) -> None:
        self._of = of
        self._blank = blank_frame(of.frame)
        self._positions = [executor.offsets[parameter.local] for parameter in of.parameters]

    def frame(self, arguments: tuple[int, ...]) -> Store:
        frame = self._blank.copy()
        for position, value in zip(self._positions, arguments, strict=True):
            frame[position] = value
        return frame

    def __iter__(self) -> Iterator[tuple[tuple[int, ...], Store]]:
        for arguments in self._of.instances():
            yield arguments, self.frame(arguments)


class Condition:
    """A compiled condition that never changes the state: it works on a copy if it calls a function that writes."""

    def __init__(self, node: Expression, executor: Executor) -> None:
        self._evaluate: Evaluate = executor.defined(node)
        self._needs_copy = writes_state(node)

    def __call__(self, state: Store, frame: Store) -> bool:
        """Returns the truth value. A false ``assume`` statement inside makes the condition false."""
        try:
            return bool(self._evaluate(state.copy() if self._needs_copy else state, frame))
        except Abandoned:
            return False

"""Models executed by CPython: for a debugger, and for property-based tests.

>>> from outcrop.testing import Machine
>>> from outcrop.model import Model, Range, rule, when
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from outcrop.lang.python.execution import Execution, Step
from outcrop.lang.python.lowering import executed_class
from outcrop.model import Model
from outcrop.options import LoadOptions

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


@dataclass(frozen=True)
class Run:
    """A run of a model: its first state, and the steps that were taken."""

    start: Step
    steps: tuple[Step, ...]

    @property
    def states(self) -> list[Any]:
        """The states of the run, as objects with the fields of the model."""
        return [each.state for each in (self.start, *self.steps)]


class Machine:
    """A model whose methods CPython executes: breakpoints and prints work."""

    def __init__(self, cls: type[Model], **constants: object) -> None:
        texts = {name: repr(value) for name, value in constants.items()}
        self._execution: Execution = executed_class(cls, LoadOptions(texts))[1]

    def start_states(self) -> list[Step]:
        """Returns every start state."""
        return list(self._execution.start_states())

    def successors(self, state: Any) -> list[Step]:
        """Returns a step for each enabled rule, its arguments and its choices."""
        return list(self._execution.successors(state))

    def violated(self, state: Any) -> Iterator[str]:
        """Yields the names of the invariants without parameters that a state violates."""
        for name, method in self._execution.methods.items():
            is_invariant = method.outcrop_role.name == "invariant" and not self._execution.parameters[name]
            if is_invariant and not self._execution.holds(name, state):
                yield name


def runs(cls: type[Model], *, most_steps: int = 20, **constants: object) -> SearchStrategy[Run]:
    """Returns a Hypothesis strategy that draws runs of a model: ``@given(runs(Lock))``."""
    from hypothesis import strategies  # an optional dependency

    machine = Machine(cls, **constants)

    @strategies.composite
    def draw_run(draw: Any) -> Run:
        start = draw(strategies.sampled_from(machine.start_states()))
        steps: list[Step] = []
        state = start.state
        for _ in range(draw(strategies.integers(0, most_steps))):
            possible = machine.successors(state) if state is not None else []
            if not possible:
                break
            steps.append(draw(strategies.sampled_from(possible)))
            state = steps[-1].state
        return Run(start, tuple(steps))

    return draw_run()

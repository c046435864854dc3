"""A trace of a model that the user builds step by step. This module prints nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from outcrop.errors import UsageError
from outcrop.explore.saved import matches, saved_states
from outcrop.explore.trail import follow, is_trail
from outcrop.ir.interpreter import Firing, Interpreter
from outcrop.ir.layout import State
from outcrop.ir.system import System
from outcrop.result import Step, Trace
from outcrop.trace.render import changes, whole
from outcrop.trace.replay import replayed
from outcrop.trace.values import items


@dataclass(frozen=True)
class Choice:
    """A start state or rule instance that can be taken next."""

    label: str
    firing: Firing

    @property
    def failure(self) -> str:
        """Error of the choice; empty if it succeeds."""
        return "" if self.firing.fault is None else self.firing.fault.message


class Session:
    """The trace so far in ``steps``, which is empty before a start state is chosen."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.interpreter = Interpreter(system, symmetry=False)
        self.steps: list[Step] = []
        self._undone: list[Step] = []  #: undone steps, the latest last
        self._items = items(system)
        self._choices: list[Choice] | None = None

    # --- Current position------------------------------------------------------------------------------------

    @property
    def state(self) -> State | None:
        return self.steps[-1].state if self.steps else None

    def choices(self) -> list[Choice]:
        """Returns the start states, or the enabled rule instances of the best priority, without those that assumptions
        drop."""
        if self._choices is None:
            state = self.state
            firings = self.interpreter.start_states() if state is None else self.interpreter.successors(state)
            self._choices = [Choice(firing.label, firing) for firing in firings if self._is_kept(firing)]
        return self._choices

    def _is_kept(self, firing: Firing) -> bool:
        if firing.is_abandoned:
            return False
        return firing.successor is None or self.interpreter.check(firing.successor).is_kept

    def wrong(self) -> str:
        """Returns the violated property or runtime error in the current state; empty if there is none."""
        if self.state is None:
            return ""
        failure = self.interpreter.check(self.state).failure
        if failure is None:
            return ""
        if failure.fault is not None:
            return failure.fault.message
        return f'{failure.subject.kind} "{failure.label}" is false'

    def differences(self) -> Iterator[str]:
        """Returns the changes of the last step."""
        if len(self.steps) < 2:
            return iter(())
        return changes(self._items, self.steps[-2].state, self.steps[-1].state)

    def values(self, part: str = "") -> Iterator[str]:
        """Returns the current state, one line per leaf, for leaves with ``part`` in their names."""
        if self.state is None:
            return iter(())
        wanted = [item for item in self._items if part.lower() in item.name.lower()]
        return whole(wanted, self.state)

    def trace(self) -> Trace:
        return Trace(self.system, tuple(self.steps))

    # --- Movement ------- -----------------------------------------------------------------------------------

    def find(self, text: str) -> Choice:
        """Returns the choice with a number, counted from 1, or the only one whose label contains a text."""
        choices = self.choices()
        if text.isdigit():
            if not 1 <= int(text) <= len(choices):
                raise UsageError(f"there is no choice {text}; the last one is {len(choices):,}")
            return choices[int(text) - 1]
        exact = [each for each in choices if each.label.lower() == text.lower()]
        found = exact or [each for each in choices if text.lower() in each.label.lower()]
        if len(found) == 1:
            return found[0]
        if found:
            raise UsageError(f"'{text}' fits {len(found):,} choices; give the number of one")
        raise UsageError(f"'{text}' is neither a command nor part of a choice; 'help' lists commands")

    def take(self, choice: Choice) -> Step:
        """Takes a choice. Raises UsageError if it fails and so leads to no state."""
        firing = choice.firing
        if firing.successor is None:
            raise UsageError(f"this choice fails and leads to no state: {choice.failure}")
        step = replayed(self.interpreter, firing, self.state)
        self._go([*self.steps, step], forget=True)
        return step

    def back(self, count: int = 1) -> int:
        """Undoes some steps. Returns how many there were to undo."""
        count = min(count, len(self.steps))
        for _ in range(count):
            self._undone.append(self.steps.pop())
        self._choices = None
        return count

    def forward(self, count: int = 1) -> int:
        """Redoes undone steps. Returns how many there were to redo."""
        count = min(count, len(self._undone))
        for _ in range(count):
            self.steps.append(self._undone.pop())
        self._choices = None
        return count

    def jump(self, number: int) -> None:
        """Goes to a step of the trace, including undone ones; the start state is step 0."""
        last = len(self.steps) + len(self._undone) - 1
        if not 0 <= number <= last:
            raise UsageError(f"there is no step {number}; " + (f"the last is {last}" if last >= 0 else "there is none"))
        self.back(max(0, len(self.steps) - 1 - number))
        self.forward(max(0, number + 1 - len(self.steps)))

    def restart(self) -> None:
        """Goes back to the choice of a start state, or to the only one."""
        self.steps, self._undone, self._choices = [], [], None
        choices = self.choices()
        if len(choices) == 1 and choices[0].firing.successor is not None:
            self.take(choices[0])

    def load(self, document: Any) -> int:
        """Replaces the trace by a saved one. Returns its number of states."""
        before = self.steps, self._undone
        self.steps, self._undone, self._choices = [], [], None
        try:
            if is_trail(document):
                self.steps = follow(self.interpreter, document)
                return len(self.steps)
            for number, state in enumerate(saved_states(document)):
                self.take(self._saved_choice(number, state))
        except UsageError:
            self._go(before[0], forget=False)
            self._undone = before[1]
            raise
        return len(self.steps)

    def _saved_choice(self, number: int, saved: dict[str, Any]) -> Choice:
        fitting = [
            each
            for each in self.choices()
            if each.firing.successor is not None and matches(self.system, each.firing.successor, saved)
        ]
        if not fitting:
            raise UsageError(
                f"the trace does not fit the model: no rule leads to its state {number}; load it with the model, the "
                "constants and the options of the check that saved it"
            )
        rule = saved.get("#meta", {}).get("rule")
        return next((each for each in fitting if each.label == rule), fitting[0])

    def _go(self, steps: list[Step], forget: bool) -> None:
        self.steps = steps
        self._choices = None
        if forget:
            self._undone = []

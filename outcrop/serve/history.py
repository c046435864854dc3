"""The history of an exploration: a tree of states, since going back and taking another rule keeps what was there."""

from __future__ import annotations

from dataclasses import dataclass, field

from outcrop.errors import UsageError
from outcrop.explore.session import Choice, Session
from outcrop.ir.layout import State
from outcrop.ir.system import System
from outcrop.result import Step, Trace

#: Largest number of states in a history. None is dropped, because others descend from it.
MOST_NODES = 20_000


@dataclass
class Moment:
    """A state in the history, and the step that led to it. The root, number 0, is before any start state."""

    number: int
    parent: int | None
    step: Step | None
    wrong: str = ""
    children: dict[str, int] = field(default_factory=dict)  #: by the label of the step
    choices: list[Choice] | None = None


class History:
    """Moments by number. Every number that was given out stays valid."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.moments = [Moment(0, None, None)]

    def at(self, number: int) -> Moment:
        """Returns a moment. Raises UsageError where there is none with this number."""
        if not 0 <= number < len(self.moments):
            raise UsageError(f"There is no moment {number} in this history. Reload the page.")
        return self.moments[number]

    def path(self, number: int) -> list[Moment]:
        """Returns the moments from the first state to one, the root left out."""
        found: list[Moment] = []
        moment = self.at(number)
        while moment.parent is not None:
            found.append(moment)
            moment = self.moments[moment.parent]
        return found[::-1]

    def trace(self, number: int) -> Trace:
        """Returns the run that leads to a moment."""
        return Trace(self.system, tuple(each.step for each in self.path(number) if each.step is not None))

    def session(self, number: int) -> Session:
        """Returns a session that stands at a moment."""
        session = Session(self.system)
        session.steps = list(self.trace(number).steps)
        return session

    def choices(self, number: int) -> list[Choice]:
        """Returns what can be done at a moment."""
        moment = self.at(number)
        if moment.choices is None:
            moment.choices = self.session(number).choices()
        return moment.choices

    def take(self, number: int, choice: Choice) -> int:
        """Returns the moment after a choice, which may have been taken before."""
        moment = self.at(number)
        known = moment.children.get(choice.label)
        if known is not None:
            return known
        session = self.session(number)
        step = session.take(choice)
        return self.add(number, step, session.wrong())

    def add(self, number: int, step: Step, wrong: str) -> int:
        """Returns the moment that a step leads to."""
        moment = self.at(number)
        if step.label in moment.children:
            return moment.children[step.label]
        if len(self.moments) >= MOST_NODES:
            raise UsageError(f"The history is full at {MOST_NODES:,} states. Start again with a new server.")
        made = Moment(len(self.moments), number, step, wrong)
        self.moments.append(made)
        moment.children[step.label] = made.number
        return made.number

    def state(self, number: int) -> State | None:
        """Returns the state of a moment, None for the root."""
        step = self.at(number).step
        return None if step is None else step.state

"""The easiest of all shortest runs: the one with the fewest switches between the lanes of its chart.

A switch is a step in other lanes than the step before it. Steps in the shared lane, such as those of a server without a
lane, belong to the story of the lanes around them: they count only among runs that are equally good without them.

The states on shortest runs are known, level by level. A dynamic program goes forward over them: for each state, and for
the lanes of the steps that lead there, it keeps the run with the fewest switches. Among equally good runs the first in
the order of the model's rules counts, so that the trace depends on the model alone.

Under symmetry the known states are representatives. The program follows real states, because lanes are real values; of
each orbit of start states it takes the first, since a renamed run has as many switches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from outcrop.ir.interpreter import Firing, Interpreter
from outcrop.ir.layout import Layout, State
from outcrop.ir.system import Rule, System
from outcrop.outcome import ShortestRuns
from outcrop.result import Argument, Step, Violation
from outcrop.trace.document import model_document
from outcrop.trace.itf import state_values
from outcrop.trace.replay import arguments_of
from outcrop.trace.steps import StepReader

#: Largest number of states that are expanded and of steps whose lanes follow from messages and changes.
_MOST_WORK = 25_000

#: The lanes that take part in a step.
LaneSet = tuple[int, ...]


class TooMany(Exception):
    """Raised where the shortest runs are too many to compare."""


class StepLanes:
    """Finds the lanes of steps, as the chart of the model shows them."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._reader = StepReader(model_document(system))
        self._named: dict[tuple[object, ...], LaneSet] = {}
        self.shared = self._reader.shared
        self.inferred = 0  #: number of steps whose rule names no lane

    def of_firing(self, before: State, firing: Firing) -> LaneSet:
        """Returns the lanes of a firing that leads to a state, or that fails."""
        rule = firing.origin, firing.arguments
        if rule not in self._named:
            processes = firing.origin.processes if isinstance(firing.origin, Rule) else ()
            self._named[rule] = self._reader.named(_meta(arguments_of(firing), processes))
        return self._named[rule] or self._inferred(before, firing.successor)

    def of_step(self, before: State, step: Step) -> LaneSet:
        """Returns the lanes of a step of a trace."""
        return self._reader.named(_meta(step.arguments, step.processes)) or self._inferred(before, step.state)

    def _inferred(self, before: State, after: State | None) -> LaneSet:
        self.inferred += 1
        states = [state_values(self._system, each) for each in (before, after or before)]
        return self._reader.read({}, *states).actors or (self.shared,)


def _meta(arguments: Sequence[Argument], processes: Sequence[str]) -> dict[str, Any]:
    return {"arguments": [asdict(each) for each in arguments], "processes": list(processes)}


@dataclass(frozen=True)
class Switches:
    """The switches of a run so far. ``owned``: lanes of the last step outside the shared lane; ``lanes``: those of the
    last step. None before the first one."""

    count: tuple[int, int] = (0, 0)  #: outside the shared lane, and in all lanes
    owned: LaneSet | None = None
    lanes: LaneSet | None = None

    def then(self, lanes: LaneSet, shared: int) -> Switches:
        """Returns the switches after one more step."""
        owned, all_lanes = self.count
        all_lanes += _differ(self.lanes, lanes)
        if lanes == (shared,):
            return Switches((owned, all_lanes), self.owned, lanes)
        return Switches((owned + _differ(self.owned, lanes), all_lanes), lanes, lanes)


def _differ(before: LaneSet | None, lanes: LaneSet) -> bool:
    return before is not None and not set(before) & set(lanes)


@dataclass
class _Run:
    """A run by its last firing. ``place``: its place among the runs of its length in the order of the model's rules, as
    that of its first steps and the number of its last firing."""

    switches: Switches
    firing: Firing
    place: tuple[int, int]
    earlier: _Run | None = None

    @property
    def rank(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The key by which runs are compared; the best run has the least."""
        return self.switches.count, self.place

    def firings(self) -> list[Firing]:
        run: _Run | None = self
        found = []
        while run is not None:
            found.append(run.firing)
            run = run.earlier
        return found[::-1]


#: The best runs to each state, by the lanes of their last steps.
_Level = dict[State, dict[tuple[LaneSet | None, LaneSet | None], _Run]]


class Easiest:
    """Chooses among the shortest runs of one model. ``canonical`` maps a state to its representative."""

    def __init__(self, system: System, canonical: Callable[[State], State]) -> None:
        self._interpreter = Interpreter(system, symmetry=False)
        self._layout = Layout(system)
        self._canonical = canonical
        self._representatives: dict[State, bytes] = {}
        self._lanes = StepLanes(system)
        self._expanded = 0

    def run(self, shortest: ShortestRuns, fails: bool) -> list[Firing]:
        """Returns the firings of the run with the fewest switches. ``fails``: a rule fails in its last state, and that
        firing counts as a step. Raises TooMany where they cannot be compared with bounded work."""
        self._expanded = self._lanes.inferred = 0
        level = self._start(shortest[0])
        for members in shortest[1:]:
            level = self._next(level, members)
            _number(level)
        found = [each for state, runs in level.items() for each in self._ended(state, runs.values(), fails)]
        if not found:
            raise TooMany
        best = min(found, key=lambda each: each.rank)
        return best.firings()[:-1] if fails else best.firings()

    def end(self, violation: Violation) -> bytes:
        """Returns the representative of the last state of a trace, as the model packs it."""
        assert violation.trace is not None
        return self._representative(violation.trace.steps[-1].state)

    def _start(self, members: set[bytes]) -> _Level:
        level: _Level = {}
        taken: set[bytes] = set()
        for number, firing in enumerate(self._interpreter.start_states()):
            state = firing.successor
            if state is None or (orbit := self._representative(state)) in taken:
                continue
            if orbit in members:
                taken.add(orbit)
                level[state] = {(None, None): _Run(Switches(), firing, (number, 0))}
        return level

    def _next(self, level: _Level, members: set[bytes]) -> _Level:
        """Returns the best runs to the states of the next level."""
        following: _Level = {}
        for state, runs in level.items():
            for number, firing in enumerate(self._firings(state)):
                after = firing.successor
                if after is None or self._representative(after) not in members:
                    continue
                known = following.setdefault(after, {})
                for run in self._longer(state, runs.values(), firing, number):
                    key = run.switches.owned, run.switches.lanes
                    if key not in known or run.rank < known[key].rank:
                        known[key] = run
        return following

    def _ended(self, state: State, runs: Iterable[_Run], fails: bool) -> Iterator[_Run]:
        """Yields the runs with the firing that fails, if one does."""
        if not fails:
            yield from runs
            return
        failing = next((each for each in self._firings(state) if each.fault is not None), None)
        if failing is not None:
            yield from self._longer(state, runs, failing, 0)

    def _longer(self, state: State, runs: Iterable[_Run], firing: Firing, number: int) -> Iterator[_Run]:
        """Yields the runs to a state with one more step."""
        lanes, shared = self._lanes.of_firing(state, firing), self._lanes.shared
        return (_Run(run.switches.then(lanes, shared), firing, (run.place[0], number), run) for run in runs)

    def _firings(self, state: State) -> Iterator[Firing]:
        self._expanded += 1
        if self._expanded + self._lanes.inferred > _MOST_WORK:
            raise TooMany
        return self._interpreter.successors(state)

    def _representative(self, state: State) -> bytes:
        if state not in self._representatives:
            self._representatives[state] = self._layout.pack(self._canonical(state))
        return self._representatives[state]


def _number(level: _Level) -> None:
    """Sets the place of each run of a level to its number in their order."""
    runs = sorted((run for found in level.values() for run in found.values()), key=lambda run: run.place)
    for number, run in enumerate(runs):
        run.place = (number, 0)

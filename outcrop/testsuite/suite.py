"""The making of a test suite: a breadth-first search for goals, and a greedy choice among the shortest runs to them.

Each goal is reached by a shortest run, and a run reaches all goals on its way. The run with the most goals that no
chosen run has is chosen next, a shorter one first. A run that the others have made redundant is dropped in the end.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outcrop.codegen.c import emit
from outcrop.codegen.compiler import compile_model
from outcrop.errors import Undecided, UsageError
from outcrop.ir.interpreter import Firing, Interpreter
from outcrop.ir.layout import Layout, State
from outcrop.ir.system import System
from outcrop.kernels import Settings
from outcrop.kernels.observe import StepNamer
from outcrop.kernels.states import States
from outcrop.result import Step, Trace
from outcrop.testsuite.goals import Goals, goals_of
from outcrop.trace.replay import replayed, step_of

Goal = tuple[int, int]

#: Number of states expanded at a time, and room for their successors.
_BLOCK, _ROOM = 4096, 1 << 18
#: Largest number of goals, each of which may need a run.
_MOST_GOALS = 20_000
#: Memory for visited states, in bytes; it is used as far as needed.
_BUDGET = 4 << 30


@dataclass(frozen=True)
class Edge:
    """A transition that reaches a goal first: the number of its state, its instance, and the state after it."""

    source: int
    instance: int
    after: bytes


@dataclass(frozen=True)
class Suite:
    """The chosen runs, shortest first, and the goals."""

    system: System
    cover: str
    runs: tuple[Trace, ...]
    covered: int  #: number of goals that the runs reach
    missed: tuple[str, ...]  #: goals that no state reaches, or none that was visited
    states: int
    is_complete: bool  #: whether all reachable states were visited


class _Visited:
    """The visited states in the order of their discovery, each with the transition that found it."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._rows: list[States] = []
        self._parents: list[NDArray[np.int64]] = []
        self._instances: list[NDArray[np.uint32]] = []
        self.count = 0

    def add(self, rows: States, parents: NDArray[np.int64], instances: NDArray[np.uint32]) -> None:
        self._rows.append(rows)
        self._parents.append(parents)
        self._instances.append(instances)
        self.count += len(rows)

    def joined(self) -> tuple[States, NDArray[np.int64], NDArray[np.uint32]]:
        return np.concatenate(self._rows), np.concatenate(self._parents), np.concatenate(self._instances)


def make_suite(system: System, cover: str, most_states: int) -> Suite:
    """Returns a suite for the goals that ``cover`` names."""
    goals = goals_of(system, cover)
    emitted = emit(system, symmetry=False, instances=True)
    native = compile_model(emitted.source, notes=emitted.notes, groups=emitted.groups, kernels=())
    visited, edges = _Visited(native.state_bytes), dict[Goal, Edge]()
    with native.search(Settings(budget=_BUDGET)) as search:
        search.start()
        size = search.finish_level()
        if not size:
            raise Undecided("the model has no start state, and therefore no run")
        level = search.read_block(0, size)
        visited.add(level, np.full(size, -1, dtype=np.int64), np.zeros(size, dtype=np.uint32))
        namer = StepNamer(search, _ROOM)
        begin = 0
        while len(level) and not _has_all(goals, edges) and visited.count < most_states:
            level, begin = _expand(search.insert_block, namer, goals, edges, visited, level, begin)
        is_complete = not len(level)
    return _chosen(system, cover, goals, edges, visited, is_complete)


def _has_all(goals: Goals, edges: dict[Goal, Edge]) -> bool:
    return goals.all_keys is not None and len(edges) == len(goals.all_keys)


def _expand(
    insert: Callable[[int, States], NDArray[np.bool_]],
    namer: StepNamer,
    goals: Goals,
    edges: dict[Goal, Edge],
    visited: _Visited,
    level: States,
    begin: int,
) -> tuple[States, int]:
    """Expands a level, whose first state has the number ``begin``. Returns the next one and its first number."""
    found: list[States] = []
    first, at = visited.count, 0
    while at < len(level):
        block = level[at : at + _BLOCK]
        done, steps = namer.expand(block)
        before = block[steps.owners]
        for column, keys in enumerate(goals.columns(before, steps.instances, steps.successors)):
            for key, number in zip(*(each.tolist() for each in np.unique(keys, return_index=True)), strict=True):
                if key >= 0 and (column, key) not in edges:
                    edges[column, key] = Edge(
                        begin + at + int(steps.owners[number]),
                        int(steps.instances[number]),
                        steps.successors[number].tobytes(),
                    )
        if len(edges) > _MOST_GOALS:
            raise UsageError(f"there are more than {_MOST_GOALS:,} goals; cover fewer, with edges:VARIABLE or rules")
        is_new = insert(0, steps.successors)
        if len(is_new) < len(steps.successors):
            raise MemoryError("out of memory; visit fewer states with --states")
        new = steps.successors[is_new]
        found.append(new)
        visited.add(new, begin + at + steps.owners[is_new].astype(np.int64), steps.instances[is_new])
        at += done
    return np.concatenate(found) if found else level[:0], first


# --- The choice ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Run:
    """A run as packed states and instances; the first instance is none."""

    states: tuple[bytes, ...]
    instances: tuple[int, ...]
    goals: frozenset[Goal]


def _chosen(
    system: System, cover: str, goals: Goals, edges: dict[Goal, Edge], visited: _Visited, is_complete: bool
) -> Suite:
    rows, parents, instances = visited.joined()
    ends = dict.fromkeys(edges.values())
    candidates = [_run(goals, edge, rows, parents, instances) for edge in ends]
    runs = sorted(_without_redundant(_greedy(candidates)), key=lambda run: len(run.states))
    names = {goals.name(*key) for key in (goals.all_keys or set()) - edges.keys()}
    replay = _Replay(system)
    return Suite(
        system,
        cover,
        tuple(replay.trace(run) for run in runs),
        len(edges),
        tuple(sorted(names)),
        visited.count,
        is_complete,
    )


def _run(goals: Goals, edge: Edge, rows: States, parents: NDArray[np.int64], instances: NDArray[np.uint32]) -> _Run:
    """Returns the shortest run to a transition, and the goals on its way."""
    path, fired = [edge.source], [edge.instance]
    while parents[path[-1]] >= 0:
        fired.append(int(instances[path[-1]]))
        path.append(int(parents[path[-1]]))
    states = [*(rows[at].tobytes() for at in reversed(path)), edge.after]
    fired.reverse()
    matrix = np.frombuffer(b"".join(states), dtype=np.uint8).reshape(len(states), -1)
    columns = goals.columns(matrix[:-1], np.array(fired, dtype=np.uint32), matrix[1:])
    reached = {(column, int(key)) for column, keys in enumerate(columns) for key in keys if key >= 0}
    return _Run(tuple(states), tuple(fired), frozenset(reached))


def _greedy(candidates: list[_Run]) -> list[_Run]:
    """Chooses runs until all goals are reached. A gain only shrinks, so a stale one is looked at again when it comes
    first."""
    queue = [(-len(run.goals), len(run.states), number) for number, run in enumerate(candidates)]
    heapq.heapify(queue)
    covered: set[Goal] = set()
    chosen = []
    while queue:
        gain, length, number = heapq.heappop(queue)
        left = len(candidates[number].goals - covered)
        if not left:
            continue
        if left < -gain:
            heapq.heappush(queue, (-left, length, number))
            continue
        covered |= candidates[number].goals
        chosen.append(candidates[number])
    return chosen


def _without_redundant(runs: list[_Run]) -> list[_Run]:
    """Drops runs whose goals the others reach, the longest first."""
    times = Counter(goal for run in runs for goal in run.goals)
    kept = []
    for run in sorted(runs, key=lambda each: -len(each.states)):
        if all(times[goal] > 1 for goal in run.goals):
            times.subtract(run.goals)
        else:
            kept.append(run)
    return kept


class _Replay:
    """Turns runs into traces. The interpreter confirms every step."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._layout = Layout(system)
        self._interpreter = Interpreter(system, symmetry=False)
        self._instances = [(rule, arguments) for rule in system.rules for arguments in rule.instances()]

    def trace(self, run: _Run) -> Trace:
        states = [self._layout.unpack(each) for each in run.states]
        start = next(each for each in self._interpreter.start_states() if each.successor == states[0])
        steps = [step_of(start, "")]
        steps += [
            self._step(before, number, after)
            for before, number, after in zip(states, run.instances, states[1:], strict=False)
        ]
        return Trace(self._system, tuple(steps))

    def _step(self, before: State, number: int, after: State) -> Step:
        rule, arguments = self._instances[number]
        firing: Firing = next(
            each
            for each in self._interpreter.successors(before)
            if each.origin is rule and each.arguments == arguments and each.successor == after
        )
        return replayed(self._interpreter, firing, before)

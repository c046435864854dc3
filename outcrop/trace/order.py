"""Makes a trace easier to read without changing where it leads: another order of its steps, or fewer of them.

Every candidate is executed by the interpreter and kept only if it is a run of the model. A shortest trace stays a
shortest one: reordering keeps its length and its last state.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise

from outcrop.ir.interpreter import Firing, Interpreter
from outcrop.ir.layout import State
from outcrop.ir.system import Rule
from outcrop.result import Trace
from outcrop.trace.replay import replayed
from outcrop.trace.switches import StepLanes, Switches

#: Steps further on that may be moved to the front, and the longest trace that is reordered.
_WINDOW, _LONGEST = 12, 400

Move = tuple[Rule, tuple[int, ...]]


def reordered(trace: Trace) -> Trace:
    """Returns the trace with its independent steps in an order that switches less often between lanes. The same trace
    gives the same order. Only for a trace with too many others of its length (see switches.py): steps are moved one by
    one, as long as each move helps."""
    system = trace.system
    if not 2 < len(trace) <= _LONGEST or system.has_priorities or trace.loop_start is not None:
        return trace
    moves = moves_of(trace)
    if moves is None:
        return trace
    interpreter, lanes = Interpreter(system, symmetry=False), StepLanes(system)
    taken = [lanes.of_step(before.state, step) for before, step in pairwise(trace.steps)]

    def switches(order: Sequence[int]) -> tuple[int, int]:
        return reduce(lambda so_far, at: so_far.then(taken[at], lanes.shared), order, Switches()).count

    start, goal = trace.steps[0].state, trace.steps[-1].state
    found = best = list(range(len(moves)))
    for at in range(1, len(best)):
        for other in range(at + 1, min(at + 1 + _WINDOW, len(best))):
            tried = [*best[:at], best[other], *best[at:other], *best[other + 1 :]]
            if switches(tried) < switches(best) and _leads_to(interpreter, start, [moves[n] for n in tried], goal):
                best = tried
                break
    return trace if best is found else _trace(interpreter, trace, [moves[number] for number in best])


def needed_states(trace: Trace, is_wrong: Callable[[Interpreter, State], bool], seconds: float) -> list[State]:
    """Returns the states of a shorter run to a state that is wrong too: steps are left out, several at a time and then
    one by one, and the rest is executed again. Takes no longer than it is allowed to."""
    deadline = time.monotonic() + seconds
    interpreter = Interpreter(trace.system, symmetry=False)
    states = [step.state for step in trace.steps]
    moves = moves_of(trace)
    if moves is None or trace.system.has_priorities:
        return states
    size = max(1, len(moves) // 2)
    while size and time.monotonic() < deadline:
        at, is_shorter = 0, False
        while at < len(moves) and time.monotonic() < deadline:
            tried = [*moves[:at], *moves[at + size :]]
            run = _run(interpreter, states[0], tried)
            if run is not None and is_wrong(interpreter, run[-1]):
                moves, states, is_shorter = tried, run, True
            else:
                at += size
        size = size if is_shorter and size == 1 else size // 2
    return states


def moves_of(trace: Trace) -> list[Move] | None:
    """Returns the rule and the arguments of each step after the first, None where a step has no rule."""
    known: dict[tuple[int, str], Move] = {}
    moves = []
    for step in trace.steps[1:]:
        key = step.span.start, step.label
        if key not in known:
            fitting = (
                (rule, arguments)
                for rule in trace.system.rules
                if rule.span.start == step.span.start and step.label.startswith(rule.name)
                for arguments in rule.instances()
                if rule.label(arguments) == step.label
            )
            found = next(fitting, None)
            if found is None:
                return None
            known[key] = found
        moves.append(known[key])
    return moves


def _run(interpreter: Interpreter, start: State, moves: Sequence[Move]) -> list[State] | None:
    """Returns the states of a run, None where a move is not enabled or an assumption drops a state."""
    states = [start]
    for rule, arguments in moves:
        firing = interpreter.fire(rule, arguments, states[-1])
        if firing is None or firing.successor is None or firing.fault is not None:
            return None
        if interpreter.broken_assumption(firing.successor) is not None:
            return None
        states.append(firing.successor)
    return states


def _leads_to(interpreter: Interpreter, start: State, moves: Sequence[Move], goal: State) -> bool:
    run = _run(interpreter, start, moves)
    return run is not None and run[-1] == goal


def _trace(interpreter: Interpreter, trace: Trace, moves: Sequence[Move]) -> Trace:
    steps, state = [trace.steps[0]], trace.steps[0].state
    for rule, arguments in moves:
        firing = interpreter.fire(rule, arguments, state)
        assert isinstance(firing, Firing) and firing.successor is not None
        steps.append(replayed(interpreter, firing, state))
        state = firing.successor
    return replace(trace, steps=tuple(steps))

"""Compares CPython with the interpreter, state by state."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from outcrop.ir.interpreter import Firing, Interpreter
from outcrop.ir.layout import State
from outcrop.ir.system import PropertyKind
from outcrop.lang.python.checked import ModelFault, values_of
from outcrop.lang.python.execution import Execution, Step
from outcrop.lang.python.lowering import executed
from outcrop.options import LoadOptions
from outcrop.source import Source


def compare(path: Path, most_states: int = 3_000, **constants: str) -> int:
    """Explores a model with the interpreter, and executes every rule and property in each state with CPython too.
    Returns the number of states."""
    system, execution = executed(Source(str(path), path.read_text()), LoadOptions(constants))
    interpreter = Interpreter(system, symmetry=False)
    seen: dict[State, None] = {}
    waiting: list[State] = []

    def enter(state: State) -> None:
        if state not in seen and len(seen) < most_states and interpreter.check(state).is_kept:
            seen[state] = None
            waiting.append(state)

    ours = list(interpreter.start_states())
    assert _steps(execution, interpreter, execution.start_states()) == _firings(ours)
    for firing in ours:
        if firing.successor is not None:
            enter(firing.successor)
    while waiting:
        state = waiting.pop()
        firings = list(interpreter.successors(state))
        executed_steps = _steps(execution, interpreter, execution.successors(execution.state(state)))
        assert executed_steps == _firings(firings), execution.state(state)
        _compare_properties(execution, interpreter, state)
        for firing in firings:
            if firing.successor is not None:
                enter(firing.successor)
    return len(seen)


def _firings(firings: list[Firing]) -> Counter[tuple[str, State | None]]:
    return Counter((each.origin.name, each.successor) for each in firings if not each.is_abandoned)


def _steps(execution: Execution, interpreter: Interpreter, steps: object) -> Counter[tuple[str, State | None]]:
    found: Counter[tuple[str, State | None]] = Counter()
    for each in steps:  # type: ignore[attr-defined]
        assert isinstance(each, Step)
        found[each.rule, None if each.state is None else interpreter.normalise(execution.leaves(each.state))] += 1
    return found


def _compare_properties(execution: Execution, interpreter: Interpreter, state: State) -> None:
    objects = execution.state(state)
    for kind in PropertyKind:
        for each, arguments, truth in interpreter._evaluate(kind, state):
            if each.name not in execution.methods:
                continue
            kinds = execution.parameters[each.name]
            given = tuple(values_of(one)[value - one.simple.low] for one, value in zip(kinds, arguments, strict=True))
            try:
                outcome: object = execution.holds(each.name, objects, given)
            except (ModelFault, ArithmeticError, LookupError, AssertionError, TypeError, AttributeError):
                outcome = "fault"
            expected = truth if isinstance(truth, bool) else "fault"
            assert outcome == expected, (each.name, objects)

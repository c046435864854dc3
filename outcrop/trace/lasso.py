"""The replay of lassos: it turns each into a violation with a confirmed infinite run.

The interpreter follows the lasso, and repeats its cycle until a state recurs. Under symmetry that may take several
turns, since representatives recur before real states do. Then the formula itself is evaluated on the run, and the
definition of fairness is tested. Neither the automaton nor the product nor the search is involved in that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from outcrop.errors import InternalError
from outcrop.ir.conditions import Condition, Instances
from outcrop.ir.faults import Fault
from outcrop.ir.formula import Formula
from outcrop.ir.interpreter import Firing, Interpreter
from outcrop.ir.layout import Layout, State
from outcrop.ir.system import System, TemporalProperty
from outcrop.ltl.words import Lasso, holds
from outcrop.outcome import Finding
from outcrop.result import Step, Trace, Violation, ViolationKind
from outcrop.trace.replay import replayed, step_to

Canonical = Callable[[State], State]


@dataclass(frozen=True)
class PropertyInstance:
    """The property that a lasso violates: one instance, or None for the automaton of the model itself."""

    property: TemporalProperty | None
    arguments: tuple[int, ...] = ()


def explain_lasso(
    product: System, shown: System, finding: Finding, property_instance: PropertyInstance, canonical: Canonical
) -> Violation:
    """Returns the violation. ``shown`` is the System of the trace, whose variables are the first ones of the
    product."""
    assert product.product is not None and finding.loop_start is not None
    interpreter = Interpreter(product, symmetry=False)
    path = [canonical(Layout(product).unpack(packed)) for packed in finding.path]
    run, loop_start = _unwound(interpreter, path, finding.loop_start, canonical)
    _confirm(interpreter, run, loop_start)
    before = [None, *map(_state, run)]
    steps = [
        replace(replayed(interpreter, each, state), state=_state(each)[: shown.leaf_count])
        for each, state in zip(run, before, strict=False)
    ]
    subject = property_instance.property
    if subject is None:
        automaton = product.product.automaton
        name = f"the {automaton.name}" if shown.texts else f'property process "{automaton.name}"'
        message = f"{name} accepts a run of the model"
        trace = _shortest(shown, steps, loop_start, ())
        return Violation(ViolationKind.LTL, message, automaton.span, trace, automaton.name)
    word = _word(interpreter, property_instance, run)
    if holds(subject.formula, Lasso(word[:loop_start], word[loop_start:-1])):
        raise InternalError("a lasso satisfies the formula that it is said to violate")
    propositions = tuple(subject.meaning)
    truths = [tuple(each in position for each in propositions) for position in word]
    steps = [replace(each, truths=truth) for each, truth in zip(steps, truths, strict=True)]
    texts = tuple(" ".join(str(each).split()) for each in propositions)
    trace = _shortest(shown, steps, loop_start, texts)
    label = subject.label(property_instance.arguments)
    instance = label.removeprefix(subject.name).removeprefix(", ")
    message = f'ltl "{subject.name}" is violated' + (f" for {instance}" if instance else "")
    if subject.violation:
        return Violation(ViolationKind.LTL, subject.violation, None, trace, label)
    return Violation(ViolationKind.LTL, message, subject.span, trace, label)


def _state(firing: Firing) -> State:
    assert firing.successor is not None
    return firing.successor


def _unwound(
    interpreter: Interpreter, path: Sequence[State], loop_start: int, canonical: Canonical
) -> tuple[list[Firing], int]:
    """Returns real steps along the lasso. The last one leads back to the state after step ``loop_start``."""
    run: list[Firing] = []
    for target in path:
        firings = interpreter.successors(_state(run[-1])) if run else interpreter.start_states()
        run.append(step_to(target, firings, canonical))
    if not run or not 0 <= loop_start < len(run):
        raise InternalError("a lasso has no loop")
    entered = {_state(run[loop_start]): loop_start}
    while True:
        for target in (*path[loop_start + 1 :], path[loop_start]) if len(run) > len(path) else (path[loop_start],):
            run.append(step_to(target, interpreter.successors(_state(run[-1])), canonical))
        state = _state(run[-1])
        if state in entered:
            return run, entered[state]
        entered[state] = len(run) - 1


def _shortest(shown: System, steps: list[Step], loop_start: int, propositions: tuple[str, ...]) -> Trace:
    """Returns the infinite run with the shortest cycle that begins as early as possible; the states of the automaton
    may have kept the product from closing it earlier. The last step leads to the state of step ``loop_start``."""

    def is_same(one: int, other: int) -> bool:
        """Returns whether two steps lead to the same state with the same label."""
        return (steps[one].label, steps[one].state) == (steps[other].label, steps[other].state)

    turn = len(steps) - 1 - loop_start
    for length in range(1, turn):
        repeats = turn % length == 0 and steps[loop_start].state == steps[loop_start + length].state
        if repeats and all(is_same(at, at + length) for at in range(loop_start + 1, len(steps) - length)):
            turn = length
            break
    while loop_start > 0 and is_same(loop_start, loop_start + turn):
        before = steps[loop_start - 1].state, steps[loop_start + turn - 1].state
        if before[0] != before[1]:
            break
        loop_start -= 1
    end = loop_start + turn
    return Trace(shown, tuple(steps[:end]), loop_start, steps[end], propositions)


def _confirm(interpreter: Interpreter, run: Sequence[Firing], loop_start: int) -> None:
    """Raises InternalError unless the cycle has an accepting state and is fair, if that is required."""
    product_steps = interpreter.product_steps
    assert product_steps is not None
    states = [_state(each) for each in run]
    if states[-1] != states[loop_start]:
        raise InternalError("a lasso does not close")
    if not any(map(product_steps.is_accepting, states[loop_start:])):
        raise InternalError("the loop of a lasso has no accepting state")
    fairness = product_steps.product.fairness
    if fairness is None:
        return
    everybody = set(range(len(fairness.sets)))
    able = [interpreter.can_move(state) for state in states[loop_start:-1]]
    # Weak fairness requires a step of each set that is always enabled, strong fairness of each that is ever enabled.
    satisfied = everybody - able[0].union(*able) if fairness.is_strong else everybody - able[0].intersection(*able)
    for state, step in zip(states[loop_start:-1], run[loop_start + 1 :], strict=True):
        # If several steps lead to the same state, all of them count.
        steps = [each for each in interpreter.successors(state) if each.successor == step.successor]
        satisfied |= product_steps.sets_of((each.origin, each.arguments) for each in steps)
    if satisfied != everybody:
        raise InternalError("the loop of a lasso is not fair")


def _word(interpreter: Interpreter, property_instance: PropertyInstance, run: Sequence[Firing]) -> list[set[Formula]]:
    """Returns the propositions that are true in each state."""
    subject = property_instance.property
    assert subject is not None
    frame = Instances(subject, interpreter.executor).frame(property_instance.arguments)
    conditions = {each: Condition(node, interpreter.executor) for each, node in subject.meaning.items()}

    def is_true(condition: Condition, state: State) -> bool:
        try:
            return condition(list(state), list(frame))
        except Fault:
            # The automaton did not evaluate it in this state, so its value does not matter for the run.
            return False

    return [{each for each, condition in conditions.items() if is_true(condition, _state(firing))} for firing in run]

"""Verification of the conditions on a stubborn set by execution: along short paths of instances outside of it, each
enabled member keeps its outcome and commutes with the path, and no disabled member becomes enabled."""

from __future__ import annotations

from collections.abc import Callable

from outcrop.ir.interpreter import Active, Firing, Interpreter
from outcrop.ir.layout import State
from outcrop.reduction.interpreted import ReducedMoves
from outcrop.reduction.leaves import bits
from outcrop.reduction.stubborn import Reduction

_LENGTH = 3
_MOST_STATES = 60

Ready = tuple[dict[int, Active], set[int]]


def broken_condition(interpreter: Interpreter, reduction: Reduction, state: State) -> str:
    """Returns the condition that the set of a state breaks; "" if it breaks none."""
    rules = {id(rule): number for number, rule in enumerate(interpreter.system.rules)}
    numbers = {(each.rule, each.arguments): each.number for each in reduction.instances}
    moves = ReducedMoves(interpreter, reduction)

    def ready(at: State) -> Ready:
        """Returns the instances whose guard is true, and those whose guard fails."""
        active, failing = {}, set()
        for each in interpreter.active(at):
            if isinstance(each, Active):
                active[numbers[rules[id(each.rule)], each.arguments]] = each
            else:
                failing.add(numbers[rules[id(each.origin)], each.arguments])
        return active, failing

    first, failing = ready(state)
    if failing:
        return ""
    active = sum(1 << number for number in first)
    whole = moves.stubborn_set(state, active)
    chosen = whole & active
    if chosen == active:
        return ""
    members = {number: first[number].fire() for number in bits(chosen)}
    seen, pending = {state}, [(state, 0)]
    while pending and len(seen) < _MOST_STATES:
        at, length = pending.pop(0)
        here, failing = ready(at)
        if any(whole >> number & 1 for number in failing):
            return f"a step outside of the set of {state} makes the guard of a member fail"
        for number, firing in members.items():
            if number not in here:
                return f"a step outside of the set of {state} disables its member {number}"
            now = here[number].fire()
            if (now.successor is None, now.fault is None) != (firing.successor is None, firing.fault is None):
                return f"a step outside of the set of {state} changes the outcome of its member {number}"
        if length == _LENGTH:
            continue
        for number, instance in here.items():
            if number in members:
                continue
            if whole >> number & 1:
                return f"a step outside of the set of {state} enables its member {number}"
            outside = instance.fire()
            for member in members:
                problem = _commutes(ready, here, number, member, outside)
                if problem:
                    return f"{problem} in {at}, reached outside of the set of {state}"
            if outside.successor is not None and outside.fault is None and outside.successor not in seen:
                seen.add(outside.successor)
                pending.append((outside.successor, length + 1))
    return ""


def _commutes(
    ready: Callable[[State], Ready], here: dict[int, Active], outside: int, member: int, first: Firing
) -> str:
    """Returns how two active instances fail to commute."""
    then = here[member].fire()
    if first.successor is None or then.successor is None or first.fault or then.fault:
        return ""
    after_outside, after_member = ready(first.successor)[0], ready(then.successor)[0]
    if member not in after_outside or outside not in after_member:
        return f"instances {outside} and {member} disable each other"
    one, other = after_outside[member].fire(), after_member[outside].fire()
    if one.successor != other.successor:
        return f"instances {outside} and {member} do not commute"
    return ""

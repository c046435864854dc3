"""A run of the model that a log shows: the steps of one path through the sets of states of its last lines."""

from __future__ import annotations

from outcrop.ir.interpreter import Firing, Interpreter
from outcrop.ir.layout import State
from outcrop.ir.system import System
from outcrop.kernels.observe import Label
from outcrop.result import Step, Trace
from outcrop.source import Span
from outcrop.trace.replay import replayed, step_of
from outcrop.validate.explain import Explainer
from outcrop.validate.follow import Followed, Follower, Numbered
from outcrop.validate.options import Start

Move = tuple[int, State]  #: the number of a rule instance, and the state that it leads to


def run_of(follower: Follower, followed: Followed, explainer: Explainer) -> Trace | None:
    """Returns a run that agrees with the last lines before the end; None if too many states were possible to find it.
    If the window begins with the log, the run begins with a start state."""
    if not followed.states:
        return None
    target, moves = followed.states[0], list[Move]()
    sets = [followed.before, *(states for _, states in followed.window)]
    for at in range(len(followed.window), 0, -1):
        line = followed.window[at - 1][0]
        found = _back(follower, explainer, sets[at - 1], line, target, followed.is_whole and at == 1)
        if found is None:
            return None
        target, moves = found[0], found[1] + moves
    return _trace(follower.system, explainer, target, moves, followed.is_whole)


def _back(
    follower: Follower, explainer: Explainer, before: list[State], line: Numbered, target: State, is_first: bool
) -> tuple[State, list[Move]] | None:
    """Returns one of the states before a line, and the moves from there to ``target`` after it."""
    label, stays = meaning(follower, line, is_first)
    names = set[int]() if label is None else set(label.only or range(label.first, label.end))
    for state in before:
        paths: dict[State, list[Move]] = {state: []}
        level = [state]
        for depth in range(follower.options.gap + 1):
            for each in level:
                if stays and each == target:
                    return state, paths[each]
                for number, after in explainer.steps(each) if names else ():
                    if after == target and number in names:
                        return state, [*paths[each], (number, after)]
            if depth < follower.options.gap:
                level = _deeper(follower, explainer, level, paths)
    return None


def _deeper(
    follower: Follower, explainer: Explainer, level: list[State], paths: dict[State, list[Move]]
) -> list[State]:
    """Returns the states one hidden step further, and records the moves to them."""
    found = []
    for each in level:
        for number, after in explainer.steps(each):
            if number in follower.hidden and after not in paths:
                paths[after] = [*paths[each], (number, after)]
                found.append(after)
    return found


def meaning(follower: Follower, line: Numbered, is_first: bool) -> tuple[Label | None, bool]:
    """Returns the instances of which one leads to a line, None if none does, and whether the line may show a state
    without a step."""
    own, start = line.line.label, follower.options.start
    if is_first and (own is None or line.line.starts is not None or start is Start.ANY):
        return None, True
    labels = list(follower.encoder.labels)
    return labels[follower.encoder.any_rule if own is None else own], own is None and follower.options.stutter


def _trace(system: System, explainer: Explainer, first: State, moves: list[Move], is_whole: bool) -> Trace:
    """Returns moves as a trace. A run that does not begin with the log begins with a step without a rule."""
    interpreter = Interpreter(system, symmetry=False)
    starts = (each for each in interpreter.start_states() if each.successor == first)
    start = next(starts, None) if is_whole else None
    steps = [Step("...", first, Span(system.source, 0, 0)) if start is None else step_of(start, "")]
    state = first
    for number, after in moves:
        rule, arguments = explainer.instances[number]
        firing = Firing(rule, arguments, after, after)
        steps.append(replayed(interpreter, firing, state))
        state = after
    return Trace(system, tuple(steps))

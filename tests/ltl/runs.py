"""Random runs of a system, as words on which a formula holds or not."""

from __future__ import annotations

from random import Random

from outcrop.ir.conditions import Condition, Instances
from outcrop.ir.interpreter import Interpreter
from outcrop.ir.layout import State
from outcrop.ir.system import System, TemporalProperty
from outcrop.ltl.words import Lasso


def random_lasso(system: System, random: Random) -> list[State] | None:
    """Returns a run up to the state to which it returns, which is the last one; None if it ends in an error."""
    interpreter = Interpreter(system, symmetry=False)
    starts = [each.successor for each in interpreter.start_states() if each.successor]
    starts = [state for state in starts if interpreter.check(state).is_kept]
    run = [random.choice(starts)] if starts else []
    while run and len(run) < 200:
        firings = list(interpreter.successors(run[-1]))
        if any(each.fault is not None for each in firings):
            return None
        successors = [each.successor for each in firings if each.successor is not None]
        reached = random.choice(successors) if successors else run[-1]
        if not interpreter.check(reached).is_kept:
            return None
        run.append(reached)
        if reached in run[:-1]:
            return run
    return None


def word(system: System, run: list[State], subject: TemporalProperty, arguments: tuple[int, ...] = ()) -> Lasso:
    """Returns the run as a word: the propositions that are true in each state. ``system`` may be the product, whose
    first variables are those of the model, and which has the locals of the formula."""
    executor = Interpreter(system, symmetry=False).executor
    instances = Instances(subject, executor)
    conditions = {each: Condition(node, executor) for each, node in subject.meaning.items()}
    positions = [
        {each for each, condition in conditions.items() if condition(list(state), instances.frame(arguments))}
        for state in run[:-1]
    ]
    start = run.index(run[-1])
    return Lasso(positions[:start], positions[start:])

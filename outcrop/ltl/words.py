"""What a formula means, said directly: its truth on one infinite word, with no automaton in sight.

A lasso word is a finite stem and a loop that repeats for ever after it; each position says which propositions are true
there. Every formula that can be satisfied is satisfied by a lasso word, so these are all the words that matter. This is
the oracle for the translation, and the judge of a counterexample before it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from outcrop.ir.formula import Formula, Operator
from outcrop.ltl.automaton import Automaton

Position = Collection[Formula]


@dataclass(frozen=True)
class Lasso:
    """``stem`` once, then ``loop`` for ever; a position is the collection of propositions that are true there."""

    stem: Sequence[Position]
    loop: Sequence[Position]

    def __post_init__(self) -> None:
        if not self.loop:
            raise ValueError("the loop of a lasso has at least one position")

    def __len__(self) -> int:
        return len(self.stem) + len(self.loop)

    def position(self, index: int) -> Position:
        return self.stem[index] if index < len(self.stem) else self.loop[index - len(self.stem)]

    def after(self, index: int) -> int:
        return index + 1 if index + 1 < len(self) else len(self.stem)


_BOOLEAN: dict[Operator, Callable[[list[bool]], bool]] = {
    Operator.TRUE: all,
    Operator.FALSE: any,
    Operator.NOT: lambda values: not values[0],
    Operator.AND: all,
    Operator.OR: any,
    Operator.XOR: lambda values: sum(values) % 2 == 1,
    Operator.IMPLIES: lambda values: not values[0] or values[1],
    Operator.IFF: lambda values: values[0] == values[1],
}

#: For a fixpoint operator: the value to begin with (false: least, true: greatest fixpoint), and a position's value from
#: the operands there and the value after it.
_FIXPOINTS: dict[Operator, tuple[bool, Callable[[list[bool], bool], bool]]] = {
    Operator.FINALLY: (False, lambda now, after: now[0] or after),
    Operator.GLOBALLY: (True, lambda now, after: now[0] and after),
    Operator.UNTIL: (False, lambda now, after: now[1] or (now[0] and after)),
    Operator.WEAK_UNTIL: (True, lambda now, after: now[1] or (now[0] and after)),
    Operator.RELEASE: (True, lambda now, after: now[1] and (now[0] or after)),
    Operator.STRONG_RELEASE: (False, lambda now, after: now[1] and (now[0] or after)),
}


def truth(formula: Formula, word: Lasso) -> list[bool]:
    """The truth of a formula at every position of the word's stem and loop."""
    return _truth(formula, word, {})


def holds(formula: Formula, word: Lasso) -> bool:
    """Whether the word satisfies the formula, that is: whether it is true at the first position."""
    return truth(formula, word)[0]


def _truth(formula: Formula, word: Lasso, known: dict[Formula, list[bool]]) -> list[bool]:
    if formula in known:
        return known[formula]
    size = len(word)
    operator = formula.operator
    if operator is Operator.PROPOSITION:
        values = [formula in word.position(index) for index in range(size)]
    else:
        operands = [_truth(each, word, known) for each in formula.operands]
        columns = [[each[index] for each in operands] for index in range(size)]
        if operator is Operator.NEXT:
            values = [operands[0][word.after(index)] for index in range(size)]
        elif operator in _BOOLEAN:
            values = [_BOOLEAN[operator](column) for column in columns]
        else:
            values = _fixpoint(operator, columns, word)
    known[formula] = values
    return values


def _fixpoint(operator: Operator, columns: list[list[bool]], word: Lasso) -> list[bool]:
    start, step = _FIXPOINTS[operator]
    values = [start] * len(word)
    # Backwards, what one round does not settle is what has yet to come round the loop once.
    for _ in range(2):
        for index in reversed(range(len(word))):
            values[index] = step(columns[index], values[word.after(index)])
    return values


def accepts(automaton: Automaton, word: Lasso) -> bool:
    """Whether the automaton has a run over the word that meets accepting states infinitely often."""
    reached = {(automaton.initial, 0)}
    _spread(automaton, word, reached)
    # Only a position in the loop comes back; a node accepts if it is accepting and reaches itself.
    for state, index in sorted(reached):
        if state in automaton.accepting and index >= len(word.stem):
            onwards = _successors(automaton, word, state, index)
            _spread(automaton, word, onwards)
            if (state, index) in onwards:
                return True
    return False


def _successors(automaton: Automaton, word: Lasso, state: int, index: int) -> set[tuple[int, int]]:
    position = word.position(index)
    return {(each.target, word.after(index)) for each in automaton.transitions[state] if each.label.holds_in(position)}


def _spread(automaton: Automaton, word: Lasso, reached: set[tuple[int, int]]) -> None:
    waiting = list(reached)
    while waiting:
        for successor in _successors(automaton, word, *waiting.pop()):
            if successor not in reached:
                reached.add(successor)
                waiting.append(successor)

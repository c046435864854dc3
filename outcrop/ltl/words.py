"""The meaning of formulas, defined directly: the truth of a formula on one infinite word, without any automaton.

A lasso word is a finite stem followed by a loop that repeats forever; each position has the propositions that are true
there. Every satisfiable formula is satisfied by a lasso word, so that these words suffice. This is the oracle for the
translation, and the test of every lasso before it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from outcrop.ir.formula import Formula, Operator
from outcrop.ltl.automaton import Automaton

Position = Collection[Formula]


@dataclass(frozen=True)
class Lasso:
    """A lasso word: ``stem`` once, then ``loop`` forever. A position is the collection of propositions that are true
    there."""

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

#: For a fixpoint operator: the initial value (false: least, true: greatest fixpoint), and the value at a position from
#: the operands there and the value at the next position.
_FIXPOINTS: dict[Operator, tuple[bool, Callable[[list[bool], bool], bool]]] = {
    Operator.FINALLY: (False, lambda now, after: now[0] or after),
    Operator.GLOBALLY: (True, lambda now, after: now[0] and after),
    Operator.UNTIL: (False, lambda now, after: now[1] or (now[0] and after)),
    Operator.WEAK_UNTIL: (True, lambda now, after: now[1] or (now[0] and after)),
    Operator.RELEASE: (True, lambda now, after: now[1] and (now[0] or after)),
    Operator.STRONG_RELEASE: (False, lambda now, after: now[1] and (now[0] or after)),
}


def truth(formula: Formula, word: Lasso) -> list[bool]:
    """Returns the truth of a formula at every position of the word's stem and loop."""
    return _truth(formula, word, {})


def holds(formula: Formula, word: Lasso) -> bool:
    """Returns whether the word satisfies the formula: whether it is true at the first position."""
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
    # Going backwards, a second round settles the values that depend on one turn around the loop.
    for _ in range(2):
        for index in reversed(range(len(word))):
            values[index] = step(columns[index], values[word.after(index)])
    return values


def accepts(automaton: Automaton, word: Lasso) -> bool:
    """Returns whether the automaton has a run over the word that visits accepting states infinitely often."""
    reached = {(automaton.initial, 0)}
    _spread(automaton, word, reached)
    # Only positions in the loop recur; a node accepts if it is accepting and reaches itself.
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

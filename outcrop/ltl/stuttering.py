"""Stuttering: whether an automaton looks at how often a state is repeated.

Reduction by partial order repeats some states of a run and leaves out repetitions of others. A formula without X does
not notice; a claim that is written as an automaton may. The test of its transitions is sufficient, not necessary.
Claims that are translated from formulas without X usually pass it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from outcrop.ir.automaton import Automaton
from outcrop.ir.nodes import Binary, BinaryOperator, Conditional, Constant, Expression, Unary, UnaryOperator

#: Conditions in the guards of an automaton, all of whose truth values are tried.
_MOST_CONDITIONS = 10

_NEGATED = {
    BinaryOperator.NOT_EQUAL: BinaryOperator.EQUAL,
    BinaryOperator.GREATER: BinaryOperator.LESS_EQUAL,
    BinaryOperator.GREATER_EQUAL: BinaryOperator.LESS,
}

#: Tells the truth of a guard from that of the conditions in it.
Truth = Callable[[tuple[bool, ...]], bool]


def ignores_repetitions(automaton: Automaton) -> bool:
    """Returns whether repetitions of a state surely change nothing: an automaton accepts all such runs, or none.

    For each state of the system, two moves of the automaton must be possible as one, without missing an accepting
    state, and one move must be possible as two.
    """
    conditions: dict[Expression, int] = {}
    edges = [(each.source, each.target, _truth(each.guard, conditions)) for each in automaton.edges]
    if len(conditions) > _MOST_CONDITIONS:
        return False
    for truths in product((False, True), repeat=len(conditions)):
        moves: dict[int, set[int]] = {}
        for source, target, truth in edges:
            if truth(truths):
                moves.setdefault(source, set()).add(target)
        if not all(_is_closed(state, moves, automaton.accepting) for state in moves):
            return False
    return True


def _is_closed(state: int, moves: dict[int, set[int]], accepting: frozenset[int]) -> bool:
    """Returns whether the moves from a state are possible in two steps, and two steps from there in one."""
    direct = moves[state]
    in_two = {target for middle in direct for target in moves.get(middle, ())}
    if direct != in_two:
        return False
    missed = (target for middle in direct & accepting for target in moves.get(middle, ()))
    return state in accepting or all(target in accepting for target in missed)


def _truth(node: Expression | None, conditions: dict[Expression, int]) -> Truth:
    """Returns how the truth of a guard follows from its conditions, which are added to ``conditions``."""
    match node:
        case None:
            return lambda truths: True
        case Constant():
            constant = bool(node.value)
            return lambda truths: constant
        case Unary(operator=UnaryOperator.NOT):
            return _not(_truth(node.operand, conditions))
        case Binary(operator=BinaryOperator.AND | BinaryOperator.OR | BinaryOperator.IMPLIES):
            left, right = _truth(node.left, conditions), _truth(node.right, conditions)
            if node.operator is BinaryOperator.AND:
                return lambda truths: left(truths) and right(truths)
            if node.operator is BinaryOperator.IMPLIES:
                left = _not(left)
            return lambda truths: left(truths) or right(truths)
        case Binary(operator=BinaryOperator.NOT_EQUAL, left=Conditional() as choice, right=Constant(value=0)):
            if isinstance(choice.then, Constant) and isinstance(choice.otherwise, Constant):
                values = choice.then.value, choice.otherwise.value
                if values == (1, 0):  # a condition that was made an integer
                    return _truth(choice.condition, conditions)
    if isinstance(node, Binary) and node.operator in _NEGATED:
        opposite = Binary(
            type=node.type, span=node.span, operator=_NEGATED[node.operator], left=node.left, right=node.right
        )
        return _not(_truth(opposite, conditions))
    number = conditions.setdefault(node, len(conditions))
    return lambda truths: truths[number]


def _not(truth: Truth) -> Truth:
    return lambda truths: not truth(truths)

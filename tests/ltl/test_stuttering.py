"""The test of whether an automaton looks at how often a state is repeated, compared with runs that repeat states."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from outcrop.ir.automaton import Automaton, Edge
from outcrop.ir.nodes import Binary, BinaryOperator, Expression, GlobalPlace, Load, Unary, UnaryOperator, Variable
from outcrop.ir.types import BOOLEAN
from outcrop.ltl.stuttering import ignores_repetitions
from outcrop.source import Source, Span

_NOWHERE = Span(Source("model.pml", " "), 0, 0)
_CONDITIONS = [
    Load(type=BOOLEAN, span=_NOWHERE, place=GlobalPlace(type=BOOLEAN, span=_NOWHERE, variable=variable))
    for variable in (Variable(name, BOOLEAN, at, _NOWHERE) for at, name in enumerate("pq"))
]
#: Guards, with the letters in which they are true: the bits of p and q.
_NOT_P = Unary(type=BOOLEAN, span=_NOWHERE, operator=UnaryOperator.NOT, operand=_CONDITIONS[0])
_BOTH = Binary(type=BOOLEAN, span=_NOWHERE, operator=BinaryOperator.AND, left=_CONDITIONS[0], right=_CONDITIONS[1])
_GUARDS: list[tuple[Expression | None, frozenset[int]]] = [
    (None, frozenset(range(4))),
    (_CONDITIONS[0], frozenset({1, 3})),
    (_CONDITIONS[1], frozenset({2, 3})),
    (_NOT_P, frozenset({0, 2})),
    (_BOTH, frozenset({3})),
]

Move = tuple[int, int, int]


def _automaton(size: int, accepting: frozenset[int], moves: Sequence[Move]) -> Automaton:
    """Returns an automaton with moves from one state to another, each with the number of its guard."""
    edges = tuple(Edge(source, target, _GUARDS[guard][0], _NOWHERE) for source, target, guard in moves)
    return Automaton("claim", tuple(map(str, range(size))), 0, accepting, edges, _NOWHERE)


def _accepts(accepting: frozenset[int], moves: Sequence[Move], prefix: Sequence[int], cycle: Sequence[int]) -> bool:
    """Returns whether an automaton accepts the letters of ``prefix``, and then those of ``cycle`` again and again."""
    word = [*prefix, *cycle]

    def following(node: tuple[int, int]) -> set[tuple[int, int]]:
        state, at = node
        place = at + 1 if at + 1 < len(word) else len(prefix)
        return {(goal, place) for source, goal, guard in moves if source == state and word[at] in _GUARDS[guard][1]}

    def reachable(nodes: set[tuple[int, int]]) -> set[tuple[int, int]]:
        seen, pending = set(nodes), list(nodes)
        while pending:
            for each in following(pending.pop()) - seen:
                seen.add(each)
                pending.append(each)
        return seen

    visited = reachable({(0, 0)})
    return any(node in reachable(following(node)) for node in visited if node[0] in accepting)


def _stuttered(letters: Sequence[int], random: Random) -> list[int]:
    return [letter for each in letters for letter in [each] * random.randint(1, 3)]


def test_runs_with_other_repetitions_are_accepted_alike() -> None:
    random, ignoring = Random(7), 0
    for _ in range(4_000):
        size = random.randint(1, 3)
        accepting = frozenset(state for state in range(size) if random.random() < 0.5)
        moves = [
            (random.randrange(size), random.randrange(size), random.randrange(len(_GUARDS)))
            for _ in range(random.randint(1, 5))
        ]
        if not ignores_repetitions(_automaton(size, accepting, moves)):
            continue
        ignoring += 1
        for _ in range(10):
            prefix, cycle = ([random.randrange(4) for _ in range(random.randint(1, 3))] for _ in range(2))
            changed = _stuttered(prefix, random), _stuttered(cycle, random)
            assert _accepts(accepting, moves, prefix, cycle) == _accepts(accepting, moves, *changed)
    assert ignoring > 300


@pytest.mark.parametrize(
    ("moves", "accepting"),
    [
        ([(0, 1, 0), (1, 1, 1)], {1}),  # p from the second state on
        ([(0, 1, 1), (1, 2, 1), (2, 2, 0)], {2}),  # two states with p
        ([(0, 1, 1), (1, 0, 1)], {1}),  # one move would go past the accepting state
    ],
)
def test_automata_that_count_are_noticed(moves: list[Move], accepting: set[int]) -> None:
    states = 1 + max(target for _, target, _ in moves)
    assert not ignores_repetitions(_automaton(states, frozenset(accepting), moves))


def test_automata_of_two_moves_and_of_one_are_told_apart() -> None:
    until = [(0, 0, 1), (0, 1, 2), (1, 1, 0)]  # p until q
    assert ignores_repetitions(_automaton(2, frozenset({1}), until))
    assert not ignores_repetitions(_automaton(2, frozenset({1}), [*until[1:], (0, 2, 1), (2, 0, 0)]))


def test_too_many_conditions_are_not_tried() -> None:
    variables = [Variable(f"v{at}", BOOLEAN, at, _NOWHERE) for at in range(30)]
    places = [GlobalPlace(type=BOOLEAN, span=_NOWHERE, variable=each) for each in variables]
    edges = tuple(Edge(0, 0, Load(type=BOOLEAN, span=_NOWHERE, place=place), _NOWHERE) for place in places)
    assert not ignores_repetitions(Automaton("claim", ("0",), 0, frozenset({0}), edges, _NOWHERE))

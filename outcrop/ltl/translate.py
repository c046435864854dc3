"""Translation of a formula to a small Büchi automaton.

The formula is simplified and becomes a generalised automaton (``outcrop.ltl.tableau``), which is simplified, reduced by
simulation, degeneralised to one acceptance set, and reduced again. Some choices influence the size of the result, such
as the order of promises and the promises of transitions that do not matter. The choices are tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from outcrop.ir.formula import Formula
from outcrop.ltl.acceptance import Buchi, clean, degeneralise, from_edges, merge_transient, settle
from outcrop.ltl.automaton import Automaton, Label, Transition
from outcrop.ltl.simplify import gathered, normal_form
from outcrop.ltl.simulation import reduce, separate, size
from outcrop.ltl.tableau import Generalised, Tableau

#: Largest number of transitions that are built to find the best choices.
EFFORT = 1_000


def translate(formula: Formula) -> Automaton:
    """Returns an automaton that accepts exactly the words that satisfy the formula. Raises TooLarge."""
    normal = normal_form(formula)
    propositions = [each for each in formula.propositions() if each in {*normal.propositions()}]
    best: Buchi | None = None
    for form in dict.fromkeys((normal, gathered(normal))):
        for candidate in _candidates(Tableau(propositions).build(form)):
            if best is None or size(candidate.edges) < size(best.edges):
                best = candidate
    assert best is not None
    best = shrink(best, thorough=True)
    return _finish(from_edges(separate(best.edges)), propositions)


def _candidates(tableau: Generalised) -> Iterator[Buchi]:
    effort = EFFORT
    tried = []
    for filler in (-1, 0):
        general = _reduced(clean(tableau, filler), filler)
        if general in tried:
            continue
        tried.append(general)
        general = Generalised(separate(general.edges), general.promises)
        for order in permutations(range(general.promises.bit_count())):
            for enter_accepting in (True, False):
                automaton = degeneralise(general, order, enter_accepting)
                effort -= sum(map(len, automaton.edges))
                yield shrink(automaton, thorough=False)
                if effort < 0:
                    return


def _reduced(automaton: Generalised, filler: int) -> Generalised:
    """Reduces until no more promises can be dropped."""
    while True:
        smaller = clean(Generalised(reduce(automaton.edges, thorough=True), automaton.promises), filler)
        if (size(smaller.edges), smaller.promises) >= (size(automaton.edges), automaton.promises):
            return smaller
        automaton = smaller


def shrink(automaton: Buchi, thorough: bool) -> Buchi:
    """Reduces until nothing changes."""
    while True:
        smaller = merge_transient(settle(from_edges(reduce(automaton.edges, thorough))))
        if size(smaller.edges) >= size(automaton.edges):
            return smaller
        automaton = smaller


def _finish(automaton: Buchi, propositions: Sequence[Formula]) -> Automaton:
    def label(bits: int) -> Label:
        positive = tuple(each for index, each in enumerate(propositions) if bits >> 2 * index & 1)
        negative = tuple(each for index, each in enumerate(propositions) if bits >> 2 * index + 1 & 1)
        return Label(positive, negative)

    transitions = tuple(
        tuple(Transition(label(each.label), each.target) for each in sorted(leaving)) for leaving in automaton.edges
    )
    accepting = frozenset(state for state, accepts in enumerate(automaton.accepting) if accepts)
    used = {each for leaving in transitions for one in leaving for each in (*one.label.positive, *one.label.negative)}
    return Automaton(tuple(each for each in propositions if each in used), 0, transitions, accepting)

"""Translation of a formula in normal form to a generalised Büchi automaton.

This is the construction of Couvreur (On-the-fly verification of linear temporal logic, FM 1999) with the improvements
of Gastin and Oddoux (Fast LTL to Büchi automata translation, CAV 2001). A state is a set of obligations: formulas that
the rest of the word has to satisfy. A transition has a label (literals that hold now), the obligations that are left
for the next position, and *promises*: the formulas a U b (or F b, or a M b) that it postpones. A run accepts if it is
free of each promise infinitely often.

Sets of literals, obligations and promises are bits of an integer, so that "says less than" is one comparison.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from outcrop.errors import UsageError
from outcrop.ir.formula import Formula, Operator

#: Limits on the automaton before it is reduced. Formulas that people write stay far below.
MAX_STATES = 4_000
MAX_TRANSITIONS = 40_000
#: Largest number of alternatives of a state, before those that say more than another are dropped.
MAX_ALTERNATIVES = 4_000


class TooLarge(UsageError):
    """The automaton of a formula would have too many states or transitions."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"the automaton of this formula has more than {what}; check the parts of a conjunction one by one, or "
            "leave out some of its assumptions"
        )


class Edge(NamedTuple):
    """A transition. ``label`` has bit 2i for proposition i, and bit 2i + 1 for its negation."""

    label: int
    promises: int
    target: int


@dataclass
class Generalised:
    """An automaton that accepts runs which are free of each of the ``promises`` infinitely often; 0 is initial."""

    edges: list[list[Edge]]
    promises: int


#: One way to satisfy a formula now: literals, promises, and obligations for the next position.
Alternative = Edge


class Tableau:
    def __init__(self, propositions: Iterable[Formula]) -> None:
        self._literals = {each: index for index, each in enumerate(propositions)}
        self._contradictory = sum(1 << 2 * index for index in self._literals.values())
        self._obligations: dict[Formula, int] = {}
        self._formulas: list[Formula] = []
        self._implied: list[int] = []
        self._promises: dict[Formula, int] = {}
        self._alternatives: dict[Formula, list[Alternative]] = {}

    def build(self, formula: Formula) -> Generalised:
        """Returns the automaton of a formula in normal form."""
        initial = self._without_implied(self._obligation_set(formula))
        numbers = {initial: 0}
        waiting = [initial]
        edges: list[list[Edge]] = []
        count = 0
        for state in waiting:
            leaving = []
            for each in self._leaving(state):
                if each.target not in numbers:
                    numbers[each.target] = len(numbers)
                    waiting.append(each.target)
                leaving.append(each._replace(target=numbers[each.target]))
            edges.append(leaving)
            count += len(leaving)
            if len(numbers) > MAX_STATES:
                raise TooLarge(f"{MAX_STATES:,} states")
            if count > MAX_TRANSITIONS:
                raise TooLarge(f"{MAX_TRANSITIONS:,} transitions")
        return Generalised(edges, (1 << len(self._promises)) - 1)

    # --- States --------------------------------------------------------------------------------------------

    def _obligation_set(self, formula: Formula) -> int:
        """Returns the bits of the conjuncts of a formula."""
        if formula.operator is Operator.TRUE:
            return 0
        if formula.operator is Operator.AND:
            bits = 0
            for each in formula.operands:
                bits |= self._obligation_set(each)
            return bits
        return 1 << self._number(formula)

    def _number(self, formula: Formula) -> int:
        if formula not in self._obligations:
            implied = 0
            if formula.operator in (Operator.GLOBALLY, Operator.RELEASE, Operator.STRONG_RELEASE):
                # Each way to satisfy it contains a way to satisfy the right operand.
                implied = self._obligation_set(formula.operands[-1])
                for number, bits in enumerate(self._implied):
                    if implied >> number & 1:
                        implied |= bits
            self._obligations[formula] = len(self._formulas)
            self._formulas.append(formula)
            self._implied.append(implied)
        return self._obligations[formula]

    def _without_implied(self, obligations: int) -> int:
        """Returns the obligations without those that the others include."""
        implied = 0
        for number in _bits(obligations):
            implied |= self._implied[number]
        return obligations & ~implied

    def _leaving(self, state: int) -> list[Alternative]:
        parts = [self._ways(self._formulas[number]) for number in _bits(state)]
        # Short factors first keep the products small.
        ways = self._product(sorted(parts, key=len))
        kept = [Alternative(each.label, self._open_promises(each), self._without_implied(each.target)) for each in ways]
        return weakest(kept)

    def _open_promises(self, way: Alternative) -> int:
        """Returns the promises of a way, without those that it happens to fulfil."""
        promises = way.promises
        for formula, number in self._promises.items():
            if promises >> number & 1 and any(_says_less(each, way) for each in self._fulfilling(formula)):
                promises &= ~(1 << number)
        return promises

    # --- Formulas ------------------------------------------------------------------------------------------

    def _ways(self, formula: Formula) -> list[Alternative]:
        """Returns all ways to satisfy a formula now, none of which says more than another."""
        if formula not in self._alternatives:
            self._alternatives[formula] = weakest(self._find_ways(formula))
        return self._alternatives[formula]

    def _find_ways(self, formula: Formula) -> list[Alternative]:
        operator, operands = formula.operator, formula.operands
        if formula.is_literal:
            number = self._literals[operands[0] if operands else formula]
            return [Alternative(1 << 2 * number + (operator is Operator.NOT), 0, 0)]
        match operator:
            case Operator.TRUE:
                return [Alternative(0, 0, 0)]
            case Operator.FALSE:
                return []
            case Operator.AND:
                return self._product([self._ways(each) for each in operands])
            case Operator.OR:
                return [way for each in operands for way in self._ways(each)]
            case Operator.NEXT:
                return [Alternative(0, 0, self._obligation_set(operands[0]))]
            case Operator.GLOBALLY:
                return self._product([self._ways(operands[0]), [self._later(formula)]])
            case Operator.FINALLY:
                return [*self._ways(operands[0]), self._later(formula)]
            case Operator.UNTIL | Operator.WEAK_UNTIL:
                return [*self._ways(operands[1]), *self._product([self._ways(operands[0]), [self._later(formula)]])]
        return self._product([self._ways(operands[1]), [*self._ways(operands[0]), self._later(formula)]])

    def _later(self, formula: Formula) -> Alternative:
        """Returns the way that postpones a formula to the next position, with a promise if it must not do so
        forever."""
        promises = 0
        if formula.operator in (Operator.FINALLY, Operator.UNTIL, Operator.STRONG_RELEASE):
            promises = 1 << self._promises.setdefault(formula, len(self._promises))
        return Alternative(0, promises, 1 << self._number(formula))

    def _fulfilling(self, formula: Formula) -> list[Alternative]:
        """Returns the ways to satisfy a formula without a promise of it."""
        if formula.operator is Operator.STRONG_RELEASE:
            return self._product([self._ways(each) for each in formula.operands])
        return self._ways(formula.operands[-1])

    def _product(self, factors: Iterable[list[Alternative]]) -> list[Alternative]:
        ways = [Alternative(0, 0, 0)]
        for factor in factors:
            if len(ways) * len(factor) > MAX_ALTERNATIVES * 10:
                raise TooLarge(f"{MAX_ALTERNATIVES:,} transitions in one state")
            products = [
                Alternative(one.label | other.label, one.promises | other.promises, one.target | other.target)
                for one in ways
                for other in factor
            ]
            ways = weakest(each for each in products if not each.label >> 1 & each.label & self._contradictory)
        return ways


def _bits(number: int) -> Iterable[int]:
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def _says_less(one: Alternative, other: Alternative) -> bool:
    """Returns whether ``other`` asks for everything that ``one`` asks for."""
    return not (one.label & ~other.label or one.promises & ~other.promises or one.target & ~other.target)


def weakest(ways: Iterable[Alternative]) -> list[Alternative]:
    """Returns the ways that do not say more than another one. Targets are sets of obligations."""
    different = {*ways}
    if len(different) > MAX_ALTERNATIVES:
        raise TooLarge(f"{MAX_ALTERNATIVES:,} transitions in one state")
    # Everything that a way says in one number, since large formulas spend most of their time here.
    first = max((way.label.bit_length() for way in different), default=0)
    second = first + max((way.promises.bit_length() for way in different), default=0)
    packed = [(way.label | way.promises << first | way.target << second, way) for way in different]
    # A way that says less has fewer bits, so that only kept ways can make another one superfluous.
    packed.sort(key=lambda pair: (pair[0].bit_count(), pair[0]))
    kept: list[Alternative] = []
    said: list[int] = []
    for number, way in packed:
        unsaid = ~number
        for each in said:
            if not each & unsaid:
                break
        else:
            said.append(number)
            kept.append(way)
    return kept

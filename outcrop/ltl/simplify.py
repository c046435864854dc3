"""Negation normal form of formulas, and their simplification.

A normal form has propositions, negated propositions, conjunctions and disjunctions of two or more, and the temporal
operators. The rules are those of Somenzi and Bloem (Efficient Büchi automata from LTL formulae, CAV 2000), and of
Etessami and Holzmann (Optimizing Büchi automata, CONCUR 2000) with their classes of eventual formulas (true of a word
if true of one of its suffixes) and universal ones (true of all suffixes of a word of which they are true), and their
extension to formulas that are both, whose truth does not depend on any finite prefix (Babiak, Křetínský, Řehák,
Strejček: LTL to Büchi automata translation: fast and more deterministic, TACAS 2012).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from outcrop.ir.formula import FALSE, TEMPORAL_BINARY, TRUE, Formula, Operator
from outcrop.ltl.junction import conjoin

_DUAL = {
    Operator.TRUE: Operator.FALSE,
    Operator.AND: Operator.OR,
    Operator.NEXT: Operator.NEXT,
    Operator.FINALLY: Operator.GLOBALLY,
    Operator.UNTIL: Operator.RELEASE,
    Operator.WEAK_UNTIL: Operator.STRONG_RELEASE,
}
_DUAL |= {dual: operator for operator, dual in _DUAL.items()}


def normal_form(formula: Formula) -> Formula:
    """Returns an equivalent formula in negation normal form, simplified."""
    return Simplifier().normal(formula, True)


def gathered(formula: Formula) -> Formula:
    """Returns an equivalent normal form with F (a || b) for F a || b where b is eventual. The formula is not simpler,
    but its automaton can wait for a and b in one state."""
    simplifier = Simplifier()
    known: dict[Formula, Formula] = {}

    def gather(each: Formula) -> Formula:
        if each not in known:
            result = each if each.is_literal else Formula(each.operator, *map(gather, each.operands))
            known[each] = _gather_disjunction(simplifier, result) if result.operator is Operator.OR else result
        return known[each]

    return gather(formula)


def _gather_disjunction(simplifier: Simplifier, formula: Formula) -> Formula:
    awaited = [each.operands[0] for each in formula.operands if each.operator is Operator.FINALLY]
    others = [each for each in formula.operands if each.operator is not Operator.FINALLY]
    eventual = [each for each in others if simplifier.eventual(each)]
    if not awaited or not eventual:
        return formula
    joined = Formula(Operator.FINALLY, Formula(Operator.OR, *awaited, *eventual))
    rest = [each for each in others if each not in eventual]
    return Formula(Operator.OR, joined, *rest) if rest else joined


class Simplifier:
    """Simplifier that caches its findings per formula, since formulas share their parts."""

    def __init__(self) -> None:
        self._normal: dict[tuple[Formula, bool], Formula] = {}
        self._negations: dict[Formula, Formula] = {}
        self._implied: dict[tuple[Formula, Formula], bool] = {}
        self._eventual: dict[Formula, bool] = {}

    # --- Negation normal form ------------------------------------------------------------------------------

    def normal(self, formula: Formula, positive: bool) -> Formula:
        """Returns the formula (or its negation, unless ``positive``) in simplified normal form."""
        key = (formula, positive)
        if key not in self._normal:
            self._normal[key] = self._normalise(formula, positive)
        return self._normal[key]

    def _normalise(self, formula: Formula, positive: bool) -> Formula:
        operator, operands = formula.operator, formula.operands
        if operator is Operator.PROPOSITION:
            return formula if positive else Formula(Operator.NOT, formula)
        if operator is Operator.NOT:
            return self.normal(operands[0], not positive)
        if operator is Operator.IMPLIES:
            parts = [self.normal(operands[0], not positive), self.normal(operands[1], positive)]
            return self.disjunction(parts) if positive else self.conjunction(parts)
        if operator in (Operator.IFF, Operator.XOR):
            equal = (operator is Operator.IFF) == positive
            one, other = operands
            both = [self.normal(one, True), self.normal(other, equal)]
            neither = [self.normal(one, False), self.normal(other, not equal)]
            return self.disjunction([self.conjunction(both), self.conjunction(neither)])
        parts = [self.normal(each, positive) for each in operands]
        return self.build(operator if positive else _DUAL[operator], parts)

    def negation(self, formula: Formula) -> Formula:
        """Returns the negation of a normal form, in normal form. It is not simplified further, so that it is cheap."""
        if formula not in self._negations:
            if formula.is_literal:
                positive = formula.operator is Operator.PROPOSITION
                result = Formula(Operator.NOT, formula) if positive else formula.operands[0]
            else:
                operands = [self.negation(each) for each in formula.operands]
                if formula.operator in (Operator.AND, Operator.OR):
                    operands.sort(key=lambda each: each.digest)
                result = Formula(_DUAL[formula.operator], *operands)
            self._negations[formula] = result
            self._negations[result] = formula
        return self._negations[formula]

    def build(self, operator: Operator, operands: list[Formula]) -> Formula:
        """Returns a simplified normal form, made from operands in normal form."""
        if not operands:
            return Formula(operator)
        if operator is Operator.AND:
            return self.conjunction(operands)
        if operator is Operator.OR:
            return self.disjunction(operands)
        if operator in TEMPORAL_BINARY:
            return _BINARY_RULES[operator](self, operands[0], operands[1])
        return _UNARY_RULES[operator](self, operands[0])

    # --- Classes of formulas -------------------------------------------------------------------------------

    def eventual(self, formula: Formula) -> bool:
        """Returns whether the formula is eventual by its syntax: it holds of a word if it holds of one of its
        suffixes."""
        if formula not in self._eventual:
            operator, operands = formula.operator, formula.operands
            if operator is Operator.FINALLY or (not operands and operator is not Operator.PROPOSITION):
                result = True
            elif operator in (Operator.AND, Operator.OR, Operator.NEXT, Operator.GLOBALLY) or (
                operator in TEMPORAL_BINARY and operator is not Operator.WEAK_UNTIL
            ):
                result = all(map(self.eventual, operands))
            else:
                result = False
            self._eventual[formula] = result
        return self._eventual[formula]

    def universal(self, formula: Formula) -> bool:
        """Returns whether the formula is universal by its syntax: if it holds of a word, it holds of all its
        suffixes."""
        return self.eventual(self.negation(formula))

    def suspendable(self, formula: Formula) -> bool:
        """Returns whether the truth of the formula does not depend on any finite prefix of the word."""
        return self.eventual(formula) and self.universal(formula)

    # --- Implication ---------------------------------------------------------------------------------------

    def implies(self, one: Formula, other: Formula) -> bool:
        """Returns whether ``one`` implies ``other`` by their syntax. False does not prove the contrary."""
        if one is other or one is FALSE or other is TRUE:
            return True
        if one is TRUE or other is FALSE:
            return False
        key = (one, other)
        if key not in self._implied:
            self._implied[key] = self._left_implies(one, other) or self._right_implied(one, other)
        return self._implied[key]

    def _left_implies(self, one: Formula, other: Formula) -> bool:
        """Returns whether the form of ``one`` shows that it implies ``other``."""
        operands = one.operands
        match one.operator:
            case Operator.AND:
                return any(self.implies(each, other) for each in operands)
            case Operator.OR:
                return all(self.implies(each, other) for each in operands)
            case Operator.NEXT:
                # X a implies a if a is eventual.
                return (other.operator is Operator.NEXT and self.implies(operands[0], other.operands[0])) or (
                    self.eventual(operands[0]) and self.implies(operands[0], other)
                )
            case Operator.GLOBALLY:
                return (other.operator is Operator.NEXT and self.implies(one, other.operands[0])) or self.implies(
                    operands[0], other
                )
            case Operator.FINALLY:
                return self.eventual(other) and self.implies(operands[0], other)
            case Operator.UNTIL:
                return (self.implies(operands[0], other) or self.eventual(other)) and self.implies(operands[1], other)
            case Operator.WEAK_UNTIL:
                return self.implies(operands[0], other) and self.implies(operands[1], other)
            case Operator.RELEASE:
                return self.implies(operands[1], other)
            case Operator.STRONG_RELEASE:
                return self.implies(operands[1], other) or (self.eventual(other) and self.implies(operands[0], other))
        return False

    def _right_implied(self, one: Formula, other: Formula) -> bool:
        """Returns whether the form of ``other`` shows that ``one`` implies it."""
        operands = other.operands
        same = one.operator is other.operator
        match other.operator:
            case Operator.AND:
                return all(self.implies(one, each) for each in operands)
            case Operator.OR:
                return any(self.implies(one, each) for each in operands)
            case Operator.FINALLY:
                return self.implies(one, operands[0])
            case Operator.GLOBALLY:
                return self.universal(one) and self.implies(one, operands[0])
            case Operator.NEXT:
                return self.universal(one) and self.implies(one, operands[0])
            case Operator.UNTIL:
                return self.implies(one, operands[1]) or (same and self._monotone(one, other))
            case Operator.WEAK_UNTIL:
                return (
                    self.implies(one, operands[1])
                    or (one.operator in (Operator.UNTIL, Operator.WEAK_UNTIL) and self._monotone(one, other))
                    or (self.universal(one) and self.implies(one, operands[0]))
                )
            case Operator.RELEASE:
                if one.operator in (Operator.RELEASE, Operator.STRONG_RELEASE) and self._monotone(one, other):
                    return True
                return self.implies(one, operands[1]) and (self.universal(one) or self.implies(one, operands[0]))
            case Operator.STRONG_RELEASE:
                if same and self._monotone(one, other):
                    return True
                return self.implies(one, operands[1]) and self.implies(one, operands[0])
        return False

    def _monotone(self, one: Formula, other: Formula) -> bool:
        return self.implies(one.operands[0], other.operands[0]) and self.implies(one.operands[1], other.operands[1])

    def excludes(self, one: Formula, other: Formula) -> bool:
        """Returns whether the formulas are never true together, by their syntax."""
        return self.implies(one, self.negation(other))

    def exhausts(self, one: Formula, other: Formula) -> bool:
        """Returns whether one of the formulas is always true, by their syntax."""
        return self.implies(self.negation(one), other)

    # --- Conjunction and disjunction -----------------------------------------------------------------------

    def conjunction(self, operands: Iterable[Formula]) -> Formula:
        return conjoin(self, operands)

    def disjunction(self, operands: Iterable[Formula]) -> Formula:
        return self.negation(conjoin(self, [self.negation(each) for each in operands]))


def _next(simplifier: Simplifier, operand: Formula) -> Formula:
    if (not operand.operands and operand.operator is not Operator.PROPOSITION) or simplifier.suspendable(operand):
        return operand
    return Formula(Operator.NEXT, operand)


def _finally(simplifier: Simplifier, operand: Formula) -> Formula:
    if simplifier.eventual(operand):
        return operand
    operands = operand.operands
    match operand.operator:
        case Operator.NEXT:
            return _next(simplifier, _finally(simplifier, operands[0]))
        case Operator.UNTIL:
            return _finally(simplifier, operands[1])
        case Operator.STRONG_RELEASE:
            return _finally(simplifier, simplifier.conjunction(operands))
        case Operator.WEAK_UNTIL:
            always = _globally(simplifier, operands[0])
            return _finally(simplifier, simplifier.disjunction([always, operands[1]]))
        case Operator.OR:
            # Only operands that depend on a prefix of the word need the operator.
            free = [each for each in operands if simplifier.eventual(each)]
            if free:
                rest = simplifier.disjunction(each for each in operands if not simplifier.eventual(each))
                return simplifier.disjunction([*free, _finally(simplifier, rest)])
        case Operator.AND:
            free = [each for each in operands if simplifier.suspendable(each)]
            if free:
                rest = simplifier.conjunction(each for each in operands if not simplifier.suspendable(each))
                return simplifier.conjunction([*free, _finally(simplifier, rest)])
        case Operator.GLOBALLY:
            return _finally_globally(simplifier, operand)
    return Formula(Operator.FINALLY, operand)


def _finally_globally(simplifier: Simplifier, always: Formula) -> Formula:
    """Returns FG a || GF b for FG (a || b) where b is eventual."""
    inner = always.operands[0]
    if inner.operator is Operator.NEXT:
        return _finally(simplifier, _globally(simplifier, inner.operands[0]))
    if inner.operator is Operator.OR:
        free = [each for each in inner.operands if simplifier.eventual(each) or simplifier.universal(each)]
        if free:
            rest = [each for each in inner.operands if each not in free]
            parts = [_finally(simplifier, _globally(simplifier, each)) for each in free]
            return simplifier.disjunction(
                [*parts, _finally(simplifier, _globally(simplifier, simplifier.disjunction(rest)))]
            )
    return Formula(Operator.FINALLY, always)


def _globally(simplifier: Simplifier, operand: Formula) -> Formula:
    return _dually(simplifier, _finally, operand)


def _dually(simplifier: Simplifier, rule: Callable[..., Formula], *operands: Formula) -> Formula:
    """Returns the result of the rule of the dual operator, applied to the negations."""
    return simplifier.negation(rule(simplifier, *map(simplifier.negation, operands)))


def _until(simplifier: Simplifier, left: Formula, right: Formula) -> Formula:
    if simplifier.eventual(right) or simplifier.implies(left, right):
        return right
    if left is TRUE or simplifier.exhausts(left, right):
        return _finally(simplifier, right)
    if left.operator is Operator.NEXT and right.operator is Operator.NEXT:
        return _next(simplifier, _until(simplifier, left.operands[0], right.operands[0]))
    if right.operator is Operator.OR:
        eventual = [each for each in right.operands if simplifier.eventual(each)]
        if eventual:
            rest = simplifier.disjunction(each for each in right.operands if each not in eventual)
            return simplifier.disjunction([*eventual, _until(simplifier, left, rest)])
    if right.operator is Operator.UNTIL and simplifier.implies(left, right.operands[0]):
        return right
    if left.operator is Operator.UNTIL and left.operands[1] is right:
        return left
    if left.operator is Operator.OR:
        # Operands that the right side implies anyway need not be promised by the left one.
        kept = [each for each in left.operands if not simplifier.implies(each, right)]
        if len(kept) < len(left.operands):
            return _until(simplifier, simplifier.disjunction(kept), right)
    return Formula(Operator.UNTIL, left, right)


def _weak_until(simplifier: Simplifier, left: Formula, right: Formula) -> Formula:
    if simplifier.implies(left, right):
        return right
    if simplifier.exhausts(left, right):
        return TRUE
    if right is FALSE:
        return _globally(simplifier, left)
    if simplifier.universal(left):
        return simplifier.disjunction([left, right])
    if left.operator is Operator.NEXT and right.operator is Operator.NEXT:
        return _next(simplifier, _weak_until(simplifier, left.operands[0], right.operands[0]))
    if right.operator in (Operator.UNTIL, Operator.WEAK_UNTIL) and simplifier.implies(left, right.operands[0]):
        return simplifier.disjunction([right, _globally(simplifier, left)])
    if left.operator is Operator.OR:
        kept = [each for each in left.operands if not simplifier.implies(each, right)]
        if len(kept) < len(left.operands):
            return _weak_until(simplifier, simplifier.disjunction(kept), right)
    return Formula(Operator.WEAK_UNTIL, left, right)


_UNARY_RULES: dict[Operator, Callable[[Simplifier, Formula], Formula]] = {
    Operator.NEXT: _next,
    Operator.FINALLY: _finally,
    Operator.GLOBALLY: _globally,
}
_BINARY_RULES: dict[Operator, Callable[[Simplifier, Formula, Formula], Formula]] = {
    Operator.UNTIL: _until,
    Operator.RELEASE: lambda simplifier, left, right: _dually(simplifier, _until, left, right),
    Operator.WEAK_UNTIL: _weak_until,
    Operator.STRONG_RELEASE: lambda simplifier, left, right: _dually(simplifier, _weak_until, left, right),
}

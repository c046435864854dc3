"""Guards of rule instances: the values that they demand of single leaves, and their conjuncts.

Two instances that demand different values of one leaf are never enabled together. A conjunct that is false tells which
instances can enable its rule: those that write what it reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from outcrop.ir.layout import encode
from outcrop.ir.nodes import (
    Binary,
    BinaryOperator,
    Call,
    Conditional,
    Constant,
    Expression,
    FieldPlace,
    GlobalPlace,
    IndexPlace,
    IsUndefined,
    Let,
    Load,
    LocalPlace,
    Place,
    Quantified,
    Quantifier,
    Unary,
    UnaryOperator,
    Undefined,
)
from outcrop.ir.system import Rule, System
from outcrop.ir.types import Array, Enum, Range, Real, Simple
from outcrop.ir.walk import changed, conjuncts, walk, writes_state
from outcrop.reduction.effects import TooLarge, Tracer
from outcrop.reduction.folding import combined
from outcrop.reduction.leaves import Known, Values, bits
from outcrop.reduction.truths import truths_of

#: Values of a leaf that are told apart.
MOST_VALUES = 1024
#: Operands that a quantifier is unrolled to.
_MOST_OPERANDS = 16
#: Numbers whose sums and products surely have less than 64 bits.
_SMALL = 2**31

#: For each leaf, the packed values that a condition permits, as bits of a number.
Demands = dict[int, int]

_COMPARISONS = {
    BinaryOperator.EQUAL: BinaryOperator.EQUAL,
    BinaryOperator.NOT_EQUAL: BinaryOperator.NOT_EQUAL,
    BinaryOperator.LESS: BinaryOperator.GREATER,
    BinaryOperator.LESS_EQUAL: BinaryOperator.GREATER_EQUAL,
    BinaryOperator.GREATER: BinaryOperator.LESS,
    BinaryOperator.GREATER_EQUAL: BinaryOperator.LESS_EQUAL,
}


@dataclass(frozen=True)
class Conjunct:
    """A conjunct of the guard of one instance. ``can_be_tested``: by itself, without the others. ``known``: values of
    leaves where those before it are true, ``demands``: what is so where it is true as well."""

    node: Expression
    reads: int
    can_fail: bool
    can_be_tested: bool
    known: Known
    demands: Demands
    unless_false: Demands  #: what is so where it is true or fails


@lru_cache(maxsize=2048)
def split_guard(rule: Rule) -> list[Expression]:
    """Returns the conjuncts of a guard; the whole guard if one of them could change what another one sees."""
    if rule.guard is None:
        return []
    guard = changed(rule.guard, _silenced)
    return [guard] if writes_state(guard) else list(conjuncts(guard))


@lru_cache(maxsize=2048)
def _is_pure(rule: Rule) -> bool:
    """Returns whether no conjunct of a guard may see what an earlier one has written."""
    return not writes_state(rule.guard)


@lru_cache(maxsize=2048)
def _plain_conjuncts(rule: Rule) -> list[bool]:
    """Returns for each conjunct whether it calls and binds nothing."""
    return [not any(isinstance(each, Call | Let) for each in walk(node)) for node in split_guard(rule)]


def _silenced(node: Any) -> Any:
    """Returns the node without notes: testing a conjunct by itself must not be seen."""
    is_noted = isinstance(node, Load) and node.undefined is Undefined.NOTE
    return replace(node, undefined=Undefined.ALLOW) if is_noted else node


def conjuncts_of(
    system: System, rule: Rule, arguments: tuple[int, ...], known: Known, values: Sequence[Values]
) -> list[Conjunct]:
    """Returns the conjuncts of the guard of an instance. Each is evaluated only where those before it are true, so that
    their demands tell values. ``values``: those that each leaf may have, ``known``: where that is one."""
    found = []
    truths = truths_of(system)
    is_pure = _is_pure(rule)
    known, demands = known if is_pure else {}, Demands()
    for node, is_plain in zip(split_guard(rule), _plain_conjuncts(rule), strict=True):
        reads = Tracer(system, rule, arguments, known).condition(node).reads
        is_safe = is_comparison = False
        try:
            if is_plain:
                is_safe = _is_safe(node, Tracer(system, rule, arguments, known))
                is_comparison = _is_plain(node, Tracer(system, rule, arguments, known))
        except TooLarge:
            is_safe = False
        truth = None
        if is_pure and is_plain and not is_comparison:
            truth = truths.of(node, rule, arguments, reads, known)
        if truth is not None:
            found.append(Conjunct(node, reads, truth.can_fail, True, known, truth.demands, truth.unless_false))
        else:
            own = Demanding(system, rule, arguments, known).of(node) if is_pure else {}
            if_failing = _if_failing(own, reads, is_safe, is_comparison)
            found.append(Conjunct(node, reads, not is_safe, is_plain, known, own, if_failing))
        demands = both(demands, found[-1].demands)
        known = refined(known, demands, system.leaf_types, values)
    return found


def refined(known: Known, demands: Demands, kinds: Sequence[Simple], values: Sequence[Values]) -> Known:
    """Returns the known values of leaves, with those that demands leave no choice."""
    more: Known = {}
    for leaf, mask in demands.items():
        value = _only_value(kinds[leaf], mask, values[leaf])
        if value is not None:
            more[leaf] = value
    return {**known, **more} if more else known


def _only_value(kind: Simple, mask: int, possible: Values) -> int | None:
    if not isinstance(kind, Enum | Range):
        return None
    left = values_of(kind, mask) if mask.bit_count() == 1 else []
    if possible is not None and not left:
        left = [value for value in possible if value is None or mask >> encode(kind, value) & 1]
    return left[0] if len(left) == 1 else None


def tells_values(kind: Simple) -> bool:
    """Returns whether the values of a leaf are told apart."""
    return not isinstance(kind, Real) and kind.cardinality <= MOST_VALUES


def _is_safe(node: Expression, tracer: Tracer) -> bool:
    """Returns whether evaluating a condition is surely no runtime error. Only plain conditions are known to be safe."""
    match node:
        case Constant():
            return node.value is not None
        case Load():
            return isinstance(node.type, Simple) and _is_there(node.place, tracer)
        case Unary(operator=UnaryOperator.NOT):
            return _is_safe(node.operand, tracer)
        case Conditional():
            return all(_is_safe(each, tracer) for each in (node.condition, node.then, node.otherwise))
        case Binary():
            if tracer.value(node) is not None:
                return True
            is_arithmetic = node.operator in (BinaryOperator.ADD, BinaryOperator.SUBTRACT)
            if not is_arithmetic and node.operator not in (*_COMPARISONS, *_CONNECTIVES):
                return False
            if is_arithmetic and not (_is_small(node.left) and _is_small(node.right)):
                return False
            return _is_safe(node.left, tracer) and _is_safe(node.right, tracer)
    return False


def _is_there(place: Place, tracer: Tracer) -> bool:
    """Returns whether a place surely exists and holds a value."""
    match place:
        case GlobalPlace():
            return place.variable.is_defined
        case LocalPlace():
            return place.local in tracer.constants
        case FieldPlace():
            return _is_there(place.base, tracer)
        case IndexPlace():
            index, array = tracer.value(place.index), place.base.type
            assert isinstance(array, Array)
            is_inside = index is not None and 0 <= index - array.index.low < array.index.cardinality
            return is_inside and _is_there(place.base, tracer)
    return False


_CONNECTIVES = (BinaryOperator.AND, BinaryOperator.OR, BinaryOperator.IMPLIES)


def _is_small(node: Expression) -> bool:
    """Returns whether a value is a small constant, or that of a leaf of a small type."""
    if isinstance(node, Constant):
        return isinstance(node.value, int) and abs(node.value) < _SMALL
    kind = node.type
    if isinstance(node, Load) and isinstance(kind, Range):
        return kind.lower > -_SMALL and kind.upper < _SMALL
    return False


# --- Demands -----------------------------------------------------------------------------------------------


def unless_false(conjuncts: list[Conjunct]) -> Demands:
    """Returns what is true of a state in which the guard is true or fails. Conjuncts behind one that can fail say
    nothing then. A plain test of one leaf fails only if the leaf is undefined."""
    found: Demands = {}
    for each in conjuncts:
        found = both(found, each.unless_false)
        if each.can_fail:
            break
    return found


def _if_failing(demands: Demands, reads: int, is_safe: bool, is_comparison: bool) -> Demands:
    """Returns what is so where a conjunct with some demands is true or fails. The comparison of one leaf fails only if
    the leaf is undefined."""
    if is_safe:
        return demands
    if is_comparison and demands and reads == sum(1 << leaf for leaf in demands):
        return {leaf: mask | 1 for leaf, mask in demands.items()}
    return {}


class Demanding:
    """Finds what the guard of an instance demands of single leaves."""

    def __init__(self, system: System, rule: Rule, arguments: tuple[int, ...], known: Known) -> None:
        self._kinds = system.leaf_types
        self._tracer = Tracer(system, rule, arguments, known)
        self._constants = self._tracer.constants

    def of(self, node: Expression | None) -> Demands:
        """Returns what is true of a state in which the condition is true."""
        try:
            return {} if node is None else self._demands(node, True)
        except TooLarge:
            return {}

    def _demands(self, node: Expression, wanted: bool) -> Demands:
        match node:
            case Unary(operator=UnaryOperator.NOT):
                return self._demands(node.operand, not wanted)
            case Binary(operator=BinaryOperator.AND | BinaryOperator.OR | BinaryOperator.IMPLIES):
                known = self._tracer.value(node.left)
                if known is not None:  # otherwise the right operand is not even evaluated
                    return (
                        self._demands(node.right, wanted) if known == (node.operator is not BinaryOperator.OR) else {}
                    )
                is_implication = node.operator is BinaryOperator.IMPLIES
                left = self._demands(node.left, wanted != is_implication)
                right = self._demands(node.right, wanted)
                are_both = (node.operator is BinaryOperator.AND) == wanted
                return both(left, right) if are_both else _either(left, right)
            case Binary():
                return self._comparison(node, wanted)
            case Load():
                return self._loaded(node, BinaryOperator.EQUAL, int(wanted))
            case IsUndefined():
                leaf = self._leaf(node.place)
                return {} if leaf is None else {leaf: 1 if wanted else self._all(leaf) & ~1}
            case Quantified():
                return self._quantified(node, wanted)
        return {}

    def _quantified(self, node: Quantified, wanted: bool) -> Demands:
        values = self._tracer.domain(node.domain)
        if values is None or not 0 < len(values) <= _MOST_OPERANDS:
            return {}
        join = both if (node.quantifier is Quantifier.FORALL) == wanted else _either
        whole: Demands | None = None
        for each in values:
            self._constants[node.variable] = each
            part = self._demands(node.body, wanted)
            whole = part if whole is None else join(whole, part)
        self._constants.pop(node.variable, None)
        return whole or {}

    def _comparison(self, node: Binary, wanted: bool) -> Demands:
        if node.operator not in _COMPARISONS:
            return {}
        left, right, operator = node.left, node.right, node.operator
        if self._tracer.value(right) is None:
            left, right, operator = right, left, _COMPARISONS[operator]
        value = self._tracer.value(right)
        if value is None:
            return {}
        return self._compared(left, operator, value, wanted)

    def _compared(self, left: Expression, operator: BinaryOperator, value: int, wanted: bool) -> Demands:
        """Returns the demands of a comparison with a known value."""
        if isinstance(left, Conditional):
            return self._chosen(left, operator, value, wanted)
        if not wanted:
            operator = _OPPOSITES[operator]
        return self._loaded(left, operator, value) if isinstance(left, Load) else {}

    def _chosen(self, node: Conditional, operator: BinaryOperator, value: int, wanted: bool) -> Demands:
        """Returns the demands of a choice that is compared, such as a condition that was made an integer."""
        condition = self._tracer.value(node.condition)
        if condition is not None:
            return self._compared(node.then if condition else node.otherwise, operator, value, wanted)
        then, otherwise = self._tracer.value(node.then), self._tracer.value(node.otherwise)
        if then is None or otherwise is None:
            return {}
        truths = [bool(combined(operator, each, value)) == wanted for each in (then, otherwise)]
        return {} if truths[0] == truths[1] else self._demands(node.condition, truths[0])

    def _leaf(self, place: Place) -> int | None:
        """Returns the single leaf that a place is; None if it may be several, or lies in a multiset."""
        leaf = self._tracer.place(place).single
        return leaf if leaf is not None and tells_values(self._kinds[leaf]) else None

    def _all(self, leaf: int) -> int:
        return (2 << self._kinds[leaf].cardinality) - 1

    def _loaded(self, node: Load, operator: BinaryOperator, value: int) -> Demands:
        if not isinstance(node.type, Simple):
            return {}
        leaf = self._leaf(node.place)
        if leaf is None or self._kinds[leaf] != node.type:
            return {}
        return {leaf: _satisfying(self._kinds[leaf], operator, value, node.undefined is not Undefined.ERROR)}


def _is_plain(node: Expression, tracer: Tracer) -> bool:
    """Returns whether a condition is a comparison of one place with a constant, or its negation. The indices of the
    place are known, so that none of them is outside or undefined."""
    if isinstance(node, Unary) and node.operator is UnaryOperator.NOT:
        return _is_plain(node.operand, tracer)
    if isinstance(node, Binary) and node.operator in _COMPARISONS:
        return all(isinstance(each, Constant) or _is_plain_load(each, tracer) for each in (node.left, node.right))
    return _is_plain_load(node, tracer)


def _is_plain_load(node: Expression, tracer: Tracer) -> bool:
    indices = [each.index for each in walk(node) if isinstance(each, IndexPlace)]
    return isinstance(node, Load) and all(tracer.value(each) is not None for each in indices)


@lru_cache(maxsize=4096)
def _satisfying(kind: Simple, operator: BinaryOperator, value: int, may_be_undefined: bool) -> int:
    """Returns the packed values of a leaf that compare so with a constant."""
    mask = 1 if may_be_undefined and operator is not BinaryOperator.EQUAL else 0
    for each in range(kind.low, kind.low + kind.cardinality):
        if combined(operator, each, value):
            mask |= 1 << encode(kind, each)
    return mask


_OPPOSITES = {
    BinaryOperator.EQUAL: BinaryOperator.NOT_EQUAL,
    BinaryOperator.NOT_EQUAL: BinaryOperator.EQUAL,
    BinaryOperator.LESS: BinaryOperator.GREATER_EQUAL,
    BinaryOperator.LESS_EQUAL: BinaryOperator.GREATER,
    BinaryOperator.GREATER: BinaryOperator.LESS_EQUAL,
    BinaryOperator.GREATER_EQUAL: BinaryOperator.LESS,
}


def both(left: Demands, right: Demands) -> Demands:
    whole = dict(left)
    for leaf, mask in right.items():
        whole[leaf] = whole.get(leaf, mask) & mask
    return whole


def _either(left: Demands, right: Demands) -> Demands:
    return {leaf: left[leaf] | right[leaf] for leaf in left.keys() & right.keys()}


def values_of(kind: Simple, mask: int) -> list[int | None]:
    """Returns the values that the bits of a number stand for."""
    return [None if each == 0 else each - 1 + kind.low for each in bits(mask)]

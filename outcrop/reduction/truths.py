"""Truth tables of conjuncts that depend on few values, such as ``m / 4 = 3`` or ``a[i] = 1`` where ``i`` is known.

A conjunct is evaluated by the interpreter for all values of the leaves that it reads, other than those that are known.
So it tells which values of each of these leaves a true conjunct demands, and with which it fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod

from outcrop.ir.conditions import Condition, Instances
from outcrop.ir.execute import Executor
from outcrop.ir.faults import Fault
from outcrop.ir.layout import encode
from outcrop.ir.nodes import Expression, LocalPlace, StepDomain, TypeDomain
from outcrop.ir.places import Store
from outcrop.ir.system import Rule, System
from outcrop.ir.types import Multiset, Real
from outcrop.ir.walk import walk
from outcrop.reduction.leaves import Known, bits

#: Evaluations of one conjunct, and the turns that loops in it take in all of them.
_MOST_ROWS, _MOST_TURNS = 1024, 65_536


@dataclass(frozen=True)
class Truth:
    """The truth table of a conjunct. For each leaf that is not known: its packed values with which the conjunct is
    true, and those with which it is true or fails, for some values of the others."""

    demands: dict[int, int]
    unless_false: dict[int, int]
    can_fail: bool


class Truths:
    """The truth tables of the conjuncts of a System."""

    def __init__(self, system: System) -> None:
        self._executor = Executor(system)
        self._kinds = system.leaf_types
        self._leaf_count = system.leaf_count
        self._defined = self._refused = 0
        for each in system.variables:
            leaves = ((1 << each.type.leaf_count) - 1) << each.offset
            if each.is_defined:
                self._defined |= leaves
            if any(isinstance(part, Multiset | Real) for part in each.type.parts()):
                self._refused |= leaves
        self._found: dict[tuple[object, ...], Truth] = {}

    def of(self, node: Expression, rule: Rule, arguments: tuple[int, ...], reads: int, known: Known) -> Truth | None:
        """Returns the table of a conjunct that reads some leaves; None if it would be too large. ``known``: values of
        leaves where the conjunct is evaluated."""
        if reads & self._refused:
            return None
        fixed = tuple((leaf, known[leaf]) for leaf in bits(reads) if leaf in known)
        free = [leaf for leaf in bits(reads) if leaf not in known]
        rows = prod(self._kinds[leaf].cardinality + 1 for leaf in free)
        if rows > _MOST_ROWS or rows * _turns(node) > _MOST_TURNS:
            return None
        uses_locals = any(isinstance(each, LocalPlace) for each in walk(node))
        key = (node, reads, fixed, (rule, arguments) if uses_locals else ())
        if key not in self._found:
            self._found[key] = self._evaluated(node, Instances(rule, self._executor).frame(arguments), free, fixed)
        return self._found[key]

    def _evaluated(self, node: Expression, frame: Store, free: list[int], fixed: Sequence[tuple[int, int]]) -> Truth:
        condition = Condition(node, self._executor)
        state: Store = [None] * self._leaf_count
        for leaf, known in fixed:
            state[leaf] = known
        demands, unless_false, can_fail = dict.fromkeys(free, 0), dict.fromkeys(free, 0), False
        for values in product(*map(self._values, free)):
            for leaf, value in zip(free, values, strict=True):
                state[leaf] = value
            fails = False
            try:
                # Nothing is taken for granted of what an undefined value compares with.
                is_true = condition(state, frame) or None in values
            except Fault:
                is_true, fails = False, True
            can_fail = can_fail or fails
            for leaf, value in zip(free, values, strict=True) if is_true or fails else ():
                bit = 1 << encode(self._kinds[leaf], value)
                unless_false[leaf] |= bit
                demands[leaf] |= bit if is_true else 0
        return Truth(demands, unless_false, can_fail)

    def _values(self, leaf: int) -> list[int | None]:
        kind = self._kinds[leaf]
        values: list[int | None] = list(range(kind.low, kind.low + kind.cardinality))
        return values if self._defined >> leaf & 1 else [None, *values]


def _turns(node: Expression) -> int:
    """Returns the turns that the loops in a condition may take; many if that is not known."""
    turns = 1
    for each in walk(node):
        if isinstance(each, TypeDomain):
            turns *= each.type.cardinality
        elif isinstance(each, StepDomain):
            first, last = (getattr(bound, "value", None) for bound in (each.first, each.last))
            turns *= abs(last - first) + 1 if isinstance(first, int) and isinstance(last, int) else _MOST_TURNS
    return turns


@lru_cache(maxsize=2)
def truths_of(system: System) -> Truths:
    """Returns the tables of a System, which its boxes have in common."""
    return Truths(system)

"""Instances that commute although they use the same leaves, found by executing both in either order.

The values of most leaves stay symbols (symbols.py). Those that decide something, such as an index, are tried one after
the other. If in all states of a box that enable both instances neither fails, neither disables the other, and both
orders lead to the same state, they accord.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import product
from math import prod

from outcrop.ir.conditions import Condition, Instances
from outcrop.ir.execute import Execute
from outcrop.ir.faults import Abandoned, Fault
from outcrop.ir.layout import Leaf, encode
from outcrop.ir.nodes import (
    Assume,
    Call,
    Cover,
    FieldPlace,
    GlobalPlace,
    IndexPlace,
    Load,
    MultisetAdd,
    MultisetCount,
    MultisetRemove,
    MultisetRemoveIf,
    Put,
    RealCall,
    SlotPlace,
    SlotUsed,
    StepDomain,
    TypeDomain,
    Undefined,
    While,
    Witnessed,
)
from outcrop.ir.places import Store
from outcrop.ir.system import System
from outcrop.ir.types import Enum, Multiset, Range
from outcrop.ir.walk import walk, writes_state
from outcrop.reduction.boxes import Box
from outcrop.reduction.guards import split_guard, tells_values
from outcrop.reduction.instances import Instance, packed
from outcrop.reduction.leaves import bits
from outcrop.reduction.symbols import Symbol, SymbolicExecutor, Undecided, are_alike

#: States in which one pair of instances is executed, and all pairs.
_MOST_STATES, _MOST_IN_ALL = 128, 10_000
#: Turns of a loop that is executed.
_MOST_TURNS = 16

#: Nodes of instances that are not executed: what they do is more than the next state, or moves other leaves, or may
#: take long in states that no run reaches.
_REFUSED = (
    Call,
    While,
    StepDomain,
    Assume,
    Cover,
    Put,
    Witnessed,
    RealCall,
    SlotPlace,
    SlotUsed,
    MultisetAdd,
    MultisetCount,
    MultisetRemove,
    MultisetRemoveIf,
)

State = list[Leaf | Symbol]


def _is_refused(node: object, may_note: bool) -> bool:
    """Returns whether instances with a node are not executed. ``may_note``: a leaf that they read may be undefined."""
    match node:
        case Load():
            root = node.place
            while isinstance(root, IndexPlace | FieldPlace):
                root = root.base
            return node.undefined is Undefined.NOTE and (may_note or not isinstance(root, GlobalPlace))
        case TypeDomain():
            return node.type.cardinality > _MOST_TURNS
    return isinstance(node, _REFUSED)


class Commuting:
    """Pairs of instances of a box that accord by execution. ``widest``: a box with all reachable states."""

    def __init__(self, system: System, box: Box, widest: Box) -> None:
        self._system = system
        self._box = box
        self._widest = widest
        self._left = _MOST_IN_ALL
        self._pairs: dict[tuple[int, int], bool] = {}
        self._can_run: dict[int, bool] = {}
        self._bodies: dict[int, Execute] = {}
        self._conditions: dict[int, list[Condition]] = {}

    @cached_property
    def _executor(self) -> SymbolicExecutor:
        return SymbolicExecutor(self._system)

    @cached_property
    def _simple(self) -> int:
        """Leaves that may be symbols."""
        kinds = enumerate(self._system.leaf_types)
        whole = sum(1 << leaf for leaf, kind in kinds if isinstance(kind, Enum | Range))
        for each in self._system.variables:
            if any(isinstance(part, Multiset) for part in each.type.parts()):
                whole &= ~(((1 << each.type.leaf_count) - 1) << each.offset)
        return whole

    @cached_property
    def _wide(self) -> int:
        """Leaves with too many values to try them."""
        leaves = zip(self._widest.values, self._system.leaf_types, strict=True)
        return sum(1 << at for at, (values, kind) in enumerate(leaves) if values is None and not tells_values(kind))

    @cached_property
    def _defined(self) -> int:
        """Leaves that have a value in all reachable states."""
        whole = 0
        for each in self._system.variables:
            if each.is_defined:
                whole |= ((1 << each.type.leaf_count) - 1) << each.offset
        for leaf, values in enumerate(self._widest.values):
            if values is not None and None not in values:
                whole |= 1 << leaf
        return whole

    def accord(self, one: Instance, other: Instance) -> bool:
        """Returns whether two instances surely accord."""
        key = min(one.number, other.number), max(one.number, other.number)
        if key not in self._pairs:
            self._pairs[key] = self._runs(one) and self._runs(other) and self._commute(one, other)
        return self._pairs[key]

    def _runs(self, each: Instance) -> bool:
        """Returns whether an instance can be executed on symbols: it has no other outcome than the next state."""
        if each.number not in self._can_run:
            self._can_run[each.number] = self._check(each)
        return self._can_run[each.number]

    def _check(self, each: Instance) -> bool:
        rule = self._system.rules[each.rule]
        if (each.effects.reads | each.effects.writes) & ~self._simple or writes_state(rule.guard):
            return False
        may_note = bool(each.effects.reads & ~self._defined)
        return not any(_is_refused(node, may_note) for node in walk((rule.guard, rule.body)))

    # --- One pair ----------------------------------------------------------------------------------------------

    def _commute(self, one: Instance, other: Instance) -> bool:
        if not self._left or self._disables(one, other) or self._disables(other, one):
            return False
        self._left -= 1
        reads = one.effects.reads | other.effects.reads
        possible = {leaf: self._possible(leaf, one, other) for leaf in bits(reads & ~self._wide)}
        if any(not values for values in possible.values()):
            return True  # no state enables both
        if reads & self._wide & ~self._defined:
            return False
        tried = 0
        for leaf, values in possible.items():
            tried |= (None in values) << leaf  # undefined is no symbol
        while prod(len(possible[leaf]) for leaf in bits(tried)) <= min(_MOST_STATES, self._left):
            try:
                return self._commute_for_all(one, other, possible, bits(tried))
            except Undecided as undecided:
                if undecided.leaves & ~reads or undecided.leaves & (tried | self._wide):
                    return False
                tried |= undecided.leaves
        return False

    def _disables(self, first: Instance, second: Instance) -> bool:
        """Returns whether an instance surely stores a value that the guard of another one refuses."""
        for leaf, demanded in second.demands.items():
            stored = first.effects.stores.get(leaf)
            if stored is None or not stored.is_certain or stored.values is None:
                continue
            kind = self._system.leaf_types[leaf]
            if not any(demanded >> packed(kind, value) & 1 for value in stored.values):
                return True
        return False

    def _possible(self, leaf: int, one: Instance, other: Instance) -> Sequence[int | None]:
        """Returns the values that a leaf may have where both instances are enabled."""
        kind = self._system.leaf_types[leaf]
        values = self._widest.values[leaf]
        found: Sequence[int | None] = range(kind.low, kind.low + kind.cardinality)
        if (one.assumed | other.assumed) >> leaf & 1 and leaf in self._box.known:
            found = [self._box.known[leaf]]  # states are tested for it
        else:
            if values is not None:
                found = sorted(value for value in values if value is not None)
            if not self._defined >> leaf & 1:
                found = [None, *found]
        for demands in (one.unless_false, other.unless_false):
            if leaf in demands:
                found = [value for value in found if demands[leaf] >> encode(kind, value) & 1]
        return found

    def _commute_for_all(
        self, one: Instance, other: Instance, possible: dict[int, Sequence[int | None]], tried: list[int]
    ) -> bool:
        """Returns whether two instances commute for all values of the leaves that are tried."""
        state: State = [None] * self._system.leaf_count
        used = one.effects.reads | one.effects.writes | other.effects.reads | other.effects.writes
        for leaf in bits(used):
            values = possible.get(leaf, ())
            state[leaf] = values[0] if len(values) == 1 else self._symbol(leaf, values)
        for chosen in product(*(possible[leaf] for leaf in tried)):
            self._left -= 1
            for leaf, value in zip(tried, chosen, strict=True):
                state[leaf] = value
            try:
                are_enabled = self._may_be_enabled(one, state) and self._may_be_enabled(other, state)
                if are_enabled and not self._commutes(one, other, state):
                    return False
            except (Fault, Abandoned):
                return False
        return True

    def _symbol(self, leaf: int, values: Sequence[int | None]) -> Symbol:
        kind = self._system.leaf_types[leaf]
        numbers = [value for value in values if value is not None] or [kind.low, kind.low + kind.cardinality - 1]
        return Symbol(("leaf", leaf), min(numbers), max(numbers), 1 << leaf)

    def _may_be_enabled(self, each: Instance, state: State) -> bool:
        """Returns whether no conjunct of a guard is surely false. Raises Fault if the guard may fail."""
        for conjunct, test in zip(each.conjuncts, self._guard(each), strict=True):
            try:
                if not test(state, self._frame(each)):
                    return False
            except Undecided:
                if conjunct.can_fail:
                    raise
        return True

    def _commutes(self, one: Instance, other: Instance, state: State) -> bool:
        """Returns whether two instances surely commute in a state. May raise Undecided."""
        found, checks = [], []
        for first, second in ((one, other), (other, one)):
            after, checked = self._after(first, state)
            for conjunct, test in zip(second.conjuncts, self._guard(second), strict=True):
                if conjunct.reads & first.effects.writes and not test(after, self._frame(second)):
                    return False
            last, checked_then = self._after(second, after)
            found.append(last)
            checks.append((checked, checked_then))
        (one_first, other_then), (other_first, one_then) = checks
        return one_first == one_then and other_first == other_then and all(map(are_alike, *found))

    def _after(self, each: Instance, state: State) -> tuple[State, list[object]]:
        """Returns the next state, and what decides whether the instance fails instead."""
        after = state.copy()
        if each.rule not in self._bodies:
            self._bodies[each.rule] = self._executor.block(self._system.rules[each.rule].body)
        self._executor.checks.clear()
        self._bodies[each.rule](after, self._frame(each))
        return after, [*self._executor.checks]

    def _guard(self, each: Instance) -> list[Condition]:
        if each.rule not in self._conditions:
            nodes = split_guard(self._system.rules[each.rule])
            self._conditions[each.rule] = [Condition(node, self._executor) for node in nodes]
        return self._conditions[each.rule]

    def _frame(self, each: Instance) -> Store:
        return Instances(self._system.rules[each.rule], self._executor).frame(each.arguments)

"""The relations between rule instances from which stubborn sets are made.

Instances are numbered rule by rule, the last parameter fastest; a set of them is the bits of a number. docs/algorithms/
reduction.md has the conditions on a set, and why these relations ensure them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from outcrop.ir.nodes import Binary, BinaryOperator, Expression, Local, Quantified, Quantifier
from outcrop.ir.system import PropertyKind, System
from outcrop.reduction.boxes import Box
from outcrop.reduction.commuting import Commuting
from outcrop.reduction.effects import Tracer
from outcrop.reduction.guards import Conjunct, Demands, tells_values
from outcrop.reduction.instances import Instance, Option, packed
from outcrop.reduction.leaves import bits

#: Conjuncts of a guard that are tested.
_MOST_TESTED = 64


class Relations:
    """The instances of a System with what each reads, writes and demands."""

    def __init__(self, system: System, box: Box, widest: Box, groups: Sequence[int] = ()) -> None:
        self.system = system
        self.box = box
        self.leaf_count = system.leaf_count
        self.instances = box.instances
        self._add_priorities()
        self._commuting = Commuting(system, box, widest)
        self._has_priorities = len({rule.priority for rule in system.rules}) > 1
        self.groups = groups  #: leaves that one property reads, for each that must be preserved

    def _add_priorities(self) -> None:
        """Makes instances depend on the guards of those that go first."""
        levels = sorted({rule.priority for rule in self.system.rules})
        for level in levels[1:]:
            before = 0
            for each in self.instances:
                if self.system.rules[each.rule].priority < level:
                    before |= each.guard_reads
            for each in self.instances:
                if self.system.rules[each.rule].priority == level:
                    each.effects.reads |= before

    @property
    def later(self) -> tuple[int, ...]:
        """For each instance, those of rules with a later priority."""
        found: dict[int, int] = {}
        for each in self.instances:
            level = self.system.rules[each.rule].priority
            found[level] = found.get(level, 0) | each.bit
        behind = {level: sum(mask for other, mask in found.items() if other > level) for level in found}
        return tuple(behind[self.system.rules[each.rule].priority] for each in self.instances)

    # --- Readers and writers -----------------------------------------------------------------------------------

    @cached_property
    def writers(self) -> list[int]:
        """For each leaf, and then for each group, the instances that may write it."""
        rows = [0] * self.leaf_count
        for each in self.instances:
            for leaf in bits(each.effects.writes) if self.box.live >> each.number & 1 else ():
                rows[leaf] |= each.bit
        for group in self.groups:
            rows.append(self._union(rows, group))
        return rows

    @cached_property
    def readers(self) -> list[int]:
        rows = [0] * self.leaf_count
        for each in self.instances:
            for leaf in bits(each.effects.reads) if self.box.live >> each.number & 1 else ():
                rows[leaf] |= each.bit
        return rows

    @staticmethod
    def _union(rows: list[int], leaves: int) -> int:
        whole = 0
        for leaf in bits(leaves):
            whole |= rows[leaf]
        return whole

    def writers_of(self, leaves: int) -> int:
        return self._union(self.writers, leaves)

    # --- Instances that do not accord --------------------------------------------------------------------------

    @cached_property
    def conflicts(self) -> list[int]:
        """For each instance, those whose guard is never true where its own is."""
        return self._conflicts([each.demands for each in self.instances])

    @cached_property
    def failing_conflicts(self) -> list[int]:
        """For each instance, those whose guard is false, and does not fail, where its own is true."""
        return self._conflicts([each.unless_false for each in self.instances])

    def _conflicts(self, others: list[Demands]) -> list[int]:
        by_leaf: dict[int, dict[int, int]] = {}
        for number, demands in enumerate(others):
            for leaf, mask in demands.items():
                row = by_leaf.setdefault(leaf, {})
                row[mask] = row.get(mask, 0) | 1 << number
        found = []
        for each in self.instances:
            whole = 0
            for leaf, mask in each.demands.items():
                for other, instances in by_leaf.get(leaf, {}).items():
                    if not mask & other:
                        whole |= instances
            found.append(whole)
        return found

    def dependents(self, each: Instance) -> int:
        """Returns the instances that do not accord with one that is enabled."""
        writers, readers = self.writers, self.readers
        writing = reading = 0
        for leaf in bits(each.effects.reads | each.effects.writes):
            writing |= writers[leaf] & ~self._opposite(each, leaf)
        for leaf in bits(each.effects.writes):
            reading |= readers[leaf] & ~self._opposite(each, leaf)
        seen = 0
        for number, group in enumerate(self.groups, self.leaf_count):
            if each.effects.writes & group:
                seen |= writers[number]
        # A guard that fails changes nothing, but whether it fails may depend on this instance.
        whole = (writing & ~self.conflicts[each.number]) | (reading & ~self.failing_conflicts[each.number])
        whole &= ~each.bit
        for number in bits(whole) if not self._has_priorities and self.box.live & each.bit else ():
            if self._commuting.accord(each, self.instances[number]):
                whole ^= 1 << number
        return whole | (seen & ~self.conflicts[each.number] & ~each.bit)

    def _opposite(self, each: Instance, leaf: int) -> int:
        """Returns the instances that use the other end of the queue in which a leaf lies. They accord where both are
        enabled: an item is appended behind the one that is removed."""
        whole = 0
        for queue, appends in each.ends.items():
            if queue >> leaf & 1:
                whole |= self._ends.get((queue, not appends), 0)
        return whole

    @cached_property
    def _ends(self) -> dict[tuple[int, bool], int]:
        """For each end of each queue, the instances that use it."""
        found: dict[tuple[int, bool], int] = {}
        for each in self.instances:
            for end in each.ends.items():
                found[end] = found.get(end, 0) | each.bit
        return found

    # --- Necessary enabling sets -------------------------------------------------------------------------------

    def add_enabling(self) -> None:
        for each in self.instances:
            each.otherwise = self.writers_of(each.guard_reads)
            earlier = failing = 0  # what decides whether an earlier conjunct fails, and with it the instance
            for number, conjunct in enumerate(each.conjuncts[:_MOST_TESTED]):
                if conjunct.can_be_tested:
                    changing = conjunct.reads & ~(self._constant & each.assumed)
                    each.options += self._options(number, conjunct, changing, self.writers_of(failing))
                earlier |= conjunct.reads
                if conjunct.can_fail:
                    failing = earlier  # a conjunct fails only if those before it are true
            each.options.sort(key=lambda option: option.conjunct is not None)  # the cheaper tests first

    @cached_property
    def _constant(self) -> int:
        """The leaves with one value. A state outside of the box may have another one, where that is not assumed."""
        return sum(1 << leaf for leaf in self.box.known)

    def _options(self, number: int, conjunct: Conjunct, changing: int, failing: int) -> Iterator[Option]:
        """Yields the necessary enabling sets of a conjunct. ``changing``: the leaves that it reads and that may have
        another value later."""
        leaves = bits(conjunct.reads & ~sum(1 << leaf for leaf in conjunct.known))
        if len(leaves) != 1 or not tells_values(self.system.leaf_types[leaves[0]]):
            yield Option(number, ((self.writers_of(changing) | failing,),))
            return
        (leaf,) = leaves
        rows = [row | failing for row in self._by_value(leaf)]
        wanted = conjunct.unless_false.get(leaf)
        if wanted is None:
            if changing != 1 << leaf:
                rows = [row | self.writers_of(changing) for row in rows]
            yield Option(number, tuple((row,) for row in rows), leaf)
            return
        # With another value of the leaf the guard is false, without a look at the conjunct.
        storing = self._storing(leaf, wanted) | failing
        sets = (() if wanted >> value & 1 else _smallest(row, storing) for value, row in enumerate(rows))
        yield Option(None, tuple(sets), leaf)

    def _storing(self, leaf: int, wanted: int) -> int:
        """Returns the instances that may store one of some packed values."""
        whole = 0
        for stored, writers in self._stored(leaf).items():
            if stored < 0 or stored & wanted:
                whole |= writers
        return whole

    def _stored(self, leaf: int) -> dict[int, int]:
        """Returns the writers of a leaf by the packed values that they may store; -1: any."""
        cached = self._stores.get(leaf)
        if cached is not None:
            return cached
        kind, found = self.system.leaf_types[leaf], dict[int, int]()
        for number in bits(self.writers[leaf]):
            values = self.instances[number].effects.stored(leaf).values
            mask = -1
            if values is not None:
                mask = sum({1 << packed(kind, value) for value in values})
            found[mask] = found.get(mask, 0) | 1 << number
        self._stores[leaf] = found
        return found

    @cached_property
    def _stores(self) -> dict[int, dict[int, int]]:
        return {}

    def _by_value(self, leaf: int) -> list[int]:
        """Returns, for each packed value of a leaf, the instances that can be the next to write it."""
        cached = self._rows.get(leaf)
        if cached is not None:
            return cached
        rows = [0] * (self.system.leaf_types[leaf].cardinality + 1)
        for number in bits(self.writers[leaf]):
            demanded = self.instances[number].demands.get(leaf, -1)
            for value in range(len(rows)):
                if demanded >> value & 1:
                    rows[value] |= 1 << number
        self._rows[leaf] = rows
        return rows

    @cached_property
    def _rows(self) -> dict[int, list[int]]:
        return {}


def _smallest(one: int, other: int) -> tuple[int, ...]:
    """Returns both sets, or only the smaller one if the other contains it."""
    if not one & ~other:
        return (one,)
    return (other,) if not other & ~one else (one, other)


# --- What properties read ----------------------------------------------------------------------------------


def groups_of(system: System) -> list[int]:
    """Returns the leaves that each part of each property of states reads."""
    found: dict[int, None] = {}
    for each in system.properties:
        if each.kind in (PropertyKind.INVARIANT, PropertyKind.COVER, PropertyKind.WITNESS):
            for arguments in each.instances():
                parts = _parts(each.condition) if each.kind is PropertyKind.INVARIANT else [(each.condition, {})]
                for part, known in parts:
                    tracer = Tracer(system, each, arguments)
                    tracer.constants |= known
                    found[tracer.condition(part).reads] = None
    return [each for each in found if each]


def _parts(node: Expression) -> list[tuple[Expression, dict[Local, int]]]:
    """Returns conditions that must all be true, each with values of the variables that quantifiers bind."""
    if isinstance(node, Binary) and node.operator is BinaryOperator.AND:
        return [*_parts(node.left), *_parts(node.right)]
    if isinstance(node, Quantified) and node.quantifier is Quantifier.FORALL:
        kind = getattr(node.domain, "type", None)
        if kind is not None and kind.cardinality <= 64:
            return [
                (part, {**known, node.variable: value})
                for part, known in _parts(node.body)
                for value in range(kind.low, kind.low + kind.cardinality)
            ]
    return [(node, {})]

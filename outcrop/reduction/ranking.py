"""The ranking function of states, which keeps reduction from ignoring an enabled instance for ever.

The rank of a state is a sum over leaves: a number for each value of a leaf, or a weight times its value. A set of
instances may be fired alone only if one of them (for properties of runs: each of them) surely leads to a state of
higher rank. Ranks are bounded, so every path of such steps ends in a state that is expanded in full. Leaves that
symmetry exchanges have equal numbers, and scalarset values none, so that all states of an orbit have the same rank.

Numbers are chosen so that many instances ascend; weights.py improves them. The steps between the values of a leaf are
taken one after the other, those of instances with few dependents first, and a step that would close a circle is left
out. So what descends are mostly steps that depend on many others, and have large sets anyway. Weights of counters, such
as the lengths of queues, then make further steps ascend: a process that goes back to its beginning after a receive
gains by the message that is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

from outcrop.ir.system import System
from outcrop.ir.types import Range, Simple
from outcrop.reduction.boxes import Box, peers_of
from outcrop.reduction.instances import Instance, packed
from outcrop.reduction.leaves import bits
from outcrop.reduction.tables import Relations
from outcrop.reduction.weights import Side, Sum, Term, improved

#: Values of a leaf that have a number each.
_MOST_VALUES = 256
#: Steps between its values that are looked at.
_MOST_STEPS = 1_000
#: Values before and after a step, on average, from which on the values of a leaf have no numbers.
_MOST_CHOICES = 16
#: Multiples of the numbers that are tried for a class of leaves.
_FACTORS = (1, 16, 256)

#: Steps between the values of a leaf, each with the least number of dependents of an instance that takes it.
Steps = dict[tuple[int, int], int]


@dataclass
class _Class:
    """Leaves with equal numbers. ``first``: the number of its first parameter, that of packed value 0; of a counter the
    only one, its weight. ``possible``: packed values, or values of a counter, that a leaf of it may have.
    ``sides``: those that were asked for, by their values."""

    kind: Simple
    leaves: list[int]
    is_counter: bool
    first: int
    possible: list[int]
    sides: dict[tuple[int, ...], Side] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return 1 if self.is_counter else self.kind.cardinality + 1

    def side(self, values: list[int]) -> Side:
        """Returns the terms of a sum, one of which the rank contains where a leaf has one of some values."""
        key = tuple(values)
        side = self.sides.get(key)
        if side is None:
            if self.is_counter:
                side = tuple([(self.first, value) for value in sorted({min(values), max(values)})])
            else:
                side = tuple([(self.first + value, 1) for value in values])
            self.sides[key] = side
        return side


def ascending(relations: Relations, dependents: Sequence[int], effort: float = 1.0) -> int:
    """Returns the instances that surely lead to a state of higher rank. ``dependents``: for each instance, those that
    do not accord with it. ``effort``: the work to spend on finding more of them, as a share of the most."""
    instances = [each for each in relations.instances if relations.box.live >> each.number & 1]
    counts = {each.number: dependents[each.number].bit_count() for each in instances}
    classes = _classes(relations.system, relations.box, instances)
    sums = {each.number: Sum(each.number) for each in instances}
    parameters = [0] * sum(each.size for each in classes)
    gains: list[tuple[_Class, list[int], dict[int, int]]] = []
    for each in classes:
        terms = {instance.number: _terms(instance, each) for instance in instances}
        if not each.is_counter and _are_vague([term for some in terms.values() for term in some]):
            continue
        for number, some in terms.items():
            for term in some:
                sums[number].add(term)
        if not each.is_counter:
            steps: Steps = {}
            for instance in instances:
                _note_steps(instance, each, steps, counts[instance.number])
            numbers = _numbers(steps, each.size)
            gains.append((each, numbers, _gains([0] * each.first + numbers, terms)))
    _choose(gains, parameters)
    parameters = improved(parameters, sorted(sums.values(), key=lambda one: (counts[one.number], one.number)), effort)
    return sum(1 << number for number, one in sums.items() if one.value(parameters) > 0)


def _gains(parameters: list[int], terms: dict[int, list[Term]]) -> dict[int, int]:
    """Returns the least change of rank that each instance makes through a class."""
    found = {}
    for number, some in terms.items():
        whole = Sum(number)
        for term in some:
            whole.add(term)
        found[number] = round(whole.value(parameters))
    return found


def _choose(gains: list[tuple[_Class, list[int], dict[int, int]]], parameters: list[int]) -> None:
    """Sets the numbers of classes, with factors that make many instances ascend."""
    totals: dict[int, int] = {}
    score = 0
    for each, numbers, own in sorted(gains, key=lambda one: -sum(gain > 0 for gain in one[2].values())):
        best = None
        for factor in _FACTORS:
            trial = {number: totals.get(number, 0) + factor * gain for number, gain in own.items()}
            reached = sum(total > 0 for total in trial.values())
            if reached > score:
                score, best = reached, (factor, trial)
        if best is not None:
            totals = best[1]
            parameters[each.first : each.first + each.size] = [best[0] * number for number in numbers]


# --- Classes of leaves -------------------------------------------------------------------------------------


def _classes(system: System, box: Box, instances: list[Instance]) -> list[_Class]:
    written = counted = 0
    for each in instances:
        written |= each.effects.writes
        counted |= sum(1 << leaf for leaf, stored in each.effects.stores.items() if stored.change is not None)
    defined = sum(((1 << each.type.leaf_count) - 1) << each.offset for each in system.variables if each.is_defined)
    found: list[_Class] = []
    first = 0
    for leaf, leaves in peers_of(system).items():
        kind, values = system.leaf_types[leaf], box.values[leaf]
        if leaf != leaves[0] or not any(written >> each & 1 for each in leaves):
            continue
        is_defined = defined >> leaf & 1 or (values is not None and None not in values)
        if is_defined and any(counted >> each & 1 for each in leaves) and isinstance(kind, Range):
            found.append(_Class(kind, leaves, True, first, [kind.low, kind.high]))
        elif kind.cardinality <= _MOST_VALUES:
            every = range(kind.cardinality + 1)
            possible = every if values is None else (packed(kind, each) for each in values)
            found.append(_Class(kind, leaves, False, first, sorted(possible)))
        else:
            continue
        first += found[-1].size
    return found


def _sides(instance: Instance, each: _Class, leaf: int) -> tuple[list[int], list[int]]:
    """Returns the values of a leaf before and after a step that writes it."""
    values, demanded = instance.effects.stored(leaf).values, instance.demands.get(leaf)
    if each.is_counter:
        low = each.kind.low
        before = each.possible if demanded is None else [bit - 1 + low for bit in bits(demanded) if bit]
        after = each.possible if values is None else [value for value in values if value is not None]
    else:
        before = each.possible if demanded is None else [bit for bit in each.possible if demanded >> bit & 1]
        after = each.possible if values is None else sorted(packed(each.kind, value) for value in values)
    return before, after


def _terms(instance: Instance, each: _Class) -> list[Term]:
    """Returns the changes of rank that a step makes through the leaves of a class."""
    found = []
    for leaf in each.leaves:
        if not instance.effects.writes >> leaf & 1:
            continue
        stored = instance.effects.stored(leaf)
        if each.is_counter and stored.change is not None:
            found.append(Term(((each.first, stored.change),), ((each.first, 0),), stored.is_certain))
            continue
        before, after = _sides(instance, each, leaf)
        if before and after:  # otherwise it never fires
            found.append(Term(each.side(after), each.side(before), stored.is_certain))
    return found


def _are_vague(terms: list[Term]) -> bool:
    """Returns whether most steps may lead from many values to many others, so that none ascends."""
    return sum(each.size for each in terms) > _MOST_CHOICES * len(terms)


def _note_steps(instance: Instance, each: _Class, steps: Steps, dependents: int) -> None:
    for leaf in each.leaves:
        if instance.effects.stored(leaf).values is not None and leaf in instance.demands:
            before, after = _sides(instance, each, leaf)
            for step in product(before, after):
                steps[step] = min(dependents, steps.get(step, dependents))


def _numbers(steps: Steps, size: int) -> list[int]:
    """Returns a number for each packed value: the longest path to it without steps that close circles."""
    following: dict[int, list[int]] = {}
    for source, target in sorted(steps, key=lambda step: (steps[step], step))[:_MOST_STEPS]:
        if source not in _reachable(target, following):
            following.setdefault(source, []).append(target)
    numbers = [0] * size
    pending = list(following)
    while pending:
        source = pending.pop()
        for target in following.get(source, ()):
            if numbers[target] <= numbers[source]:
                numbers[target] = numbers[source] + 1
                pending.append(target)
    return numbers


def _reachable(value: int, following: dict[int, list[int]]) -> set[int]:
    seen, pending = {value}, [value]
    while pending:
        for target in following.get(pending.pop(), ()):
            if target not in seen:
                seen.add(target)
                pending.append(target)
    return seen

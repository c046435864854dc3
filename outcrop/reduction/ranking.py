"""The ranking function of states, which keeps reduction from ignoring an enabled instance for ever.

The rank of a state is a sum of weights over values of leaves. A set of instances may be fired alone only if one of them
(for properties of runs: each of them) surely leads to a state of higher rank. Ranks are bounded, so every path of such
steps ends in a state that is expanded in full. Leaves that symmetry exchanges have equal weights, and scalarset values
none, so that all states of an orbit have the same rank.

Weights are chosen so that many instances ascend. The steps between the values of a leaf are taken one after the other,
those of instances with few dependents first, and a step that would close a circle is left out; it descends. So what
descends are mostly steps that are dependent on many others, and have large sets anyway. Then leaves are added one by
one as long as that helps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from outcrop.ir.system import System, has_symmetry
from outcrop.ir.types import Array, Enum, Multiset, Range, Record, Simple, Type
from outcrop.reduction.effects import Tracer
from outcrop.reduction.leaves import bits
from outcrop.reduction.tables import Instance, Relations, packed

#: Values of a leaf that is ranked.
_MOST_VALUES = 256
#: Steps between its values that are looked at.
_MOST_STEPS = 1_000
#: Weights that are tried for a class of leaves.
_FACTORS = (1, 16, 256)

Path = tuple[object, ...]


@dataclass
class _Class:
    """Leaves with equal weights. ``possible``: packed values that some leaf of it may have, as bits of a number."""

    kind: Simple
    leaves: list[int] = field(default_factory=list)
    possible: int = 0
    steps: dict[tuple[int, int], int] = field(default_factory=dict)  #: with the least number of dependents
    ranks: list[int] = field(default_factory=list)


def ascending(relations: Relations, dependents: Sequence[int]) -> int:
    """Returns the instances that surely lead to a state of higher rank. ``dependents``: for each instance, those that
    do not accord with it."""
    system = relations.system
    classes = _classes(system)
    of_leaf = {leaf: each for each in classes for leaf in each.leaves}
    _note_starts(system, of_leaf)
    for instance in relations.instances:
        _note_steps(instance, of_leaf, dependents[instance.number].bit_count())
    gains = []
    for each in classes:
        each.ranks = _ranks(each)
        gains.append([_gain(instance, each) for instance in relations.instances])
    totals = _chosen(gains, len(relations.instances))
    return sum(1 << number for number, total in enumerate(totals) if total > 0)


def _chosen(gains: list[list[int]], count: int) -> list[int]:
    """Returns the least change of rank of each instance, with weights that make many of them positive."""
    totals = [0] * count
    score = 0
    order = sorted(range(len(gains)), key=lambda each: (-sum(gain > 0 for gain in gains[each]), each))
    for each in order:
        best = None
        for factor in _FACTORS:
            trial = [total + factor * gain for total, gain in zip(totals, gains[each], strict=True)]
            reached = sum(total > 0 for total in trial)
            if reached > score:
                score, best = reached, trial
        totals = totals if best is None else best
    return totals


def _classes(system: System) -> list[_Class]:
    found: dict[Path, _Class] = {}
    for variable in system.variables:
        if system.product is not None and variable in (system.product.location, system.product.counter):
            continue
        for path, kind, leaf in _paths(variable.type, (variable.name,), variable.offset):
            found.setdefault(path, _Class(kind)).leaves.append(leaf)
    return list(found.values())


def _paths(kind: Type, path: Path, at: int) -> Iterator[tuple[Path, Simple, int]]:
    """Yields the leaves of a type that can be ranked. Elements that symmetry exchanges have the same path."""
    if isinstance(kind, Record):
        for (name, each), offset in zip(kind.fields, kind.offsets, strict=True):
            yield from _paths(each, (*path, name), at + offset)
    elif isinstance(kind, Array):
        is_symmetric = has_symmetry(kind.index)
        for position in range(kind.index.cardinality):
            step = None if is_symmetric else position
            yield from _paths(kind.element, (*path, step), at + position * kind.element.leaf_count)
    elif isinstance(kind, Enum | Range) and kind.cardinality <= _MOST_VALUES:
        yield path, kind, at
    else:
        assert isinstance(kind, Simple | Multiset)


def _note_starts(system: System, of_leaf: dict[int, _Class]) -> None:
    starts = system.start_states if system.error_state is None else (*system.start_states, system.error_state)
    for start in starts:
        for arguments in start.instances():
            effects = Tracer(system, start, arguments).body(start.body)
            for leaf, each in of_leaf.items():
                values = effects.stored(leaf).values if effects.writes >> leaf & 1 else frozenset([None])
                if not effects.stored(leaf).is_certain:
                    each.possible |= 1
                if values is None:
                    each.possible |= _all(each.kind)
                for value in values or ():
                    each.possible |= 1 << packed(each.kind, value)


def _all(kind: Simple) -> int:
    return (2 << kind.cardinality) - 1


def _note_steps(instance: Instance, of_leaf: dict[int, _Class], dependents: int) -> None:
    for leaf in bits(instance.effects.writes):
        each = of_leaf.get(leaf)
        if each is None:
            continue
        stored = instance.effects.stored(leaf)
        if stored.values is None:
            each.possible |= _all(each.kind)
            continue
        targets = [packed(each.kind, value) for value in stored.values]
        for target in sorted(targets):
            each.possible |= 1 << target
            if leaf in instance.demands:
                for source in bits(instance.demands[leaf]):
                    step = source, target
                    each.steps[step] = min(dependents, each.steps.get(step, dependents))


def _ranks(each: _Class) -> list[int]:
    """Returns the rank of each packed value: the length of the longest path to it, without steps that close circles."""
    following: dict[int, list[int]] = {}
    for source, target in sorted(each.steps, key=lambda step: (each.steps[step], step))[:_MOST_STEPS]:
        if source not in _reachable(target, following):
            following.setdefault(source, []).append(target)
    ranks = [0] * (each.kind.cardinality + 1)
    pending = list(following)
    while pending:
        source = pending.pop()
        for target in following.get(source, ()):
            if ranks[target] <= ranks[source]:
                ranks[target] = ranks[source] + 1
                pending.append(target)
    return ranks


def _reachable(value: int, following: dict[int, list[int]]) -> set[int]:
    seen, pending = {value}, [value]
    while pending:
        for target in following.get(pending.pop(), ()):
            if target not in seen:
                seen.add(target)
                pending.append(target)
    return seen


def _gain(instance: Instance, each: _Class) -> int:
    """Returns the least change of rank that a step makes through the leaves of a class."""
    total = 0
    for leaf in each.leaves:
        if instance.effects.writes >> leaf & 1:
            stored = instance.effects.stored(leaf)
            before = instance.demands.get(leaf, -1) & each.possible
            after = each.possible if stored.values is None else 0
            for value in stored.values or ():
                after |= 1 << packed(each.kind, value)
            if not before or not after:
                continue  # it never fires
            least = min(each.ranks[value] for value in bits(after)) - max(each.ranks[value] for value in bits(before))
            total += least if stored.is_certain else min(least, 0)
    return total

"""Boxes: a set of values for each leaf that no step leaves.

A state that follows one in a box is in the box. So the values of leaves with one value are known from there on, and
instances that demand a value outside of the box never fire again, and their guards do not fail. The widest box has all
reachable states. A narrower one begins with a state behind the first steps, when processes have been started and
channels been passed to them.

Sets are symmetric: leaves that symmetry exchanges have the same set, and scalarset values have all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from outcrop.ir.interpreter import Interpreter
from outcrop.ir.layout import State
from outcrop.ir.nodes import Expression, LocalPlace
from outcrop.ir.system import Rule, StartState, System, has_symmetry
from outcrop.ir.types import Array, Enum, Multiset, Range, Record, Simple, Type
from outcrop.ir.walk import walk
from outcrop.reduction.effects import Tracer
from outcrop.reduction.instances import Instance, instances_of, packed, trace_body, traced_instance
from outcrop.reduction.leaves import Effects, Known, Values, bits

Path = tuple[int | None, ...]

#: Values of a leaf that are told apart in a box, and in one that states are tested for.
_MOST_VALUES, _MOST_TESTED = 256, 32
#: Steps of a walk after which a narrower box is tried, and instances that are traced for these boxes.
_TRIED_AFTER, _MOST_TRACED = (1, 4, 16, 64), 800
#: Leaves that instances use in a narrower box, as a share of those in a wider one.
_LARGEST_SHARE = 0.9


@dataclass(frozen=True)
class Box:
    """Values for each leaf that no step leaves. ``instances`` are traced with the known values; ``live``: those whose
    guard may be true in the box, or fail."""

    values: tuple[Values, ...]
    known: Known
    instances: list[Instance]
    live: int

    @property
    def used(self) -> int:
        """The number of leaves that the live instances use, counted for each of them."""
        alive = (each.effects for each in self.instances if self.live >> each.number & 1)
        return sum((effects.reads | effects.writes).bit_count() for effects in alive)

    def tests(self, system: System) -> dict[int, frozenset[int]]:
        """Returns packed values of leaves such that the states with these values are a box, with the same instances
        alive and the same values known. Leaves that symmetry exchanges are tested together: otherwise a state could
        pass, and its representative not."""
        kinds, tested = system.leaf_types, 0
        for each in self.instances:
            tested |= each.assumed
        for each in self.instances:
            if not self.live >> each.number & 1:
                demanded = each.unless_false
                refused = [leaf for leaf in demanded if not _permits(each, leaf, self.values[leaf], kinds[leaf])]
                is_never = not all(demanded.values())  # no value will do
                if not is_never and not any(tested >> leaf & 1 for leaf in refused):
                    tested |= 1 << refused[0]
        found: dict[int, frozenset[int]] = {}
        peers = peers_of(system)
        for leaf in bits(tested):
            values = self.values[leaf]
            assert values is not None
            found |= dict.fromkeys(peers[leaf], frozenset(packed(kinds[leaf], value) for value in values))
        return found


def _permits(each: Instance, leaf: int, values: Values, kind: Simple) -> bool:
    """Returns whether a guard can be true, or fail, where a leaf has one of some values."""
    permitted = each.unless_false[leaf]
    return permitted != 0 if values is None else any(permitted >> packed(kind, value) & 1 for value in values)


# --- Closing -----------------------------------------------------------------------------------------------


class _Closing:
    """Adds values until no step leaves the box."""

    def __init__(self, system: System, most: int) -> None:
        self._system = system
        self._kinds = system.leaf_types
        self._most = most
        self._peers = peers_of(system)
        self._values: list[Values] = [frozenset()] * system.leaf_count
        for leaf in set(range(system.leaf_count)) - set(self._peers):
            self._values[leaf] = None

    def add(self, leaf: int, values: Values) -> int:
        """Adds values of a leaf and of its peers, less those outside of its type, which are never stored. Returns the
        leaves that have more values now."""
        before, kind = self._values[leaf], self._kinds[leaf]
        if before is None:
            return 0
        after = None
        if values is not None:
            after = before | {each for each in values if each is None or kind.low <= each <= kind.high}
        if after == before:
            return 0
        if after is not None and len(after) > 1 and (len(after) > self._most or kind.cardinality > 1024):
            after = None
        changed = 0
        for each in self._peers[leaf]:
            self._values[each] = after
            changed |= 1 << each
        return changed

    def add_start(self, start: StartState) -> None:
        for arguments in start.instances():
            effects = Tracer(self._system, start, arguments).body(start.body)
            for leaf in self._peers:
                if not effects.stored(leaf).is_certain:
                    self.add(leaf, frozenset([None]))
                if effects.writes >> leaf & 1:
                    self.add(leaf, effects.stored(leaf).values)

    def add_state(self, state: State) -> None:
        for leaf in self._peers:
            value = state[leaf]
            assert not isinstance(value, float)
            self.add(leaf, frozenset([value]))

    def closed(self, traced: list[Instance] | None = None) -> Box:
        """Returns the box. ``traced``: the instances of a wider one. With these nothing is traced, which is faster, but
        the box may be wider than it need be."""
        known = self._known()
        instances = traced or self._traced(range(len(self._rows)), known)
        live = done = 0
        written = [0] * len(instances)
        counting = dict[int, int]()  # for each leaf, the instances that add to it
        while True:
            changed = 0
            for each in instances:
                if traced is None and each.assumed & changed:
                    continue  # it is traced again first, since it would demand too little now
                if not done >> each.number & 1 and (live >> each.number & 1 or self._may_fire(each)):
                    if traced is None:
                        rule = self._rows[each.number][1]
                        trace_body(self._system, rule, each, known, self._values, written[each.number])
                        written[each.number] = each.effects.writes
                    live |= each.bit
                    done |= each.bit
                    for leaf in bits(each.effects.writes):
                        changed |= self.add(leaf, self._stored(each, leaf))
                        if each.effects.stored(leaf).change is not None:
                            counting[leaf] = counting.get(leaf, 0) | each.bit
            changed |= self._count(instances, counting)
            if not changed:
                return Box(tuple(self._values), known, instances, live)
            known = self._known()
            # They may have known a value that is one of several now.
            outdated = [each.number for each in instances if each.assumed & changed] if traced is None else []
            for each in self._traced(outdated, known):
                instances[each.number] = each
                done &= ~each.bit

    def _count(self, instances: list[Instance], counting: dict[int, int]) -> int:
        """Adds the values of counters that instances reach from those that there are. Returns the leaves that have more
        values now."""
        changed = 0
        for leaf, numbers in counting.items():
            more = 1 << leaf
            while more >> leaf & 1:
                more = 0
                for number in bits(numbers):
                    if instances[number].effects.writes >> leaf & 1:
                        more |= self.add(leaf, self._stored(instances[number], leaf))
                changed |= more
        return changed

    def _traced(self, numbers: Sequence[int], known: Known) -> list[Instance]:
        """Returns instances with their guards traced. Equal guards are traced once."""
        found, by_guard = [], dict[int, Instance]()
        for at in numbers:
            number, rule, arguments = self._rows[at]
            guard = self._guards[at]
            if guard is not None and (same := by_guard.get(guard)) is not None:
                found.append(replace(same, number=at, rule=number, effects=Effects(same.guard_reads), options=[]))
                continue
            found.append(traced_instance(self._system, number, rule, arguments, at, known, self._values))
            if guard is not None:
                by_guard[guard] = found[-1]
        return found

    @cached_property
    def _rows(self) -> list[tuple[int, Rule, tuple[int, ...]]]:
        return list(instances_of(self._system))

    @cached_property
    def _guards(self) -> list[int | None]:
        """For each instance, a number of its guard; None if that uses locals."""
        numbers: dict[Expression | None, int] = {}
        own = {rule: any(isinstance(each, LocalPlace) for each in walk(rule.guard)) for rule in self._system.rules}
        return [
            None if own[rule] or arguments else numbers.setdefault(rule.guard, len(numbers))
            for _, rule, arguments in self._rows
        ]

    def _known(self) -> Known:
        found: Known = {}
        for leaf, values in enumerate(self._values):
            if values is not None and len(values) == 1:
                (value,) = values
                if value is not None:
                    found[leaf] = value
        return found

    def _stored(self, each: Instance, leaf: int) -> Values:
        stored, kind, before = each.effects.stored(leaf), self._kinds[leaf], self._values[leaf]
        if stored.change is None or before is None:
            return stored.values
        demanded = each.demands.get(leaf, -1)
        counted = (value for value in before if value is not None and demanded >> packed(kind, value) & 1)
        return frozenset(value + stored.change for value in counted)

    def _may_fire(self, each: Instance) -> bool:
        return all(_permits(each, leaf, self._values[leaf], self._kinds[leaf]) for leaf in each.unless_false)


def peers_of(system: System) -> dict[int, list[int]]:
    """Returns the leaves whose values a box may tell apart, each with those that symmetry exchanges it with."""
    hidden = () if system.product is None else (system.product.location, system.product.counter)
    found: dict[Path, list[int]] = {}
    for variable in system.variables:
        if variable not in hidden:
            for path, leaf in _paths(variable.type, (variable.offset,), variable.offset):
                found.setdefault(path, []).append(leaf)
    return {leaf: leaves for leaves in found.values() for leaf in leaves}


def _paths(kind: Type, path: Path, at: int) -> Iterator[tuple[Path, int]]:
    """Yields the leaves of a type that have values without symmetry. Elements that symmetry exchanges have the same
    path. Paths have no names, since two fields may have one, such as the place of a process and a variable of it."""
    if isinstance(kind, Record):
        for (_, each), offset in zip(kind.fields, kind.offsets, strict=True):
            yield from _paths(each, (*path, offset), at + offset)
    elif isinstance(kind, Array):
        is_symmetric = has_symmetry(kind.index)
        for position in range(kind.index.cardinality):
            step = None if is_symmetric else position
            yield from _paths(kind.element, (*path, step), at + position * kind.element.leaf_count)
    elif isinstance(kind, Enum | Range):
        yield path, at
    else:
        assert isinstance(kind, Simple | Multiset)


# --- Boxes of a System -------------------------------------------------------------------------------------


def widest_box(system: System) -> Box:
    """Returns a box with all reachable states."""
    closing = _Closing(system, _MOST_VALUES)
    for start in _starts(system):
        closing.add_start(start)
    return closing.closed()


def narrower_box(system: System, widest: Box, interpreter: Interpreter) -> Box | None:
    """Returns a box with fewer live instances, or in which they use fewer elements of arrays, if there is one behind a
    few steps; None otherwise."""
    best, least = None, _LARGEST_SHARE * widest.used
    is_vague = any(each.effects.indices for each in widest.instances)
    tries = 0 if system.scalarsets else _MOST_TRACED // max(1, len(widest.instances))
    for number, state in enumerate(_walk(interpreter), 1):
        if not tries:
            break
        if number not in _TRIED_AFTER or not (is_vague or _box_from(system, state, widest.instances).used < least):
            continue
        tries -= 1
        box = _box_from(system, state)
        if box.used < least:
            best, least = box, _LARGEST_SHARE * box.used
        elif best is not None:
            break
    return best


def _box_from(system: System, state: State, traced: list[Instance] | None = None) -> Box:
    """Returns a box with a state and all that can follow it."""
    closing = _Closing(system, _MOST_TESTED)
    closing.add_state(state)
    if system.error_state is not None:
        closing.add_start(system.error_state)
    return closing.closed(traced)


def _starts(system: System) -> tuple[StartState, ...]:
    return system.start_states if system.error_state is None else (*system.start_states, system.error_state)


def _walk(interpreter: Interpreter) -> Iterator[State]:
    """Yields the states of a walk that depends on the model alone."""
    state = next((each.successor for each in interpreter.start_states() if each.successor is not None), None)
    number = 0
    for _ in range(_TRIED_AFTER[-1]):
        firings = [] if state is None else interpreter.successors(state)
        following = [each.successor for each in firings if each.successor is not None]
        if not following:
            return
        number = number * 1_103_515_245 + 12_345 & 0x7FFFFFFF
        state = following[(number >> 8) % len(following)]
        yield state

"""Verification by execution of what is said of single rule instances, in states that are mostly unreachable.

What instances read, write, store and demand must be right in every state that passes the tests of a box, and not only
in reachable ones. So random values are stored into leaves of a reachable state. In such a state a guard has the values
that are known and demanded, and fails only where it may. With other values in all leaves that an instance does not
read, it has the same outcome. It changes no leaf that it does not write, and stores nothing else than was said. Parts
of properties have the same value whatever the leaves hold that they do not read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from stubborn_conditions import Conditions

from outcrop.ir.conditions import Condition, Instances
from outcrop.ir.faults import Fault
from outcrop.ir.interpreter import Firing, Interpreter
from outcrop.ir.layout import Leaf, State, encode
from outcrop.ir.nodes import Expression, Local
from outcrop.ir.system import Property, PropertyKind, System
from outcrop.ir.types import Array, Multiset, Real, Record, Type
from outcrop.reduction.boxes import Box, _box_from, widest_box
from outcrop.reduction.effects import Tracer
from outcrop.reduction.guards import Demands, both, split_guard
from outcrop.reduction.instances import Instance
from outcrop.reduction.tables import _parts

#: Instances that are looked at in one state.
_INSTANCES = 12
#: Pairs of instances that are looked at in one state.
_PAIRS = 4
#: Boxes behind the widest one, of one model.
_NARROWER = 1


class Claims:
    """The claims about the instances of one box. Each check returns what is wrong with one; "": nothing."""

    def __init__(self, system: System, box: Box, interpreter: Interpreter, is_tested: bool) -> None:
        self.system, self._box, self._interpreter = system, box, interpreter
        kinds = system.leaf_types
        tests = box.tests(system) if is_tested else {}
        self._values: list[Sequence[Leaf] | None] = []
        defined = {
            leaf
            for each in system.variables
            if each.is_defined
            for leaf in range(each.offset, each.offset + each.type.leaf_count)
        }
        fixed = set(_fixed(system))
        self.frozen = fixed
        for leaf, kind in enumerate(kinds):
            values = box.values[leaf]
            if leaf in fixed:
                self._values.append(None)
            elif leaf in tests:
                self._values.append(
                    [
                        None if each == 0 else each - 1 + kind.low
                        for each in sorted(tests[leaf])
                        if each or leaf not in defined
                    ]
                )
            elif values is not None and not is_tested:
                self._values.append(sorted(values - ({None} if leaf in defined else set()), key=_order))
            else:
                few = range(kind.low, kind.low + min(kind.cardinality, 4))
                self._values.append([*few, kind.high] if leaf in defined else [None, *few, kind.high])
        self._tests, self._is_tested = tests, is_tested
        self._conjuncts = {
            rule: [Condition(node, interpreter.executor) for node in split_guard(rule)] for rule in system.rules
        }
        self._guards = {
            rule: None if rule.guard is None else Condition(rule.guard, interpreter.executor) for rule in system.rules
        }

    def varied(self, state: State, leaves: Sequence[int], random: Random) -> State:
        """Returns a state with other values of some leaves."""
        changed = list(state)
        for leaf in leaves:
            values = self._values[leaf]
            if values:
                changed[leaf] = random.choice(values)
        return tuple(changed)

    def packed(self, state: State, leaf: int) -> int:
        return encode(self.system.leaf_types[leaf], state[leaf])

    def passes(self, state: State) -> bool:
        return all(self.packed(state, leaf) in values for leaf, values in self._tests.items())

    def broken(self, base: State, random: Random) -> str:
        """Returns what is wrong in states that differ from a reachable one."""
        every = range(len(base))
        if not self.passes(base):
            return ""
        chosen = random.sample(every, random.randint(0, len(every)))
        state = self.varied(base, chosen, random)
        instances = self._box.instances
        for each in random.sample(instances, min(_INSTANCES, len(instances))):
            for problem in self._problems(each, state, random):
                rule = self.system.rules[each.rule]
                return f"{rule.label(each.arguments)}: {problem} in {state}"
        return ""

    def _problems(self, each: Instance, state: State, random: Random) -> Iterator[str]:
        # Where a guard is true by chance only seldom, its demands are met on purpose.
        for at in (state, self.with_demands(each.demands, state, random)):
            yield from self._guard_problems(each, at)
            unread = [leaf for leaf in range(len(at)) if not each.guard_reads >> leaf & 1]
            other = self.varied(at, unread, random)
            if self._outcome(each, at) != self._outcome(each, other):
                yield f"the guard is {self._outcome(each, at)}, and in {other} {self._outcome(each, other)}"
            if self._outcome(each, at) == "true":
                yield from self._body_problems(each, at, random)

    def value_of(
        self, part: Expression, owner: Property, arguments: tuple[int, ...], known: dict[Local, int], state: State
    ) -> bool | str:
        """Returns the value of a part of a property, in which quantifiers have bound variables."""
        executor = self._interpreter.executor
        frame = Instances(owner, executor).frame(arguments)
        for local, value in known.items():
            frame[executor.offsets[local]] = value
        try:
            return Condition(part, executor)(list(state), frame)
        except Fault:
            return "failing"

    def with_demands(self, demands: Demands, state: State, random: Random) -> State:
        """Returns a state with values that guards demand."""
        changed = list(state)
        for leaf, mask in demands.items():
            possible = [
                value for value in self._values[leaf] or () if mask >> encode(self.system.leaf_types[leaf], value) & 1
            ]
            if possible:
                changed[leaf] = random.choice(possible)
        return tuple(changed)

    def _outcome(self, each: Instance, state: State) -> str:
        rule = self.system.rules[each.rule]
        guard = self._guards[rule]
        frame = Instances(rule, self._interpreter.executor).frame(each.arguments)
        try:
            return "true" if guard is None or guard(list(state), frame) else "false"
        except Fault:
            return "failing"

    def _guard_problems(self, each: Instance, state: State) -> Iterator[str]:
        outcome = self._outcome(each, state)
        if outcome != "false":
            if not self._box.live >> each.number & 1:
                yield f"its guard is {outcome}, but it is not alive"
            for leaf, mask in each.unless_false.items():
                if not mask >> self.packed(state, leaf) & 1:
                    yield f"its guard is {outcome} with leaf {leaf}"
        if outcome == "true":
            for leaf, mask in each.demands.items():
                if not mask >> self.packed(state, leaf) & 1:
                    yield f"its guard is true, and demands otherwise of leaf {leaf}"
        rule = self.system.rules[each.rule]
        for conjunct, condition in zip(each.conjuncts, self._conjuncts[rule], strict=True):
            for leaf, value in conjunct.known.items():
                if conjunct.reads >> leaf & 1 and state[leaf] != value:
                    yield f"leaf {leaf} is taken for {value}"
            try:
                truth = condition(list(state), Instances(rule, self._interpreter.executor).frame(each.arguments))
            except Fault:
                if not conjunct.can_fail:
                    yield "a conjunct fails that cannot"
                return
            if not truth:
                return
            for leaf, mask in conjunct.demands.items():
                if not mask >> self.packed(state, leaf) & 1:
                    yield f"a conjunct is true, and demands otherwise of leaf {leaf}"

    def _fired(self, each: Instance, state: State) -> Firing:
        rule = self.system.rules[each.rule]
        firing = self._interpreter.fire(rule, each.arguments, state)
        assert firing is not None
        return firing

    def _body_problems(self, each: Instance, state: State, random: Random) -> Iterator[str]:
        effects = each.effects
        unread = [leaf for leaf in range(len(state)) if not effects.reads >> leaf & 1]
        other = self.varied(state, unread, random)
        if self._outcome(each, other) != "true":
            yield f"its guard is {self._outcome(each, other)} in {other}, which differs in leaves that it does not read"
            return
        one, two = self._fired(each, state), self._fired(each, other)
        if (one.fault is None, one.is_abandoned) != (two.fault is None, two.is_abandoned):
            yield f"its outcome is another one in {other}"
            return
        if one.fault is not None or one.raw is None or two.raw is None:
            return
        for leaf, (before, after) in enumerate(zip(state, one.raw, strict=True)):
            is_kept = before == after and other[leaf] == two.raw[leaf]
            if not is_kept and not effects.writes >> leaf & 1:
                yield f"it changes leaf {leaf}"
            if not is_kept and after != two.raw[leaf]:
                yield f"it stores {after} into leaf {leaf}, and {two.raw[leaf]} in {other}"
            if effects.writes >> leaf & 1:
                yield from self._store_problems(each, leaf, before, after)
            values = self._box.values[leaf]
            if not self._is_tested and leaf not in self.frozen and values is not None and after not in values:
                yield f"it stores {after} into leaf {leaf}, which is not in the box"
        if not self.passes(one.raw):
            yield "it leads out of the box"

    def _store_problems(self, each: Instance, leaf: int, before: Leaf, after: Leaf) -> Iterator[str]:
        stored = each.effects.stored(leaf)
        if stored.change is not None:
            if not isinstance(before, int) or after != before + stored.change:
                yield f"leaf {leaf} goes from {before} to {after}, not by {stored.change}"
        elif stored.values is not None and after not in stored.values and (stored.is_certain or after != before):
            yield f"it stores {after} into leaf {leaf}, not one of {stored.values}"


def _order(value: Leaf) -> tuple[bool, float]:
    return value is not None, value or 0


def _fixed(system: System) -> Iterator[int]:
    """Yields the leaves that keep their values: those of multisets, whose slots depend on each other, and reals."""

    def within(kind: Type, at: int) -> Iterator[int]:
        if isinstance(kind, Multiset | Real):
            yield from range(at, at + kind.leaf_count)
        elif isinstance(kind, Record):
            for (_, each), offset in zip(kind.fields, kind.offsets, strict=True):
                yield from within(each, at + offset)
        elif isinstance(kind, Array):
            for position in range(kind.index.cardinality):
                yield from within(kind.element, at + position * kind.element.leaf_count)

    for variable in system.variables:
        yield from within(variable.type, variable.offset)


def broken_claim(system: System, states: Sequence[State], conditions: Conditions, random: Random, count: int) -> str:
    """Returns what is wrong with the traced effects of a System, some of whose reachable states are ``states``, and
    with sets and relations in states that may be unreachable."""
    if not states:
        return ""
    interpreter = Interpreter(system, False)
    boxes = [Claims(system, widest_box(system), interpreter, False)]
    for state in random.choices(states, k=count):
        other = boxes[0].varied(state, random.sample(range(len(state)), random.randint(0, len(state))), random)
        problem = conditions.broken_set(other) or conditions.broken_relation(other)
        for _ in range(_PAIRS):
            problem = problem or _broken_pair(boxes[0], conditions, random.choice((state, other)), random)
        if problem:
            return problem
    for _ in range(0 if system.scalarsets else _NARROWER):
        boxes.append(Claims(system, _box_from(system, random.choice(states)), interpreter, True))
    problems = (claims.broken(random.choice(states), random) for claims in boxes for _ in range(count))
    properties = (_broken_property(each, boxes[0], random.choice(states), random) for each in system.properties)
    return next(filter(None, problems), "") or next(filter(None, properties), "")


def _broken_pair(claims: Claims, conditions: Conditions, state: State, random: Random) -> str:
    """Returns what is wrong with two instances that are said to accord where both of their guards may be true."""
    pair = conditions.sharing_pair(random)
    if pair is None:
        return ""
    return conditions.broken_relation(claims.with_demands(both(pair[0].demands, pair[1].demands), state, random))


def _broken_property(subject: Property, claims: Claims, base: State, random: Random) -> str:
    """Returns a part of a property that depends on a leaf that it is not said to read."""
    preserved = (PropertyKind.INVARIANT, PropertyKind.COVER, PropertyKind.WITNESS)
    if subject.kind not in preserved or not subject.instance_count:
        return ""
    arguments = random.choice(list(subject.instances()))
    for part, known in _parts(subject.condition):
        tracer = Tracer(claims.system, subject, arguments)
        tracer.constants |= known
        reads = tracer.condition(part).reads
        state = claims.varied(base, random.sample(range(len(base)), random.randint(0, len(base))), random)
        other = claims.varied(state, [leaf for leaf in range(len(base)) if not reads >> leaf & 1], random)
        values = [claims.value_of(part, subject, arguments, known, each) for each in (state, other)]
        if values[0] != values[1]:
            return f"a part of {subject.name} is {values[0]} in {state}, and {values[1]} in {other}"
    return ""

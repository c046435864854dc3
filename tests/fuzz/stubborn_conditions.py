"""Verification of partial-order reduction by execution, on single states.

Sets: along short paths of instances outside of a stubborn set, each enabled member keeps its outcome and commutes with
the path, and no disabled member becomes enabled.
Relations: any two active instances that are said to accord do, whatever their outcome is. A disabled instance stays so
until one of each of its enabling sets fires, and the steps that surely increase the rank never form a cycle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random

from outcrop.ir.interpreter import Active, Firing, Interpreter
from outcrop.ir.layout import State, encode
from outcrop.reduction.instances import Instance
from outcrop.reduction.interpreted import ReducedMoves
from outcrop.reduction.leaves import bits
from outcrop.reduction.stubborn import Reduction

_LENGTH = 3
_MOST_STATES = 60

Ready = tuple[dict[int, Active], set[int]]


class Conditions:
    """The conditions on the sets and relations of one reduction. Each check returns what is broken; "": nothing."""

    def __init__(self, interpreter: Interpreter, reduction: Reduction) -> None:
        self._interpreter = interpreter
        self._moves = ReducedMoves(interpreter, reduction)
        self._phases = reduction.phases
        self._rules = {id(rule): number for number, rule in enumerate(interpreter.system.rules)}
        self._numbers = {(each.rule, each.arguments): each.number for each in reduction.instances}
        self._known: dict[State, Ready] = {}

    def ready(self, at: State) -> Ready:
        """Returns the instances whose guard is true, and those whose guard fails."""
        if at not in self._known:
            active, failing = {}, set()
            for each in self._interpreter.active(at):
                if isinstance(each, Active):
                    active[self._numbers[self._rules[id(each.rule)], each.arguments]] = each
                else:
                    failing.add(self._numbers[self._rules[id(each.origin)], each.arguments])
            self._known[at] = active, failing
        return self._known[at]

    # --- Sets --------------------------------------------------------------------------------------------------

    def broken_set(self, state: State) -> str:
        first, failing = self.ready(state)
        if failing:
            return ""
        active = sum(1 << number for number in first)
        whole = self._moves.stubborn_set(state, active)
        chosen = whole & active
        if chosen == active:
            return ""
        members = {number: first[number].fire() for number in bits(chosen)}
        if not members.keys() & set(bits(self._moves.phase_of(state).starts)):
            return f"no member of the set of {state} increases the rank"
        seen, pending = {state}, [(state, 0)]
        while pending and len(seen) < _MOST_STATES:
            at, length = pending.pop(0)
            problem = self._broken_member(at, whole, members) or next(self._broken_steps(at, whole, members), "")
            if problem:
                return f"{problem} in {at}, reached outside of the set of {state}"
            here, _ = self.ready(at)
            for number, instance in here.items() if length < _LENGTH else ():
                outside = instance.fire()
                if number in members or outside.successor is None or outside.fault is not None:
                    continue
                if outside.successor not in seen:
                    seen.add(outside.successor)
                    pending.append((outside.successor, length + 1))
        return ""

    def _broken_member(self, at: State, whole: int, members: dict[int, Firing]) -> str:
        """Returns how a member has changed."""
        here, failing = self.ready(at)
        if any(whole >> number & 1 for number in failing):
            return "the guard of a member fails"
        for number, firing in members.items():
            if number not in here:
                return f"member {number} is disabled"
            if not _are_alike(here[number].fire(), firing):
                return f"the outcome of member {number} has changed"
        return ""

    def _broken_steps(self, at: State, whole: int, members: dict[int, Firing]) -> Iterator[str]:
        here, _ = self.ready(at)
        for number, instance in here.items():
            if number in members:
                continue
            if whole >> number & 1:
                yield f"member {number} is enabled"
            outside = instance.fire()
            for member in members:
                yield from self._broken_order(here, number, member, outside)

    def _broken_order(self, here: dict[int, Active], outside: int, member: int, first: Firing) -> Iterator[str]:
        """Yields how two active instances fail to commute. One that fails or is abandoned does so behind the other."""
        then, ends = here[member].fire(), []
        for mover, moved, other, before in ((outside, first, member, then), (member, then, outside, first)):
            if moved.successor is None or moved.fault is not None:
                continue
            after = self.ready(moved.successor)[0]
            if other not in after:
                yield f"instance {mover} disables {other}"
                continue
            last = after[other].fire()
            if not _are_alike(last, before):
                yield f"instance {mover} changes the outcome of {other}"
            ends.append(last.successor)
        if len(ends) == 2 and ends[0] != ends[1]:
            yield f"instances {outside} and {member} do not commute"

    # --- Relations ---------------------------------------------------------------------------------------------

    def broken_relation(self, state: State) -> str:
        """Returns what is wrong with the relations in a state, whether a set uses them or not."""
        return next(self._broken_relations(state), "")

    def _broken_relations(self, state: State) -> Iterator[str]:
        here, failing = self.ready(state)
        fired = {number: each.fire() for number, each in here.items()}
        dependents = self._moves.phase_of(state).dependents
        for member in here:
            beside = [other for other in here if other != member]
            for other in beside:
                if not dependents[member] >> other & 1:
                    for problem in self._broken_order(here, other, member, fired[other]):
                        yield f"{problem} in {state}, but accord"
            after = fired[member].successor
            if after is None or fired[member].fault is not None:
                continue
            for other in failing:
                if not dependents[member] >> other & 1 and other not in self.ready(after)[1]:
                    yield f"{member} keeps the guard of {other} from failing in {state}, but they accord"
            if not failing:
                yield from self._broken_options(state, here, member, after)

    def _broken_options(self, state: State, here: dict[int, Active], fired: int, after: State) -> Iterator[str]:
        now, failing = self.ready(after)
        rules = self._interpreter.system.rules
        level = here[fired].rule.priority
        for each in self._moves.phase_of(state).instances:
            if each.number in here or each.number not in now.keys() | failing:
                continue
            if rules[each.rule].priority > level:  # it waits for all active members of a set
                continue
            for row in self._rows(each, state):
                if not row >> fired & 1:
                    yield f"{fired} enables {each.number} in {state}, but is in no enabling set of it"

    def _rows(self, instance: Instance, state: State) -> Iterator[int]:
        """Yields the enabling sets that a disabled instance may choose from."""
        kinds = self._interpreter.system.leaf_types
        yield instance.otherwise
        for option in instance.options:
            rows = option.sets[0 if option.leaf is None else encode(kinds[option.leaf], state[option.leaf])]
            if rows and (option.conjunct is None or self._moves.is_false(state, instance, option.conjunct)):
                yield from rows

    def sharing_pair(self, random: Random) -> tuple[Instance, Instance] | None:
        """Returns two instances that use the same leaves and are said to accord, and whose guards may both be true;
        None if the one that was chosen by chance accords with no such other."""
        phase = random.choice(self._phases)
        if not phase.instances:
            return None
        one = random.choice(phase.instances)
        others = [
            other
            for other in phase.instances
            if other is not one
            and not phase.dependents[one.number] >> other.number & 1
            and one.effects.writes & (other.effects.reads | other.effects.writes)
            and all(mask & one.demands.get(leaf, mask) for leaf, mask in other.demands.items())
        ]
        return (one, random.choice(others)) if others else None

    def broken_rank(self, states: Iterable[State]) -> str:
        """Returns a cycle of steps that are said to increase the rank of states."""
        steps = {state: list(self._ascending(state)) for state in states}
        waiting = dict.fromkeys(steps, 0)
        for targets in steps.values():
            for target in targets:
                if target in waiting:
                    waiting[target] += 1
        pending = [state for state, count in waiting.items() if not count]
        left = len(steps)
        while pending:
            left -= 1
            for target in steps[pending.pop()]:
                if target in waiting:
                    waiting[target] -= 1
                    if not waiting[target]:
                        pending.append(target)
        return f"steps that increase the rank form a cycle of {left} states or less" if left else ""

    def _ascending(self, state: State) -> Iterator[State]:
        starts = self._moves.phase_of(state).starts
        for number, instance in self.ready(state)[0].items():
            if starts >> number & 1:
                firing = instance.fire()
                if firing.successor is not None and firing.fault is None:
                    yield firing.successor


def _are_alike(one: Firing, other: Firing) -> bool:
    """Returns whether two firings of an instance have the same kind of outcome."""
    return (one.successor is None, one.fault is None) == (other.successor is None, other.fault is None)

"""Reduced successors by the interpreter, the oracle of the emitted code."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from outcrop.ir.conditions import Condition, Instances
from outcrop.ir.faults import Fault
from outcrop.ir.interpreter import Active, Firing, Interpreter
from outcrop.ir.layout import State, encode
from outcrop.reduction.guards import split_guard
from outcrop.reduction.instances import Instance
from outcrop.reduction.leaves import bits
from outcrop.reduction.stubborn import Phase, Reduction


class ReducedMoves:
    """The firings of a state under reduction. Counts states, those that fired a proper subset, and instances."""

    def __init__(self, interpreter: Interpreter, reduction: Reduction) -> None:
        self._interpreter = interpreter
        self._reduction = reduction
        rules = interpreter.system.rules
        numbers = {id(rule): number for number, rule in enumerate(rules)}
        self._numbers = {(each.rule, each.arguments): each.number for each in reduction.instances}
        self._rule_numbers = numbers
        executor = interpreter.executor
        self._conjuncts = [[Condition(node, executor) for node in split_guard(rule)] for rule in rules]
        self._frames = [Instances(rule, executor) for rule in rules]
        self._kinds = interpreter.system.leaf_types
        self.states = self.reduced = self.enabled = self.fired = 0
        self.looks = 0  #: leaves that choices have looked at

    @property
    def counters(self) -> list[int]:
        """The counters of a reduced search; see COUNTERS."""
        return [self.states, self.reduced, self.enabled, self.fired]

    def phase_of(self, state: State) -> Phase:
        return self._reduction.phase_of(lambda leaf: encode(self._kinds[leaf], state[leaf]))

    def stubborn_set(self, state: State, active: int) -> int:
        """Returns the set that is chosen, with its disabled members; -1 for all instances."""
        return self.phase_of(state).stubborn_set(active, partial(self.is_false, state), partial(self._look, state))

    def closure(self, state: State, start: int, active: int) -> int:
        """Returns the set around an active instance; 0 if it has all active ones."""
        phase, most = self.phase_of(state), active.bit_count()
        look = partial(self._look, state)
        return phase.closure(start, active, active & phase.hopeless, most, partial(self.is_false, state), look)

    def _look(self, state: State, leaf: int) -> int:
        self.looks += 1
        return encode(self._kinds[leaf], state[leaf])

    def is_false(self, state: State, instance: Instance, conjunct: int) -> bool:
        """Returns whether a conjunct of the guard of an instance is false in a state, and does not fail."""
        frame = self._frames[instance.rule].frame(instance.arguments)
        try:
            return not self._conjuncts[instance.rule][conjunct](list(state), frame)
        except Fault:
            return False

    def ready(self, state: State) -> tuple[dict[int, Active], list[Firing]]:
        """Returns the active instances by their numbers, and the guards that fail."""
        ready: dict[int, Active] = {}
        failing: list[Firing] = []
        for each in self._interpreter.active(state):
            if isinstance(each, Firing):
                failing.append(each)
            else:
                ready[self._numbers[self._rule_numbers[id(each.rule)], each.arguments]] = each
        return ready, failing

    def __call__(self, state: State) -> Iterator[Firing]:
        ready, failing = self.ready(state)
        active = sum(1 << number for number in ready)
        self.states += 1
        self.enabled += len(ready)
        if failing:  # a violation
            self.fired += len(ready)
            yield from failing
            for each in ready.values():
                yield each.fire()
            return
        chosen = active & self.stubborn_set(state, active)
        firings = [(number, ready[number].fire()) for number in bits(chosen)]
        starts = self.phase_of(state).starts
        if chosen != active and not any(starts >> number & 1 and leads_on(firing) for number, firing in firings):
            firings += [(number, ready[number].fire()) for number in bits(active & ~chosen)]
        self.reduced += len(firings) < len(ready)
        self.fired += len(firings)
        for _, firing in firings:
            yield firing


def leads_on(firing: Firing) -> bool:
    """Returns whether a firing ends in a state, without a failure."""
    return firing.successor is not None and firing.fault is None

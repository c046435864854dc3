"""The choice of the instances that a state fires: a stubborn set with few enabled ones, or all.

The choice depends on the state alone. So the reduced system is one graph, whatever searches it, and counts depend on
neither order nor threads. native/stubborn.h makes the same choices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from outcrop.reduction.instances import Instance
from outcrop.reduction.leaves import bits

#: Weight of an enabled instance in the cost of an enabling set, in disabled ones.
COST_OF_ENABLED = 1024


#: Counters of a reduced search: states expanded, those that fired a part of what they enable, instances enabled, fired.
COUNTERS = ("states", "reduced", "enabled", "fired")


@dataclass(frozen=True)
class Reduction:
    """The relations from which sets are made, in each phase. A state is in the first phase whose tests it passes; the
    last one has none. Steps lead to the same phase or to an earlier one."""

    phases: tuple[Phase, ...]
    blamed: tuple[str, ...] = ()  #: variables that most pairs of instances share

    @property
    def instances(self) -> tuple[Instance, ...]:
        return self.phases[-1].instances

    def phase_of(self, packed: Callable[[int], int]) -> Phase:
        """Returns the phase of a state. ``packed`` tells the packed value of a leaf."""
        return next(each for each in self.phases if all(packed(leaf) in values for leaf, values in each.tests))


@dataclass(frozen=True)
class Phase:
    """The relations in the states of a box. ``tests``: packed values that single leaves have in it. ``starts``: those
    instances that a set may begin with. ``later``: for each instance, those with a later priority. ``hopeless``: those
    that make a set useless if they are enabled."""

    tests: tuple[tuple[int, frozenset[int]], ...]
    instances: tuple[Instance, ...]
    dependents: tuple[int, ...]
    starts: int
    later: tuple[int, ...]
    hopeless: int

    def stubborn_set(self, active: int, is_false: Callable[[Instance, int], bool], packed: Callable[[int], int]) -> int:
        """Returns the set of instances to fire, with disabled members; -1 if that is all of them. ``is_false`` tells
        whether a conjunct of an instance is false, ``packed`` the packed value of a leaf."""
        best, chosen = active.bit_count(), -1
        hopeless = active & self.hopeless
        for start in bits(active & self.starts & ~hopeless):
            if best <= 1:
                break
            found = self.closure(start, active, hopeless, best, is_false, packed)
            if found:
                best, chosen = (found & active).bit_count(), found
            else:
                hopeless |= 1 << start
        return chosen

    def closure(
        self,
        start: int,
        active: int,
        hopeless: int,
        limit: int,
        is_false: Callable[[Instance, int], bool],
        packed: Callable[[int], int],
    ) -> int:
        """Returns the stubborn set around an instance; 0 if it has ``limit`` active ones or more, or meets one of
        ``hopeless``, from which that was found before."""
        whole = waiting = 1 << start
        count, later = 1, self.later[start]
        while waiting:
            ready = waiting & active or waiting
            low = ready & -ready
            waiting ^= low
            number = low.bit_length() - 1
            row = self.dependents[number]
            if not active & low:
                row = self._enabling(self.instances[number], whole, active, is_false, packed)
            new = row & ~whole
            whole |= new
            waiting |= new & ~later  # those stay disabled as long as an active member of the set is
            count += (new & active).bit_count()
            if count >= limit or new & hopeless:
                return 0
        return whole

    def _enabling(
        self,
        instance: Instance,
        whole: int,
        active: int,
        is_false: Callable[[Instance, int], bool],
        packed: Callable[[int], int],
    ) -> int:
        """Returns the cheapest necessary enabling set of a disabled instance."""
        best, least = instance.otherwise, None
        for option in instance.options:
            rows = option.sets[0 if option.leaf is None else packed(option.leaf)]
            if rows and (option.conjunct is None or is_false(instance, option.conjunct)):
                for row in rows:
                    new = row & ~whole
                    cost = (new & active).bit_count() * COST_OF_ENABLED + new.bit_count()
                    if least is None or cost < least:
                        best, least = row, cost
        return best

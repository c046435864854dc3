"""A sample of states, which tells what partial-order reduction would gain, and around which instances sets are small.

The sample has balls: the states next to some states of a walk at random. The share of a ball that reduced steps still
reach from its centre estimates the share of states that are left. Everything depends on the model alone, and work is
counted instead of measured, so that the decision is the same on every machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from outcrop.ir.interpreter import Interpreter
from outcrop.ir.layout import State
from outcrop.reduction.interpreted import ReducedMoves, leads_on
from outcrop.reduction.leaves import bits
from outcrop.reduction.stubborn import Phase, Reduction

#: Balls, and steps of the walk between two of them.
_BALLS, _WALK = 8, 30
#: States of a ball; the most, of a first and a second sample; and guards evaluated for a state of each ball, about.
_FEWEST_STATES, _MOST_STATES, _MOST_GUARDS = 12, (50, 200), (60_000, 240_000)
#: A first sample that keeps no more than this share is enough.
_SMALL_SHARE = 0.5
#: An instance is hopeless if a small set was found around it in fewer than one of 12 states. It must have been tried in
#: at least 20 states, from at least three balls.
_STATES_A_SMALL_SET, _FEWEST_TRIES, _FEWEST_BALLS = 12, 20, 3
#: Largest time of a reduced search that pays, as a multiple of the full one: if no state is saved, and what is added in
#: proportion to the share of states that is saved.
MOST_TIME, _TIME_FOR_STATES = 1.0, 12.0
#: Time of a reduced expansion in full ones: without a choice, and for each leaf that the choice looks at.
_WITHOUT_CHOICE, _FOR_A_LOOK = 1.25, 0.03


@dataclass(frozen=True)
class Gain:
    """Expected gain: the share of the states that is left, and the time per state as a multiple of that in full."""

    share: float
    time: float

    @property
    def pays(self) -> bool:
        return self.share * self.time <= MOST_TIME + _TIME_FOR_STATES * (1 - self.share)


@dataclass(frozen=True)
class _Expanded:
    """A state with its active instances, their successors, and those that lead on. ``is_whole``: it fires all of them,
    because a guard fails or there is nothing to choose from."""

    active: int
    successors: dict[int, State]
    leading: int
    is_whole: bool


def sampled(interpreter: Interpreter, reduction: Reduction) -> tuple[Reduction, Gain]:
    """Returns a reduction that has learned from a sample, and what it is expected to gain."""
    known: dict[State, _Expanded] = {}
    found = None
    for most_states, most_guards in zip(_MOST_STATES, _MOST_GUARDS, strict=True):
        most = most_guards // (_BALLS * max(1, len(reduction.instances)))
        sample = _Sample(interpreter, reduction, max(_FEWEST_STATES, min(most_states, most)), known)
        found = sample.reduction, sample.gain()
        if found[1].share <= _SMALL_SHARE:
            break
    assert found is not None
    return found


class _Sample:
    """The states of some balls. ``reduction``: the one that has learned from them."""

    def __init__(
        self, interpreter: Interpreter, reduction: Reduction, most_states: int, known: dict[State, _Expanded]
    ) -> None:
        self._interpreter = interpreter
        self._moves = ReducedMoves(interpreter, reduction)
        self._known = known
        self._most_states = most_states
        self._balls = [self._ball(centre) for centre in self._centres()]
        self.reduction = Reduction(
            tuple(replace(each, hopeless=each.hopeless | self._hopeless(each)) for each in reduction.phases),
            reduction.blamed,
        )

    # --- States ------------------------------------------------------------------------------------------------

    def _centres(self) -> Iterator[State]:
        """Yields states of a walk."""
        starts = [each.successor for each in self._interpreter.start_states() if each.successor is not None]
        walk = starts[:1]
        number = 0
        while walk and number < _BALLS * _WALK:
            if number % _WALK == 0:
                yield walk[-1]
            number += 1
            following = list(self._expanded(walk[-1]).successors.values()) or starts
            walk.append(following[(number * 1_103_515_245 >> 8 & 0xFFFF) % len(following)])

    def _ball(self, centre: State) -> list[State]:
        """Returns the states next to one, in the order of a search."""
        ball, seen = [centre], {centre}
        for state in ball:
            for each in self._expanded(state).successors.values():
                if each not in seen and len(ball) < self._most_states:
                    seen.add(each)
                    ball.append(each)
        return ball

    def _expanded(self, state: State) -> _Expanded:
        found = self._known.get(state)
        if found is None:
            ready, failing = self._moves.ready(state)
            firings = {number: each.fire() for number, each in ready.items()}
            successors = {number: each.successor for number, each in firings.items() if each.successor is not None}
            leading = sum(1 << number for number, each in firings.items() if leads_on(each))
            is_whole = bool(failing) or len(ready) < 2
            found = _Expanded(sum(1 << number for number in ready), successors, leading, is_whole)
            self._known[state] = found
        return found

    # --- What is learned ---------------------------------------------------------------------------------------

    def _hopeless(self, phase: Phase) -> int:
        """Returns the instances around which few sets were smaller than all active ones, in many states."""
        tries, successes, balls = Counter[int](), Counter[int](), Counter[int]()
        for ball in self._balls:
            before = tries.copy()
            for state in ball:
                found = self._expanded(state)
                if found.is_whole or self._moves.phase_of(state) is not phase:
                    continue
                tries.update(bits(found.active))
                successes.update(each for each in bits(found.active) if self._moves.closure(state, each, found.active))
            balls.update((tries - before).keys())
        often = (each for each, count in tries.items() if count >= _FEWEST_TRIES and balls[each] >= _FEWEST_BALLS)
        return sum(1 << each for each in often if successes[each] * _STATES_A_SMALL_SET < tries[each])

    def gain(self) -> Gain:
        """Returns what the reduction is expected to leave, and its time."""
        moves = ReducedMoves(self._interpreter, self.reduction)
        fired: dict[State, int] = {}
        for ball in self._balls:
            for state in ball:
                if state not in fired:
                    fired[state] = self._fired(moves, state)
        kept = sum(self._reached(ball, fired) for ball in self._balls)
        share = kept / max(1, sum(map(len, self._balls)))
        return Gain(share, _WITHOUT_CHOICE + _FOR_A_LOOK * moves.looks / max(1, len(fired)))

    def _fired(self, moves: ReducedMoves, state: State) -> int:
        """Returns the instances that a state fires."""
        found = self._expanded(state)
        if found.is_whole:
            return found.active
        chosen = found.active & moves.stubborn_set(state, found.active)
        return chosen if chosen & found.leading & moves.phase_of(state).starts else found.active

    def _reached(self, ball: list[State], fired: dict[State, int]) -> int:
        """Returns how many states of a ball reduced steps reach from its centre."""
        inside, seen = set(ball), {ball[0]}
        pending = ball[:1]
        while pending:
            state = pending.pop()
            successors = self._expanded(state).successors
            for number in bits(fired[state]):
                each = successors.get(number)
                if each in inside and each not in seen:
                    seen.add(each)
                    pending.append(each)
        return len(seen)

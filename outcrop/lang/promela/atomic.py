"""Atomic sequences: one rule for each way through them.

SPIN does not store the states inside an atomic sequence, unless the process blocks there and others go on. So a rule
takes the first step, then one step after the other as long as the sequence lasts; what a later step needs is an
assumption inside the rule, which abandons it where it is false. A sequence that blocks is a rule as well. Loops are
unrolled; values that are known on the way leave out options that cannot be taken. Where that would take too many rules,
a rule ends inside the sequence: the process keeps its privilege in a variable of the state, ``atomic``, and goes on
alone from there. SPIN does not count these states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from outcrop.lang import build
from outcrop.lang.promela import syntax
from outcrop.lang.promela.control import Location, Step
from outcrop.lang.promela.moves import Meeting, MoveLowering
from outcrop.lang.promela.scope import ChannelSymbol, ProctypeSymbol
from outcrop.lang.promela.values import Known, ValueLowering
from outcrop.lang.promela.words import words

#: Ways through atomic sequences from one location, and turns of a loop on one of them. Past these numbers a rule ends
#: at the next location of the sequence.
_MOST_WAYS = 300
_MOST_TURNS = 4
#: Steps of a way, most of which are the only ones possible.
_MOST_STEPS = 500


class Ending(StrEnum):
    """The reason why a path ends."""

    FREE = "free"  #: it leaves the atomic sequence
    BLOCKED = "blocked"  #: no step of the sequence can be taken
    PRIVILEGED = "privileged"  #: the sequence goes on in another rule


@dataclass(frozen=True)
class Taken:
    """A step on a way, by the process ``actor``. ``other`` takes ``met`` with it in a rendezvous. ``fails``: it is
    tried while its variable holds no channel."""

    actor: int
    step: Step
    channel: ChannelSymbol | None = None
    other: int | None = None
    met: Step | None = None
    fails: bool = False
    loop: tuple[Step, ...] = ()  #: steps of a loop without choice, taken as often as it turns, in place of ``step``
    is_only: bool = False  #: whether known values leave no other step


@dataclass(frozen=True)
class Way:
    """A path through an atomic sequence: the steps of one rule. ``actors``: the proctypes of the processes that take
    part, in the order in which they join."""

    actors: tuple[ProctypeSymbol, ...]
    taken: tuple[Taken, ...]
    ending: Ending = Ending.FREE
    actor: int = 0  #: the process that moved last
    at: Location | None = None  #: where that is now
    known: Known = field(default_factory=dict)  #: values of its variables, and of global ones


class WayLowering(MoveLowering, ValueLowering):
    """Enumerates ways through the control graphs."""

    def ways_from(self, proctype: ProctypeSymbol, step: Step) -> list[Way]:
        """Returns all ways that begin with a step. A receive in a rendezvous begins none: its sender does."""
        finished: list[Way] = []
        is_first = step.source is proctype.graph.start and not _may_return(step.source)
        known = self.first_values(proctype) if is_first else {}
        pending = list(self._taking(Way((proctype,), (), known=known), step))
        while pending:
            way = pending.pop(0)
            last = way.taken[-1]
            moved = last.loop[-1] if last.loop else last.met or last.step
            assert way.at is not None
            if last.met is not None and _needs_more_processes(way):
                continue
            if last.fails or not moved.stays_atomic:
                finished.append(way)
                continue
            turns = sum(
                (each.actor, each.step.source) == (way.actor, way.at) and not each.is_only for each in way.taken
            )
            is_long = turns >= _MOST_TURNS or len(way.taken) >= _MOST_STEPS
            if is_long or len(finished) + len(pending) > _MOST_WAYS:
                finished.append(replace(way, ending=Ending.PRIVILEGED))
                continue
            possible, is_sure = self._possible(way, way.at)
            turns_freely = not last.loop and self.is_always_allowed(way.actors[way.actor])
            loop = loop_without_choice(way.at) if turns_freely else ()
            if loop and loop[0] in possible:  # one way turns it at least once, the others leave it out
                pending.append(self._longer(way, Taken(way.actor, loop[0], loop=loop), way.at))
            if not is_sure:
                finished.append(replace(way, ending=Ending.BLOCKED))
            for following in possible:
                if following not in (last.loop[:1] or loop[:1]):
                    pending += self._taking(way, following, is_only=len(possible) == 1)
        return finished

    def _possible(self, way: Way, at: Location) -> tuple[list[Step], bool]:
        """Returns the steps of a location that known values allow, and whether one of them can be taken for sure."""
        proctype = way.actors[way.actor]
        held = {each: self.holds(each.action, way.known, proctype) for each in at.steps}
        for each in at.steps:
            if isinstance(each.action, syntax.Else):
                others = [held[one] for one in each.earlier]
                held[each] = False if True in others else None if None in others else True
        possible = [each for each in at.steps if held[each] is not False]
        return possible, True in held.values() and self.is_always_allowed(proctype)

    def _taking(self, way: Way, step: Step, is_only: bool = False) -> Iterator[Way]:
        """Yields a way with another step of the process that moved last: one for each channel and partner."""
        node = step.action
        if not isinstance(node, syntax.Send | syntax.Receive):
            yield self._longer(way, Taken(way.actor, step, is_only=is_only), step.target)
            return
        proctype = way.actors[way.actor]
        self.process = self.self_of(proctype, build.number(proctype.pids.start, step.span), step.span)
        for use in self.uses(node.channel, len(node.arguments)):
            if not self.count_arguments(node, use):
                continue
            if use.channel.capacity:
                yield self._longer(way, Taken(way.actor, step, use.channel, is_only=is_only), step.target)
            elif isinstance(node, syntax.Send):
                for meeting in self.meetings(step, use):
                    for other in _partners(way, meeting):
                        yield self._meeting(way, step, use.channel, meeting, other)
        if self.never_holds_channel(node.channel):
            yield self._longer(way, Taken(way.actor, step, fails=True), step.target)

    def _longer(self, way: Way, taken: Taken, at: Location) -> Way:
        proctype = way.actors[way.actor]
        known = self.after((taken.step,), way.known, proctype)
        if taken.loop:
            known = self.after_loop(taken.loop, way.known, proctype)
        return replace(way, taken=(*way.taken, taken), at=at, known=known)

    def _meeting(self, way: Way, step: Step, channel: ChannelSymbol, meeting: Meeting, other: int) -> Way:
        """Returns a way with a rendezvous. The receiver goes on if its step is part of an atomic sequence."""
        actors = way.actors if other < len(way.actors) else (*way.actors, meeting.proctype)
        taken = Taken(way.actor, step, channel, other, meeting.step)
        return replace(way, actors=actors, taken=(*way.taken, taken), actor=other, at=meeting.step.target, known={})


def _partners(way: Way, meeting: Meeting) -> Iterator[int]:
    """Yields the processes of a way that wait for a meeting, and a further one if there are more of the proctype."""
    places: dict[int, Location] = {}
    for each in way.taken:
        places[each.actor] = (each.loop[-1] if each.loop else each.step).target
        if each.met is not None and each.other is not None:
            places[each.other] = each.met.target
    for number, proctype in enumerate(way.actors):
        if number != way.actor and proctype is meeting.proctype and places.get(number) is meeting.step.source:
            yield number
    if way.actors.count(meeting.proctype) < len(meeting.proctype.pids):
        yield len(way.actors)


def _needs_more_processes(way: Way) -> bool:
    """Returns whether more processes leave a location than there are, where each can do so only once.

    Messages that atomic sequences hand on would otherwise make ways of any length.
    """
    left: Counter[tuple[ProctypeSymbol, Location]] = Counter()
    for each in way.taken:
        left[way.actors[each.actor], each.step.source] += 1
        if each.met is not None and each.other is not None:
            left[way.actors[each.other], each.met.source] += 1
    return any(count > len(proctype.pids) and not _may_return(location) for (proctype, location), count in left.items())


def _may_return(location: Location) -> bool:
    """Returns whether a process that leaves a location can come to it again."""
    seen: set[Location] = set()
    pending = [location]
    while pending:
        for each in pending.pop().steps:
            if each.target is location:
                return True
            if each.target not in seen:
                seen.add(each.target)
                pending.append(each.target)
    return False


#: Comparisons that are false where another one of the same operands is true.
_EXCLUDED = {
    "<": (">=", ">", "=="),
    "<=": (">",),
    ">": ("<=", "<", "=="),
    ">=": ("<",),
    "==": ("!=", "<", ">"),
    "!=": ("==",),
}


def loop_without_choice(head: Location) -> tuple[Step, ...]:
    """Returns the steps of a loop inside an atomic sequence that turns while one test holds, and never blocks.

    Its last step leads back to ``head``. No steps: the location begins no such loop.
    """
    if len(head.steps) != 2:
        return ()
    for first, other in (head.steps, head.steps[::-1]):
        if isinstance(first.action, syntax.Test) and _excludes(first.action, other.action):
            steps = _back_to(head, first)
            if steps:
                return steps
    return ()


def _excludes(test: syntax.Test, other: syntax.Statement | None) -> bool:
    """Returns whether another step can only be taken where a test is false."""
    if isinstance(other, syntax.Else):
        return True
    one = test.condition
    if not (isinstance(other, syntax.Test) and isinstance(one, syntax.Binary)):
        return False
    two = other.condition
    if not (isinstance(two, syntax.Binary) and two.operator in _EXCLUDED.get(one.operator, ())):
        return False
    return (words(one.left), words(one.right)) == (words(two.left), words(two.right))


def _back_to(head: Location, first: Step) -> tuple[Step, ...]:
    steps = [first]
    while steps[-1].target is not head:
        here = steps[-1].target
        if len(here.steps) != 1 or len(steps) > _MOST_WAYS or not steps[-1].stays_atomic:
            return ()
        step = here.steps[0]
        is_free = isinstance(step.action, syntax.Assignment | syntax.Print | syntax.Assertion | None)
        if not (is_free or (isinstance(step.action, syntax.Test) and isinstance(step.action.condition, syntax.Run))):
            return ()
        steps.append(step)
    return tuple(steps) if steps[-1].stays_atomic else ()

"""Lowers ways through the control graphs to rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import prod

from outcrop.ir.nodes import (
    Assign,
    Assume,
    BinaryOperator,
    Conditional,
    Expression,
    Local,
    LocalPlace,
    Statement,
    Variable,
    While,
)
from outcrop.ir.system import Executed, Handed, Parameter, QueueEnd, Rule, StatementLine
from outcrop.ir.types import BOOLEAN, INTEGER
from outcrop.lang import build
from outcrop.lang.frames import FrameBuilder
from outcrop.lang.promela import syntax
from outcrop.lang.promela.atomic import Ending, Taken, Way, WayLowering
from outcrop.lang.promela.channels import Use
from outcrop.lang.promela.control import Location, Step
from outcrop.lang.promela.expressions import has_timeout
from outcrop.lang.promela.places import proctype_title, reached
from outcrop.lang.promela.preconditions import Preconditions
from outcrop.lang.promela.scope import Self
from outcrop.lang.promela.words import in_d_step, statement_words
from outcrop.source import Span

#: Characters of a statement that the name of its rule shows.
_LONGEST_TEXT = 60
#: Choices of processes that get a rule each.
_MOST_CHOICES = 8
#: Tests of a channel that a send, or a receive, leaves as they are where they are true: whether sends do.
_TESTED_ENDS = {"nfull": True, "nempty": False}
#: Turns of a loop inside an atomic sequence.
_MOST_TURNS = 1_000_000


class RuleLowering(WayLowering):
    privilege: Variable | None = None  #: the process that is inside an atomic sequence, plus one
    passed: Variable | None = None  #: whether the last step passed an accept label inside an atomic sequence
    _sent: tuple[Expression, ...] = ()  #: the message of the last rendezvous
    _looked_at: set[Step]  #: the steps that rules have been asked for

    def all_ways(self) -> list[Way]:
        ways: list[Way] = []
        for proctype in self.proctypes.values():
            if proctype.variable is None:
                continue
            for location in proctype.graph.locations:
                for step in location.steps:
                    ways += self.ways_from(proctype, step)
        return ways

    def rules_of(self, way: Way) -> list[Rule]:
        """Returns the rules of a way, two for each choice of processes where its first step asks for ``timeout``.

        Fairness and message charts speak of single processes, so each has rules of its own, unless that would be too
        many: then a rule has the numbers of its processes as parameters.
        """
        action = way.taken[0].step.action
        asks = isinstance(action, syntax.Test) and has_timeout(action.condition)
        choices: list[tuple[int, ...] | None] = [None]
        is_symmetric = any(each.scalarset is not None for each in way.actors)
        if not is_symmetric and prod(len(each.pids) for each in way.actors) <= _MOST_CHOICES:
            every = product(*(each.pids for each in way.actors))
            choices = [pids for pids in every if len(set(pids)) == len(pids)]
        rules = []
        for pids in choices:
            for is_timeout in (False, True) if asks else (False,):
                self.is_timeout = is_timeout
                # Rules with the least number fire first, so timeouts wait for all others.
                rule = self._rule(way, pids, int(is_timeout))
                if rule is not None:
                    rules.append(rule)
        self.is_timeout = False
        return rules

    def rules_of_all(self, ways: list[Way]) -> list[Rule]:
        """Returns the rules that begin where a process can stop. Most places inside atomic sequences are none."""
        beginning: dict[Location, list[int]] = {}
        for number, way in enumerate(ways):
            beginning.setdefault(way.taken[0].step.source, []).append(number)
        rules: dict[int, list[Rule]] = {}
        reached: set[Location] = set()
        pending = [each.graph.start for each in self.proctypes.values()]
        while pending:
            here = pending.pop()
            if here in reached:
                continue
            reached.add(here)
            for number in beginning.get(here, ()):
                rules[number] = self.rules_of(ways[number])
                if rules[number]:
                    pending += _stops(ways[number])
        for way in ways:  # mistakes stand in code that is never reached, too
            if way.taken[0].step not in self._looked_at:
                self.rules_of(way)
        return [rule for number in sorted(rules) for rule in rules[number]]

    def _rule(self, way: Way, pids: tuple[int, ...] | None, priority: int) -> Rule | None:
        self.frame = FrameBuilder()
        span = way.taken[0].step.span
        actors = self._actors(way, pids, span)
        guards: list[Expression] = []
        body: list[Statement] = []
        before = Preconditions(body, [each.local for each in actors])
        first = actors[0]
        guards.append(self.is_at(first, [way.taken[0].step.source.number + 1], span))
        guards += self._allowed(first, span)
        handed: list[Handed] = []
        ends: list[QueueEnd] = []
        for number, taken in enumerate(way.taken):
            tests = self._take(taken, actors, body, is_last=number == len(way.taken) - 1)
            tests[0].extend(self._others(taken, actors))
            if number == 0:
                if self._is_never(first, tests[0]):
                    return None
                guards += tests[0]
            else:
                self.process = actors[taken.actor]
                late = [*self.allowed(), *tests[0]]
                if not self._demand(late, "it goes on so", taken.step.span, before, guards, body):
                    return None
            if taken.met is not None and taken.other is not None and taken.channel is not None:
                handed.append(Handed(len(body), taken.actor, taken.other, self._sent, taken.channel.types))
            ends += self._ends(taken, actors[taken.actor], range(len(body), len(body) + len(tests[1])))
            body += tests[1]
            self.is_timeout = False  # the second step of a sequence does not wait for the others to stop
        if not self._finish(way, actors, before, guards, body):
            return None
        guard = build.conjunction(guards)
        if guard is not None and getattr(guard, "value", None) == 0:
            return None
        parameters = tuple(Parameter(each.local, each.proctype.pid_values) for each in actors if each.local is not None)
        names = tuple(dict.fromkeys(map(_process_name, actors)))
        frame = self.frame.finish()
        lines = tuple(line for taken in way.taken for line in self._lines(taken, actors))
        named = _name(way, names)
        rule = Rule(named, parameters, frame, span, guard, tuple(body), priority, names, tuple(ends), lines)
        executed = tuple(_executed(taken, actors) for taken in way.taken)
        return replace(rule, executed=executed, handed=tuple(handed), reaches=frozenset(reached(way, self.proctypes)))

    def _is_never(self, process: Self, tests: list[Expression]) -> bool:
        """Returns whether a step cannot happen: ``timeout`` while others can move, or a message that the receiver does
        not take. What is evaluated before must not fail, since a failing test is a violation."""
        self.process = process
        for test in (*self.allowed(), *tests):
            if getattr(test, "value", None) == 0:
                return True
            if not build.cannot_fail(test):
                return False
        return False

    def _lines(self, taken: Taken, actors: list[Self]) -> Iterator[StatementLine]:
        """Yields the statements of a step as SPIN shows them in a trail."""
        steps = [(taken.actor, each) for each in taken.loop or (taken.step,)]
        if taken.met is not None and taken.other is not None:
            steps.append((taken.other, taken.met))
        for actor, step in steps:
            process = actors[actor]
            who = (_number(process), proctype_title(process.proctype), process.proctype.priority or 1)
            for number, each in enumerate(in_d_step(step)):
                text = "" if step.source.is_end else " ".join(each.span.text.split())
                if each.action is not None:
                    text = statement_words(each.action)
                yield StatementLine(*who, each.span, each.number if number else step.number, text, number > 0)

    def _actors(self, way: Way, pids: tuple[int, ...] | None, span: Span) -> list[Self]:
        actors = []
        for number, proctype in enumerate(way.actors):
            local: Local | None = None
            if pids is not None or len(proctype.pids) == 1:
                pid: Expression = build.number(proctype.pids.start if pids is None else pids[number], span)
            else:
                local = self.frame.add("process" if number == 0 else "with", proctype.pid_type)
                pid = build.load(LocalPlace(type=local.type, span=span, local=local))
            actors.append(self.self_of(proctype, pid, span, local))
        return actors

    def _allowed(self, process: Self, span: Span) -> list[Expression]:
        """Returns that no other process is inside an atomic sequence, and what the process itself needs."""
        self.process = process
        tests = self.allowed()
        if self.privilege is not None:
            holder = build.load(build.place(self.privilege, span))
            nobody = build.binary(BinaryOperator.EQUAL, holder, build.number(0, span), span, BOOLEAN)
            mine = build.binary(BinaryOperator.EQUAL, holder, build.next_number(process.pid, span), span, BOOLEAN)
            tests.append(build.logical(BinaryOperator.OR, nobody, mine, span))
        return tests

    def _take(
        self, taken: Taken, actors: list[Self], body: list[Statement], is_last: bool
    ) -> tuple[list[Expression], list[Statement]]:
        """Returns the tests of a step, and what it does."""
        step, me = taken.step, actors[taken.actor]
        self._looked_at.update(taken.loop or (step,))
        self.process = me
        if taken.loop:
            return self.tests(taken.loop[0], None), [self._loop(taken.loop), self.enter(me, step.source, step.span)]
        if taken.fails:
            return self.no_channel(step)
        use = None
        if taken.channel is not None:
            assert isinstance(step.action, syntax.Send | syntax.Receive)
            uses = self.uses(step.action.channel, len(step.action.arguments))
            use = next(each for each in uses if each.channel is taken.channel)
        if step.source.is_end:
            return [self.is_youngest(me, step.span)], self.effects(step, None)
        tests = self.tests(step, use)
        tests += self.escape_test(step)
        effects = self.effects(step, use)
        if taken.met is not None and taken.other is not None:
            assert use is not None
            other = actors[taken.other]
            meeting = next(
                each for each in self.meetings(step, use) if each.proctype is other.proctype and each.step is taken.met
            )
            more, values, stores, sent = self.met(step, use, meeting, other)
            tests += more
            self.process = other
            self._sent = tuple(sent)
            checks = self.checks(taken.met.action, use)
            effects += [*checks, *values, *stores, self.enter(other, taken.met.target, step.span)]
        self.process = me
        if is_last or taken.met is not None:
            effects.append(self.enter(me, step.target, step.span))
        return tests, effects

    def _others(self, taken: Taken, actors: list[Self]) -> Iterator[Expression]:
        """Yields that a process that comes in with a rendezvous is none of those that the way has already."""
        if taken.other is None or actors[taken.other].local is None:
            return
        new, span = actors[taken.other], taken.step.span
        for each in actors[: taken.other]:
            if each.proctype is new.proctype and each is not actors[taken.actor]:
                yield build.binary(BinaryOperator.NOT_EQUAL, each.pid, new.pid, span, BOOLEAN)

    def _ends(self, taken: Taken, process: Self, statements: range) -> Iterator[QueueEnd]:
        """Yields the end of the channel that a step uses, if its statements ask for the channel in no other way, and
        those that it tests."""
        step, channel = taken.step, taken.channel
        self.process = process
        if isinstance(step.action, syntax.Test):
            tests = (each for each in syntax.walk(step.action.condition) if isinstance(each, syntax.ChannelTest))
            for each in tests:
                for use in self.uses(each.channel, None) if each.word in _TESTED_ENDS else ():
                    yield from self._end(use, _TESTED_ENDS[each.word], range(0), step.span)
        elif channel is not None:
            assert isinstance(step.action, syntax.Send | syntax.Receive)
            is_plain = not (step.action.is_sorted if isinstance(step.action, syntax.Send) else step.action.is_random)
            asks = (syntax.ChannelTest, syntax.Poll, syntax.Enabled)
            if is_plain and not any(isinstance(each, asks) for each in syntax.walk(step.action)):
                use = next(each for each in self.uses(step.action.channel, None) if each.channel is channel)
                yield from self._end(use, isinstance(step.action, syntax.Send), statements, step.span)

    def _end(self, use: Use, appends: bool, statements: range, span: Span) -> Iterator[QueueEnd]:
        if use.channel.storage is not None:
            yield QueueEnd(self.length_place(use, span), self.messages_place(use, span), appends, statements)

    def _loop(self, steps: tuple[Step, ...]) -> Statement:
        body = tuple(statement for step in steps for statement in self.effects(step, None))
        condition = build.conjunction(self.tests(steps[0], None)) or build.truth(True, steps[0].span)
        return While(span=steps[0].span, condition=condition, body=body, limit=_MOST_TURNS)

    def _demand(
        self,
        tests: list[Expression],
        message: str,
        span: Span,
        before: Preconditions,
        guards: list[Expression],
        body: list[Statement],
    ) -> bool:
        """Adds tests that are made behind a body: to the guard as far as the body leaves their values as they are, and
        otherwise as an assumption. Returns whether they may be true."""
        if any(getattr(each, "value", None) == 0 for each in tests):
            return False
        while tests and before.has(tests[0]):
            guards.append(tests.pop(0))
        whole = build.conjunction(tests)
        if whole is not None:
            body.append(Assume(span=span, condition=whole, message=message, is_guard=True))
        return True

    def _finish(
        self,
        way: Way,
        actors: list[Self],
        before: Preconditions,
        guards: list[Expression],
        body: list[Statement],
    ) -> bool:
        """Adds the end of a way to a guard and a body. Returns whether there is such a way at all."""
        assert way.at is not None
        last = actors[way.actor]
        span = way.taken[-1].step.span
        self.process = last
        goes_on = None
        if way.ending is not Ending.FREE:
            goes_on = build.conjunction([*self.allowed(), self.any_enabled(way.at.steps, span)])
            goes_on = goes_on or build.truth(True, span)
        if way.ending is Ending.BLOCKED:
            assert goes_on is not None
            blocked = build.negation(goes_on, span)
            if not self._demand([blocked], "it blocks", span, before, guards, body):
                return False
        if self.last is not None:
            body.append(Assign(span=span, target=build.place(self.last, span), value=last.pid))
        if self.passed is not None:
            place = build.place(self.passed, span)
            body.append(Assign(span=span, target=place, value=build.truth(passes_accept_label(way), span)))
        if self.privilege is not None:
            holder: Expression = build.number(0, span)
            if way.ending is Ending.PRIVILEGED:
                assert goes_on is not None
                holder = build.next_number(last.pid, span)
                if getattr(goes_on, "value", None) != 1:
                    nobody = build.number(0, span)
                    holder = Conditional(type=INTEGER, span=span, condition=goes_on, then=holder, otherwise=nobody)
            body.append(Assign(span=span, target=build.place(self.privilege, span), value=holder))
        return True


def _stops(way: Way) -> Iterator[Location]:
    """Yields where a way leaves its processes, or may leave them: where it ends, meets another, or turns a loop."""
    for taken in way.taken:
        if taken.loop:
            yield taken.loop[0].source
        if taken.met is not None:
            yield from (taken.step.target, taken.met.target)
    yield way.taken[-1].step.target


def passes_accept_label(way: Way) -> bool:
    """Returns whether a process comes to an accept label before the last step of a way. SPIN counts that as a visit,
    although it does not store the state."""
    sources = [each.step.source for each in way.taken[1:]]
    sources += [step.source for each in way.taken for step in each.loop[1:]]
    return any("accept" in each.kinds for each in sources)


def _executed(taken: Taken, actors: list[Self]) -> Executed:
    """Returns the statements of a step by SPIN's numbers."""
    moves = [(taken.actor, each.identity) for each in taken.loop or (taken.step,)]
    if taken.met is not None and taken.other is not None:
        moves.append((taken.other, taken.met.identity))
    named = tuple((_number(actors[actor]), identity) for actor, identity in moves)
    return Executed(named, repeats=bool(taken.loop))


def _number(process: Self) -> int | str:
    """Returns the number of a process, or the parameter of the rule that has it."""
    number = getattr(process.pid, "value", None)
    return process.local.name if process.local is not None else int(number or 0)


def _process_name(process: Self) -> str:
    number = getattr(process.pid, "value", None)
    return (
        process.proctype.name
        if len(process.proctype.pids) == 1 or number is None
        else (f"{process.proctype.name}[{number}]")
    )


def _name(way: Way, processes: tuple[str, ...]) -> str:
    """Returns the name of a rule: its processes, and the line and text of its first statement. Where several
    statements stand at one place of the file, SPIN's words tell them apart."""
    first = way.taken[0]
    who = " -> ".join(processes)
    if first.step.source.is_end:
        return f"{who}: -end-"
    text = " ".join(first.step.span.text.split())
    if way.actors[first.actor].graph.is_shared(first.step.span) and first.step.action is not None:
        text = statement_words(first.step.action)
    if len(text) > _LONGEST_TEXT:
        text = text[: _LONGEST_TEXT - 3] + "..."
    more = f" ... ({len(way.taken)} steps)" if len(way.taken) > 1 else ""
    return f"{who}:{first.step.span.line} {text}{more}"

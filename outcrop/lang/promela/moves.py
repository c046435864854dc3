"""Lowers single steps: when each can be taken, and what it does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from outcrop.ir.nodes import (
    Assert,
    Assign,
    BinaryOperator,
    Constant,
    Error,
    Expression,
    Put,
    Statement,
)
from outcrop.ir.types import BOOLEAN, Range, Record
from outcrop.lang import build
from outcrop.lang.promela import syntax
from outcrop.lang.promela.channels import Use
from outcrop.lang.promela.control import Step
from outcrop.lang.promela.d_steps import DeterministicLowering, first_action
from outcrop.lang.promela.language import PromelaOptions
from outcrop.lang.promela.scope import ConstantSymbol, ProctypeSymbol, Self, VariableSymbol
from outcrop.lang.report import counted
from outcrop.source import Span

_CONVERSION = re.compile(r"%[-0-9]*([a-zA-Z%])")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t"}


@dataclass(frozen=True)
class Meeting:
    """A step of another process that a rendezvous takes together with a step of ``self.process``."""

    proctype: ProctypeSymbol
    step: Step
    channel: str


class MoveLowering(DeterministicLowering):
    # --- When a step can be taken ----------------------------------------------------------------------------

    def tests(self, step: Step, use: Use | None) -> list[Expression]:
        """Returns what must be true for a step of ``self.process``; rendezvous are not asked for their partner."""
        span = step.span
        match step.action:
            case syntax.Test(condition=syntax.Run()):
                return []
            case syntax.Test(condition=condition):
                return [self.condition(condition)]
            case syntax.Send() as node:
                assert use is not None
                tests = [] if use.test is None else [use.test]
                if use.channel.capacity:
                    limit = build.number(use.channel.capacity, span)
                    tests.append(build.binary(BinaryOperator.LESS, self.length(use, span), limit, span, BOOLEAN))
                return tests
            case syntax.Receive() as node:
                assert use is not None
                tests = [] if use.test is None else [use.test]
                if use.channel.capacity:
                    tests.append(self.receivable(node.arguments, node.is_random, use, span))
                return tests
            case syntax.Else():
                return [build.negation(self.any_enabled(step.earlier, span), span)]
            case syntax.Block(kind="d_step"):
                assert step.graph is not None
                first = step.graph.start.steps
                if len(first) == 1 and isinstance(first[0].action, syntax.Else):  # among the options around it
                    return [build.negation(self.any_enabled(step.earlier, span), span)]
                return [self.any_enabled(first, span)]
        return []

    def escape_test(self, step: Step) -> list[Expression]:
        """Returns what an ``unless`` around a step demands: that its escape cannot be taken."""
        rivals = step.rivals
        return [build.negation(self.any_enabled(rivals, step.span), step.span)] if rivals else []

    def any_enabled(self, steps: list[Step], span: Span) -> Expression:
        whole: Expression = build.truth(False, span)
        if any(isinstance(each.action, syntax.Else) for each in steps):
            return build.truth(True, span)
        for each in steps:
            enabled = self.enabled(each)
            if isinstance(enabled, Constant) and enabled.value:
                return enabled
            whole = build.logical(BinaryOperator.OR, whole, enabled, span)
        return whole

    def enabled(self, step: Step) -> Expression:
        """Returns whether ``self.process`` can take a step from where it is."""
        node = step.action
        true = build.truth(True, step.span)
        if step.source.is_end:
            assert self.process is not None
            return self.is_youngest(self.process, step.span)
        if not isinstance(node, syntax.Send | syntax.Receive):
            return build.conjunction(self.tests(step, None)) or true
        whole: Expression = build.truth(False, step.span)
        for use in self.uses(node.channel, len(node.arguments)):
            tests = self.tests(step, use)
            if not use.channel.capacity:
                if isinstance(node, syntax.Receive):
                    continue  # a rendezvous begins with its sender, so a receiver alone never can
                tests.append(self._someone_meets(step, use))
            one = build.conjunction(tests) or true
            whole = build.logical(BinaryOperator.OR, whole, one, step.span)
        return whole

    def is_youngest(self, process: Self, span: Span) -> Expression:
        """Returns whether a process that has ended can go: those that began after it have gone."""
        assert self.process_count is not None
        count = build.load(build.place(self.process_count, span))
        return build.binary(BinaryOperator.EQUAL, count, build.next_number(process.pid, span), span, BOOLEAN)

    def process_enabled(self, node: syntax.Enabled) -> Expression:
        """Returns whether the process with a number can move: one case for each location that it can be at."""
        span, me = node.span, self.process
        number = self.integer(node.process)
        whole: Expression = build.truth(False, span)
        known = getattr(number, "value", None)
        if known is None and self._in_enabled:
            self.report.error(
                "'enabled' can ask only for a process with a constant number here", span, "write the number itself"
            )
            return whole
        self._in_enabled = True
        for proctype in self.proctypes.values():
            for pid in proctype.pids if proctype.variable is not None else ():
                if known is not None and known != pid:
                    continue
                is_it = build.binary(BinaryOperator.EQUAL, number, build.number(pid, span), span, BOOLEAN)
                self.process = self.self_of(proctype, build.number(pid, span), span)
                for location in proctype.graph.locations:
                    here = self.is_at(self.process, [location.number + 1], span)
                    can = self.any_enabled(location.steps, span)  # SPIN does not ask for 'provided' here
                    one = build.conjunction([is_it, here, can]) or build.truth(True, span)
                    whole = build.logical(BinaryOperator.OR, whole, one, span)
        self.process, self._in_enabled = me, False
        return whole

    def can_move(self, span: Span) -> Expression:
        """Returns whether any process can move, by a timeout if nothing else."""
        before = self.process, self.is_timeout
        self.is_timeout = True
        whole: Expression = build.truth(False, span)
        for proctype in self.proctypes.values():
            if proctype.variable is not None:
                one = self.some_process(proctype, lambda process: [self.moves(process, span)], span)
                whole = build.logical(BinaryOperator.OR, whole, one, span)
        self.process, self.is_timeout = before
        return whole

    _in_enabled = False  #: whether a condition of ``enabled`` is being made, which may ask the same question again

    def _someone_meets(self, step: Step, use: Use) -> Expression:
        """Returns whether a process waits at the other end of a rendezvous."""
        span = step.span
        whole: Expression = build.truth(False, span)
        for meeting in self.meetings(step, use):
            one = self.some_process(meeting.proctype, partial(self._meets, step, use, meeting), span)
            whole = build.logical(BinaryOperator.OR, whole, one, span)
        return whole

    def _meets(self, step: Step, use: Use, meeting: Meeting, other: Self) -> list[Expression]:
        return self.met(step, use, meeting, other)[0]

    # --- Rendezvous --------------------------------------------------------------------------------------------

    def meetings(self, step: Step, use: Use) -> Iterator[Meeting]:
        """Yields the steps at the other end of a rendezvous channel."""
        wanted = syntax.Receive if isinstance(step.action, syntax.Send) else syntax.Send
        assert self.process is not None
        for proctype in self.proctypes.values():
            if not proctype.pids or (proctype is self.process.proctype and len(proctype.pids) == 1):
                continue
            for location in proctype.graph.locations:
                for other in location.steps:
                    if isinstance(first_action(other), wanted) and self._may_meet(proctype, other, use):
                        yield Meeting(proctype, other, use.channel.name)

    def _may_meet(self, proctype: ProctypeSymbol, step: Step, use: Use) -> bool:
        node = first_action(step)
        assert isinstance(node, syntax.Send | syntax.Receive)
        me, frame = self.process, self.frame
        self.process = self.self_of(proctype, build.number(proctype.pids.start, step.span), step.span)
        found = len(node.arguments) <= len(use.channel.types)  # else an error, reported at that step
        found = found and any(each.channel is use.channel for each in self.uses(node.channel, len(node.arguments)))
        self.process, self.frame = me, frame
        return found

    def met(
        self, step: Step, use: Use, meeting: Meeting, other: Self
    ) -> tuple[list[Expression], list[Statement], list[Statement], list[Expression]]:
        """Returns the tests of a rendezvous beyond those of the own step, what it stores (values, then targets), and
        the message."""
        me, span = self.process, step.span
        assert me is not None
        sender, receiver = (me, other) if isinstance(step.action, syntax.Send) else (other, me)
        tests = [self.is_at(other, [meeting.step.source.number + 1], span)]
        if other.proctype is me.proctype:
            tests.append(build.binary(BinaryOperator.NOT_EQUAL, me.pid, other.pid, span, BOOLEAN))
        send, receive = step.action, first_action(meeting.step)
        if not isinstance(send, syntax.Send):
            send, receive = receive, send
        assert isinstance(send, syntax.Send) and isinstance(receive, syntax.Receive)
        theirs_node = first_action(meeting.step)
        assert isinstance(theirs_node, syntax.Send | syntax.Receive)
        self.process = other
        theirs = next(
            each for each in self.uses(theirs_node.channel, len(receive.arguments)) if each.channel is use.channel
        )
        if theirs.test is not None:
            tests.append(theirs.test)
        tests += self.provided()
        if not (isinstance(use.offset, Constant) and isinstance(theirs.offset, Constant)):
            tests.append(build.binary(BinaryOperator.EQUAL, use.offset, theirs.offset, span, BOOLEAN))
        elif use.offset.value != theirs.offset.value:
            tests.append(build.truth(False, span))
        values: list[Statement] = []
        self.process = sender
        pairs = zip(send.arguments, use.channel.types, strict=False)
        sent = [build.reduced(self.integer(each), kind) for each, kind in pairs]
        sent += [build.number(0, span)] * (len(use.channel.types) - len(sent))
        self.process = receiver
        tests += self.matches(receive.arguments, lambda number: sent[number], span)
        kept = [self.kept(each, values) for each in sent] if len(sent) > 1 else sent
        stores = [each for is_send in (True, False) for each in self.happened(is_send, use, kept.__getitem__, span)]
        stores += self._stored(receive.arguments, kept.__getitem__)
        if meeting.step.graph is not None:
            stores += self.d_step(meeting.step.graph, span, is_begun=True)
        self.process = me
        # While a message waits to be received, only another receive can be taken in place of this one.
        for rival in meeting.step.rivals:
            if isinstance(first_action(rival), syntax.Receive) and self._may_meet(other.proctype, rival, use):
                instead, _, _, _ = self.met(step, use, Meeting(meeting.proctype, rival, meeting.channel), other)
                tests.append(build.negation(build.conjunction(instead) or build.truth(True, span), span))
        return tests, values, stores, sent

    def never_holds_channel(self, node: syntax.Reference) -> bool:
        """Returns whether a variable for channels begins without one, and nothing is ever stored into it."""
        symbol = self.known(node.name)
        assert self.process is not None
        if not isinstance(symbol, VariableSymbol) or symbol in self.process.proctype.parameters:
            return False
        is_stored = symbol.initial is not None or symbol.name in self.written
        return not is_stored and self.options.of(PromelaOptions).assertions

    def no_channel(self, step: Step) -> tuple[list[Expression], list[Statement]]:
        """Returns the test that the variable of a send or receive holds no channel, and the error that this is."""
        assert isinstance(step.action, syntax.Send | syntax.Receive)
        span, node = step.span, step.action.channel
        place = self.target(node)
        if place is None:
            return [build.truth(False, span)], []
        holds_none = build.binary(BinaryOperator.EQUAL, build.load(place), build.number(0, span), span, BOOLEAN)
        message = f"'{node.span.text}' holds no channel"
        return [holds_none, *self.escape_test(step)], [Error(span=span, message=message)]

    def provided(self) -> list[Expression]:
        assert self.process is not None
        condition = self.process.proctype.tree.provided
        return [] if condition is None else [self.condition(condition)]

    # --- What a step does --------------------------------------------------------------------------------------

    def effects(self, step: Step, use: Use | None) -> list[Statement]:
        """Returns what a step of ``self.process`` does, but for entering its new location."""
        return [*self.checks(step.action, use), *self._done(step, use)]

    def checks(self, action: syntax.Statement | None, use: Use | None) -> list[Statement]:
        """Returns what may be wrong with a statement of ``self.process``: violated claims, and values left out."""
        found = self.claim_checks(action)
        if use is None or not self.options.of(PromelaOptions).assertions:
            return found
        is_left = isinstance(action, syntax.Receive) and action.keeps
        if isinstance(action, syntax.Send | syntax.Receive) and not is_left:
            wanted, given = len(use.channel.types), len(action.arguments)
            if given < wanted:  # without assertions, values that are not sent are zero
                message = f"the messages of channel '{use.channel.name}' have {wanted} values, not {given}"
                found.append(Error(span=action.span, message=message))
        return found

    def _done(self, step: Step, use: Use | None) -> list[Statement]:
        span = step.span
        match step.action:
            case syntax.Test(condition=syntax.Run() as run):
                return self.run(run, None)
            case syntax.Assignment(target=target, value=syntax.Run() as run):
                return self.run(run, None if _is_lost(target) else self.target(target))
            case syntax.Assignment():
                return self._assignment(step.action)
            case syntax.Send() as node:
                assert use is not None
                return self.send(node, use) if use.channel.capacity else []
            case syntax.Receive() as node:
                assert use is not None
                return self.receive(node, use) if use.channel.capacity else []
            case syntax.Assertion(condition=condition):
                if not self.options.of(PromelaOptions).assertions:
                    return []
                return [Assert(span=span, condition=self.condition(condition), message=condition.span.text)]
            case syntax.SetPriority():
                return self.set_priority(step.action)
            case syntax.Print():
                return list(self._print(step.action))
            case syntax.Block(kind="d_step"):
                assert step.graph is not None
                return self.d_step(step.graph, span)
        return self.end(span) if step.source.is_end else []

    def _assignment(self, node: syntax.Assignment) -> list[Statement]:
        if _is_lost(node.target):
            return []
        whole = self.place(node.target)
        if whole is not None and isinstance(whole.type, Record) and isinstance(node.value, syntax.Reference):
            source = self.place(node.value)
            if source is not None and source.type == whole.type:
                return [Assign(span=node.span, target=whole, value=build.load(source))]
        if whole is not None and isinstance(whole.type, Record) and node.value.span == node.target.span:
            return []  # a declaration after a statement, which sets nothing
        target = self.target(node.target)
        value = self.integer(node.value)
        if target is None:
            return []
        assert isinstance(target.type, Range)
        return [Assign(span=node.span, target=target, value=build.reduced(value, target.type))]

    def _shown(self, argument: syntax.Expression, conversion: str) -> str | Expression:
        """Returns what a conversion of ``printf`` prints: names of an mtype for ``%e`` alone, otherwise numbers."""
        if conversion != "e":
            return build.binary(
                BinaryOperator.ADD, self.integer(argument), build.number(0, argument.span), argument.span
            )
        name = argument.name.text if isinstance(argument, syntax.Reference) else ""
        is_local = self.process is not None and name in self.process.proctype.names
        is_constant = isinstance(self.globals.get(name), ConstantSymbol) and not is_local
        return name if is_constant else self.expression(argument)

    def _print(self, node: syntax.Print) -> Iterator[Statement]:
        text = _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), node.text)
        self._compare_conversions(node, text)
        at, arguments = 0, iter(node.arguments)
        for match in _CONVERSION.finditer(text):
            if match.start() > at:
                yield Put(span=node.span, argument=text[at : match.start()])
            at = match.end()
            if match[1] == "%":
                yield Put(span=node.span, argument="%")
                continue
            argument = next(arguments, None)
            if argument is not None:
                yield Put(span=node.span, argument=self._shown(argument, match[1]))
        if at < len(text):
            yield Put(span=node.span, argument=text[at:])

    def _compare_conversions(self, node: syntax.Print, text: str) -> None:
        """Warns of a ``printf`` that has more or fewer conversions than values."""
        wanted = sum(match[1] != "%" for match in _CONVERSION.finditer(text))
        given = len(node.arguments)
        if given < wanted:
            hint = "add a value for each, or write '%%' for a percent sign"
        else:
            hint = "the conversions are %d, %e, %c, %o, %u and %x"
        if given != wanted:
            message = f"the text of 'printf' has {counted(wanted, 'conversion')}, and there {_are(given)}"
            self.report.warning(message, node.span, hint)


def _are(values: int) -> str:
    return f"{'is' if values == 1 else 'are'} {counted(values, 'value')}"


def _is_lost(target: syntax.Reference) -> bool:
    """Returns whether what is stored in a target is lost."""
    return target.name.text == "_" and target.next is None

"""Event traces: ``trace`` and ``notrace`` assertions about the order of messages.

The assertion is an automaton that moves with every message on the channels that it names. Its location is a variable of
the state. A ``trace`` fails at a message that it does not expect. A ``notrace`` fails where it comes to its end, and
ceases to watch at the first message that it does not expect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from outcrop.ir.nodes import Assign, BinaryOperator, Constant, Error, Expression, If, Statement, Switch, Variable
from outcrop.ir.types import BOOLEAN, Enum
from outcrop.lang import build
from outcrop.lang.promela import syntax
from outcrop.lang.promela.channels import ChannelLowering, Use
from outcrop.lang.promela.control import Graph, Location, Step
from outcrop.lang.promela.language import PromelaOptions
from outcrop.lang.promela.scope import ChannelSymbol
from outcrop.source import Span


@dataclass(frozen=True)
class Event:
    """A step of the assertion: a message that is sent or received, on one channel."""

    step: Step
    node: syntax.Send | syntax.Receive
    channel: ChannelSymbol
    index: int


@dataclass
class EventTrace:
    """An assertion about events. ``variable``: where it stands."""

    tree: syntax.EventTrace
    graph: Graph
    locations: Enum
    events: list[Event]
    variable: Variable | None = None

    def at(self, location: Location, span: Span) -> Constant:
        return Constant(type=self.locations, span=span, value=location.number)

    def watched(self, use: Use, is_send: bool) -> list[Event]:
        """Returns the events about a declaration of channels, of one direction."""
        kind = syntax.Send if is_send else syntax.Receive
        return [each for each in self.events if each.channel is use.channel and isinstance(each.node, kind)]


class EventLowering(ChannelLowering):
    event_trace: EventTrace | None = None

    def events_of(self, tree: syntax.EventTrace, graph: Graph) -> Iterator[Event]:
        """Yields the events that an assertion names."""
        for location in graph.locations:
            for step in location.steps:
                node = step.action
                is_simple = isinstance(node, syntax.Send) and not node.is_sorted
                is_simple |= isinstance(node, syntax.Receive) and not (node.is_random or node.keeps)
                if not is_simple:
                    if node is not None:
                        hint = "leave only 'channel!...' and 'channel?...' in it"
                        self.report.error(f"a '{tree.word}' can only name messages", step.span, hint)
                    continue
                assert isinstance(node, syntax.Send | syntax.Receive)
                symbol = self.globals.get(node.channel.name.text)
                if not isinstance(symbol, ChannelSymbol):
                    hint = "name a global channel that is never assigned"
                    self.report.error(f"a '{tree.word}' cannot watch this channel", node.channel.span, hint)
                    continue
                at = node.channel.index
                index = 0 if at is None else self.constant(at, "the number of a channel")
                yield Event(step, node, symbol, index or 0)

    def happened(self, is_send: bool, use: Use, value: Callable[[int], Expression], span: Span) -> Iterator[Statement]:
        """Yields the move of the assertion for a message. ``value`` returns a field of the message."""
        trace = self.event_trace
        events = [] if trace is None else trace.watched(use, is_send)
        if not events:
            return
        assert trace is not None and trace.variable is not None
        cases = []
        for location in trace.graph.locations:
            steps = [] if location is trace.graph.end else self._matching(location, use, is_send, value, span)
            body = self._moved(trace, steps, span)
            cases.append(((trace.at(location, span),), tuple(body)))
        place = build.place(trace.variable, span)
        move: Statement = Switch(span=span, selector=build.load(place), cases=tuple(cases))
        in_scope = self._is_among(use, sorted({each.index for each in events}), span)
        yield move if in_scope is None else If(span=span, branches=((in_scope, (move,)),))

    def _is_among(self, use: Use, indices: list[int], span: Span) -> Expression | None:
        """Returns whether a channel of an array is a watched one; None where it must be."""
        if len(indices) == use.channel.count:
            return None
        whole: Expression = build.truth(False, span)
        for index in indices:
            is_it = build.binary(BinaryOperator.EQUAL, use.offset, build.number(index, span), span, BOOLEAN)
            whole = build.logical(BinaryOperator.OR, whole, is_it, span)
        return whole

    def _matching(
        self, location: Location, use: Use, is_send: bool, value: Callable[[int], Expression], span: Span
    ) -> list[tuple[Step, Expression]]:
        """Returns the steps from a location that a message may match, each with the test for that."""
        trace = self.event_trace
        assert trace is not None
        me, self.process = self.process, None
        found: list[tuple[Step, Expression]] = []
        for step in location.steps:
            if step.action is None:  # a jump at the beginning of an option goes on with any message
                found.append((step, build.truth(True, span)))
                continue
            for event in trace.watched(use, is_send):
                if event.step is step:
                    found.append((step, self._matches_event(event, use, value, span)))
        self.process = me
        return found

    def _matches_event(self, event: Event, use: Use, value: Callable[[int], Expression], span: Span) -> Expression:
        tests = []
        if use.channel.count > 1:
            index = build.number(event.index, span)
            tests.append(build.binary(BinaryOperator.EQUAL, use.offset, index, span, BOOLEAN))
        for number, node in enumerate(event.node.arguments[: len(use.channel.types)]):
            if self.is_value(node):
                tests.append(build.binary(BinaryOperator.EQUAL, value(number), self.integer(node), span, BOOLEAN))
        return build.conjunction(tests) or build.truth(True, span)

    def _moved(self, trace: EventTrace, steps: list[tuple[Step, Expression]], span: Span) -> Iterator[Statement]:
        """Yields what the assertion does at one location."""
        assert trace.variable is not None
        place = build.place(trace.variable, span)
        word = trace.tree.word
        branches = []
        for number, (step, test) in enumerate(steps):
            body: list[Statement] = [Assign(span=span, target=place, value=trace.at(step.target, span))]
            for _, other in steps[number + 1 :]:
                several = Error(span=span, message=f"two events of the '{word}' match this message")
                body.append(If(span=span, branches=((other, (several,)),)))
            if trace.tree.is_negated and step.target is trace.graph.end:
                body += self._failure("the 'notrace' assertion fails: all its events have happened", span)
            branches.append((test, tuple(body)))
        otherwise = self._failure("the 'trace' assertion fails: it does not expect this message", span)
        if trace.tree.is_negated:
            otherwise = [Assign(span=span, target=place, value=trace.at(trace.graph.end, span))]
        if branches:
            yield If(span=span, branches=tuple(branches), otherwise=tuple(otherwise))
        else:
            yield from otherwise

    def _failure(self, message: str, span: Span) -> list[Statement]:
        """Returns the end of a run at a violated assertion; without assertions, the run goes on."""
        return [Error(span=span, message=message)] if self.options.of(PromelaOptions).assertions else []

    def event_trace_at(self, kind: str, span: Span) -> list[Expression]:
        """Returns the test that the assertion stands at a label of a kind; nothing without an assertion."""
        trace = self.event_trace
        if trace is None or trace.variable is None:
            return []
        whole: Expression = build.truth(False, span)
        here = build.load(build.place(trace.variable, span))
        for each in trace.graph.locations:
            if kind in each.kinds or (kind == "end" and each.is_end):
                is_it = build.binary(BinaryOperator.EQUAL, here, trace.at(each, span), span, BOOLEAN)
                whole = build.logical(BinaryOperator.OR, whole, is_it, span)
        return [whole]

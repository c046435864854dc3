"""Channels: tests, buffered sends and receives, and messages that pass from one process to another in a rendezvous."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from outcrop.ir.nodes import (
    Assign,
    BinaryOperator,
    Bind,
    Conditional,
    Expression,
    FieldPlace,
    For,
    If,
    IndexPlace,
    Load,
    LocalPlace,
    Place,
    Quantified,
    Quantifier,
    Statement,
    TypeDomain,
    While,
)
from outcrop.ir.types import BOOLEAN, CHANNEL, INTEGER, Array, Range, Record, Type
from outcrop.lang import build
from outcrop.lang.promela import syntax
from outcrop.lang.promela.expressions import ExpressionLowering
from outcrop.lang.promela.holding import Holding
from outcrop.lang.promela.messages import report_twice_taken
from outcrop.lang.promela.scope import ChannelSymbol, ConstantSymbol, InitialChannel, Self, VariableSymbol
from outcrop.source import Span

_COUNT, _MESSAGES = 0, 1


@dataclass(frozen=True)
class Use:
    """One channel declaration that a statement may use. ``test``: it is this one, None if it can be no other;
    ``offset``: the channel's number within the declaration."""

    channel: ChannelSymbol
    test: Expression | None
    offset: Expression


class ChannelLowering(ExpressionLowering):
    channels: list[ChannelSymbol]
    holding: Holding

    def queue_type(self, channel: ChannelSymbol) -> Record:
        types = channel.types
        message: Type = types[0]
        if len(types) > 1:
            message = Record(tuple((str(at + 1), kind) for at, kind in enumerate(types)))
        messages = Array(Range(0, channel.capacity - 1), message)
        name = f"{CHANNEL}[{channel.capacity}] of {{ {', '.join(map(str, types))} }}"
        return Record((("length", Range(0, channel.capacity)), ("messages", messages)), name)

    def offset_of(self, channel: ChannelSymbol, index: Expression, process: Self | None, span: Span) -> Expression:
        """Returns the number of a channel within its declaration."""
        if channel.proctype is None or process is None:
            return index
        first = build.number(channel.proctype.pids.start, span)
        row = self._sum(BinaryOperator.SUBTRACT, process.pid, first, span)
        row = self._product(row, channel.width, span)
        return self._sum(BinaryOperator.ADD, row, index, span)

    def _sum(self, what: BinaryOperator, left: Expression, right: Expression, span: Span) -> Expression:
        values = getattr(left, "value", None), getattr(right, "value", None)
        if isinstance(values[0], int) and isinstance(values[1], int):
            return build.number(values[0] + values[1] if what is BinaryOperator.ADD else values[0] - values[1], span)
        if values[1] == 0:
            return left
        return build.binary(what, left, right, span)

    def _product(self, left: Expression, factor: int, span: Span) -> Expression:
        value = getattr(left, "value", None)
        if isinstance(value, int):
            return build.number(value * factor, span)
        return left if factor == 1 else build.binary(BinaryOperator.MULTIPLY, left, build.number(factor, span), span)

    def channel_number(self, symbol: ChannelSymbol, node: syntax.Reference) -> Expression:
        offset = self.offset_of(symbol, self.channel_index(symbol, node), self.process, node.span)
        return self._sum(BinaryOperator.ADD, offset, build.number(symbol.base, node.span), node.span)

    def initial_channel(self, node: InitialChannel) -> Expression:
        span, channel = node.span, node.channel
        offset = self.offset_of(channel, build.number(node.index, span), self.process, span)
        return self._sum(BinaryOperator.ADD, offset, build.number(channel.base, span), span)

    def uses(self, node: syntax.Reference, arity: int | None) -> list[Use]:
        """Returns the channels that a statement may mean: one declaration, or where a variable has the number of the
        channel, each that the variable may hold and that carries messages of this arity."""
        symbol = self.lookup(node.name)
        if isinstance(symbol, ChannelSymbol):
            index = self.channel_index(symbol, node)
            return [Use(symbol, None, self.offset_of(symbol, index, self.process, node.span))]
        if isinstance(symbol, VariableSymbol) and not symbol.is_channel:
            note = ("it is declared here", symbol.span)
            self.report.error(f"'{node.name.text}' is not a channel", node.span, "name a variable of type 'chan'", note)
            return []
        place = None if symbol is None else self.target(node)
        if place is None or not isinstance(symbol, VariableSymbol):
            return []
        number = build.load(place)
        return [
            Use(each, self._is_one_of(number, each, node.span), self._within(number, each, node.span))
            for each in self.channels
            if (arity is None or arity <= len(each.types)) and self.holding.may_be(symbol, each)
        ]

    def _within(self, number: Expression, channel: ChannelSymbol, span: Span) -> Expression:
        if channel.count == 1:
            return build.number(0, span)
        return self._sum(BinaryOperator.SUBTRACT, number, build.number(channel.base, span), span)

    def _is_one_of(self, number: Expression, channel: ChannelSymbol, span: Span) -> Expression:
        first, last = channel.base, channel.base + channel.count - 1
        if first == last:
            return build.binary(BinaryOperator.EQUAL, number, build.number(first, span), span, BOOLEAN)
        low = build.binary(BinaryOperator.GREATER_EQUAL, number, build.number(first, span), span, BOOLEAN)
        high = build.binary(BinaryOperator.LESS_EQUAL, number, build.number(last, span), span, BOOLEAN)
        return build.logical(BinaryOperator.AND, low, high, span)

    # --- Queues ------------------------------------------------------------------------------------------------

    def queue(self, use: Use, span: Span) -> Place:
        assert use.channel.storage is not None
        base: Place = build.place(use.channel.storage, span)
        if use.channel.count > 1:
            base = IndexPlace(type=self.queue_type(use.channel), span=span, base=base, index=use.offset)
        return base

    def length_place(self, use: Use, span: Span) -> FieldPlace:
        kind = self.queue_type(use.channel).fields[_COUNT][1]
        return FieldPlace(type=kind, span=span, base=self.queue(use, span), field_index=_COUNT)

    def length(self, use: Use, span: Span) -> Expression:
        if use.channel.capacity == 0:
            return build.number(0, span)
        return build.load(self.length_place(use, span))

    def messages_place(self, use: Use, span: Span) -> FieldPlace:
        kind = self.queue_type(use.channel).fields[_MESSAGES][1]
        return FieldPlace(type=kind, span=span, base=self.queue(use, span), field_index=_MESSAGES)

    def message(self, use: Use, at: Expression, span: Span) -> Place:
        messages = self.messages_place(use, span)
        assert isinstance(messages.type, Array)
        return IndexPlace(type=messages.type.element, span=span, base=messages, index=at)

    def part(self, message: Place, number: int, use: Use, span: Span) -> Place:
        if len(use.channel.types) == 1:
            return message
        return FieldPlace(type=use.channel.types[number], span=span, base=message, field_index=number)

    # --- Tests -------------------------------------------------------------------------------------------------

    def channel_test(self, node: syntax.ChannelTest) -> Expression:
        def test(use: Use) -> Expression:
            length, span = self.length(use, node.span), node.span
            limit = build.number(use.channel.capacity or 1, span)  # a rendezvous channel is never full, as in SPIN
            zero = build.number(0, span)
            match node.word:
                case "len":
                    return length
                case "empty":
                    return build.binary(BinaryOperator.EQUAL, length, zero, span, BOOLEAN)
                case "nempty":
                    return build.binary(BinaryOperator.GREATER, length, zero, span, BOOLEAN)
                case "full":
                    return build.binary(BinaryOperator.EQUAL, length, limit, span, BOOLEAN)
            return build.binary(BinaryOperator.LESS, length, limit, span, BOOLEAN)

        return self._chosen(self.uses(node.channel, None), lambda use: build.as_integer(test(use)), node.span)

    def _chosen(self, uses: list[Use], value: Callable[[Use], Expression], span: Span) -> Expression:
        if len(uses) == 1 and uses[0].test is None:
            return value(uses[0])
        whole: Expression = build.number(0, span)
        for use in reversed(uses):
            assert use.test is not None
            whole = Conditional(type=INTEGER, span=span, condition=use.test, then=value(use), otherwise=whole)
        return whole

    def poll(self, node: syntax.Poll) -> Expression:
        def test(use: Use) -> Expression:
            if use.channel.capacity == 0:
                if use.test is None:
                    self.refuse_poll(node.span)
                return build.number(0, node.span)
            return build.as_integer(self.receivable(node.arguments, node.is_random, use, node.span))

        return self._chosen(self.uses(node.channel, len(node.arguments)), test, node.span)

    def refuse_poll(self, span: Span) -> None:
        hint = "give the channel a buffer, or receive the message"
        self.report.error("nothing ever waits in a rendezvous channel to be looked at", span, hint)

    def is_value(self, node: syntax.Expression) -> bool:
        """Returns whether an argument of a receive must be equal to what is received, rather than take it."""
        if not isinstance(node, syntax.Reference):
            return True
        symbol = self.known(node.name)
        if symbol is None:
            return node.name.text in ("_pid", "_nr_pr")
        return isinstance(symbol, ConstantSymbol | ChannelSymbol)

    def matches(
        self, arguments: tuple[syntax.Expression, ...], received: Callable[[int], Expression], span: Span
    ) -> Iterator[Expression]:
        """Yields what must be true of a message for a receive to take it."""
        for number, node in enumerate(arguments):
            if self.is_value(node):
                yield build.equality(received(number), self.integer(node), span)

    def receivable(self, arguments: tuple[syntax.Expression, ...], is_random: bool, use: Use, span: Span) -> Expression:
        """Returns whether a buffered channel holds a message that a receive can take."""
        length = self.length(use, span)

        def fits(at: Expression) -> list[Expression]:
            message = self.message(use, at, span)
            return list(self.matches(arguments, lambda number: build.load(self.part(message, number, use, span)), span))

        if not is_random:
            some = build.binary(BinaryOperator.GREATER, length, build.number(0, span), span, BOOLEAN)
            return build.conjunction([some, *fits(build.number(0, span))]) or build.truth(True, span)
        slot = Range(0, use.channel.capacity - 1)
        local = self.frame.add("slot", slot)
        at = build.load(LocalPlace(type=slot, span=span, local=local))
        used = build.binary(BinaryOperator.LESS, at, length, span, BOOLEAN)
        body = build.conjunction([used, *fits(at)])
        assert body is not None
        return Quantified(
            span=span, quantifier=Quantifier.EXISTS, variable=local, domain=TypeDomain(type=slot), body=body
        )

    def happened(self, is_send: bool, use: Use, value: Callable[[int], Expression], span: Span) -> Iterator[Statement]:
        raise NotImplementedError

    # --- Statements --------------------------------------------------------------------------------------------

    def count_arguments(self, node: syntax.Send | syntax.Receive, use: Use) -> bool:
        wanted, given = len(use.channel.types), len(node.arguments)
        if given > wanted:
            message = f"channel '{use.channel.name}' carries {wanted} values, not {given}"
            self.report.error(message, node.span, "leave some out", ("it is declared here", use.channel.span))
        if isinstance(node, syntax.Receive):
            report_twice_taken(node, self.is_value, self.report)
        if isinstance(node, syntax.Receive) and node.keeps and not use.channel.capacity and use.test is None:
            self.refuse_poll(node.span)
        return given <= wanted

    def send(self, node: syntax.Send, use: Use) -> list[Statement]:
        """Returns the statements that put a message into a buffered channel."""
        span, types = node.span, use.channel.types
        count = build.load(self.length_place(use, span))
        values = [self.integer(each) for each in node.arguments]
        values += [build.number(0, span)] * (len(types) - len(values))
        body: list[Statement] = []
        at: Expression = count
        if node.is_sorted:  # by the values as they are sent, like SPIN, not by those that fit the channel
            values = [self.kept(each, body) for each in values]
            at = self._insertion(use, values, body, span)
        message = self.message(use, at, span)
        for number, value in enumerate(values):
            fitting = build.reduced(value, types[number])
            body.append(Assign(span=span, target=self.part(message, number, use, span), value=fitting))
        body.append(self._counted(use, BinaryOperator.ADD, span))
        newest = build.binary(BinaryOperator.SUBTRACT, count, build.number(1, span), span)
        last = self.message(use, newest, span)
        body += self.happened(True, use, lambda number: build.load(self.part(last, number, use, span)), span)
        return body

    def _insertion(self, use: Use, values: list[Expression], body: list[Statement], span: Span) -> Expression:
        """Makes room before the first message that is greater; returns where."""
        one, length = build.number(1, span), build.load(self.length_place(use, span))
        place, end = (self._slot(name, use, span) for name in ("place", "end"))
        at, free = build.load(place), build.load(end)
        is_inside = build.binary(BinaryOperator.LESS, at, length, span, BOOLEAN)
        greater = self._greater(self.message(use, at, span), values, 0, use, span)
        passes = build.logical(BinaryOperator.AND, is_inside, build.negation(greater, span), span)
        following = Assign(span=span, target=place, value=build.binary(BinaryOperator.ADD, at, one, span))
        before = build.binary(BinaryOperator.SUBTRACT, free, one, span)
        moved = build.load(self.message(use, before, span))
        move = Assign(span=span, target=self.message(use, free, span), value=moved)
        is_behind = build.binary(BinaryOperator.GREATER, free, at, span, BOOLEAN)
        body += (
            Assign(span=span, target=place, value=build.number(0, span)),
            While(span=span, condition=passes, body=(following,), limit=None),
            Assign(span=span, target=end, value=length),
            While(span=span, condition=is_behind, body=(move, Assign(span=span, target=end, value=before)), limit=None),
        )
        return at

    def _slot(self, name: str, use: Use, span: Span) -> LocalPlace:
        """Returns a new local for a place in a channel."""
        local = self.frame.add(name, Range(0, use.channel.capacity))
        return LocalPlace(type=local.type, span=span, local=local)

    def _greater(self, message: Place, values: list[Expression], at: int, use: Use, span: Span) -> Expression:
        """Returns whether a message is greater than values, compared from the first on."""
        here, value = build.load(self.part(message, at, use, span)), values[at]
        greater = build.binary(BinaryOperator.GREATER, here, value, span, BOOLEAN)
        if at + 1 == len(values):
            return greater
        equal = build.binary(BinaryOperator.EQUAL, here, value, span, BOOLEAN)
        rest = build.logical(BinaryOperator.AND, equal, self._greater(message, values, at + 1, use, span), span)
        return build.logical(BinaryOperator.OR, greater, rest, span)

    def _counted(self, use: Use, what: BinaryOperator, span: Span) -> Statement:
        place = self.length_place(use, span)
        value = build.binary(what, build.load(place), build.number(1, span), span)
        return Assign(span=span, target=place, value=value)

    def receive(self, node: syntax.Receive, use: Use) -> list[Statement]:
        """Returns the statements that take a message out of a buffered channel."""
        span = node.span
        body: list[Statement] = []
        at: Expression = build.number(0, span)
        if node.is_random:
            at = self._search(node, use, body, span)

        def received(number: int) -> Expression:
            return build.load(self.part(self.message(use, at, span), number, use, span))

        last = len(node.arguments) - 1
        body += self._stored(node.arguments[:last], received)
        # As in SPIN, the last value is stored after the message is removed: it may name another queue.
        use = self._settled(use, node.arguments[last], body)
        body += self._stored(node.arguments[last:], lambda _: received(last))
        if not node.keeps:
            oldest = self.message(use, build.number(0, span), span)
            body += self.happened(False, use, lambda number: build.load(self.part(oldest, number, use, span)), span)
            body += self._removed(use, at, span)
        return body

    def _settled(self, use: Use, stored: syntax.Expression, before: list[Statement]) -> Use:
        """Returns the use of a channel, which stays the same when a value is stored into one of its indices."""
        places = [each.target for each in self._stored((stored,), lambda _: use.offset)]
        is_changed = build.variables_in(tuple(places)) & build.variables_in(use.offset)
        return replace(use, offset=self.kept(use.offset, before)) if is_changed else use

    def _search(self, node: syntax.Receive, use: Use, body: list[Statement], span: Span) -> Expression:
        """Finds the first message that fits; returns where it is."""
        slot = Range(0, use.channel.capacity - 1)
        local = self.frame.add("place", slot)
        place = LocalPlace(type=slot, span=span, local=local)
        at = build.load(place)
        body.append(Assign(span=span, target=place, value=build.number(0, span)))
        message = self.message(use, at, span)
        tests = list(
            self.matches(node.arguments, lambda number: build.load(self.part(message, number, use, span)), span)
        )
        fits = build.conjunction(tests)
        if fits is not None:
            following = build.binary(BinaryOperator.ADD, at, build.number(1, span), span)
            step = Assign(span=span, target=place, value=following)
            body.append(While(span=span, condition=build.negation(fits, span), body=(step,), limit=None))
        return at

    def _stored(
        self, arguments: tuple[syntax.Expression, ...], received: Callable[[int], Expression]
    ) -> Iterator[Assign]:
        for number, node in enumerate(arguments):
            if isinstance(node, syntax.Reference) and node.name.text != "_" and not self.is_value(node):
                target = self.target(node)
                if target is not None:
                    assert isinstance(target.type, Range)
                    value = build.reduced(received(number), target.type)
                    yield Assign(span=node.span, target=target, value=value)

    def _removed(self, use: Use, at: Expression, span: Span) -> Iterator[Statement]:
        """Moves later messages up, and leaves zeroes behind them."""
        last = use.channel.capacity - 1
        if last > 0:
            slot = Range(0, last - 1)
            local = self.frame.add("slot", slot)
            here = build.load(LocalPlace(type=slot, span=span, local=local))
            behind = self.message(use, build.binary(BinaryOperator.ADD, here, build.number(1, span), span), span)
            move: Statement = Assign(span=span, target=self.message(use, here, span), value=build.load(behind))
            if not (isinstance(getattr(at, "value", None), int)):
                later = build.binary(BinaryOperator.GREATER_EQUAL, here, at, span, BOOLEAN)
                move = If(span=span, branches=((later, (move,)),))
            yield For(span=span, variable=local, domain=TypeDomain(type=slot), body=(move,))
        end = self.message(use, build.number(last, span), span)
        for number in range(len(use.channel.types)):
            yield Assign(span=span, target=self.part(end, number, use, span), value=build.number(0, span))
        yield self._counted(use, BinaryOperator.SUBTRACT, span)

    def kept(self, value: Expression, before: list[Statement]) -> Expression:
        """Returns a local with the value, which ``before`` binds."""
        if isinstance(getattr(value, "value", None), int) and not isinstance(value, Load):
            return value
        local = self.frame.add("value", INTEGER)
        before.append(Bind(span=value.span, local=local, target=value))
        return build.load(LocalPlace(type=INTEGER, span=value.span, local=local))

"""Parses ``for`` and ``select``, which stand for other statements."""

from __future__ import annotations

from dataclasses import replace

from outcrop.lang.promela.lexer import NAME
from outcrop.lang.promela.parser_expressions import ExpressionParser
from outcrop.lang.promela.syntax import (
    ArraySize,
    Assignment,
    Binary,
    Block,
    Break,
    ChannelTest,
    Choice,
    Declaration,
    Declarator,
    Else,
    Expression,
    LocalDeclaration,
    Name,
    Number,
    Receive,
    Reference,
    Scoped,
    Send,
    Spliced,
    Statement,
    Test,
)
from outcrop.source import Span

#: Greatest difference of the bounds of a 'select' that becomes an 'if'.
_MOST_OPTIONS = 32
_CHOSEN = "a choice of a number is written: select(i : 0 .. 3)"
_BOUNDS = "a loop over numbers is written: for (i : 0 .. 3) { ... }"


class LoopParser(ExpressionParser):
    channels: dict[str, bool]  #: names that are declared as channels, and whether as an array of them

    def block(self, where: str, kind: str = "") -> Block:
        raise NotImplementedError

    def for_loop(self) -> Statement:
        """Reads ``for (i : a .. b) {...}``: ``i = a; do :: i <= b -> ...; i++ :: else -> break od``."""
        start = self.at
        self.take()
        self.expect("(", "after 'for'", _BOUNDS)
        variable = self.reference("a variable")
        if self.kind == NAME and self.text == "in":
            self.take()
            collection = self.reference("an array or a channel after 'in'")
            is_array = self.channels.get(collection.name.text)
            if is_array is not None and (collection.index is not None or not is_array):
                return self._for_messages(start, variable, collection)
            first: Expression = Number(0, span=collection.span)
            size = ArraySize(collection, span=collection.span)
            last: Expression = Binary("-", size, _one(collection.span), span=collection.span)
        else:
            self.expect(":", "after the variable of 'for'", _BOUNDS)
            first = self.expression()
            self.expect("..", "between the bounds of 'for'", _BOUNDS)
            last = self.expression()
        self.expect(")", "after the bounds of 'for'")
        if isinstance(first, Number) and isinstance(last, Number) and first.value > last.value:
            self.report("the range of this 'for' is empty", self.span_from(start), "put the smaller bound first")
        body = self.block("after 'for (...)'")
        span = self.span_from(start)
        steps = (Scoped(body.steps, span=body.span),)
        return _counting(variable, first, Binary("<=", variable, last, span=span), steps, span)

    def _for_messages(self, start: int, variable: Reference, channel: Reference) -> Statement:
        """Reads the rest of ``for (m in c) {...}``: each message is received, and sent again, before the body."""
        self.expect(")", "after the channel of 'for'")
        body = self.block("after 'for (...)'")
        span = self.span_from(start)
        name = Name("_for", span)  # loops in one block share it
        declared = Declaration(Name("byte", span), (Declarator(name, None, None, None),), span)
        counter = Reference(name, span=span)
        more = Binary("<", counter, ChannelTest("len", channel, span=span), span=span)
        turn = (
            Receive(channel, (variable,), False, False, span=span),
            Send(channel, (variable,), False, span=span),
            Scoped(body.steps, span=body.span),
        )
        loop = _counting(counter, Number(0, span=span), more, turn, span)
        return replace(loop, before=(LocalDeclaration(declared, is_silent=True, span=span), *loop.before))

    def select(self) -> Statement:
        """Reads ``select (i : a .. b)``: ``i = a; do :: i < b -> i++ :: break od``.

        Between two numbers, outside of any inline, SPIN takes it for ``if :: i = a :: ... :: i = b fi``.
        """
        start = self.at
        is_inline = any(each.startswith("inline ") for each in self.tokens[start].hidden)
        self.take()
        self.expect("(", "after 'select'")
        variable = self.reference("a variable")
        self.expect(":", "after the variable of 'select'", _CHOSEN)
        first = self.expression()
        self.expect("..", "between the bounds of 'select'", _CHOSEN)
        last = self.expression()
        self.expect(")", "after the bounds of 'select'")
        span = self.span_from(start)
        begin = Assignment(variable, first, span=span)
        if isinstance(first, Number) and isinstance(last, Number) and not is_inline and variable.name.text.isalnum():
            if first.value > last.value:
                self.report("the range of this 'select' is empty", span, "put the smaller bound first")
            if last.value - first.value <= _MOST_OPTIONS:
                numbers = (Number(value, span=span) for value in range(first.value, last.value + 1))
                options = tuple(Block((Assignment(variable, each, span=span),), span=span) for each in numbers)
                return Choice(options, False, span=span)
        test = Test(Binary("<", variable, last, span=span), span=span)
        step = Assignment(variable, Binary("+", variable, _one(span), span=span), span=span)
        turns = (Block((test, step), span=span), Block((Break(span=span),), span=span))
        return Spliced((begin,), Choice(turns, True, is_reversed=True, span=span), span=span)


def _counting(
    variable: Reference, first: Expression, test: Expression, body: tuple[Statement, ...], span: Span
) -> Spliced:
    """Returns a loop that counts from ``first`` on while a test holds."""
    begin = Assignment(variable, first, span=span)
    step = Assignment(variable, Binary("+", variable, _one(span), span=span), span=span)
    again = Block((Test(test, span=span), *body, step), span=span)
    leave = Block((Else(span=span), Break(span=span)), span=span)
    return Spliced((begin,), Choice((again, leave), True, is_reversed=True, span=span), span=span)


def _one(span: Span) -> Number:
    return Number(1, span=span)

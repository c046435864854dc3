"""Processes that begin with ``run`` and end: a process that does not exist is nowhere, and all of it is zero."""

from __future__ import annotations

from collections.abc import Iterator

from outcrop.ir.nodes import (
    Assign,
    BinaryOperator,
    Clear,
    Constant,
    Error,
    FieldPlace,
    If,
    IndexPlace,
    Place,
    Statement,
)
from outcrop.ir.types import BOOLEAN, Array, Range, Record, Type
from outcrop.lang import build
from outcrop.lang.promela import syntax
from outcrop.lang.promela.channels import Use
from outcrop.lang.promela.control import Location
from outcrop.lang.promela.events import EventLowering
from outcrop.lang.promela.scope import FieldValues, InitialValue, Self
from outcrop.lang.report import counted, did_you_mean
from outcrop.source import Span

#: The remedy for a run that needs more processes than there is room for.
MORE_PROCESSES = "allow more with --processes"


class LifetimeLowering(EventLowering):
    def begin_priority(self, node: syntax.Run, created: Self, span: Span) -> list[Statement]:
        raise NotImplementedError

    def begin_claims(self, span: Span) -> list[Statement]:
        raise NotImplementedError

    def run(self, node: syntax.Run, target: Place | None) -> list[Statement]:
        span = node.span
        proctype = self.proctypes.get(node.proctype.text)
        assert self.process_count is not None
        if proctype is None:
            hint = did_you_mean(node.proctype.text, self.proctypes)
            self.report.error(f"unknown proctype '{node.proctype.text}'", node.proctype.span, hint)
            return []
        wanted = sum(each.type.leaf_count for each in proctype.parameters)
        if len(node.arguments) != wanted:
            message = f"proctype '{proctype.name}' has {counted(wanted, 'parameter')}, not {len(node.arguments)}"
            self.report.error(message, span, "", ("it is declared here", proctype.tree.name.span))
            return []
        if proctype.variable is None:  # the text tells that it is never started
            return [Error(span=span, message=f"no room for a process of proctype '{proctype.name}': {MORE_PROCESSES}")]
        place = build.place(self.process_count, span)
        pid = build.load(place)
        low, high = proctype.pids.start, proctype.pids.stop - 1
        tests = (
            build.binary(BinaryOperator.LESS, pid, build.number(low, span), span, BOOLEAN),
            build.binary(BinaryOperator.GREATER, pid, build.number(high, span), span, BOOLEAN),
        )
        outside = build.logical(BinaryOperator.OR, *tests, span)
        message = f"no room for another process of proctype '{proctype.name}': {MORE_PROCESSES}"
        body: list[Statement] = [If(span=span, branches=((outside, (Error(span=span, message=message),)),))]
        values = [self.kept(self.integer(each), body) for each in node.arguments]
        created = self.self_of(proctype, pid, span)
        me, self.process = self.process, created
        for parameter, value in zip(self._parameters(created, span), values, strict=True):
            assert isinstance(parameter.type, Range)
            body.append(Assign(span=span, target=parameter, value=build.reduced(value, parameter.type)))
        body += self.initialised(created)
        body += self.begin_claims(span)
        body += self.begin_priority(node, created, span)
        body.append(self.enter(created, proctype.graph.start, span))
        self.process = me
        if target is not None:
            assert isinstance(target.type, Range)
            body.append(Assign(span=span, target=target, value=build.reduced(pid, target.type)))
        one = build.number(1, span)
        body.append(Assign(span=span, target=place, value=build.binary(BinaryOperator.ADD, pid, one, span)))
        return body

    def _parameters(self, process: Self, span: Span) -> Iterator[Place]:
        """Yields the places of the parameters of a process; for a structure, those of its fields."""
        for symbol in process.proctype.parameters:
            assert symbol.field is not None
            place = FieldPlace(type=symbol.type, span=span, base=process.place, field_index=symbol.field)
            yield from _single_values(place, span)

    def initialised(self, process: Self) -> Iterator[Statement]:
        """Yields the initial values of the variables of a new process; all others are zero already."""
        self.is_beginning = True
        for symbol in process.proctype.fields:
            if symbol.initial is None or symbol.field is None:
                continue
            place = FieldPlace(type=symbol.type, span=symbol.span, base=process.place, field_index=symbol.field)
            yield from self.initial_values(place, symbol.initial, symbol.span)
        self.is_beginning = False

    def initial_values(self, place: Place, initial: InitialValue, span: Span) -> Iterator[Statement]:
        if initial is None:
            return
        if isinstance(place.type, Record):
            parts = initial.values if isinstance(initial, FieldValues) else ()
            for number, each in enumerate(parts):
                kind = place.type.fields[number][1]
                yield from self.initial_values(
                    FieldPlace(type=kind, span=span, base=place, field_index=number), each, span
                )
        elif isinstance(place.type, Array):
            element = place.type.element
            values = initial if isinstance(initial, tuple) else (initial,) * place.type.index.cardinality
            for at, each in enumerate(values[: place.type.index.cardinality]):
                where = IndexPlace(type=element, span=span, base=place, index=build.number(at, span))
                yield from self.initial_values(where, each, span)
        elif isinstance(place.type, Range) and isinstance(initial, syntax.Expression):
            value = build.reduced(self.integer(initial), place.type)
            if not (isinstance(value, Constant) and value.value == 0):
                yield Assign(span=span, target=place, value=value)

    def enter(self, process: Self, location: Location, span: Span) -> Statement:
        value = Constant(type=process.proctype.locations, span=span, value=location.number + 1)
        return Assign(span=span, target=self.location_place(process, span), value=value)

    def end(self, span: Span) -> list[Statement]:
        """Returns the end of a process: nothing of it stays."""
        me = self.process
        assert me is not None and self.process_count is not None
        body: list[Statement] = list(_zeroes(me.place, span))
        for channel in me.proctype.channels:
            if channel.storage is not None:
                for index in range(channel.width):
                    offset = self.offset_of(channel, build.number(index, span), me, span)
                    body += _zeroes(self.queue(Use(channel, None, offset), span), span)
        place = build.place(self.process_count, span)
        value = build.binary(BinaryOperator.SUBTRACT, build.load(place), build.number(1, span), span)
        return [*body, Assign(span=span, target=place, value=value)]

    def zeroes(self, place: Place, span: Span) -> Iterator[Statement]:
        return _zeroes(place, span)


def _zeroes(place: Place, span: Span) -> Iterator[Statement]:
    """Yields statements that set all of a place to zero."""
    if _least_is_zero(place.type):
        yield Clear(span=span, target=place)
    elif isinstance(place.type, Record):
        for number, (_, kind) in enumerate(place.type.fields):
            yield from _zeroes(FieldPlace(type=kind, span=span, base=place, field_index=number), span)
    elif isinstance(place.type, Array):
        for at in range(place.type.index.cardinality):
            index = build.number(place.type.index.low + at, span)
            yield from _zeroes(IndexPlace(type=place.type.element, span=span, base=place, index=index), span)
    else:
        yield Assign(span=span, target=place, value=build.number(0, span))


def _least_is_zero(kind: Type) -> bool:
    return all(leaf.low == 0 for leaf in kind.leaves())


def _single_values(place: Place, span: Span) -> Iterator[Place]:
    """Yields a place, or the fields of a structure and of structures in it."""
    if not isinstance(place.type, Record):
        yield place
        return
    for number, (_, kind) in enumerate(place.type.fields):
        yield from _single_values(FieldPlace(type=kind, span=span, base=place, field_index=number), span)

"""The lowering of transitions to rules: one for each single transition, one for each pair that meets on a channel.

In a step, received values are stored first, then the effects of the receiver run, then those of the sender. A process
enters its new state before its own effects, as in DiVinE 2. A buffered channel stores or removes the item before the
effects, as in DiVinE 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from outcrop.ir.nodes import (
    Assign,
    BinaryOperator,
    Bind,
    Constant,
    Expression,
    FieldPlace,
    For,
    IndexPlace,
    Load,
    LocalPlace,
    Place,
    Statement,
    TypeDomain,
    Undefine,
    Undefined,
    Variable,
)
from outcrop.ir.system import QueueEnd, Rule
from outcrop.ir.types import BOOLEAN, INTEGER, Array, Range, Record
from outcrop.lang import build
from outcrop.lang.dve import syntax
from outcrop.lang.dve.declarations import DeclarationLowering
from outcrop.lang.dve.language import DveOptions, Overflow
from outcrop.lang.dve.scope import Channel, ProcessSymbol, UnknownSymbol, kind_of
from outcrop.lang.frames import FrameBuilder
from outcrop.options import LoadOptions
from outcrop.source import Severity, Source, Span

#: Largest number of rules.
MAX_RULES = 200_000


@dataclass
class Move:
    """A lowered transition: the part of one process in a step."""

    process: ProcessSymbol
    tree: syntax.Transition
    source: int
    target: int
    guards: list[Expression]
    effects: list[Assign]
    channel: Channel | None = None
    values: list[Expression] = field(default_factory=list)  #: values that it sends
    targets: list[Place] = field(default_factory=list)  #: places that receive values

    @property
    def is_send(self) -> bool:
        return self.tree.sync is not None and self.tree.sync.is_send

    @property
    def is_committed(self) -> bool:
        return self.source in self.process.committed

    def at_source(self) -> Expression:
        return build.at_location(self.process.location, self.process.states, self.source, self.tree.source.span)

    def step(self) -> list[Statement]:
        """Returns the statements that enter the new state and run the effects."""
        enter: list[Statement] = []
        if self.source != self.target:
            span = self.tree.target.span
            value = Constant(type=self.process.states, span=span, value=self.target)
            enter = [Assign(span=span, target=build.place(self.process.location, span), value=value)]
        return [*enter, *self.effects]


class TransitionLowering(DeclarationLowering):
    def __init__(self, source: Source, options: LoadOptions) -> None:
        super().__init__(source, options)
        self._frame = FrameBuilder()  #: frame of the current rule

    # --- Single transitions --------------------------------------------------------------------------------

    def stored(self, value: Expression, kind: Range) -> Expression:
        """Returns ``value`` as an effect stores it."""
        return build.reduced(value, kind) if self.options.of(DveOptions).overflow is Overflow.WRAP else value

    def assignment(self, target: Place, value: Expression, span: Span) -> Assign:
        assert isinstance(target.type, Range)
        return Assign(span=span, target=target, value=self.stored(value, target.type))

    def move(self, process: ProcessSymbol, node: syntax.Transition) -> Move | None:
        """Lowers a transition; None, with an error reported, if a name is wrong."""
        errors = self.report.error_count
        source, target = self.state_of(process, node.source), self.state_of(process, node.target)
        guards = [self.condition(each) for each in node.guards]
        effects = []
        for each in node.effects:
            place, value = self.target(each.target), self.integer(each.value)
            if place is not None:
                effects.append(self.assignment(place, value, each.span))
        move = Move(process, node, source or 0, target or 0, guards, effects)
        if node.sync is not None:
            self._synchronise(move, node.sync)
        return move if self.report.error_count == errors else None

    def _synchronise(self, move: Move, node: syntax.Sync) -> None:
        move.channel = self.channel_of(node)
        if move.channel is None:
            return
        if node.is_send:
            items = move.channel.items
            for number, value in enumerate(map(self.integer, node.values)):
                is_typed = items is not None and number < len(items)
                move.values.append(build.reduced(value, items[number]) if items and is_typed else value)
        else:
            for each in node.values:
                assert isinstance(each, syntax.Reference)
                place = self.target(each)
                if place is not None:
                    move.targets.append(place)

    def channel_of(self, node: syntax.Sync) -> Channel | None:
        symbol = self.lookup(node.channel) if node.process is None else self.lookup_inside(node.process, node.channel)
        if symbol is None or isinstance(symbol, UnknownSymbol):
            return None
        if isinstance(symbol, Channel):
            return symbol
        self.report.error(f"'{node.channel.text}' is {kind_of(symbol)}, not a channel", node.channel.span)
        return None

    def count_values(self, node: syntax.Sync) -> None:
        """Reports a use of a channel with another number of values than its other uses."""
        channel = self.channel_of(node)
        if channel is None:
            return
        count = len(node.values)
        if channel.arity is None:
            channel.arity = count
            channel.first_use = node.span
        elif channel.arity != count:
            other = channel.first_use or channel.span
            note = ("it is declared here" if channel.items is not None else "it is first used here", other)
            text = f"channel '{channel.name}' carries {_plural(channel.arity)}, not {count}"
            self.report.error(text, node.span, "", note)

    # --- Rules ---------------------------------------------------------------------------------------------

    def rules(self, moves: Sequence[Move]) -> list[Rule]:
        found: list[Rule] = []
        meetings = {channel.name: (channel, *_meeting(channel, moves)) for channel in self.channels}
        pairs = sum(len(senders) * len(receivers) for _, senders, receivers in meetings.values())
        if pairs > MAX_RULES:
            message = f"{pairs:,} pairs of transitions may meet on channels; at most {MAX_RULES:,} are possible"
            self.report.error(message, None, "use several channels, each with fewer senders and receivers")
            return found
        for move in moves:
            if move.channel is None:
                found.append(self._alone(move))
            elif move.channel.capacity:
                found.append(self._buffered(move, move.channel))
            elif move.is_send:
                receivers = meetings[move.channel.name][2]
                found += [self._pair(move, each) for each in receivers if _can_meet(move, each)]
        for channel, senders, receivers in meetings.values():
            self._warn_unmatched(channel, senders, receivers)
        return found

    def _warn_unmatched(self, channel: Channel, senders: list[Move], receivers: list[Move]) -> None:
        if bool(senders) != bool(receivers) and not channel.capacity:
            verb, alone = ("receives from", senders) if senders else ("sends to", receivers)
            assert alone[0].tree.sync is not None
            self.report.warning(
                f"no process {verb} channel '{channel.name}', so this never happens",
                alone[0].tree.sync.span,
                "correct the name of the channel, or delete the transition",
            )

    def _rule(self, name: str, moves: tuple[Move, ...], tests: list[Expression], body: list[Statement]) -> Rule:
        guards = [
            *(move.at_source() for move in moves),
            *self._nobody_else_committed(moves),
            *tests,  # before the guards: if a channel is not ready, a failing guard does not matter
            *(guard for move in moves for guard in move.guards),
        ]
        frame = self._frame.finish()
        self._frame = FrameBuilder()
        guard = build.conjunction(guards)
        processes = tuple(move.process.name for move in moves)
        return Rule(name, (), frame, moves[0].tree.span, guard, tuple(body), processes=processes)

    def _nobody_else_committed(self, moves: tuple[Move, ...]) -> Iterator[Expression]:
        """Yields the conditions that no other process is in a committed state, unless a moving process is in one."""
        if moves[0].is_committed:
            return
        movers = {move.process.name for move in moves}
        for other in self.processes.values():
            if other.name not in movers:
                for state in sorted(other.committed):
                    yield build.not_at_location(other.location, other.states, state, moves[0].tree.source.span)

    def _alone(self, move: Move) -> Rule:
        return self._rule(_label(move), (move,), [], move.step())

    def _pair(self, sender: Move, receiver: Move) -> Rule:
        assert sender.channel is not None
        self._warn_conflict(sender, receiver)
        body = [*self._transfer(sender.values, receiver.targets), *receiver.step(), *sender.step()]
        name = f"{sender.process.name} -> {receiver.process.name}: {sender.channel.name}!"
        return self._rule(name, (sender, receiver), [], body)

    def _warn_conflict(self, sender: Move, receiver: Move) -> None:
        written = [*receiver.targets, *(each.target for each in receiver.effects)]
        for effect in sender.effects:
            if effect.target in written:
                text = "this is assigned twice in one step: here and by the transition that receives"
                hint = "the effects of the receiver run first, those of the sender last"
                note = ("this is the transition that receives", receiver.tree.span)
                self.report.warning(text, effect.span, hint, note)

    # --- Transfer of values - -------------------------------------------------------------------------------

    def _transfer(self, values: Sequence[Expression], targets: Sequence[Place]) -> list[Statement]:
        """Returns statements that store the values. All values and target indices are evaluated in the old state."""
        written: set[Variable] = set()
        is_entangled = False
        for value, target in zip(values, targets, strict=True):
            index = target.index if isinstance(target, IndexPlace) else None
            read = build.variables_in(value) | build.variables_in(index)
            is_entangled = is_entangled or bool(read & written)
            written |= build.variables_in(target)
        before: list[Statement] = []
        if is_entangled:
            values = [self._kept(value, before) for value in values]
            targets = [self._fixed(target, before) for target in targets]
        stores = (self.assignment(target, value, target.span) for value, target in zip(values, targets, strict=True))
        return [*before, *stores]

    def _kept(self, value: Expression, before: list[Statement]) -> Expression:
        """Returns a local with the value, bound in ``before``."""
        local = self._frame.add("value", INTEGER)
        before.append(Bind(span=value.span, local=local, target=value))
        return build.load(LocalPlace(type=INTEGER, span=value.span, local=local))

    def _fixed(self, target: Place, before: list[Statement]) -> Place:
        if not isinstance(target, IndexPlace):
            return target
        index = self._kept(target.index, before)
        return IndexPlace(type=target.type, span=target.span, base=target.base, index=index)

    # --- Buffers -------------------------------------------------------------------------------------------

    def _buffered(self, move: Move, channel: Channel) -> Rule:
        assert channel.count is not None and move.tree.sync is not None
        span = move.tree.sync.span
        self._note_order(move)
        count = build.load(build.place(channel.count, span))
        if move.is_send:
            limit = build.number(channel.capacity, span)
            test = build.binary(BinaryOperator.LESS, count, limit, span, BOOLEAN)
            body = self._put(move, channel, count, span)
        else:
            test = build.binary(BinaryOperator.GREATER, count, build.number(0, span), span, BOOLEAN)
            body = self._take(move, channel, count, span)
        name = f"{_label(move)}, {channel.name}{'!' if move.is_send else '?'}"
        rule = self._rule(name, (move,), [test], [*body, *move.step()])
        return replace(rule, ends=_ends(move, channel, range(len(body))))

    def _note_order(self, move: Move) -> None:
        """Notes the order of effects, if it makes a difference: DiVinE 2 runs them first."""
        involved = build.variables_in(tuple(move.values)) | build.variables_in(tuple(move.targets))
        effects = tuple(move.effects)
        written = build.variables_in(tuple(effect.target for effect in effects))
        if involved & (written if move.is_send else build.variables_in(effects)):
            assert move.tree.sync is not None
            verb = "sent" if move.is_send else "received"
            text = f"the value is {verb} before the effects run, as in DiVinE 3; DiVinE 2 runs the effects first"
            self.report.add(Severity.NOTE, text, move.tree.sync.span)

    def _put(self, move: Move, channel: Channel, count: Expression, span: Span) -> list[Statement]:
        body: list[Statement] = []
        for number, value in enumerate(move.values):
            body.append(self.assignment(_item(channel, count, number, span), value, span))
        return [*body, self._count(channel, count, BinaryOperator.ADD, span)]

    def _take(self, move: Move, channel: Channel, count: Expression, span: Span) -> list[Statement]:
        first = build.number(0, span)
        values = [build.load(_item(channel, first, number, span)) for number in range(len(move.targets))]
        body = self._transfer(values, move.targets)
        body += self._shift(channel, span)
        return [*body, self._count(channel, count, BinaryOperator.SUBTRACT, span)]

    def _shift(self, channel: Channel, span: Span) -> list[Statement]:
        """Returns statements that move all items one place up, including undefined ones."""
        if channel.buffer is None:
            return []
        statements: list[Statement] = []
        last = channel.capacity - 1
        if last > 0:
            position = self._frame.add("position", Range(0, last - 1))
            here = build.load(LocalPlace(type=position.type, span=span, local=position))
            behind = build.element(
                channel.buffer, build.binary(BinaryOperator.ADD, here, build.number(1, span), span), span
            )
            value = Load(type=behind.type, span=span, place=behind, undefined=Undefined.ALLOW)
            move = Assign(span=span, target=build.element(channel.buffer, here, span), value=value)
            domain = TypeDomain(type=Range(0, last - 1))
            statements.append(For(span=span, variable=position, domain=domain, body=(move,)))
        end = build.element(channel.buffer, build.number(last, span), span)
        return [*statements, Undefine(span=span, target=end)]

    @staticmethod
    def _count(channel: Channel, count: Expression, what: BinaryOperator, span: Span) -> Statement:
        assert channel.count is not None
        value = build.binary(what, count, build.number(1, span), span)
        return Assign(span=span, target=build.place(channel.count, span), value=value)


def _ends(move: Move, channel: Channel, statements: range) -> tuple[QueueEnd, ...]:
    """Returns the end of the buffer that a transition uses, if its values and targets are not in the buffer."""
    assert channel.count is not None
    places = [build.place(each, move.tree.span) for each in (channel.count, channel.buffer) if each is not None]
    if build.variables_in((*move.values, *move.targets)) & {each.variable for each in places}:
        return ()
    return (QueueEnd(places[0], places[1] if len(places) > 1 else None, move.is_send, statements),)


def _item(channel: Channel, position: Expression, number: int, span: Span) -> Place:
    """Returns the place of a value of an item in the buffer."""
    assert channel.buffer is not None and isinstance(channel.buffer.type, Array)
    item = build.element(channel.buffer, position, span)
    if isinstance(item.type, Record):
        return FieldPlace(type=item.type.fields[number][1], span=span, base=item, field_index=number)
    return item


def _meeting(channel: Channel, moves: Sequence[Move]) -> tuple[list[Move], list[Move]]:
    using = [move for move in moves if move.channel is channel]
    return [move for move in using if move.is_send], [move for move in using if not move.is_send]


def _can_meet(sender: Move, receiver: Move) -> bool:
    """Returns whether two transitions can synchronise: their processes differ, and both or neither are committed."""
    return sender.process is not receiver.process and sender.is_committed == receiver.is_committed


def _label(move: Move) -> str:
    return f"{move.process.name}: {move.tree.source.text} -> {move.tree.target.text}"


def _plural(count: int) -> str:
    return f"{count} value{'' if count == 1 else 's'}"

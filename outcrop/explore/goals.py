"""Searching from a state that a user stepped to: the model with that state as its start state, and a goal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from outcrop.ir.layout import Leaf, State
from outcrop.ir.nodes import (
    Assign,
    Constant,
    Expression,
    FieldPlace,
    Frame,
    GlobalPlace,
    IndexPlace,
    Load,
    Local,
    LocalPlace,
    MultisetAdd,
    Place,
    Statement,
    Unary,
    UnaryOperator,
    Undefine,
    Undefined,
)
from outcrop.ir.system import Property, PropertyKind, StartState, System
from outcrop.ir.types import BOOLEAN, Array, Multiset, Record, Simple, Type
from outcrop.source import Source, Span
from outcrop.trace.values import elements

#: Name of the invariant that a search for an expression looks for a violation of.
GOAL = "the goal is not reached"


def starting_from(system: System, state: State) -> System:
    """Returns the model with one start state: the given one."""
    builder = _Builder(Span(system.source, 0, 0))
    body = [
        statement
        for variable in system.variables
        for statement in builder.assignments(
            GlobalPlace(type=variable.type, span=builder.span, variable=variable),
            state[variable.offset : variable.offset + variable.type.leaf_count],
        )
    ]
    start = StartState("here", (), Frame(tuple(builder.locals)), builder.span, tuple(body))
    return replace(system, start_states=(start,))


def looking_for(system: System, condition: Expression, frame: Frame) -> System:
    """Returns the model with one invariant, which is false where ``condition`` is true, and its assumptions."""
    source = condition.span.source
    negated = Unary(type=BOOLEAN, span=condition.span, operator=UnaryOperator.NOT, operand=condition)
    goal = Property(GOAL, (), frame, Span(source, 0, len(source.text)), PropertyKind.INVARIANT, negated)
    kept = system.of_kind(PropertyKind.ASSUMPTION)
    return replace(system, properties=(*kept, goal), temporal=(), automaton=None)


def without_runs(system: System) -> System:
    """Returns the model without what only a search for runs, or of all states, decides."""
    kept = [each for each in system.properties if each.kind in (PropertyKind.ASSUMPTION, PropertyKind.INVARIANT)]
    return replace(system, properties=tuple(kept), temporal=(), automaton=None)


def expression_source(text: str) -> Span:
    """Returns the span of an expression that a user has typed."""
    return Span(Source("<expression>", text), 0, len(text))


@dataclass
class _Builder:
    """Statements that make a value; each multiset of complex elements needs a local to put them together."""

    span: Span
    locals: list[Local] = field(default_factory=list)

    def assignments(self, place: Place, row: Sequence[Leaf]) -> Iterator[Statement]:
        """Yields the statements that assign the leaves of a place. Leaves that are undefined in a start state need
        none."""
        kind = place.type
        if isinstance(kind, Simple):
            if row[0] is not None:
                yield Assign(span=self.span, target=place, value=self._constant(kind, row[0]))
        elif isinstance(kind, Record):
            for number, ((_, inner), start) in enumerate(zip(kind.fields, kind.offsets, strict=True)):
                part: Place = FieldPlace(type=inner, span=self.span, base=place, field_index=number)
                yield from self.assignments(part, row[start : start + inner.leaf_count])
        elif isinstance(kind, Array):
            step = kind.element.leaf_count
            for number in range(kind.index.cardinality):
                index = self._constant(kind.index, kind.index.low + number)
                part = IndexPlace(type=kind.element, span=self.span, base=place, index=index)
                yield from self.assignments(part, row[number * step : (number + 1) * step])
        else:
            assert isinstance(kind, Multiset)
            for element in elements(kind, row):
                yield from self._addition(place, kind.element, element)

    def _addition(self, place: Place, kind: Type, row: Sequence[Leaf]) -> Iterator[Statement]:
        local = Local(f"element_{len(self.locals)}", kind, len(self.locals), is_addressed=not isinstance(kind, Simple))
        self.locals.append(local)
        made = LocalPlace(type=kind, span=self.span, local=local)
        yield Undefine(span=self.span, target=made)
        yield from self.assignments(made, row)
        value = Load(type=kind, span=self.span, place=made, undefined=Undefined.ALLOW)
        yield MultisetAdd(span=self.span, value=value, target=place)

    def _constant(self, kind: Type, value: Leaf) -> Constant:
        return Constant(type=kind, span=self.span, value=value)

"""Values: lowered expressions, what kind they have and where they lie."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from outcrop.ir.nodes import (
    Call,
    Conditional,
    Constant,
    Convert,
    Expression,
    FieldPlace,
    GlobalPlace,
    IndexPlace,
    Load,
    LocalPlace,
    Place,
    SlotPlace,
    Undefined,
    ValuePlace,
)
from outcrop.ir.types import Range
from outcrop.lang.python.kinds import (
    BOOL,
    INT,
    NONE,
    BoolKind,
    IntKind,
    Kind,
    NoneKind,
    UnionKind,
    UnknownKind,
    is_same,
)
from outcrop.source import Span


@dataclass(frozen=True)
class Value:
    """A lowered expression. ``place``: where the value lies, if it lies somewhere. ``fixed``: why it cannot be
    changed there, as the end of a sentence; "" where it can."""

    kind: Kind
    node: Expression
    place: Place | None = None
    fixed: str = ""
    slot: SlotPlace | None = None  #: for an element of a bag, where it lies
    fresh: bool = False  #: no other name can see its changes

    @property
    def span(self) -> Span:
        return self.node.span

    @property
    def is_unknown(self) -> bool:
        return isinstance(self.kind, UnknownKind)


@dataclass(frozen=True)
class Static:
    """An object that is known before the model runs: a class, a function, a constant."""

    object: Any
    span: Span


def converted_to(value: Value, kind: Kind) -> Expression | None:
    """Returns a value as one of ``kind``; None where that has no meaning."""
    source = value.kind
    if isinstance(source, NoneKind):
        if not kind.optional or not kind.type.is_simple:
            return None
        return Constant(type=kind.type, span=value.span, value=None)
    if is_same(source, kind):
        return value.node
    if isinstance(source, BoolKind) and isinstance(kind, IntKind):
        return as_integer(value).node
    if isinstance(kind, UnionKind) and source.required() in kind.members:
        return _convert(value, kind)
    if isinstance(source, UnionKind) and kind.required() in source.members:
        return _convert(value, kind)
    return None


def _convert(value: Value, kind: Kind) -> Expression:
    node = value.node
    if isinstance(node, Constant) and isinstance(kind, UnionKind) and isinstance(node.value, int):
        offset = kind.type.offset(value.kind.simple)  # type: ignore[attr-defined]
        return Constant(type=kind.type, span=node.span, value=offset + node.value)
    return Convert(type=kind.type, span=node.span, operand=node)


def as_integer(value: Value) -> Value:
    """Returns an integer as it is, 1 for True and 0 for False."""
    if not isinstance(value.kind, BoolKind):
        return value
    node, span = value.node, value.span
    if isinstance(node, Constant):
        return constant(int(node.value or 0), span)
    one, zero = constant(1, span).node, constant(0, span).node
    chosen = Conditional(type=INT.type, span=span, condition=node, then=one, otherwise=zero)
    return Value(IntKind(Range(0, 1)), chosen)


def constant(number: int, span: Span) -> Value:
    return Value(INT, Constant(type=INT.type, span=span, value=number))


def boolean(truth: bool, span: Span) -> Value:
    return Value(BOOL, Constant(type=BOOL.type, span=span, value=int(truth)))


def none(span: Span) -> Value:
    return Value(NONE, Constant(type=NONE.type, span=span, value=None))


def relaxed(node: Expression) -> Expression:
    """Returns an expression that lets None through where it reads it."""
    if not node.type.is_simple:
        return node
    if isinstance(node, Load | Call):
        return replace(node, undefined=Undefined.ALLOW)
    if isinstance(node, Convert):
        return replace(node, operand=relaxed(node.operand))
    if isinstance(node, Conditional):
        return replace(node, then=relaxed(node.then), otherwise=relaxed(node.otherwise))
    return node


def strict(node: Expression) -> Expression:
    """Returns an expression for which it is an error to read None."""
    if not node.type.is_simple:
        return node
    if isinstance(node, Load | Call):
        return replace(node, undefined=Undefined.ERROR) if node.undefined is not Undefined.ERROR else node
    if isinstance(node, Convert):
        return replace(node, operand=strict(node.operand))
    if isinstance(node, Conditional):
        return replace(node, then=strict(node.then), otherwise=strict(node.otherwise))
    return node


def may_be_nothing(node: Expression) -> bool:
    """Returns whether an alternative of an expression is the literal None."""
    if isinstance(node, Conditional):
        return may_be_nothing(node.then) or may_be_nothing(node.otherwise)
    return isinstance(node, Constant) and node.value is None


def root_of(place: Place) -> Place:
    while isinstance(place, FieldPlace | IndexPlace | SlotPlace):
        place = place.base
    return place


def take_reference(place: Place) -> None:
    """Notes that a reference to a place will exist."""
    root = root_of(place)
    if isinstance(root, LocalPlace) and not root.local.is_reference:
        root.local.is_addressed = True


def as_place(value: Value) -> Place:
    """Returns where a value lies, or a place that is nothing but the value."""
    return value.place or ValuePlace(type=value.kind.type, span=value.span, value=value.node)


def field_place(place: Place, kind: Kind, number: int, span: Span) -> FieldPlace:
    return FieldPlace(type=kind.type, span=span, base=place, field_index=number)


def reaches_state(place: Place) -> bool:
    root = root_of(place)
    return isinstance(root, GlobalPlace) or (isinstance(root, LocalPlace) and root.local.is_reference)

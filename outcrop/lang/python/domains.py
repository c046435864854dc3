"""Iteration: what ``for x in ...`` runs through, in loops and in comprehensions.

A container is run through in the order of its keys, with a test of whether an element is there. A tuple of values that
are known is written out, one turn after the other.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from outcrop.ir.nodes import (
    BinaryOperator,
    Domain,
    Expression,
    For,
    If,
    IndexPlace,
    Load,
    Local,
    Quantified,
    Quantifier,
    SlotPlace,
    SlotUsed,
    Statement,
    StepDomain,
    TypeDomain,
)
from outcrop.lang.folding import fold_short_circuit
from outcrop.lang.python.arithmetic import binary, bounds
from outcrop.lang.python.context import Body
from outcrop.lang.python.kinds import (
    ArrayKind,
    BagKind,
    DictKind,
    IntKind,
    Kind,
    RecordKind,
    SetKind,
    SymmetricKind,
    integer,
)
from outcrop.lang.python.sets import and_, implies, member, or_
from outcrop.lang.python.values import Static, Value, as_place, boolean, constant, field_place
from outcrop.model import SymmetricType
from outcrop.source import Span

#: Turns that are written out.
MAX_UNROLLED = 1_000


@dataclass(frozen=True)
class Iteration:
    """A variable that runs through a domain. ``items`` is what each turn gives, in place of the iterable's element;
    ``present`` says whether a turn counts, None where all do."""

    variable: Local
    domain: Domain
    item: Value | tuple[Value, ...]
    present: Expression | None = None


@dataclass(frozen=True)
class Unrolled:
    """Turns that are known one by one."""

    items: tuple[Value | tuple[Value, ...], ...]


def iteration(b: Body, node: ast.expr) -> Iteration | Unrolled | None:
    """Returns what an iterable runs through; None after an error."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("items", "keys", "values") and not node.args:
            view = _view(b, node, node.func)
            if view is not None:
                return view
        called = b.static(node.func)
        if called is not None and called.object is range and b.static(node) is None:
            return _steps(b, node)
        if called is not None and called.object is enumerate and len(node.args) == 1:
            return _enumerated(b, node)
    if isinstance(node, ast.Tuple | ast.List | ast.Set) and b.static(node) is None:
        return Unrolled(tuple(b.expression(each) for each in node.elts))
    lowered = b.any_expression(node)
    if isinstance(lowered, Static):
        return _static(b, lowered.object, node)
    if isinstance(lowered, Value):
        return None if lowered.is_unknown else _container(b, lowered, node)
    b.error("the model itself cannot be iterated over", node, "name a field: self.name")
    return None


def _over_type(b: Body, kind: Kind, span: Span) -> Iteration:
    local = b.local("each", kind)
    return Iteration(local, TypeDomain(type=kind.simple), b.read_local(local, kind, span, "a loop variable"))


def _static(b: Body, found: Any, node: ast.expr) -> Iteration | Unrolled | None:
    span = b.span(node)
    if isinstance(found, SymmetricType) or (isinstance(found, type) and issubclass(found, enum.Enum)):
        kind = b.model.kind_of(found, span)
        return None if not kind.type.is_simple else _over_type(b, kind, span)
    if isinstance(found, range):
        if not found:
            return Unrolled(())
        if found.step == 1:
            return _over_type(b, integer(found[0], found[-1]), span)
        local = b.local("each", integer(min(found), max(found)))
        first, last, step = (constant(each, span).node for each in (found[0], found[-1], found.step))
        item = b.read_local(local, integer(min(found), max(found)), span, "a loop variable")
        return Iteration(local, StepDomain(first=first, last=last, step=step, span=span), item)
    if isinstance(found, tuple | list | frozenset | set | dict) and len(found) <= MAX_UNROLLED:
        return Unrolled(tuple(b.from_object(each, span) for each in found))
    b.error(
        f"{_name(found)} cannot be iterated over",
        node,
        "iterate over an Enum, a Symmetric class, range(...) or a field",
    )
    return None


def _name(found: Any) -> str:
    return getattr(found, "__name__", None) or type(found).__name__


def _steps(b: Body, node: ast.Call) -> Iteration | None:
    """Returns the iteration over ``range`` with bounds that are known only when the model runs."""
    span = b.span(node)
    values = [b.integer(each, "a bound of range()") for each in node.args]
    if any(each.is_unknown for each in values) or not 1 <= len(values) <= 3:
        return None
    first = values[0] if len(values) > 1 else constant(0, span)
    stop = values[min(1, len(values) - 1)]
    step = values[2] if len(values) > 2 else constant(1, span)
    low, high = bounds(step)
    if low != high or low == 0:
        b.error("the step of range() must be a constant other than 0", node)
        return None
    (a, _), (_, d) = (bounds(first), bounds(stop)) if low > 0 else (bounds(stop), bounds(first))
    offset = BinaryOperator.SUBTRACT if low > 0 else BinaryOperator.ADD
    last = binary(offset, stop.node, constant(1, span).node, span)
    kind = integer(min(a, d), max(a, d))
    local = b.local("each", kind)
    empty_when_passed = StepDomain(first=first.node, last=last, step=step.node, span=span)
    return Iteration(local, empty_when_passed, b.read_local(local, kind, span, "a loop variable"))


def _enumerated(b: Body, node: ast.Call) -> Iteration | Unrolled | None:
    inner = iteration(b, node.args[0])
    if isinstance(inner, Unrolled):
        span = b.span(node)
        return Unrolled(
            tuple((constant(at, span), each) for at, each in enumerate(inner.items) if isinstance(each, Value))
        )
    if inner is None:
        return None
    item = inner.item
    if isinstance(item, Value) and isinstance(item.place, IndexPlace) and isinstance(inner.domain, TypeDomain):
        kind = IntKind(inner.domain.type)
        if inner.present is None and inner.domain.type.low == 0:
            return Iteration(inner.variable, inner.domain, (b.read_local(inner.variable, kind, b.span(node)), item))
    if isinstance(item, Value) and isinstance(item.kind, SymmetricKind):
        b.error(f"values of {item.kind} have no numbers", node, "iterate without enumerate()")
        return None
    b.error("enumerate() takes an Array field or a tuple", node, "iterate over range(n), and index")
    return None


def _view(b: Body, node: ast.Call, function: ast.Attribute) -> Iteration | None:
    """Returns the iteration over ``items()``, ``keys()`` or ``values()`` of a dictionary."""
    value = b.any_expression(function.value)
    if not isinstance(value, Value) or not isinstance(value.kind, DictKind):
        return None
    span = b.span(node)
    key = _over_type(b, value.kind.key, span)
    assert isinstance(key.item, Value)
    element = _element(b, value, value.kind.element, key.item, span)
    views: dict[str, Value | tuple[Value, ...]] = {"keys": key.item, "values": element, "items": (key.item, element)}
    item = views[function.attr]
    return Iteration(key.variable, key.domain, item)


def _element(b: Body, value: Value, kind: Kind, index: Value, span: Span) -> Value:
    place = IndexPlace(type=kind.type, span=span, base=as_place(value), index=index.node)
    return b.read(place, kind, value.fixed)


def _container(b: Body, value: Value, node: ast.expr) -> Iteration | Unrolled | None:
    span, kind = b.span(node), value.kind
    if isinstance(kind, DictKind):
        return _over_type(b, kind.key, span)
    if isinstance(kind, SetKind):
        each = _over_type(b, kind.element, span)
        assert isinstance(each.item, Value)
        return Iteration(each.variable, each.domain, each.item, member(b, kind, value, each.item.node, span))
    if isinstance(kind, ArrayKind):
        index = _over_type(b, integer(0, kind.size - 1), span)
        assert isinstance(index.item, Value)
        return Iteration(index.variable, index.domain, _element(b, value, kind.element, index.item, span))
    if isinstance(kind, BagKind):
        return over_bag(b, value, kind, span)
    if isinstance(kind, RecordKind) and kind.cls is tuple:
        place = as_place(value)
        parts = [b.read(field_place(place, each, at, span), each) for at, (_, each) in enumerate(kind.fields)]
        return Unrolled(tuple(parts))
    b.error(f"{kind} cannot be iterated over", node, "iterate over an Enum, a Symmetric class, range(...) or a field")
    return None


def over_bag(
    b: Body, value: Value, kind: BagKind, span: Span, *, name: str = "slot", is_parameter: bool = False
) -> Iteration:
    """Returns an iteration over the elements of a bag, by the numbers of its slots."""
    number = IntKind(kind.multiset.index)
    local = b.local(name, number, is_parameter=is_parameter)
    index = b.read_local(local, number, span)
    place = as_place(value)
    slot = SlotPlace(type=kind.element.type, span=span, base=place, index=index.node)
    item = Value(kind.element, Load(type=slot.type, span=span, place=slot), slot, "an element of a Bag", slot)
    return Iteration(local, TypeDomain(type=number.simple), item, SlotUsed(span=span, place=place, index=index.node))


# --- Binding the target ------------------------------------------------------------------------------------


def bind(b: Body, target: ast.expr, item: Value | tuple[Value, ...], iterated: Iteration | None = None) -> bool:
    """Binds the name, or the tuple of names, of a loop; False after an error."""
    if isinstance(target, ast.Name):
        if isinstance(item, tuple):
            b.error(
                "this loop yields two values a turn, and has one name", target, "write two names: for key, value in ..."
            )
            return False
        b.names[target.id] = item
        if iterated is not None and isinstance(iterated.item, Value) and not item.slot:
            iterated.variable.name = target.id
        return True
    if isinstance(target, ast.Tuple):
        parts = item if isinstance(item, tuple) else _parts(b, item)
        if parts is not None and len(parts) == len(target.elts):
            return all(bind(b, each, part) for each, part in zip(target.elts, parts, strict=True))
    b.error("the names after 'for' do not fit the values that the loop yields", target)
    return False


def _parts(b: Body, value: Value) -> tuple[Value, ...] | None:
    if not isinstance(value.kind, RecordKind) or value.kind.cls is not tuple:
        return None
    place = as_place(value)
    fields = enumerate(value.kind.fields)
    return tuple(b.read(field_place(place, kind, at, value.span), kind, value.fixed) for at, (_, kind) in fields)


# --- Nests of loops ----------------------------------------------------------------------------------------


def loops(b: Body, clauses: list[ast.comprehension], innermost: Callable[[], list[Statement]]) -> list[Statement]:
    """Returns the loops of a comprehension around what ``innermost`` lowers; call it within a scope."""
    if not clauses:
        return innermost()
    clause, rest = clauses[0], clauses[1:]
    turns = iteration(b, clause.iter)
    span = b.span(clause.iter)
    if turns is None:
        return []
    if isinstance(turns, Unrolled):
        made: list[Statement] = []
        for item in turns.items:
            with b.scope():
                if bind(b, clause.target, item):
                    made += _guarded(b, clause, None, loops(b, rest, innermost))
        return made
    if not bind(b, clause.target, turns.item, turns):
        return []
    conditions = [b.condition(each, "the condition of a comprehension") for each in clause.ifs]
    body = loops(b, rest, innermost)
    for condition in reversed([*([turns.present] if turns.present is not None else []), *conditions]):
        body = [If(span=span, branches=((condition, tuple(body)),))]
    return [For(span=span, variable=turns.variable, domain=turns.domain, body=tuple(body))]


def _guarded(b: Body, clause: ast.comprehension, present: Expression | None, body: list[Statement]) -> list[Statement]:
    for each in reversed(clause.ifs):
        condition = b.condition(each, "the condition of a comprehension")
        body = [If(span=b.span(each), branches=((condition, tuple(body)),))]
    return body


def quantified(
    b: Body, quantifier: Quantifier, clauses: list[ast.comprehension], innermost: Callable[[], Expression], span: Span
) -> Expression:
    """Returns whether what ``innermost`` lowers holds for all, or some, turns; call it within a scope."""
    if not clauses:
        return innermost()
    clause, rest = clauses[0], clauses[1:]
    is_all = quantifier is Quantifier.FORALL
    turns = iteration(b, clause.iter)
    if turns is None:
        return b.unknown(span).node
    if isinstance(turns, Unrolled):
        outcome: Expression = boolean(is_all, span).node
        for item in turns.items:
            with b.scope():
                if bind(b, clause.target, item):
                    one = _conditional(
                        b, is_all, clause, None, lambda: quantified(b, quantifier, rest, innermost, span)
                    )
                    operator = BinaryOperator.AND if is_all else BinaryOperator.OR
                    join = and_ if is_all else or_
                    outcome = fold_short_circuit(operator, outcome, one) or join(outcome, one)
        return outcome
    if not bind(b, clause.target, turns.item, turns):
        return b.unknown(span).node
    body = _conditional(b, is_all, clause, turns.present, lambda: quantified(b, quantifier, rest, innermost, span))
    return Quantified(span=span, quantifier=quantifier, variable=turns.variable, domain=turns.domain, body=body)


def _conditional(
    b: Body, is_all: bool, clause: ast.comprehension, present: Expression | None, inner: Callable[[], Expression]
) -> Expression:
    conditions = [] if present is None else [present]
    conditions += [b.condition(each, "the condition of a comprehension") for each in clause.ifs]
    body = inner()
    for condition in reversed(conditions):
        body = implies(condition, body) if is_all else and_(condition, body)
    return body

"""Names, attributes, elements, comparisons and connectives."""

from __future__ import annotations

import ast
from dataclasses import replace

from outcrop.ir.nodes import (
    BinaryOperator,
    Conditional,
    Constant,
    Expression,
    GlobalPlace,
    IndexPlace,
    IsUndefined,
    Load,
    Place,
    Quantified,
    Quantifier,
)
from outcrop.ir.types import INTEGER
from outcrop.lang.folding import fold_short_circuit
from outcrop.lang.python.arithmetic import bounds, compared
from outcrop.lang.python.calls import call_helper, is_helper
from outcrop.lang.python.context import EXPRESSIONS, Body, ModelSelf
from outcrop.lang.python.domains import Unrolled, iteration
from outcrop.lang.python.hints import NAMES, PROPOSITIONS, members_of
from outcrop.lang.python.kinds import (
    BOOL,
    ArrayKind,
    BagKind,
    BoolKind,
    DictKind,
    EnumKind,
    IntKind,
    Kind,
    NoneKind,
    RecordKind,
    SetKind,
    SymmetricKind,
    UnionKind,
    integer,
    is_same,
    proof_of_none,
)
from outcrop.lang.python.objects import table_lookup
from outcrop.lang.python.sets import and_, member, not_, or_, subset
from outcrop.lang.python.values import Static, Value, as_integer, as_place, boolean, constant, field_place, relaxed
from outcrop.lang.report import did_you_mean
from outcrop.source import Span

# --- Names, fields, elements -------------------------------------------------------------------------------


def _name(b: Body, node: ast.Name, wanted: Kind | None) -> Value:
    found = b.lookup(node.id)
    if isinstance(found, Value):
        # Messages point at the use, not at the binding.
        span = b.span(node)
        place = None if found.place is None else replace(found.place, span=span)
        lowered = Load(type=found.node.type, span=span, place=place) if place is not None else found.node
        return replace(found, node=lowered, place=place)
    if b.bare_fields and node.id in b.model.fields:
        return field(b, node.id, b.span(node))
    if b.bare_fields and is_helper(getattr(b.model.cls, node.id, None)):
        return call_helper(b, getattr(b.model.cls, node.id), [], [], node, receiver=b.names["self"])
    if node.id in b.local_names:
        return b.refuse(f"'{node.id}' may have no value here", node, "assign to it before, in every branch")
    if node.id in b.model.fields:
        return b.refuse(f"unknown name '{node.id}'", node, f"a field is written self.{node.id}")
    candidates = [*b.names, *(each for each in b.globals if not each.startswith("__"))]
    hint = NAMES.get(node.id) or did_you_mean(node.id, candidates) or (PROPOSITIONS if b.bare_fields else "")
    return b.refuse(f"unknown name '{node.id}'", node, hint)


def field(b: Body, name: str, span: Span) -> Value:
    """Returns a field of the model."""
    variable, kind = b.model.fields[name]
    b.model.read.add(name)
    return b.read(GlobalPlace(type=variable.type, span=span, variable=variable), kind)


def _attribute(b: Body, node: ast.Attribute, wanted: Kind | None) -> Value:
    base = b.any_expression(node.value)
    if isinstance(base, ModelSelf):
        return _of_model(b, node)
    if isinstance(base, Static):
        names = [each for each in dir(base.object) if not each.startswith("_")]
        title = getattr(base.object, "__name__", str(base.object))
        hint = did_you_mean(node.attr, names) or members_of(base.object)
        return b.refuse(f"{title} has no attribute '{node.attr}'", node, hint)
    if base.is_unknown:
        return base
    return attribute_of(b, base, node.attr, node)


def _of_model(b: Body, node: ast.Attribute) -> Value:
    if node.attr in b.model.fields:
        return field(b, node.attr, b.span(node))
    found = getattr(b.model.cls, node.attr, None)
    if isinstance(found, property):
        return call_helper(b, found.fget, [], [], node, receiver=b.lookup_self("self"))
    if is_helper(found):
        return b.refuse(f"'{node.attr}' is a method", node, f"call it: self.{node.attr}(...)")
    hint = did_you_mean(node.attr, [*b.model.fields, *(each for each in vars(b.model.cls) if not each.startswith("_"))])
    title = b.model.cls.__name__
    return b.refuse(f"{title} has no field '{node.attr}'", node, hint or "declare it in the class: name: type")


def attribute_of(b: Body, base: Value, name: str, node: ast.AST) -> Value:
    """Returns a field of a record, or what a property of its class returns."""
    kind = base.kind
    if isinstance(kind, RecordKind) and kind.cls is not tuple:
        position = kind.position(name)
        if position is not None:
            part = kind.fields[position][1]
            fixed = base.fixed or (f"a field of {kind.title}, which is frozen" if kind.frozen else "")
            return b.read(field_place(as_place(base), part, position, b.span(node)), part, fixed)
        found = getattr(kind.cls, name, None)
        if isinstance(found, property):
            return call_helper(b, found.fget, [], [], node, receiver=base)
        hint = did_you_mean(name, [each for each, _ in kind.fields])
        return b.refuse(f"{kind.title} has no field '{name}'", node, hint)
    if isinstance(kind, EnumKind):
        found = getattr(kind.cls, name, None)
        if isinstance(found, property) and found.fget is not None and is_helper(found.fget):
            return call_helper(b, found.fget, [], [], node, receiver=base)
        if name == "value":
            return table_lookup(b, {each: each.value for each in kind.cls}, base, node)
        return b.refuse(f"{kind} has no '{name}'", node, "compare members with 'is'")
    hint = "test for None first" if kind.optional else ""
    hint = f"values of {kind} have no numbers and no names" if isinstance(kind, SymmetricKind) else hint
    return b.refuse(f"{kind} has no attribute '{name}'", node, hint)


def _subscript(b: Body, node: ast.Subscript, wanted: Kind | None) -> Value:
    base = b.any_expression(node.value)
    if isinstance(base, ModelSelf):
        return b.refuse("the model itself has no elements", node, "write self.name[...]")
    if isinstance(node.slice, ast.Slice):
        return b.refuse("models have no slices", node.slice, "pick one element, or write a comprehension")
    if isinstance(base, Static):
        return table_lookup(b, base.object, b.expression(node.slice), node)
    return base if base.is_unknown else element_of(b, base, node.slice, node)


def element_of(b: Body, base: Value, index: ast.expr, node: ast.AST) -> Value:
    """Returns an element of a dictionary, an array or a tuple."""
    kind, span = base.kind, b.span(node)
    if isinstance(kind, DictKind):
        key = b.fitted(b.expression(index, kind.key), kind.key, "the key")
        return b.read(
            IndexPlace(type=kind.element.type, span=span, base=as_place(base), index=key), kind.element, base.fixed
        )
    if isinstance(kind, ArrayKind):
        at = b.integer(index, "an index")
        low, high = bounds(at)
        if isinstance(at.node, Constant) and not 0 <= low <= high < kind.size:
            hint = "an Array has no negative indices" if low < 0 else "indices are counted from 0"
            return b.refuse(f"index {low} is outside 0..{kind.size - 1}", index, hint)
        place = IndexPlace(type=kind.element.type, span=span, base=as_place(base), index=at.node)
        return b.read(place, kind.element, base.fixed)
    if isinstance(kind, RecordKind) and kind.cls is tuple:
        known = b.static(index)
        if known is None or not isinstance(known.object, int) or not 0 <= known.object < len(kind.fields):
            return b.refuse(f"the index of {kind} must be a constant from 0 to {len(kind.fields) - 1}", index)
        part = kind.fields[known.object][1]
        return b.read(
            field_place(as_place(base), part, known.object, span),
            part,
            "a part of a tuple, which is replaced as a whole,",
        )
    hints = {BagKind: "pick one with choose(...), or iterate over it", SetKind: "ask with 'in', or iterate over it"}
    return b.refuse(f"{kind} cannot be indexed", node, hints.get(type(kind), ""))


# --- Literals ----------------------------------------------------------------------------------------------


def _constant(b: Body, node: ast.Constant, wanted: Kind | None) -> Value:
    return b.from_object(node.value, b.span(node), wanted)


def _conditional(b: Body, node: ast.IfExp, wanted: Kind | None) -> Value:
    condition = b.condition(node.test, "the condition")
    then, otherwise = b.expression(node.body, wanted), b.expression(node.orelse, wanted)
    if then.is_unknown or otherwise.is_unknown:
        return b.unknown(node)
    span = b.span(node)
    numbers = all(isinstance(each.kind, IntKind | BoolKind) for each in (then, otherwise))
    if numbers and not all(isinstance(each.kind, BoolKind) for each in (then, otherwise)):
        return _number(condition, as_integer(then), as_integer(otherwise), span)
    target = otherwise.kind if isinstance(then.kind, NoneKind) else then.kind
    target = wanted if wanted is not None and not isinstance(wanted, IntKind) else target
    if then.kind.optional or otherwise.kind.optional:
        target = replace(target, optional=True)
    first, second = (b.fitted(each, target, "this alternative") for each in (then, otherwise))
    return Value(target, Conditional(type=target.type, span=span, condition=condition, then=first, otherwise=second))


def _number(condition: Expression, then: Value, otherwise: Value, span: Span) -> Value:
    (a, c), (d, e) = bounds(then), bounds(otherwise)
    made = Conditional(type=INTEGER, span=span, condition=condition, then=then.node, otherwise=otherwise.node)
    kind = integer(min(a, d), max(c, e))
    return Value(replace(kind, optional=then.kind.optional or otherwise.kind.optional), made)


# --- Connectives -------------------------------------------------------------------------------------------


def _connective(b: Body, node: ast.BoolOp, wanted: Kind | None) -> Value:
    word = "and" if isinstance(node.op, ast.And) else "or"
    operator = BinaryOperator.AND if word == "and" else BinaryOperator.OR
    parts = [b.condition(each, f"an operand of '{word}'") for each in node.values]
    outcome = parts[0]
    for part in parts[1:]:
        outcome = fold_short_circuit(operator, outcome, part) or compared(
            operator, outcome, part, outcome.span.to(part.span)
        )
    return Value(BOOL, outcome)


# --- Comparisons -------------------------------------------------------------------------------------------

_ORDER = {
    ast.Lt: BinaryOperator.LESS,
    ast.LtE: BinaryOperator.LESS_EQUAL,
    ast.Gt: BinaryOperator.GREATER,
    ast.GtE: BinaryOperator.GREATER_EQUAL,
}


def _compare(b: Body, node: ast.Compare, wanted: Kind | None) -> Value:
    operands = [node.left, *node.comparators]
    outcome: Expression | None = None
    for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
        one = _comparison(b, left, operator, right, node)
        outcome = one if outcome is None else and_(outcome, one)
    assert outcome is not None
    return Value(BOOL, outcome)


def _comparison(b: Body, left: ast.expr, operator: ast.cmpop, right: ast.expr, node: ast.Compare) -> Expression:
    span = b.span(left).to(b.span(right))
    if isinstance(operator, ast.In | ast.NotIn):
        found = _contains(b, left, right, span)
        return not_(found) if isinstance(operator, ast.NotIn) else found
    first = b.expression(left)
    second = b.expression(right, first.kind)
    if isinstance(first.kind, NoneKind) and not isinstance(second.kind, NoneKind):
        first, second = second, first
    elif not isinstance(second.kind, NoneKind) and b.static(left) is not None:
        first = b.expression(left, second.kind)
    if first.is_unknown or second.is_unknown:
        return b.unknown(span).node
    if type(operator) in _ORDER:
        return _ordered(b, _ORDER[type(operator)], first, second, node, span)
    is_negated = isinstance(operator, ast.NotEq | ast.IsNot)
    if isinstance(second.kind, NoneKind):
        outcome = is_none(first, span)
        return not_(outcome) if is_negated else outcome
    if isinstance(operator, ast.Is | ast.IsNot) and not isinstance(
        first.kind, EnumKind | SymmetricKind | UnionKind | BoolKind
    ):
        b.error(f"'is' compares objects, and these are {first.kind}", node, "compare values with ==")
        return b.unknown(span).node
    return equal(b, first, second, span, is_negated=is_negated)


def equal(b: Body, first: Value, second: Value, span: Span, *, is_negated: bool = False) -> Expression:
    """Returns whether two values are equal; None equals None alone."""
    pair = b.unified(first, second)
    if pair is None or isinstance(first.kind, BagKind):
        reason = "bags are not compared" if pair is not None else f"{first.kind} and {second.kind} are never equal"
        b.error(reason, span, _ways_to_compare(first.kind, second.kind))
        return b.unknown(span).node
    left, right = pair
    if left.type.is_simple and (first.kind.optional or second.kind.optional):
        left, right = relaxed(left), relaxed(right)
    return compared(BinaryOperator.NOT_EQUAL if is_negated else BinaryOperator.EQUAL, left, right, span)


def _ways_to_compare(first: Kind, second: Kind) -> str:
    for kind, other in ((first, second), (second, first)):
        if isinstance(other, IntKind) and isinstance(kind, SymmetricKind):
            return f"values of {kind} have no numbers: compare with a parameter, a field or a choice of the same class"
        if isinstance(other, IntKind) and isinstance(kind, EnumKind):
            return f"name a member of {kind}"
    return ""


def is_none(value: Value, span: Span) -> Expression:
    """Returns whether a value is None."""
    if isinstance(value.kind, NoneKind):
        return boolean(True, span).node
    if not value.kind.optional:
        return boolean(False, span).node
    if not value.kind.type.is_simple:
        assert isinstance(value.kind, RecordKind)
        place: Place = as_place(value)
        kind: Kind = value.kind
        for number in proof_of_none(value.kind) or ():
            assert isinstance(kind, RecordKind)
            kind = kind.fields[number][1]
            place = field_place(place, kind, number, span)
        return IsUndefined(span=span, place=place)
    if value.place is not None:
        return IsUndefined(span=span, place=value.place)
    nothing = Constant(type=value.kind.type, span=span, value=None)
    return compared(BinaryOperator.EQUAL, relaxed(value.node), nothing, span)


def _ordered(
    b: Body, operator: BinaryOperator, first: Value, second: Value, node: ast.Compare, span: Span
) -> Expression:
    if isinstance(first.kind, SetKind) and is_same(first.kind, second.kind):
        if operator in (BinaryOperator.GREATER, BinaryOperator.GREATER_EQUAL):
            first, second = second, first
        included = subset(b, first, second, span)
        if operator in (BinaryOperator.LESS, BinaryOperator.GREATER):
            return and_(included, equal(b, first, second, span, is_negated=True))
        return included
    for each in (first, second):
        if not isinstance(each.kind, IntKind | BoolKind):
            hint = "values of a Symmetric class have no order" if isinstance(each.kind, SymmetricKind) else ""
            hint = (
                "members of an Enum have no order: compare with 'is', or use Range"
                if isinstance(each.kind, EnumKind)
                else hint
            )
            b.error(f"{each.kind} has no order", each.span, hint)
            return b.unknown(span).node
    return compared(operator, as_integer(first).node, as_integer(second).node, span)


def _contains(b: Body, left: ast.expr, right: ast.expr, span: Span) -> Expression:
    """Lowers ``left in right``."""
    static = b.static(right)
    if static is not None and isinstance(static.object, range):
        return _within(b, b.integer(left, "what is looked for"), static.object, span)
    container = (
        None if static is not None or isinstance(right, ast.Tuple | ast.List | ast.Set) else b.any_expression(right)
    )
    if isinstance(container, Value) and isinstance(container.kind, SetKind):
        return _in_set(b, b.expression(left, container.kind.element), container, container.kind, span)
    if isinstance(container, Value) and isinstance(container.kind, DictKind):
        value = b.expression(left, container.kind.key)
        keys = container.kind.key.simple
        if isinstance(value.kind, IntKind):
            return _within(b, value, range(keys.low, keys.high + 1), span)
        return not_(is_none(value, span))
    value = b.expression(left)
    turns = iteration(b, right)
    if turns is None or value.is_unknown:
        return b.unknown(span).node
    if isinstance(turns, Unrolled):
        outcome: Expression = boolean(False, span).node
        for item in turns.items:
            assert isinstance(item, Value)
            one = is_none(value, span) if isinstance(item.kind, NoneKind) else equal(b, value, item, span)
            outcome = fold_short_circuit(BinaryOperator.OR, outcome, one) or or_(outcome, one)
        return outcome
    assert isinstance(turns.item, Value)
    body = equal(b, value, turns.item, span)
    if turns.present is not None:
        body = and_(turns.present, body)
    return Quantified(span=span, quantifier=Quantifier.EXISTS, variable=turns.variable, domain=turns.domain, body=body)


def _within(b: Body, value: Value, values: range, span: Span) -> Expression:
    if value.is_unknown or not values:
        return boolean(False, span).node
    low, high = constant(min(values), span).node, constant(max(values), span).node
    if values.step != 1:
        b.error("'in' needs a range() with step 1", span, "test the remainder with %")
    return and_(
        compared(BinaryOperator.LESS_EQUAL, low, value.node, span),
        compared(BinaryOperator.LESS_EQUAL, value.node, high, span),
    )


def _in_set(b: Body, value: Value, container: Value, kind: SetKind, span: Span) -> Expression:
    index = b.fitted(value, kind.element, "what is looked for")
    found: Expression = member(b, kind, container, index, span)
    if isinstance(value.kind, NoneKind):
        return boolean(False, span).node
    if isinstance(value.kind, IntKind):
        (low, high), possible = bounds(value), kind.element.simple
        if low < possible.low or high > possible.high:
            found = and_(_within(b, value, range(possible.low, possible.high + 1), span), found)
    return and_(not_(is_none(value, span)), found) if value.kind.optional else found


EXPRESSIONS[ast.Name] = _name
EXPRESSIONS[ast.Attribute] = _attribute
EXPRESSIONS[ast.Subscript] = _subscript
EXPRESSIONS[ast.Constant] = _constant
EXPRESSIONS[ast.IfExp] = _conditional
EXPRESSIONS[ast.BoolOp] = _connective
EXPRESSIONS[ast.Compare] = _compare

"""Built-in functions: all, any, sum, min, max, len, abs, int, bool, copies and empty containers."""

from __future__ import annotations

import ast
import copy
import dataclasses
from typing import Any

from outcrop.ir.nodes import (
    Assign,
    BinaryOperator,
    Error,
    Expression,
    If,
    Load,
    LocalPlace,
    Quantifier,
    Return,
    Statement,
    Unary,
    UnaryOperator,
    Undefine,
)
from outcrop.ir.types import INTEGER
from outcrop.lang.python.arithmetic import binary, bounds, compared, smaller
from outcrop.lang.python.context import FUNCTIONS, METHODS, Body, generated
from outcrop.lang.python.displays import set_comprehension
from outcrop.lang.python.domains import Unrolled, iteration, loops, quantified
from outcrop.lang.python.kinds import (
    BOOL,
    INT,
    ArrayKind,
    BagKind,
    DictKind,
    IntKind,
    Kind,
    RecordKind,
    SetKind,
    integer,
)
from outcrop.lang.python.objects import built, construct, stored
from outcrop.lang.python.sets import empty_set
from outcrop.lang.python.values import Value, as_integer, as_place, boolean, constant, field_place
from outcrop.model import Array, Bag


def _only(b: Body, node: ast.Call, what: str) -> ast.expr | None:
    if len(node.args) == 1 and not node.keywords:
        return node.args[0]
    b.error(f"{what} takes exactly one argument in a model", node)
    return None


# --- all and any -------------------------------------------------------------------------------------------


def _quantifier(quantifier: Quantifier) -> Any:
    def lower(b: Body, node: ast.Call, wanted: Kind | None) -> Value:
        name = "all()" if quantifier is Quantifier.FORALL else "any()"
        argument = _only(b, node, name)
        if argument is None:
            return b.unknown(node)
        span = b.span(node)
        with b.scope():
            if isinstance(argument, ast.GeneratorExp | ast.ListComp | ast.SetComp):
                clauses, element = argument.generators, argument.elt
            else:
                each = ast.Name("each of them", ast.Load())
                for part in (each, target := ast.Name("each of them", ast.Store())):
                    ast.copy_location(part, argument)
                clauses, element = [ast.comprehension(target, argument, [], 0)], each
            body = quantified(b, quantifier, clauses, lambda: b.condition(element, f"what {name} is about"), span)
        return Value(BOOL, body)

    return lower


# --- sum, min, max -----------------------------------------------------------------------------------------


def _sum(b: Body, node: ast.Call, wanted: Kind | None) -> Value:
    argument = _only(b, node, "sum()")
    if argument is None:
        return b.unknown(node)
    span = b.span(node)

    def build(inner: Body) -> list[Statement]:
        total = inner.local("total", INT)
        target = LocalPlace(type=total.type, span=span, local=total)
        read = Load(type=total.type, span=span, place=target)

        def one() -> list[Statement]:
            value = _number(inner, argument)
            return [Assign(span=span, target=target, value=binary(BinaryOperator.ADD, read, value.node, span))]

        body = loops(inner, _clauses(argument), one)
        return [Assign(span=span, target=target, value=constant(0, span).node), *body, Return(span=span, value=read)]

    return generated(b, "sum", _sum_kind(b, argument), span, build)


def _clauses(argument: ast.expr) -> list[ast.comprehension]:
    if isinstance(argument, ast.GeneratorExp | ast.ListComp):
        return argument.generators
    target = ast.copy_location(ast.Name("each of them", ast.Store()), argument)
    return [ast.comprehension(target, argument, [], 0)]


def _number(b: Body, argument: ast.expr) -> Value:
    if isinstance(argument, ast.GeneratorExp | ast.ListComp):
        return b.integer(argument.elt, "what is added up or compared")
    return b.integer(ast.copy_location(ast.Name("each of them", ast.Load()), argument), "what is added up or compared")


def _sum_kind(b: Body, argument: ast.expr) -> Kind:
    """Returns the bounds of a sum over one known domain; any integer elsewhere."""
    clauses = _clauses(argument)
    with b.scope():
        before = b.report
        b.model.report = type(before)()
        try:
            turns = iteration(b, clauses[0].iter) if len(clauses) == 1 else None
            if turns is None or isinstance(turns, Unrolled):
                return INT
            from outcrop.ir.nodes import TypeDomain  # a look at what it runs through
            from outcrop.lang.python.domains import bind  # the same

            if not isinstance(turns.domain, TypeDomain) or not bind(b, clauses[0].target, turns.item):
                return INT
            value = _number(b, argument)
            count = turns.domain.type.cardinality
        finally:
            b.model.report = before
    low, high = bounds(value) if isinstance(value.kind, IntKind) else INT_BOUNDS
    return integer(min(0, low * count), max(0, high * count))


INT_BOUNDS = (INTEGER.low, INTEGER.high)


def _extreme(greatest: bool) -> Any:
    name = "max()" if greatest else "min()"

    def lower(b: Body, node: ast.Call, wanted: Kind | None) -> Value:
        span = b.span(node)
        keywords = {each.arg: each.value for each in node.keywords}
        if len(node.args) > 1 and not keywords:
            values = [b.integer(each, f"an argument of {name}") for each in node.args]
            if any(each.is_unknown for each in values):
                return b.unknown(node)
            outcome = values[0]
            for each in values[1:]:
                outcome = smaller(b, outcome, each, span, greatest=greatest)
            return outcome
        if len(node.args) != 1 or set(keywords) - {"default"}:
            return b.refuse(f"models have no key for {name}", node, "compare the values themselves")
        return _extreme_of(b, node.args[0], keywords.get("default"), name, greatest, node)

    return lower


def _extreme_of(
    b: Body, argument: ast.expr, default: ast.expr | None, name: str, greatest: bool, node: ast.Call
) -> Value:
    span = b.span(node)

    def build(inner: Body) -> list[Statement]:
        best, found = inner.local("best", INT), inner.local("found", BOOL)
        target = LocalPlace(type=best.type, span=span, local=best)
        flag = LocalPlace(type=BOOL.type, span=span, local=found)
        read, seen = Load(type=best.type, span=span, place=target), Load(type=BOOL.type, span=span, place=flag)

        def one() -> list[Statement]:
            value = _number(inner, argument).node
            operator = BinaryOperator.GREATER if greatest else BinaryOperator.LESS
            better = compared(operator, value, read, span)
            first = Unary(type=BOOL.type, span=span, operator=UnaryOperator.NOT, operand=seen)
            condition = compared(BinaryOperator.OR, first, better, span)
            keep = (
                Assign(span=span, target=target, value=value),
                Assign(span=span, target=flag, value=boolean(True, span).node),
            )
            return [If(span=span, branches=((condition, keep),))]

        body = loops(inner, _clauses(argument), one)
        last: Statement = Error(span=span, message=f"ValueError: {name} of nothing")
        if default is not None:
            last = Return(span=span, value=inner.integer(default, "the default").node)
        return [
            Assign(span=span, target=flag, value=boolean(False, span).node),
            *body,
            If(span=span, branches=((seen, (Return(span=span, value=read),)),)),
            last,
        ]

    return generated(b, name.removesuffix("()"), INT, span, build)


# --- Conversions -------------------------------------------------------------------------------------------


def _len(b: Body, node: ast.Call, wanted: Kind | None) -> Value:
    argument = _only(b, node, "len()")
    if argument is None:
        return b.unknown(node)
    value = b.expression(argument)
    kind, span = value.kind, b.span(node)
    if value.is_unknown:
        return value
    if isinstance(kind, DictKind):
        return constant(kind.key.simple.cardinality, span)
    if isinstance(kind, ArrayKind):
        return constant(kind.size, span)
    if isinstance(kind, RecordKind) and kind.cls is tuple:
        return constant(len(kind.fields), span)
    length = METHODS.get((type(kind), "__len__"))
    return length(b, value, node) if length is not None else b.refuse(f"{kind} has no length", node)


def _abs(b: Body, node: ast.Call, wanted: Kind | None) -> Value:
    argument = _only(b, node, "abs()")
    value = b.unknown(node) if argument is None else b.integer(argument, "the argument of abs()")
    if value.is_unknown:
        return value
    span = b.span(node)
    low, high = bounds(value)
    negated = Value(
        integer(-high, -low), Unary(type=INTEGER, span=span, operator=UnaryOperator.NEGATE, operand=value.node)
    )
    made = smaller(b, value, negated, span, greatest=True)
    return Value(integer(0, max(abs(low), abs(high))), made.node)


def _int(b: Body, node: ast.Call, wanted: Kind | None) -> Value:
    argument = _only(b, node, "int()")
    return b.unknown(node) if argument is None else as_integer(b.integer(argument, "the argument of int()"))


def _bool(b: Body, node: ast.Call, wanted: Kind | None) -> Value:
    argument = _only(b, node, "bool()")
    if argument is None:
        return b.unknown(node)
    value = b.expression(argument)
    if isinstance(value.kind, IntKind):
        zero = constant(0, value.span).node
        return Value(BOOL, compared(BinaryOperator.NOT_EQUAL, value.node, zero, b.span(node)))
    return Value(BOOL, b.truth(value, argument, "the argument of bool()"))


# --- Containers and copies ---------------------------------------------------------------------------------


def _set(b: Body, node: ast.Call, wanted: Kind | None) -> Value:
    span = b.span(node)
    if not node.args:
        if not isinstance(wanted, SetKind):
            return b.refuse(
                "an empty set can only be assigned to a field of its type",
                node,
                "assign it to a field declared set[...]",
            )
        return empty_set(wanted, b, span)
    argument = node.args[0]
    if isinstance(argument, ast.GeneratorExp):
        return set_comprehension(b, argument, wanted)
    static = b.static(argument)
    if static is not None and isinstance(wanted, SetKind):
        return b.from_object(frozenset(static.object), span, wanted)
    value = b.expression(argument, wanted)
    return (
        _copied(b, value, node)
        if isinstance(value.kind, SetKind)
        else b.refuse("set() takes a set or a generator", node)
    )


def _from_keys(b: Body, node: ast.Call, wanted: Kind | None) -> Value:
    """Lowers ``dict.fromkeys(Node, x)``."""
    if len(node.args) != 2 or node.keywords:
        return b.refuse("dict.fromkeys() takes the keys and a value in a model", node)
    key, name = ast.Name("each key", ast.Load()), ast.Name("each key", ast.Store())
    made = ast.DictComp(key, node.args[1], [ast.comprehension(name, node.args[0], [], 0)])
    for each in (key, name, made):
        ast.copy_location(each, node)
    return b.expression(made, wanted)


def _array(b: Body, node: ast.Call, wanted: Kind | None) -> Value:
    argument = _only(b, node, "Array()")
    if argument is None:
        return b.unknown(node)
    if isinstance(argument, ast.GeneratorExp):
        argument = ast.copy_location(ast.ListComp(argument.elt, argument.generators), argument)
    if isinstance(argument, ast.BinOp) and isinstance(argument.op, ast.Mult) and isinstance(argument.left, ast.List):
        return _repeated(b, argument, wanted)
    return b.expression(argument, wanted)


def _repeated(b: Body, node: ast.BinOp, wanted: Kind | None) -> Value:
    """Lowers ``[x] * n``."""
    assert isinstance(node.left, ast.List)
    if b.static(node) is not None or len(node.left.elts) != 1:
        return b.expression(node, wanted)
    name = ast.copy_location(ast.Name("_", ast.Store()), node)
    over = ast.copy_location(ast.Call(ast.copy_location(ast.Name("range", ast.Load()), node), [node.right], []), node)
    listed = ast.ListComp(node.left.elts[0], [ast.comprehension(name, over, [], 0)])
    return b.expression(ast.copy_location(listed, node), wanted)


def _bag(b: Body, node: ast.Call, wanted: Kind | None) -> Value:
    if node.args or not isinstance(wanted, BagKind):
        return b.refuse("a Bag can only be made empty, as the value of a field", node, "add the elements one by one")
    span = b.span(node)
    return built(b, wanted, span, lambda inner, whole: [Undefine(span=span, target=whole)])


def _copied(b: Body, value: Value, node: ast.AST) -> Value:
    return Value(value.kind, value.node, fresh=True)


def _copy(b: Body, node: ast.Call, wanted: Kind | None) -> Value:
    argument = _only(b, node, "copy()")
    value = b.unknown(node) if argument is None else b.expression(argument, wanted)
    parts = [each for _, each in value.kind.fields] if isinstance(value.kind, RecordKind) else []
    parts += [value.kind.element] if isinstance(value.kind, ArrayKind | DictKind) else []
    if any(each.is_mutable for each in parts):
        return b.refuse("copy() copies one level only, and the parts are mutable", node, "use deepcopy()")
    return _copied(b, value, node)


def _deepcopy(b: Body, node: ast.Call, wanted: Kind | None) -> Value:
    argument = _only(b, node, "deepcopy()")
    return b.unknown(node) if argument is None else _copied(b, b.expression(argument, wanted), node)


def _replace(b: Body, node: ast.Call, wanted: Kind | None) -> Value:
    value = b.expression(node.args[0]) if len(node.args) == 1 else b.unknown(node)
    kind = value.kind
    if not isinstance(kind, RecordKind) or kind.cls is tuple:
        return value if value.is_unknown else b.refuse(f"replace() takes a dataclass, not {kind}", node)
    given = {each.arg: each.value for each in node.keywords}
    for name in given:
        if name is None or kind.position(name) is None:
            return b.refuse(f"{kind.title} has no field '{name}'", node)
    parts: list[Expression] = []
    for number, (name, part) in enumerate(kind.fields):
        if name in given:
            parts.append(stored(b, b.expression(given[name], part), part, f"the field '{name}'"))
        else:
            kept = b.read(field_place(as_place(value), part, number, b.span(node)), part)
            parts.append(stored(b, kept, part, f"the field '{name}'"))
    made: RecordKind = dataclasses.replace(kind, optional=False)
    return construct(b, made, parts, b.span(node))


FUNCTIONS[all] = _quantifier(Quantifier.FORALL)
FUNCTIONS[any] = _quantifier(Quantifier.EXISTS)
FUNCTIONS[sum] = _sum
FUNCTIONS[min] = _extreme(False)
FUNCTIONS[max] = _extreme(True)
FUNCTIONS[len] = _len
FUNCTIONS[abs] = _abs
FUNCTIONS[int] = _int
FUNCTIONS[bool] = _bool
FUNCTIONS[set] = FUNCTIONS[frozenset] = _set
FUNCTIONS[dict.fromkeys] = _from_keys
FUNCTIONS[Array] = _array
FUNCTIONS[Bag] = _bag
FUNCTIONS[copy.copy] = _copy
FUNCTIONS[copy.deepcopy] = _deepcopy
FUNCTIONS[dataclasses.replace] = _replace

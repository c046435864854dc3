"""Composite values: constructors, displays and comprehensions, and objects that are known before the model runs."""

from __future__ import annotations

import ast
import dataclasses
import enum
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from outcrop.ir.nodes import (
    Assign,
    Call,
    Clear,
    Constant,
    Error,
    Expression,
    For,
    IndexPlace,
    Load,
    LocalPlace,
    MultisetAdd,
    Place,
    Return,
    Statement,
    Switch,
    TypeDomain,
    Undefine,
)
from outcrop.ir.system import Formal, Function
from outcrop.lang.python.context import Body, generated
from outcrop.lang.python.kinds import (
    ArrayKind,
    BagKind,
    BoolKind,
    DictKind,
    IntKind,
    Kind,
    RecordKind,
    SetKind,
    UnknownKind,
    has_symmetric,
    integer,
    record_kind,
)
from outcrop.lang.python.values import Value, boolean, constant, field_place, none, relaxed
from outcrop.model import Array, Bag, Symmetric
from outcrop.source import Span

_EVERY_KEY = "give every key a value, as with a comprehension: {k: ... for k in ...}"

# --- Records -----------------------------------------------------------------------------------------------


def construct(b: Body, kind: RecordKind, parts: Sequence[Expression], span: Span) -> Value:
    """Returns a call of the function that makes a record of its parts."""
    key = ("construct", kind.required())
    function = b.model.helpers.get(key)
    if function is None:
        function = b.model.helpers[key] = _constructor(b, kind, span)
    call = Call(type=kind.type, span=span, function=function, arguments=tuple(parts))
    return Value(kind, call, fresh=True)


def _constructor(b: Body, kind: RecordKind, span: Span) -> Function:
    inner = Body(b.model, b.source, b.globals)
    made = inner.local("made", kind)
    whole = LocalPlace(type=kind.type, span=span, local=made)
    formals, body = [], []
    for number, (name, part) in enumerate(kind.fields):
        formal = inner.local(name, part, is_parameter=True)
        formals.append(Formal(formal, by_reference=False))
        value = relaxed(inner.read_local(formal, part, span).node)
        body.append(Assign(span=span, target=field_place(whole, part, number, span), value=value))
    last = Return(span=span, value=Load(type=kind.type, span=span, place=whole))
    function = Function(kind.title, tuple(formals), kind.type, span, inner.frame.finish(), (*body, last))
    b.model.functions.append(function)
    return function


def constructed(b: Body, cls: Any, node: ast.Call) -> Value:
    """Lowers a call of a dataclass."""
    span = b.span(node)
    kind = b.model.kind_of(cls, span)
    if not isinstance(kind, RecordKind):
        return b.unknown(node)
    given: dict[str, ast.expr] = {}
    names = [each.name for each in dataclasses.fields(cls)]
    for name, argument in zip(names, node.args, strict=False):
        given[name] = argument
    for keyword in node.keywords:
        if keyword.arg not in names or keyword.arg in given:
            return b.refuse(f"{cls.__name__} has no field '{keyword.arg}'", keyword.value)
        given[keyword.arg] = keyword.value
    if len(node.args) > len(names):
        return b.refuse(f"{cls.__name__} has {len(names)} fields, but {len(node.args)} values are given", node)
    parts = []
    for each, (name, part) in zip(dataclasses.fields(cls), kind.fields, strict=True):
        if name in given:
            parts.append(stored(b, b.expression(given[name], part), part, f"the field '{name}'"))
        elif each.default is not dataclasses.MISSING or each.default_factory is not dataclasses.MISSING:
            default = each.default if each.default_factory is dataclasses.MISSING else each.default_factory()
            parts.append(b.fitted(b.from_object(default, span, part), part, f"the field '{name}'"))
        else:
            return b.refuse(f"the field '{name}' of {cls.__name__} has no value", node, f"give it one: {name}=...")
    return construct(b, kind, parts, span)


def stored(b: Body, value: Value, kind: Kind, what: str) -> Expression:
    """Returns a value as it is stored: an object that can change must not get a second name."""
    if kind.is_mutable and not value.fresh and not value.is_unknown and converted_kind(value, kind):
        hint = "copy it: deepcopy(...), from the module copy; or make the dataclass frozen"
        b.error(
            f"{what} and this would be the same {kind.title}, so that changes to one show in the other",
            value.span,
            hint,
        )
    return b.fitted(value, kind, what)


def converted_kind(value: Value, kind: Kind) -> bool:
    return type(value.kind) is type(kind)


# --- New containers ---------------------------------------------------------------------------------------


def built(b: Body, kind: Kind, span: Span, fill: Callable[[Body, LocalPlace], list[Statement]]) -> Value:
    """Returns what a function makes that fills a new value of ``kind``."""

    def build(inner: Body) -> list[Statement]:
        whole = LocalPlace(type=kind.type, span=span, local=inner.local("made", kind))
        body = fill(inner, whole)
        return [*body, Return(span=span, value=Load(type=kind.type, span=span, place=whole))]

    return generated(b, f"new_{type(kind).__name__.removesuffix('Kind').lower()}", kind, span, build)


def element_at(whole: Place, kind: Kind, index: Expression, span: Span) -> IndexPlace:
    return IndexPlace(type=kind.type, span=span, base=whole, index=index)


# --- Storing -----------------------------------------------------------------------------------------------


def store(b: Body, target: Place, kind: Kind, value: Value, what: str) -> list[Statement]:
    """Returns the statements that store a value."""
    if (
        not kind.type.is_simple
        and isinstance(value.node, Constant)
        and value.node.value is None
        and not value.is_unknown
    ):
        if kind.optional:
            return [Undefine(span=value.span, target=target)]
        b.error(f"{what} is None, not {kind}", value.span, f"declare it as {kind.title} | None")
        return []
    return [Assign(span=value.span.to(value.span), target=target, value=stored(b, value, kind, what))]


# --- Objects that are known --------------------------------------------------------------------------------


def object_value(b: Body, found: Any, span: Span, wanted: Kind | None) -> Value:
    """Returns the value of a Python object."""
    if found is None:
        return none(span)
    if isinstance(found, bool):
        return boolean(found, span)
    if isinstance(found, enum.Enum):
        kind = b.model.kind_of(type(found), span)
        return Value(kind, Constant(type=kind.type, span=span, value=list(type(found)).index(found)))
    if isinstance(found, int):
        return constant(found, span)
    if isinstance(found, Symmetric):
        hint = "use a parameter of the rule, or choose(...)"
        return b.refuse(f"values of {type(found).__name__} are interchangeable, so that none can be named", span, hint)
    if isinstance(found, float):
        return b.refuse("models have no fractions", span, "count in the smallest unit, as an integer")
    if isinstance(found, str):
        return b.refuse("models have no strings", span, "use an Enum")
    if wanted is not None and not wanted.type.is_simple and not isinstance(wanted, UnknownKind):
        return _composite(b, found, span, wanted)
    if dataclasses.is_dataclass(found) and not isinstance(found, type):
        return _composite(b, found, span, b.model.kind_of(type(found), span))
    if isinstance(found, tuple) and found:
        parts = [object_value(b, each, span, None) for each in found]
        kind = record_kind(tuple, tuple((str(at), each.kind) for at, each in enumerate(parts)), frozen=True)
        return construct(b, kind, [each.node for each in parts], span)
    title = f"the class {found.__name__}" if isinstance(found, type) else type(found).__name__
    hint = "a sequence has a fixed length: declare a field Array[..., n]" if isinstance(found, list) else ""
    return b.refuse(f"{title} cannot be a value of a model", span, hint)


def _composite(b: Body, found: Any, span: Span, kind: Kind) -> Value:
    if isinstance(kind, RecordKind):
        is_tuple = kind.cls is tuple
        if not isinstance(found, kind.cls) or (is_tuple and len(found) != len(kind.fields)):
            return b.refuse(f"this is {type(found).__name__}, not {kind}", span)
        values = found if is_tuple else [getattr(found, name) for name, _ in kind.fields]
        parts = [
            b.fitted(object_value(b, value, span, part), part, f"the field '{name}'")
            for value, (name, part) in zip(values, kind.fields, strict=True)
        ]
        return construct(b, kind, parts, span)
    return built(b, kind, span, lambda inner, whole: fill_object(inner, whole, kind, found, span))


def fill_object(b: Body, target: Place, kind: Kind, found: Any, span: Span) -> list[Statement]:
    """Returns the statements that store a Python object."""
    match kind:
        case SetKind() if isinstance(found, set | frozenset):
            if _tells_apart(found):
                b.error(
                    f"this set distinguishes values of {kind.element}, which are interchangeable",
                    span,
                    "use none of them, or all",
                )
            made: list[Statement] = [Clear(span=span, target=target)]
            for each in found:
                place = element_at(target, BoolKind(), _key(b, each, kind.element, span), span)
                made.append(Assign(span=span, target=place, value=boolean(True, span).node))
            return made
        case DictKind() if isinstance(found, dict):
            return _fill_dict(b, target, kind, found, span)
        case ArrayKind() if isinstance(found, list | tuple | Array):
            if len(found) != kind.size:
                b.error(f"{kind} has {kind.size} elements, but {len(found)} are given", span)
            made = []
            for at, each in enumerate(found):
                made += _fill_part(
                    b, element_at(target, kind.element, constant(at, span).node, span), kind.element, each, span
                )
            return made
        case BagKind() if isinstance(found, Bag):
            values = [
                b.fitted(object_value(b, each, span, kind.element), kind.element, "the element") for each in found
            ]
            return [
                Undefine(span=span, target=target),
                *(MultisetAdd(span=span, value=each, target=target) for each in values),
            ]
    hint = "an empty set is set()" if found == {} and isinstance(kind, SetKind) else ""
    b.error(f"this is {type(found).__name__}, not {kind}", span, hint)
    return []


def _tells_apart(found: Any) -> bool:
    """Returns whether some values of a symmetric class are in a set and others are not."""
    present = Counter(type(each) for each in found if isinstance(each, Symmetric))
    return any(count < len(cls) for cls, count in present.items())


def _fill_part(b: Body, target: Place, kind: Kind, found: Any, span: Span) -> list[Statement]:
    if kind.type.is_simple or isinstance(kind, RecordKind):
        return store(b, target, kind, object_value(b, found, span, kind), "the element")
    return fill_object(b, target, kind, found, span)


def _fill_dict(b: Body, target: Place, kind: DictKind, found: Mapping[Any, Any], span: Span) -> list[Statement]:
    values = list(found.values())
    if len(found) != kind.key.simple.cardinality:
        b.error(f"{kind} has {kind.key.simple.cardinality} keys, but {len(found)} are given", span, _EVERY_KEY)
        return []
    if values and all(each == values[0] for each in values):
        local = b.local("key", kind.key)
        index = b.read_local(local, kind.key, span).node
        body = _fill_part(b, element_at(target, kind.element, index, span), kind.element, values[0], span)
        return [For(span=span, variable=local, domain=TypeDomain(type=kind.key.simple), body=tuple(body))]
    if has_symmetric(kind.key):
        b.error(
            f"this dict distinguishes values of {kind.key}, which are interchangeable", span, "give all the same value"
        )
        return []
    made: list[Statement] = []
    for key, value in found.items():
        place = element_at(target, kind.element, _key(b, key, kind.key, span), span)
        made += _fill_part(b, place, kind.element, value, span)
    return made


def _key(b: Body, found: Any, kind: Kind, span: Span) -> Expression:
    if isinstance(found, Symmetric):
        return Constant(type=kind.type, span=span, value=found.index)
    return b.fitted(object_value(b, found, span, kind), kind, "the key")


def table_lookup(b: Body, table: Any, index: Value, node: ast.AST) -> Value:
    """Lowers ``TABLE[x]`` where the table is known and ``x`` is not."""
    span = b.span(node)
    if isinstance(table, tuple | list):
        table = dict(enumerate(table))
    if not isinstance(table, dict) or not table or index.is_unknown:
        return index if index.is_unknown else b.refuse(f"{type(table).__name__} has no elements", node)
    values = {key: object_value(b, value, span, None) for key, value in table.items()}
    first = next(iter(values.values()))
    kind = first.kind
    if isinstance(kind, IntKind):
        numbers = [each.node.value for each in values.values() if isinstance(each.node, Constant)]
        kind = integer(min(numbers), max(numbers))  # type: ignore[type-var, arg-type]

    def build(inner: Body) -> list[Statement]:
        local = inner.local("key", index.kind, is_parameter=True)
        inner.formals.append(Formal(local, by_reference=False))
        inner.arguments.append(index.node)
        selector = inner.read_local(local, index.kind, span).node
        cases = tuple(
            (
                (inner.fitted(object_value(inner, key, span, index.kind), index.kind, "the key"),),
                (Return(span=span, value=inner.fitted(value, kind, "the value")),),
            )
            for key, value in values.items()
        )
        return [Switch(span=span, selector=selector, cases=cases), Error(span=span, message="KeyError: no such key")]

    return generated(b, "table", kind, span, build)

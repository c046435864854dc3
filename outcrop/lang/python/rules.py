"""Rules, start states and properties: the decorated methods of a model."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from outcrop.ir.nodes import (
    Assign,
    Bind,
    Clear,
    Constant,
    Expression,
    GlobalPlace,
    Let,
    LocalPlace,
    Statement,
)
from outcrop.ir.system import CoverGoal, Parameter, Property, PropertyKind, Rule, StartState
from outcrop.ir.types import BOOLEAN
from outcrop.lang.python.assignments import assign_name
from outcrop.lang.python.calls import annotated, call_helper, function_names
from outcrop.lang.python.context import MODEL_SELF, Body, Lowering
from outcrop.lang.python.domains import over_bag
from outcrop.lang.python.kinds import BagKind, IntKind, Kind, SetKind, UnknownKind, integer, is_domain
from outcrop.lang.python.objects import fill_object, object_value, store
from outcrop.lang.python.scan import scan_locals
from outcrop.lang.python.sets import and_, member
from outcrop.lang.python.sources import FunctionNode, PythonSource
from outcrop.lang.python.statements import block
from outcrop.lang.python.values import Static, Value, take_reference
from outcrop.model import Role, SymmetricType, choose, when
from outcrop.source import Span

MAX_INSTANCES = 10**8


class Head:
    """The beginning of a rule: choices, conditions, and names that these use."""

    def __init__(self) -> None:
        self.parameters: list[Parameter] = []
        self.layers: list[Expression | Bind] = []  #: conditions and aliases, in order
        self.copies: list[Statement] = []  #: copies of chosen elements that are used after their removal

    @property
    def bindings(self) -> list[Statement]:
        return [each for each in self.layers if isinstance(each, Bind)]

    def guard(self) -> Expression | None:
        inner: Expression | None = None
        for layer in reversed(self.layers):
            if not isinstance(layer, Bind):
                inner = layer if inner is None else and_(layer, inner)
            elif inner is not None:
                bindings = (layer, *inner.bindings) if isinstance(inner, Let) else (layer,)
                body = inner.body if isinstance(inner, Let) else inner
                inner = Let(type=BOOLEAN, span=inner.span, bindings=bindings, body=body)
        return None if isinstance(inner, Constant) and inner.value == 1 else inner


def opened(
    model: Lowering, source: PythonSource, tree: FunctionNode, function: Any, what: str
) -> tuple[Body, list[Parameter]]:
    """Returns the body of a method with its parameters declared, each of which runs through all values of its type."""
    b = Body(model, source, function_names(function))
    scan_locals(b, tree)
    arguments = [*tree.args.posonlyargs, *tree.args.args]
    if not arguments:
        b.error(f"{what} needs the parameter 'self'", tree, f"write def {tree.name}(self)")
    else:
        b.names[arguments[0].arg] = MODEL_SELF
        if arguments[0].annotation is not None:
            others = ast.unparse(tree.args)
            b.error(f"the first parameter of {what} is 'self'", arguments[0], f"write def {tree.name}(self, {others})")
    if isinstance(tree, ast.AsyncFunctionDef):
        b.error(f"{what} cannot be 'async'", tree, "a rule is one atomic step: leave 'async' out")
    if tree.args.vararg or tree.args.kwarg or tree.args.kwonlyargs or tree.args.defaults:
        b.error(f"the parameters of {what} can have neither defaults nor * or **", tree, "give each a name and a type")
    parameters = []
    model.parameters[tree.name] = []
    for each in arguments[1:]:
        kind = annotated(b, each, f"the parameter '{each.arg}'", function, is_domain=True)
        if isinstance(kind, UnknownKind):
            b.names[each.arg] = b.unknown(each)
        elif not is_domain(kind) or kind.optional:
            hint = "use bool, an Enum, a Symmetric class or Range[0, 7]; an element of a field is chosen by choose(...)"
            b.error(f"{what} has a parameter of {kind}, whose values cannot be enumerated", each, hint)
            b.names[each.arg] = b.unknown(each)
        else:
            local = b.local(each.arg, kind, is_parameter=True)
            b.names[each.arg] = b.read_local(local, kind, b.span(each), f"a parameter of {what}")
            parameters.append(Parameter(local, range(kind.simple.low, kind.simple.high + 1)))
            model.parameters[tree.name].append(kind)
    return b, parameters


def _limit(b: Body, parameters: list[Parameter], node: ast.AST) -> None:
    count = 1
    for each in parameters:
        count *= len(each.values)
    if count > MAX_INSTANCES:
        b.error(f"this has {count:,} instances, and the largest number is {MAX_INSTANCES:,}", node)


def rule(model: Lowering, source: PythonSource, tree: FunctionNode, function: Any) -> Rule:
    b, parameters = opened(model, source, tree, function, "a rule")
    b.in_rule = True
    head = Head()
    head.parameters += parameters
    rest = _head(b, tree, head)
    b.names.update(b.copied)
    _limit(b, head.parameters, tree)
    body = [*head.bindings, *head.copies, *block(b, rest)]
    role: Role = function.outcrop_role
    return Rule(
        tree.name,
        tuple(head.parameters),
        b.frame.finish(),
        b.span(tree),
        head.guard(),
        tuple(body),
        priority=role.priority,
    )


def _head(b: Body, tree: FunctionNode, head: Head) -> list[ast.stmt]:
    """Lowers the beginning of a rule, up to its last choice or condition that nothing else stands before; returns the
    statements that follow."""
    end = 0
    for position, node in enumerate(tree.body):
        if _call_of(b, node, when) is not None or _call_of(b, node, choose) is not None:
            end = position + 1
        elif not _is_docstring(node) and not _is_alias(b, node):
            break
    for node in tree.body[:end]:
        condition, choice = _call_of(b, node, when), _call_of(b, node, choose)
        with b.within("the beginning of a rule"):
            if condition is not None:
                if len(condition.args) != 1:
                    b.error("'when' takes exactly one condition", node)
                    continue
                head.layers.append(b.condition(condition.args[0], "the condition of 'when'"))
            elif choice is not None:
                _choice(b, tree, node, choice, head)
            elif isinstance(node, ast.Assign):
                target = node.targets[0]
                assert isinstance(target, ast.Name)
                _alias(b, target, node, head)
    return tree.body[end:]


def _alias(b: Body, target: ast.Name, node: ast.Assign, head: Head) -> None:
    value = b.expression(node.value)
    is_copied = not value.is_unknown and not value.kind.type.is_simple and not value.kind.is_mutable
    if is_copied and value.place is not None:
        _referenced(b, target.id, value, b.span(node), head)
        return
    for each in assign_name(b, target, node.value, node):
        if isinstance(each, Bind):
            head.layers.append(each)
        else:
            b.error(f"'{target.id}' is copied before 'when'", node, "write 'when' first")


def _referenced(b: Body, name: str, value: Value, span: Span, head: Head) -> None:
    """Binds a name to a value that cannot change: conditions read it where it lies, the body gets a copy."""
    assert value.place is not None
    local = b.local(name, value.kind, is_reference=True)
    take_reference(value.place)
    head.layers.append(Bind(span=span, local=local, target=value.place))
    b.names[name] = b.read_local(local, value.kind, span, "a value that cannot change")
    copied = b.local(f"{name} itself", value.kind)
    place = LocalPlace(type=copied.type, span=span, local=copied)
    head.copies.append(Assign(span=span, target=place, value=b.names[name].node))  # type: ignore[union-attr]
    b.copied[name] = b.read_local(copied, value.kind, span)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_alias(b: Body, node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
        and b.bound_once.get(node.targets[0].id) is node
    )


def _call_of(b: Body, node: ast.stmt, function: Any) -> ast.Call | None:
    value = node.value if isinstance(node, ast.Expr | ast.Assign) else None
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name | ast.Attribute):
        return None
    called = b.static(value.func)
    return value if called is not None and called.object is function else None


def _choice(b: Body, tree: FunctionNode, node: ast.stmt, call: ast.Call, head: Head) -> None:
    target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    if not isinstance(target, ast.Name) or len(call.args) != 1:
        b.error("a value is chosen and not used", node, "write x = choose(...)")
        return
    name, span = target.id, b.span(node)
    b.names[name] = b.unknown(node)
    lowered = b.any_expression(call.args[0])
    if isinstance(lowered, Static):
        kind = _domain(b, lowered.object, call)
        if kind is not None:
            _parameter(b, name, kind, span, head)
        return
    if not isinstance(lowered, Value) or lowered.is_unknown:
        return
    if isinstance(lowered.kind, SetKind):
        value = _parameter(b, name, lowered.kind.element, span, head)
        head.layers.append(member(b, lowered.kind, lowered, value.node, span))
    elif isinstance(lowered.kind, BagKind):
        _from_bag(b, tree, name, lowered, lowered.kind, span, head)
    else:
        hint = "choose from a set, a Bag, an Enum, a Symmetric class or range(...)"
        b.error(f"nothing can be chosen from {lowered.kind}", call, hint)


def _parameter(b: Body, name: str, kind: Kind, span: Span, head: Head) -> Value:
    local = b.local(name, kind, is_parameter=True)
    value = b.read_local(local, kind, span, "a choice")
    b.names[name] = value
    head.parameters.append(Parameter(local, range(kind.simple.low, kind.simple.high + 1)))
    return value


def _domain(b: Body, found: Any, node: ast.Call) -> Kind | None:
    if isinstance(found, range) and found and found.step == 1:
        return integer(found[0], found[-1])
    if isinstance(found, SymmetricType) or hasattr(found, "__members__"):
        kind = b.model.kind_of(found, b.span(node))
        return kind if is_domain(kind) else None
    b.error(
        "nothing can be chosen from this", node, "choose from a set, a Bag, an Enum, a Symmetric class or range(...)"
    )
    return None


def _from_bag(b: Body, tree: FunctionNode, name: str, bag: Value, kind: BagKind, span: Span, head: Head) -> None:
    turns = over_bag(b, bag, kind, span, name=name, is_parameter=True)
    assert isinstance(turns.item, Value) and turns.present is not None
    head.parameters.append(Parameter(turns.variable, range(kind.multiset.capacity)))
    head.layers.append(turns.present)
    b.names[name] = turns.item
    if _is_taken_once(tree, name):
        b.chosen[name] = turns.item
    else:
        b.names[name] = replace(turns.item, slot=None)
    if _is_used_after_removal(tree, name):
        # Python still has the element; the slot is free by then.
        local = b.local(f"{name} itself", kind.element)
        place = LocalPlace(type=local.type, span=span, local=local)
        head.copies.append(Assign(span=span, target=place, value=turns.item.node))
        b.copied[name] = b.read_local(local, kind.element, span, "an element of a Bag")


def _is_taken_once(tree: FunctionNode, name: str) -> bool:
    """Returns whether the only removal of a rule takes the chosen element, before anything else could take it."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    removals = [each for each in calls if each.func.attr in ("remove", "clear")]  # type: ignore[attr-defined]
    if len(removals) != 1 or not removals[0].args:
        return False
    taken, own = removals[0].args[0], removals[0]
    in_loop = any(isinstance(node, ast.For | ast.While) and own in ast.walk(node) for node in ast.walk(tree))
    helpers = [
        each
        for each in calls
        if isinstance(each.func.value, ast.Name) and each.lineno < own.lineno  # type: ignore[attr-defined]
    ]
    return isinstance(taken, ast.Name) and taken.id == name and not in_loop and not helpers


def _is_used_after_removal(tree: FunctionNode, name: str) -> bool:
    """Returns whether a name is used after ``remove(name)``, or after anything that could remove it in another way."""
    removal: ast.Call | None = None
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            # A helper could remove it too.
            and (node.func.attr in ("remove", "clear") or isinstance(node.func.value, ast.Name))
        ):
            first = removal is None or (node.lineno, node.col_offset) < (removal.lineno, removal.col_offset)
            removal = node if first else removal
    if removal is None:
        return False
    end = (removal.end_lineno or 0, removal.end_col_offset or 0)
    return any(
        isinstance(node, ast.Name) and node.id == name and (node.lineno, node.col_offset) >= end
        for node in ast.walk(tree)
    ) or any(isinstance(node, ast.For | ast.While) and removal in ast.walk(node) for node in ast.walk(tree))


# --- Start states ------------------------------------------------------------------------------------------


def start_state(model: Lowering, source: PythonSource, tree: FunctionNode, function: Any) -> StartState:
    b, parameters = opened(model, source, tree, function, "a start state")
    model.written.clear()
    defaults = _defaults(b)
    body = [*defaults, *block(b, tree.body)]
    _report_unset(model, b.span(tree))
    return StartState(tree.name, tuple(parameters), b.frame.finish(), b.span(tree), tuple(body))


def only_defaults(model: Lowering, source: PythonSource, node: ast.ClassDef) -> StartState:
    """Returns the start state of a model that declares none: every field has its default."""
    b = Body(model, source, {})
    model.written.clear()
    body = _defaults(b)
    _report_unset(model, b.span(node))
    return StartState("start", (), b.frame.finish(), b.span(node), tuple(body))


def _defaults(b: Body) -> list[Statement]:
    made: list[Statement] = []
    for name, (variable, kind) in b.model.fields.items():
        target = GlobalPlace(type=kind.type, span=variable.span, variable=variable)
        if isinstance(kind, UnknownKind):  # its annotation is an error already
            continue
        if hasattr(b.model.cls, name):
            found = getattr(b.model.cls, name)
            if isinstance(kind, IntKind) and type(found) is int and not kind.simple.low <= found <= kind.simple.high:
                b.error(f"the default of '{name}' is {found}, outside {kind}", variable.span)
            if kind.type.is_simple or found is None or not isinstance(found, set | frozenset | dict | list | tuple):
                made += store(b, target, kind, object_value(b, found, variable.span, kind), f"the default of '{name}'")
            else:
                made += _default_container(b, target, kind, found, variable.span)
            b.model.written.add(name)
        elif isinstance(kind, SetKind):
            made.append(Clear(span=variable.span, target=target))
    return made


def _default_container(b: Body, target: GlobalPlace, kind: Kind, found: Any, span: Span) -> list[Statement]:
    if isinstance(found, tuple) and getattr(kind, "cls", None) is tuple:
        return store(b, target, kind, object_value(b, found, span, kind), "the default")
    return fill_object(b, target, kind, found, span)


def _report_unset(model: Lowering, span: Span) -> None:
    for name, (variable, kind) in model.fields.items():
        if name not in model.written and not kind.optional and not isinstance(kind, SetKind | BagKind | UnknownKind):
            hint = "give it a default in the class, or assign it in every method with @start"
            model.report.error(
                f"the field '{name}' has no initial value", variable.span, hint, ("this starts the model", span)
            )


# --- Properties --------------------------------------------------------------------------------------------

_KINDS = {
    "invariant": PropertyKind.INVARIANT,
    "assume": PropertyKind.ASSUMPTION,
    "cover": PropertyKind.COVER,
    "liveness": PropertyKind.LIVENESS,
}


def property_of(model: Lowering, source: PythonSource, tree: FunctionNode, function: Any) -> Property:
    role: Role = function.outcrop_role
    article = "an" if role.name[0] in "ai" else "a"
    b, parameters = opened(model, source, tree, function, f"{article} {role.name}")
    statements = [each for each in tree.body if not _is_docstring(each)]
    only = statements[0] if len(statements) == 1 else None
    with b.within(f"{article} {role.name}"):
        if isinstance(only, ast.Return) and only.value is not None:
            condition = b.condition(only.value, f"what {article} {role.name} returns")
        else:
            condition = _computed(b, function, tree)
    _limit(b, parameters, tree)
    kind = _KINDS[role.name]
    cover = None
    if kind is PropertyKind.COVER:
        cover = len(model.covers)
        model.covers.append(CoverGoal(tree.name, b.span(tree)))
    return Property(tree.name, tuple(parameters), b.frame.finish(), b.span(tree), kind, condition, cover)


def _computed(b: Body, function: Any, tree: FunctionNode) -> Expression:
    """Lowers a property of several statements to a helper that returns a bool."""
    if not any(isinstance(node, ast.Return) for node in ast.walk(tree)):
        b.error("this property returns nothing", tree, "return its condition: return ...")
        return b.unknown(tree).node
    if tree.returns is None:
        b.error("this property has several statements and no type", tree, f"write def {tree.name}(self) -> bool:")
        return b.unknown(tree).node
    names = [each.arg for each in (*tree.args.posonlyargs, *tree.args.args)][1:]
    arguments = [ast.copy_location(ast.Name(name, ast.Load()), tree) for name in names]
    value = call_helper(b, function, arguments, [], tree, receiver=MODEL_SELF)
    return b.truth(value, tree, "what this returns")

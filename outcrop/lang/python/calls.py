"""Calls: helper methods and functions, constructors, and methods of containers.

A helper becomes a function of the System. Objects that can change are passed by reference, as in Python; everything
else by value.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from outcrop.ir.nodes import Call, CallStatement, Expression, Place, Return, Statement
from outcrop.ir.system import Formal, Function
from outcrop.lang.python.context import CHANGES, EXPRESSIONS, FUNCTIONS, METHODS, MODEL_SELF, Body, Lowered, ModelSelf
from outcrop.lang.python.hints import CALLS
from outcrop.lang.python.hints import METHODS as METHOD_HINTS
from outcrop.lang.python.kinds import INT, UNKNOWN, Kind
from outcrop.lang.python.objects import constructed
from outcrop.lang.python.scan import scan_locals
from outcrop.lang.python.values import Value, as_place, reaches_state, take_reference
from outcrop.lang.report import did_you_mean
from outcrop.model import Role, SymmetricType


@dataclass
class Helper:
    """A helper and the function of the System that it became."""

    function: Function
    parameters: list[tuple[str, Kind]]
    result: Kind | None
    defaults: dict[str, Any] = field(default_factory=dict)
    is_complete: bool = False
    is_wrong: bool = False


def is_helper(found: Any) -> bool:
    return inspect.isfunction(found)


# --- Calls as expressions and statements -------------------------------------------------------------------


def _call(b: Body, node: ast.Call, wanted: Kind | None) -> Value:
    made = _called(b, node, wanted)
    if isinstance(made, list):
        return b.refuse("this call changes a value and returns nothing", node, "write it as a statement of its own")
    return made


def call_statement(b: Body, node: ast.Call) -> list[Statement]:
    """Lowers a call that stands alone."""
    made = _called(b, node, None, is_statement=True)
    if isinstance(made, list):
        return made
    if made.is_unknown:
        return []
    if isinstance(made.node, Call):
        return [CallStatement(span=made.span, call=made.node)]
    b.error("this statement has no effect", node)
    return []


def _called(b: Body, node: ast.Call, wanted: Kind | None, *, is_statement: bool = False) -> Value | list[Statement]:
    static = b.static(node.func)
    if static is not None:
        return _static_call(b, static.object, node, wanted, is_statement=is_statement)
    if isinstance(node.func, ast.Attribute):
        base = b.any_expression(node.func.value)
        if isinstance(base, ModelSelf):
            return _model_method(b, node, node.func, is_statement=is_statement)
        if isinstance(base, Value):
            return base if base.is_unknown else _method(b, base, node, node.func, is_statement=is_statement)
    if b.bare_fields and isinstance(node.func, ast.Name) and is_helper(getattr(b.model.cls, node.func.id, None)):
        helper = getattr(b.model.cls, node.func.id)
        return call_helper(b, helper, node.args, node.keywords, node, receiver=MODEL_SELF)
    name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
    method = getattr(b.model.cls, name, None) if name.isidentifier() else None
    hint = f"a method is called as self.{name}(...)" if is_helper(method) else did_you_mean(name, b.globals)
    return b.refuse(f"unknown function '{name}'", node.func, hint)


def _static_call(
    b: Body, called: Any, node: ast.Call, wanted: Kind | None, *, is_statement: bool
) -> Value | list[Statement]:
    try:
        lower = FUNCTIONS.get(called)
    except TypeError:
        lower = None
    if lower is not None:
        return lower(b, node, wanted)
    if isinstance(called, type) and hasattr(called, "__dataclass_fields__"):
        return constructed(b, called, node)
    if is_helper(called):
        if called.__module__.startswith("outcrop."):
            hint = "it stands at the beginning of a rule" if called.__name__ == "choose" else ""
            return b.refuse(f"'{called.__name__}' cannot be called here", node, hint)
        return call_helper(b, called, node.args, node.keywords, node, is_statement=is_statement)
    if isinstance(called, SymmetricType):
        hint = "use a parameter of the rule, or choose(...)"
        return b.refuse(f"values of {called.__name__} are interchangeable, so that none can be named", node, hint)
    name = getattr(called, "__name__", ast.unparse(node.func))
    return b.refuse(f"'{name}' cannot be called in a model", node, CALLS.get(name, ""))


def _model_method(b: Body, node: ast.Call, function: ast.Attribute, *, is_statement: bool) -> Value:
    found = getattr(b.model.cls, function.attr, None)
    if not is_helper(found):
        methods = [name for name in vars(b.model.cls) if is_helper(getattr(b.model.cls, name))]
        hint = did_you_mean(function.attr, methods)
        if function.attr in ("when", "choose"):
            hint = f"write {function.attr}(...) without self, and import it from outcrop.model"
        return b.refuse(f"{b.model.cls.__name__} has no method '{function.attr}'", function, hint)
    role = getattr(found, "outcrop_role", None)
    if isinstance(role, Role) and role.name in ("rule", "start"):
        hint = "put what both do into a helper method"
        return b.refuse(f"'{function.attr}' is a {role.name} and cannot be called", node, hint)
    return call_helper(b, found, node.args, node.keywords, node, receiver=MODEL_SELF, is_statement=is_statement)


def _method(
    b: Body, base: Value, node: ast.Call, function: ast.Attribute, *, is_statement: bool
) -> Value | list[Statement]:
    key = (type(base.kind), function.attr)
    if key in METHODS:
        return METHODS[key](b, base, node)
    if key in CHANGES:
        if not is_changeable(b, base, node.func, "changed"):
            return []
        return CHANGES[key](b, base, node)
    cls = getattr(base.kind, "cls", None)
    found = getattr(cls, function.attr, None)
    if cls is not None and is_helper(found):
        return call_helper(b, found, node.args, node.keywords, node, receiver=base, is_statement=is_statement)
    ours = [name for kind, name in (*METHODS, *CHANGES) if kind is type(base.kind) and not name.startswith("_")]
    hint = f"it has {', '.join(sorted(ours))}" if ours else METHOD_HINTS.get(function.attr, "")
    return b.refuse(f"{base.kind} has no method '{function.attr}'", node, hint)


# --- Changing things ---------------------------------------------------------------------------------------


def is_changeable(b: Body, value: Value, node: ast.AST, action: str) -> bool:
    """Returns whether a value can be changed in its place; reports an error if not. A function that changes it is
    marked."""
    if value.is_unknown:
        return False
    if value.place is None:
        b.error(f"this is not a variable and cannot be {action}", node, "assign it to a name first")
        return False
    if value.fixed:
        b.error(f"this is {value.fixed} and cannot be {action}", node, "copy it to another name first")
        return False
    if reaches_state(value.place):
        if b.pure:
            b.error(f"{b.pure} cannot change anything", node, "move the change to the body of a rule")
            return False
        if b.function is not None:
            b.function.writes_state = True
    return True


# --- Helpers -----------------------------------------------------------------------------------------------


def call_helper(
    b: Body,
    function: Any,
    arguments: Sequence[ast.expr],
    keywords: Sequence[ast.keyword],
    node: ast.AST,
    *,
    receiver: Lowered | None = None,
    is_statement: bool = False,
) -> Value:
    """Lowers a call of a helper, which is lowered itself at its first call."""
    helper = helper_of(b, function, node, receiver)
    if helper is None or helper.is_wrong:
        for each in arguments:
            b.any_expression(each)
        return b.unknown(node)
    if helper.result is None and not is_statement:
        hint = "annotate what it returns: def f(self) -> bool"
        return b.refuse(f"'{function.__name__}' returns nothing", node, hint)
    passed: list[Expression | Place] = []
    if isinstance(receiver, Value):
        passed.append(_passed(b, receiver, helper.function.formals[0], "self"))
    offset = len(passed)
    given = _matched(b, function, helper, arguments, keywords, node)
    if given is None:
        return b.unknown(node)
    for formal, (name, kind), argument in zip(helper.function.formals[offset:], helper.parameters, given, strict=True):
        value = (
            b.expression(argument, kind)
            if isinstance(argument, ast.expr)
            else b.from_object(argument, b.span(node), kind)
        )
        passed.append(_passed(b, value, formal, name, kind))
    _note_effects(b, helper, node)
    result = helper.result or UNKNOWN
    call = Call(
        type=helper.function.result or UNKNOWN.type,
        span=b.span(node),
        function=helper.function,
        arguments=tuple(passed),
    )
    if helper.result is None:
        return Value(INT, call)
    return Value(result, call, fixed=f"what {function.__name__}() returns")


def _matched(
    b: Body,
    function: Any,
    helper: Helper,
    arguments: Sequence[ast.expr],
    keywords: Sequence[ast.keyword],
    node: ast.AST,
) -> list[Any] | None:
    names = [name for name, _ in helper.parameters]
    given: dict[str, Any] = dict(helper.defaults)
    given.update(zip(names, arguments, strict=False))
    for keyword in keywords:
        if keyword.arg not in names:
            b.error(f"'{function.__name__}' has no parameter '{keyword.arg}'", keyword.value)
            return None
        given[keyword.arg] = keyword.value
    missing = [name for name in names if name not in given]
    if missing or len(arguments) > len(names):
        count = len(arguments) + len(keywords)
        b.error(f"'{function.__name__}' takes {len(names)} arguments, but {count} are given", node)
        return None
    return [given[name] for name in names]


def _passed(b: Body, value: Value, formal: Formal, name: str, kind: Kind | None = None) -> Expression | Place:
    if not formal.by_reference:
        return b.fitted(value, kind or value.kind, f"the argument for '{name}'")
    fitted = b.fitted(value, kind or value.kind, f"the argument for '{name}'")
    place = as_place(value) if fitted is value.node else as_place(Value(value.kind, fitted))
    take_reference(place)
    return place


def _note_effects(b: Body, helper: Helper, node: ast.AST) -> None:
    if not helper.is_complete:
        helper.function.is_recursive = True
    if not helper.function.writes_state:
        return
    if b.pure:
        hint = "move the change to the body of a rule"
        b.error(f"'{helper.function.name}' changes the state, which {b.pure} must not do", node, hint)
    if b.function is not None:
        b.function.writes_state = True


def helper_of(b: Body, function: Any, node: ast.AST, receiver: Lowered | None) -> Helper | None:
    """Returns what a helper became; None, and an error, where it cannot be lowered."""
    found = b.model.helpers.get(function)
    if isinstance(found, Helper):
        if not found.is_complete and b.function is not found.function:
            b.error(
                f"'{found.function.name}' calls itself through another helper",
                node,
                "a helper may call itself directly",
            )
            return None
        return found
    place = b.model.sources.of_function(function)
    if place is None:
        b.error(
            f"the source of '{getattr(function, '__name__', function)}' cannot be found", node, "define it in a file"
        )
        return None
    source, tree = place
    body = Body(b.model, source, function_names(function))
    helper = _declared(body, function, tree, receiver)
    b.model.helpers[function] = helper
    errors = b.report.error_count
    if not helper.is_wrong:
        _lower(body, helper, tree)
    helper.is_complete = True
    helper.is_wrong = b.report.error_count > errors or helper.is_wrong
    b.model.functions.append(helper.function)
    return helper


def function_names(function: Any) -> dict[str, Any]:
    """Returns the names that a function sees: those of its module, and constants of functions around it."""
    closure = inspect.getclosurevars(function).nonlocals if getattr(function, "__closure__", None) else {}
    return {**function.__globals__, **closure} if closure else function.__globals__


def _declared(b: Body, function: Any, tree: Any, receiver: Lowered | None) -> Helper:
    """Declares the parameters and the result of a helper."""
    formals: list[Formal] = []
    parameters: list[tuple[str, Kind]] = []
    arguments = [*tree.args.posonlyargs, *tree.args.args]
    is_wrong = False
    if receiver is not None:
        name = arguments[0].arg if arguments else "self"
        arguments = arguments[1:]
        if isinstance(receiver, Value):
            formals.append(_formal(b, name, receiver.kind.required(), b.span(tree)))
        else:
            b.names[name] = MODEL_SELF
    if tree.args.vararg or tree.args.kwarg or tree.args.kwonlyargs:
        b.error(f"'{tree.name}' has * or ** parameters", tree, "list its parameters one by one")
        is_wrong = True
    for each in arguments:
        kind = annotated(b, each, f"the parameter '{each.arg}'", function)
        is_wrong = is_wrong or kind is UNKNOWN
        parameters.append((each.arg, kind))
        formals.append(_formal(b, each.arg, kind, b.span(each)))
    result: Kind | None = None
    if tree.returns is not None:
        annotation = evaluate(b, tree.returns, function)
        if annotation is not None:
            result = b.model.kind_of(annotation, b.span(tree.returns), argument=True)
    is_wrong = is_wrong or result is UNKNOWN
    type_ = None if result is None else b.local("result", result).type
    b.result = result
    made = Function(tree.name, tuple(formals), type_, b.span(tree))
    names = [name for name, _ in parameters]
    given = function.__defaults__ or ()
    defaults = dict(zip(names[len(names) - len(given) :], given, strict=True))
    return Helper(made, parameters, result, defaults, is_wrong=is_wrong)


def _formal(b: Body, name: str, kind: Kind, span: Any) -> Formal:
    by_reference = kind.is_mutable and not kind.type.is_simple
    local = b.local(name, kind, is_parameter=True, is_reference=by_reference)
    fixed = "" if by_reference else "a parameter"
    b.names[name] = b.read_local(local, kind, span, fixed)
    return Formal(local, by_reference)


def annotated(b: Body, argument: ast.arg, what: str, function: Any, *, is_domain: bool = False) -> Kind:
    """Returns the kind of a parameter; UNKNOWN, and an error, where it has no annotation or a wrong one."""
    if argument.annotation is None:
        b.error(f"{what} has no type", argument, f"annotate it: {argument.arg}: Node")
        return UNKNOWN
    annotation = evaluate(b, argument.annotation, function)
    if annotation is None:
        return UNKNOWN
    return b.model.kind_of(annotation, b.span(argument.annotation), argument=not is_domain)


def evaluate(b: Body, node: ast.expr, function: Any = None) -> Any:
    """Returns what an annotation evaluates to; None, and perhaps an error, where it has no value."""
    expression = (
        ast.parse(node.value, mode="eval").body
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        else node
    )
    code = compile(ast.fix_missing_locations(ast.Expression(expression)), "<annotation>", "eval")
    names = {name: value for base in reversed(b.model.cls.__mro__) for name, value in vars(base).items()}
    try:
        return eval(code, b.globals, names)
    except Exception as error:
        b.error(f"this annotation cannot be evaluated: {error}", node)
        return None


def _lower(b: Body, helper: Helper, tree: Any) -> None:
    from outcrop.lang.python.statements import block  # statements call helpers

    b.function = helper.function
    scan_locals(b, tree)
    body = block(b, tree.body)
    if helper.result is None:
        body = [*body, Return(span=b.span(tree))]
    helper.function.body = tuple(body)
    helper.function.frame = b.frame.finish()


EXPRESSIONS[ast.Call] = _call

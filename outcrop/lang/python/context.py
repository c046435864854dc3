"""The common part of the lowering: the current model, the current body, and values.

Every construct of the language is a function in a table: expressions and statements by their syntax node, built-in
functions by name, methods by their kind. A part of an expression that needs statements (a ``sum``, a comprehension, a
constructor) becomes a function of the System; locals that it uses become its formals.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from outcrop.ir.nodes import (
    Call,
    Constant,
    Expression,
    Load,
    Local,
    LocalPlace,
    Place,
    Statement,
    Variable,
)
from outcrop.ir.system import CoverGoal, Formal, Function
from outcrop.lang.frames import FrameBuilder
from outcrop.lang.python.annotations import Kinds, Refused
from outcrop.lang.python.hints import NODES
from outcrop.lang.python.kinds import (
    INT,
    LOCAL_INT,
    LOCAL_INTEGER,
    UNKNOWN,
    BoolKind,
    IntKind,
    Kind,
    NoneKind,
    has_symmetric,
)
from outcrop.lang.python.sources import PythonSource, Sources
from outcrop.lang.python.values import (
    Static,
    Value,
    as_integer,
    converted_to,
    may_be_nothing,
    relaxed,
    strict,
    take_reference,
)
from outcrop.lang.report import Report
from outcrop.model import Model
from outcrop.options import LoadOptions
from outcrop.source import Span


class ModelSelf:
    """The meaning of ``self`` in the methods of a model."""


MODEL_SELF = ModelSelf()

Lowered = Value | Static | ModelSelf
#: By the type of a syntax node.
EXPRESSIONS: dict[type[ast.AST], Callable[[Body, Any, Kind | None], Value]] = {}
STATEMENTS: dict[type[ast.AST], Callable[[Body, Any], list[Statement]]] = {}
#: Built-in functions that are lowered, by the object that their name stands for.
FUNCTIONS: dict[Any, Callable[[Body, ast.Call, Kind | None], Value]] = {}
#: Methods of values by kind and name; those that change the value are statements.
METHODS: dict[tuple[type[Kind], str], Callable[[Body, Value, ast.Call], Value]] = {}
CHANGES: dict[tuple[type[Kind], str], Callable[[Body, Value, ast.Call], list[Statement]]] = {}

#: Built-in functions whose calls with known arguments are known.
_FOLDED = {len, range, min, max, sum, abs, int, bool, tuple, frozenset, divmod, pow, sorted, dict, list, set}
_FOLDED_NODES: tuple[type[ast.AST], ...] = (
    ast.Constant,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.Tuple,
    ast.List,
)
_FOLDED_NODES += (ast.Set, ast.Dict, ast.Subscript, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context)


@dataclass
class Lowering:
    """The model being made."""

    cls: type[Model]
    options: LoadOptions
    sources: Sources
    report: Report = field(default_factory=Report)
    kinds: Kinds = field(default_factory=Kinds)
    fields: dict[str, tuple[Variable, Kind]] = field(default_factory=dict)
    parameters: dict[str, list[Kind]] = field(default_factory=dict)  #: parameters of each method that has a role
    functions: list[Function] = field(default_factory=list)
    covers: list[CoverGoal] = field(default_factory=list)
    helpers: dict[Any, Any] = field(default_factory=dict)  #: functions that were made, by what they were made of
    written: set[str] = field(default_factory=set)  #: fields that the current start state assigns
    read: set[str] = field(default_factory=set)  #: fields that anything reads

    def kind_of(self, annotation: Any, span: Span, *, argument: bool = False) -> Kind:
        """Returns the kind of an evaluated annotation; UNKNOWN, with an error reported, if it is not a type."""
        try:
            return self.kinds.of_argument(annotation) if argument else self.kinds.of(annotation)
        except Refused as refused:
            self.report.error(refused.message, span, refused.hint)
            return UNKNOWN

    def is_constant(self, name: str) -> bool:
        """Returns whether an attribute of the model is a constant or a class, not a field or a method."""
        value = getattr(self.cls, name, None)
        return name not in self.fields and hasattr(self.cls, name) and not hasattr(value, "__code__")


@dataclass
class Loop:
    """The flags of a loop that is left early; made when they are needed."""

    broken: Local | None = None
    skipped: Local | None = None


class Body:
    """A rule, helper, property or part of one, while it is lowered."""

    def __init__(self, model: Lowering, source: PythonSource, names: dict[str, Any], outer: Body | None = None) -> None:
        self.model = model
        self.source = source
        self.globals = names
        self.outer = outer
        self.frame = FrameBuilder()
        self.names: dict[str, Lowered] = {}
        self.local_names: frozenset[str] = frozenset() if outer is None else outer.local_names
        self.bound_once: dict[str, ast.AST] = {} if outer is None else outer.bound_once
        self.loops: list[Loop] = []
        self.function: Function | None = None
        self.result: Kind | None = None
        self.pure: str = "" if outer is None else outer.pure  #: "a guard" or the like, where nothing may change
        self.formals: list[Formal] = []
        self.arguments: list[Expression | Place] = []
        self.in_rule = False
        self.chosen: dict[str, Value] = {}  #: elements that ``choose`` took from a bag, with their slots
        self.copied: dict[str, Value] = {}  #: elements that are used after their removal
        self.bare_fields: bool = False if outer is None else outer.bare_fields  #: fields need no ``self.``
        self._statics: dict[int, tuple[ast.AST, Static | None]] = {}

    @property
    def report(self) -> Report:
        return self.model.report

    def span(self, node: ast.AST) -> Span:
        return self.source.span(node)

    def error(self, message: str, node: ast.AST | Span, hint: str = "") -> None:
        self.report.error(message, node if isinstance(node, Span) else self.span(node), hint)

    def unknown(self, node: ast.AST | Span) -> Value:
        span = node if isinstance(node, Span) else self.span(node)
        return Value(UNKNOWN, Constant(type=UNKNOWN.type, span=span, value=None))

    def refuse(self, message: str, node: ast.AST | Span, hint: str = "") -> Value:
        self.error(message, node, hint)
        return self.unknown(node)

    # --- Names -------------------------------------------------------------------------------------------------

    def lookup(self, name: str) -> Lowered | None:
        """Returns what a local name stands for; one of a body around becomes a formal of the function here."""
        found = self.names.get(name)
        if found is not None or self.outer is None:
            return found
        found = self.outer.lookup(name)
        if isinstance(found, Value) and not isinstance(found.node, Constant):
            found = self.names[name] = self._capture(name, found)
        return found

    def _capture(self, name: str, value: Value) -> Value:
        if value.place is not None and not value.kind.type.is_simple:
            return self.add_reference(name, value)
        local = self.local(name, value.kind, is_parameter=True)
        self.formals.append(Formal(local, by_reference=False))
        self.arguments.append(relaxed(value.node))
        return self.read_local(local, value.kind, value.span, value.fixed or "a value from around")

    def add_reference(self, name: str, value: Value) -> Value:
        """Adds a formal that refers to the place of a value."""
        assert value.place is not None
        local = self.local(name, value.kind, is_parameter=True, is_reference=True)
        take_reference(value.place)
        self.formals.append(Formal(local, by_reference=True))
        self.arguments.append(value.place)
        return self.read_local(local, value.kind, value.span, value.fixed)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Opens a scope: names that are bound inside are forgotten afterwards."""
        before = dict(self.names)
        try:
            yield
        finally:
            self.names = before

    @contextmanager
    def within(self, pure: str) -> Iterator[None]:
        """Marks a context in which nothing may change: "a guard", "an invariant"."""
        before, self.pure = self.pure, pure
        try:
            yield
        finally:
            self.pure = before

    # --- Locals ------------------------------------------------------------------------------------------------

    def local(self, name: str, kind: Kind, *, is_parameter: bool = False, is_reference: bool = False) -> Local:
        type_ = LOCAL_INTEGER if kind is INT else kind.type
        return self.frame.add(name, type_, is_parameter=is_parameter, is_reference=is_reference)

    def read_local(self, local: Local, kind: Kind, span: Span, fixed: str = "") -> Value:
        place = LocalPlace(type=local.type, span=span, local=local)
        return Value(LOCAL_INT if kind is INT else kind, Load(type=local.type, span=span, place=place), place, fixed)

    def read(self, place: Place, kind: Kind, fixed: str = "") -> Value:
        return Value(kind, Load(type=place.type, span=place.span, place=place), place, fixed)

    # --- Expressions -------------------------------------------------------------------------------------------

    def expression(self, node: ast.AST, wanted: Kind | None = None) -> Value:
        """Lowers an expression; ``wanted`` is the kind that it is needed for, where that is known."""
        lowered = self.any_expression(node, wanted)
        if isinstance(lowered, Value):
            return lowered
        if isinstance(lowered, Static):
            return self.from_object(lowered.object, lowered.span, wanted)
        return self.refuse("the model itself cannot be used as a value", node, "name a field: self.name")

    def any_expression(self, node: ast.AST, wanted: Kind | None = None) -> Lowered:
        """Lowers an expression that may be an object known before the model runs."""
        static = self.static(node)
        if static is not None:
            return static
        if isinstance(node, ast.Name):
            found = self.lookup(node.id)
            if isinstance(found, ModelSelf):
                return found
        lower = EXPRESSIONS.get(type(node))
        if lower is None:
            title, hint = NODES.get(type(node), (f"'{type(node).__name__}'", ""))
            return self.refuse(f"{title} cannot be used here", node, hint)
        return lower(self, node, wanted)

    def condition(self, node: ast.AST, what: str) -> Expression:
        """Lowers an expression that must be a bool."""
        value = self.expression(node)
        return self.truth(value, node, what)

    def truth(self, value: Value, node: ast.AST, what: str) -> Expression:
        if value.is_unknown or isinstance(value.kind, BoolKind):
            if value.kind.optional and not value.is_unknown:
                self.error(f"{what} may be None", node, "compare it: x is True")
            return value.node
        emptiness = METHODS.get((type(value.kind), "__bool__"))
        if emptiness is not None:
            return emptiness(self, value, ast.Call(func=ast.Constant(None), args=[], keywords=[])).node
        hint = "compare it, as in x != 0" if isinstance(value.kind, IntKind) else ""
        if value.kind.optional:
            hint = "compare it: x is not None"
        self.error(f"{what} must be a bool, not {value.kind}", node, hint)
        return value.node

    def integer(self, node: ast.AST, what: str) -> Value:
        """Lowers an expression that must be an integer; a bool counts as 0 or 1."""
        value = self.expression(node)
        if isinstance(value.kind, BoolKind) and not value.kind.optional:
            return as_integer(value)
        if isinstance(value.kind, IntKind) or value.is_unknown:
            return value
        hint = f"values of {value.kind} have no numbers" if has_symmetric(value.kind) else ""
        return self.refuse(f"{what} must be an int, not {value.kind}", node, hint)

    # --- Objects that are known --------------------------------------------------------------------------------

    def static(self, node: ast.AST) -> Static | None:
        """Returns what an expression stands for that is known before the model runs; None where it is not."""
        if id(node) not in self._statics:  # the node is kept, so that no other one gets its number
            self._statics[id(node)] = (node, self._static(node))
        return self._statics[id(node)][1]

    def _static(self, node: ast.AST) -> Static | None:
        match node:
            case ast.Name():
                return self._static_name(node)
            case ast.Attribute():
                if isinstance(node.value, ast.Name) and isinstance(self.lookup_self(node.value.id), ModelSelf):
                    known = self.model.is_constant(node.attr)
                    return Static(getattr(self.model.cls, node.attr), self.span(node)) if known else None
                base = self.static(node.value)
                if base is None or not hasattr(base.object, node.attr):
                    return None
                return Static(getattr(base.object, node.attr), self.span(node))
            case ast.Call(keywords=[]):
                called = self.static(node.func)
                if called is None or not _is_folded(called.object):
                    return None
                return self._folded(node, [node.func, *node.args])
            case _ if isinstance(node, _FOLDED_NODES):
                return self._folded(node, list(ast.iter_child_nodes(node)))
        return None

    def _static_name(self, node: ast.Name) -> Static | None:
        if node.id in self.local_names or self.lookup_self(node.id) is not None:
            return None
        if node.id in self.globals:
            return Static(self.globals[node.id], self.span(node))
        if hasattr(builtins, node.id):
            return Static(getattr(builtins, node.id), self.span(node))
        return None

    def lookup_self(self, name: str) -> Lowered | None:
        """Looks a name up without making a formal of it."""
        body: Body | None = self
        while body is not None:
            if name in body.names:
                return body.names[name]
            body = body.outer
        return None

    def _folded(self, node: ast.AST, parts: Sequence[ast.AST]) -> Static | None:
        if any(not isinstance(each, ast.expr_context | ast.operator | ast.unaryop | ast.boolop | ast.cmpop)
               and self.static(each) is None for each in parts):  # fmt: skip
            return None
        names = {"self": self.model.cls}
        code = compile(ast.fix_missing_locations(ast.Expression(node)), "<constant>", "eval")  # type: ignore[arg-type]
        try:
            return Static(eval(code, self.globals, names), self.span(node))
        except Exception:
            return None  # an error of the model, where it is executed

    def from_object(self, found: Any, span: Span, wanted: Kind | None = None) -> Value:
        """Returns the value of an object that is known before the model runs."""
        from outcrop.lang.python.objects import object_value  # it builds values with all that is here

        return object_value(self, found, span, wanted)

    # --- Fitting values ----------------------------------------------------------------------------------------

    def fitted(self, value: Value, kind: Kind, what: str) -> Expression:
        """Returns a value as one of ``kind``; reports an error that begins with ``what`` if it does not fit. None
        passes only where the kind allows it: elsewhere it is an error when the model runs."""
        converted = converted_to(value, kind)
        if converted is None:
            self.error(f"{what} is {value.kind}, not {kind}", value.span, _hint(value.kind, kind))
            return self.unknown(value.span).node
        if value.kind.optional and not kind.optional and may_be_nothing(value.node):
            self.error(f"{what} may be None", value.span, f"declare it as {kind.title} | None")
        return relaxed(converted) if kind.optional else strict(converted)

    def unified(self, left: Value, right: Value) -> tuple[Expression, Expression] | None:
        """Returns two values as ones of one kind, so that they can be compared; None if there is no such kind."""
        for target in (left.kind, right.kind):
            first, second = converted_to(left, target), converted_to(right, target)
            if first is not None and second is not None and not isinstance(target, NoneKind):
                return first, second
        return None


def _is_folded(called: Any) -> bool:
    try:
        return called in _FOLDED
    except TypeError:
        return False


def _hint(given: Kind, wanted: Kind) -> str:
    if isinstance(given, NoneKind):
        return f"declare it as {wanted.title} | None" if wanted.type.is_simple else ""
    if isinstance(wanted, BoolKind) and isinstance(given, IntKind):
        return "compare it, as in x != 0"
    if has_symmetric(wanted) and isinstance(given, IntKind):
        return f"values of {wanted.title} have no numbers: use a parameter, a loop or choose(...)"
    return ""


def generated(b: Body, name: str, kind: Kind, span: Span, build: Callable[[Body], list[Statement]]) -> Value:
    """Returns a call of a function that is made for one expression; ``build`` lowers its body. Locals of ``b`` that the
    body uses become formals."""
    inner = Body(b.model, b.source, b.globals, outer=b)
    inner.result = kind
    body = tuple(build(inner))
    type_ = LOCAL_INTEGER if kind is INT else kind.type
    function = Function(name, tuple(inner.formals), type_, span, inner.frame.finish(), body)
    b.model.functions.append(function)
    call = Call(type=type_, span=span, function=function, arguments=tuple(inner.arguments))
    return Value(LOCAL_INT if kind is INT else kind, call, fresh=True)

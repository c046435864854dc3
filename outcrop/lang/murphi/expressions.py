"""Expressions without operators: literals, reads, quantifiers and calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from outcrop.ir.nodes import (
    Call,
    Constant,
    Domain,
    Expression,
    IsMember,
    IsUndefined,
    Load,
    Local,
    MultisetCount,
    Place,
    Quantified,
    Quantifier,
    RealCall,
    StepDomain,
    TypeDomain,
    Undefined,
)
from outcrop.ir.system import Function
from outcrop.ir.types import BOOLEAN, DOUBLE, INTEGER, Enum, Multiset, Range, Scalarset, Simple, Type, Union
from outcrop.lang.murphi import syntax
from outcrop.lang.murphi.operators import OperatorLowering, is_discrete
from outcrop.lang.murphi.scope import (
    UNKNOWN,
    FunctionSymbol,
    LocalSymbol,
    UnknownSymbol,
    ValueSymbol,
    VariableSymbol,
    describe,
    kind_of,
)
from outcrop.lang.murphi.undefined import is_same_type
from outcrop.lang.report import did_you_mean
from outcrop.options import LoadOptions
from outcrop.source import Source, Span

_LOOP_TYPES = "use a range, an enumeration, a scalarset, a union or boolean"
_TRIGONOMETRIC = ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh")
_OTHERS = ("log", "log10", "exp", "fabs", "floor", "ceil", "sqrt")
#: The functions on reals, with their numbers of arguments.
REAL_FUNCTIONS = {**dict.fromkeys((*_TRIGONOMETRIC, *_OTHERS), 1), "fmod": 2, "pow": 2}
#: Largest number of values of a quantifier or loop with constant bounds.
MAX_TURNS = 10**10


class ExpressionLowering(OperatorLowering):
    def __init__(self, source: Source, options: LoadOptions, declared_later: dict[str, Span]) -> None:
        super().__init__(source, options, declared_later)
        self.constant_locals: set[Local] = set()  #: locals that are always defined, and never assigned while in scope
        self._expressions: dict[type, Callable[[Any], Expression]] = {
            syntax.Integer: lambda node: Constant(type=INTEGER, span=node.span, value=node.value),
            syntax.RealNumber: lambda node: Constant(type=DOUBLE, span=node.span, value=node.value),
            syntax.Identifier: self._name,
            syntax.FieldAccess: self._read,
            syntax.ElementAccess: self._read,
            syntax.UnaryOperation: self.unary,
            syntax.BinaryOperation: self.binary,
            syntax.ConditionalOperation: self.conditional,
            syntax.QuantifiedOperation: self._quantified,
            syntax.CallOperation: self._call_value,
            syntax.IsUndefinedOperation: self._is_undefined,
            syntax.IsMemberOperation: self._is_member,
            syntax.MultisetCountOperation: self._multiset_count,
        }

    def exact(self, node: syntax.Expression) -> Expression:
        return self._expressions[type(node)](node)

    def expression(self, node: syntax.Expression) -> Expression:
        return self.settled(self._expressions[type(node)](node))

    # --- Reads ---------------------------------------------------------------------------------------------

    def is_undefined_literal(self, node: syntax.Expression) -> bool:
        """Returns whether ``node`` is the word ``undefined``, and not a name of the model."""
        return (
            type(node) is syntax.Identifier and node.name.lower() == "undefined" and self.scope.find(node.name) is None
        )

    def _name(self, node: syntax.Identifier) -> Expression:
        if self.is_undefined_literal(node):
            hint = "test for it with 'isundefined(...)'"
            message = "'undefined' can only be assigned, or passed to a procedure or function"
            self.report.error(message, node.span, hint)
            return self.unknown(node.span)
        return self._read(node)

    def _read(self, node: syntax.Expression) -> Expression:
        designated = self.designate(node)
        if type(designated) is tuple:
            place = designated[0]
            if place.type is UNKNOWN:
                return self.unknown(node.span)
            return Load(type=place.type, span=node.span, place=place)
        return self.unknown(node.span) if designated is None else designated  # type: ignore[return-value]

    def _is_undefined(self, node: syntax.IsUndefinedOperation) -> Expression:
        if type(node.operand) is syntax.Identifier and isinstance(self.scope.find(node.operand.name), ValueSymbol):
            return Constant(type=BOOLEAN, span=node.span, value=0)
        place = self.place(node.operand, "the operand of 'isundefined'")
        if place is None:
            return self.unknown(node.span)
        if not place.type.is_simple:
            message = f"'isundefined' asks about simple values, not {describe(place.type)}"
            self.report.error(message, node.operand.span, "ask about one component of it")
            return self.unknown(node.span)
        return IsUndefined(type=BOOLEAN, span=node.span, place=place)

    def _is_member(self, node: syntax.IsMemberOperation) -> Expression:
        operand = self.expression(node.operand)
        member = self.type_expression(node.type)
        if operand.type is UNKNOWN or member is UNKNOWN:
            return self.unknown(node.span)
        fits = isinstance(member, Enum | Scalarset) and (
            operand.type == member or (isinstance(operand.type, Union) and operand.type.offset(member) is not None)
        )
        if not fits:
            message = f"{describe(operand.type)} has no member type {describe(member)}"
            self.report.error(message, node.span, "'ismember' asks which part of a union a value belongs to")
            return self.unknown(node.span)
        assert isinstance(member, Simple)
        operand = self.relaxed(operand, Undefined.ALLOW)
        return IsMember(type=BOOLEAN, span=node.span, operand=operand, member=member)

    # --- Quantifiers ---------------------------------------------------------------------------------------

    def domain(self, node: syntax.QuantifierSyntax) -> tuple[Type, Domain] | None:
        """Returns the type of a quantifier's variable and its values; None after an error."""
        if isinstance(node, syntax.TypeQuantifier):
            kind = self.type_expression(node.type)
            if kind is UNKNOWN:
                return None
            if not is_discrete(kind):
                self.report.error(
                    f"'{node.name.text}' cannot run through {describe(kind)}", node.type.span, _LOOP_TYPES
                )
                return None
            assert isinstance(kind, Simple)
            if not self._ends(kind.cardinality, node.type.span):
                return None
            return kind, TypeDomain(type=kind)
        first = self._bound(node.first, "the first value")
        last = self._bound(node.last, "the last value")
        step = self._bound(node.step, "the step") if node.step is not None else None
        if first is None or last is None or (step is None and node.step is not None):
            return None
        if not self._steps_forward(node, first, last, step):
            return None
        return _step_type(first, last), StepDomain(first=first, last=last, step=step, span=node.span)

    def _bound(self, node: syntax.Expression, what: str) -> Expression | None:
        value = self.expression(node)
        if value.type is UNKNOWN:
            return None
        if not isinstance(value.type, Range):
            self.report.error(f"{what} must be an integer, not {describe(value.type)}", value.span)
            return None
        return value

    def _steps_forward(
        self, node: syntax.StepQuantifier, first: Expression, last: Expression, step: Expression | None
    ) -> bool:
        stride = 1 if step is None else step.value if isinstance(step, Constant) else None
        if stride == 0:
            self.report.error("a step of 0 never ends", node.span, "write 'by 1' to count up, 'by -1' to count down")
            return False
        if stride is None or not isinstance(first, Constant) or not isinstance(last, Constant):
            return True
        assert first.value is not None and last.value is not None
        if first.value != last.value and (first.value < last.value) != (stride > 0):
            message = f"counting from {first.value} in steps of {stride} never reaches {last.value}"
            hint = "write 'by -1' to count down" if step is None else "exchange the bounds, or the sign of the step"
            self.report.error(message, node.span, hint)
            return False
        return self._ends(int(abs(last.value - first.value) // abs(stride)) + 1, node.span)

    def _ends(self, turns: int, span: Span) -> bool:
        """Returns whether a loop can end within some seconds, since nothing can interrupt a rule. Reports an error if
        not."""
        if turns > MAX_TURNS:
            message = f"this runs through {turns:,} values; at most {MAX_TURNS:,} are possible"
            self.report.error(message, span, "use a smaller range")
        return turns <= MAX_TURNS

    def bind_loop_variable(self, name: syntax.Name, kind: Type, what: str) -> Local:
        """Declares the variable of a quantifier or loop in the current scope."""
        local = self.frame.add(name.text, kind)
        self.constant_locals.add(local)
        self.declare(name, LocalSymbol(local, name.span, what))
        return local

    def _quantified(self, node: syntax.QuantifiedOperation) -> Expression:
        with self.block():
            return self._quantified_from(node, 0)

    def _quantified_from(self, node: syntax.QuantifiedOperation, position: int) -> Expression:
        if position == len(node.quantifiers):
            return self.condition(node.body, f"the body of '{node.kind}'")
        quantifier = node.quantifiers[position]
        domain = self.domain(quantifier)
        if domain is None:
            self.declare(quantifier.name, UnknownSymbol(quantifier.name.span))
            self._quantified_from(node, position + 1)
            return self.unknown(node.span)
        variable = self.bind_loop_variable(quantifier.name, domain[0], "a quantified variable")
        body = self._quantified_from(node, position + 1)
        if body.type is UNKNOWN:
            return body
        kind = Quantifier(node.kind)
        return Quantified(type=BOOLEAN, span=node.span, quantifier=kind, variable=variable, domain=domain[1], body=body)

    def bind_slot(self, name: syntax.Name, multiset: Multiset, is_parameter: bool = False) -> Local:
        """Declares a variable that numbers the slots of a multiset."""
        local = self.frame.add(name.text, multiset.index, is_parameter=is_parameter)
        self.constant_locals.add(local)
        self.declare(name, LocalSymbol(local, name.span, "a slot number", multiset))
        return local

    def multiset_place(self, node: syntax.Expression, *, writing: bool) -> Place | None:
        place = self.target(node, "changed", reading=True) if writing else self.place(node, "a multiset")
        if place is not None and not isinstance(place.type, Multiset):
            self.report.error(f"'{node.span.text}' is {describe(place.type)}, not a multiset", node.span)
            return None
        return place

    def _multiset_count(self, node: syntax.MultisetCountOperation) -> Expression:
        place = self.multiset_place(node.multiset, writing=False)
        if place is None:
            return self.unknown(node.span)
        assert isinstance(place.type, Multiset)
        with self.block():
            variable = self.bind_slot(node.name, place.type)
            condition = self.condition(node.condition, "the condition of 'multisetcount'")
        return MultisetCount(type=INTEGER, span=node.span, variable=variable, place=place, condition=condition)

    # --- Calls ---------------------------------------------------------------------------------------------

    def _call_value(self, node: syntax.CallOperation) -> Expression:
        name = node.name.text
        if self.scope.find(name) is None and name.lower() in REAL_FUNCTIONS:
            return self._real_call(node)
        call = self.call(node)
        if call is None:
            return self.unknown(node.span)
        if call.function.result is None:
            self.report.error(
                f"'{name}' is a procedure and has no value",
                node.span,
                "declare it as a function, with the type of its value",
            )
            return self.unknown(node.span)
        return call

    def call(self, node: syntax.CallOperation) -> Call | None:
        """Returns a call of a procedure or function of the model; None after an error."""
        name = node.name.text
        symbol = self.lookup_function(node.name)
        if symbol is None:
            for argument in node.arguments:
                if not self.is_undefined_literal(argument):
                    self.expression(argument)
            return None
        function = symbol.function
        formals = function.formals
        if len(formals) != len(node.arguments):
            message = f"'{name}' takes {_count(len(formals), 'argument')}, not {len(node.arguments)}"
            self.report.error(message, node.span, "", (f"'{name}' is declared here", symbol.span))
            return None
        arguments: list[Expression | Place] = []
        for formal, argument in zip(formals, node.arguments, strict=True):
            if formal.by_reference:
                place = self._reference_argument(function, formal.local, argument)
                if place is None:
                    continue
                arguments.append(place)
            else:
                arguments.append(self._value_argument(formal.local, argument))
        if len(arguments) < len(formals):
            return None
        self._note_call(function, node.span)
        return Call(type=function.result or UNKNOWN, span=node.span, function=function, arguments=tuple(arguments))

    def lookup_function(self, name: syntax.Name) -> FunctionSymbol | None:
        symbol = self.scope.find(name.text)
        if isinstance(symbol, FunctionSymbol):
            return symbol
        if symbol is None:
            if name.text in self.declared_later:
                self.lookup(name.text, name.span)
                return None
            functions = [each for each in self.scope.visible() if isinstance(self.scope.find(each), FunctionSymbol)]
            hint = did_you_mean(name.text, functions)
            self.report.error(f"unknown procedure or function '{name.text}'", name.span, hint)
        elif not isinstance(symbol, UnknownSymbol):
            hint = "an element of an array is written a[1]" if isinstance(symbol, VariableSymbol) else ""
            self.report.error(f"'{name.text}' is {kind_of(symbol)} and cannot be called", name.span, hint)
        return None

    def _value_argument(self, formal: Local, node: syntax.Expression) -> Expression:
        if self.is_undefined_literal(node):
            return Constant(type=formal.type, span=node.span, value=None)
        value = self.expression(node)
        is_converted = self.lenient is not Undefined.ERROR and not is_same_type(value.type, formal.type)
        relax = self.relaxed_unread if is_converted else self.relaxed
        return relax(self.fitted(value, formal.type, f"the argument for '{formal.name}'"), Undefined.ALLOW)

    def _reference_argument(self, function: Function, formal: Local, node: syntax.Expression) -> Place | None:
        place = self.writable(node, f"passed to '{formal.name}', a 'var' parameter of '{function.name}'", reading=True)
        if place is None:
            return None
        if place.type != formal.type and formal.type is not UNKNOWN:
            message = f"the argument for '{formal.name}' is {describe(place.type)}, not {describe(formal.type)}"
            self.report.error(message, node.span, "a 'var' argument must have exactly the type of the parameter")
            return None
        self.take_reference(place)
        return place

    def _note_call(self, function: Function, span: Span) -> None:
        if function is self.function:
            function.is_recursive = True
        elif self.function is not None and function.writes_state:
            self.function.writes_state = True
        if self.pure_context and function.writes_state:
            message = f"'{function.name}' may change the state, and is called in {self.pure_context}"
            self.report.warning(message, span, "its changes are lost; call it in the body of a rule")

    def _real_call(self, node: syntax.CallOperation) -> Expression:
        name = node.name.text.lower()
        if len(node.arguments) != REAL_FUNCTIONS[name]:
            expected = _count(REAL_FUNCTIONS[name], "argument")
            self.report.error(f"'{name}' takes {expected}, not {len(node.arguments)}", node.span)
            return self.unknown(node.span)
        arguments = tuple(self.fitted(self.expression(each), DOUBLE, "the argument") for each in node.arguments)
        if any(each.type is UNKNOWN for each in arguments):
            return self.unknown(node.span)
        return RealCall(type=DOUBLE, span=node.span, name=name, arguments=arguments)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number or 'no'} {noun}s"


def _step_type(first: Expression, last: Expression) -> Type:
    """Returns a type that contains every value between two bounds."""
    lows, highs = [], []
    for bound in (first, last):
        if isinstance(bound, Constant):
            assert isinstance(bound.value, int)
            lows.append(bound.value)
            highs.append(bound.value)
        else:
            assert isinstance(bound.type, Range)
            lows.append(bound.type.low)
            highs.append(bound.type.high)
    return Range(min(lows), max(highs)) if min(lows) > INTEGER.low else INTEGER

"""Expressions in C. An expression that needs no statement stays one C expression; others use temporaries."""

from __future__ import annotations

from dataclasses import replace

from outcrop.codegen import bounds
from outcrop.codegen.bounds import INT64, TRUTH, Interval
from outcrop.codegen.code import Address, Value
from outcrop.codegen.logic import Logic
from outcrop.codegen.text import bare, integer, negated
from outcrop.ir.layout import size
from outcrop.ir.nodes import (
    Binary,
    BinaryOperator,
    Bind,
    Call,
    Conditional,
    Constant,
    Convert,
    Expression,
    IsMember,
    IsUndefined,
    Let,
    Load,
    MultisetCount,
    Place,
    Quantified,
    RealCall,
    SlotUsed,
    Unary,
    UnaryOperator,
    Undefined,
    Witnessed,
)
from outcrop.ir.types import Enum, Multiset, Real, Scalarset, Simple, Union
from outcrop.ir.walk import writes_state

_COMPARISONS = {
    BinaryOperator.LESS: "<",
    BinaryOperator.LESS_EQUAL: "<=",
    BinaryOperator.GREATER: ">",
    BinaryOperator.GREATER_EQUAL: ">=",
}
_INFIX = {
    BinaryOperator.ADD: "+",
    BinaryOperator.SUBTRACT: "-",
    BinaryOperator.MULTIPLY: "*",
    BinaryOperator.DIVIDE: "/",
    BinaryOperator.REMAINDER: "%",
    BinaryOperator.BIT_AND: "&",
    BinaryOperator.BIT_OR: "|",
    BinaryOperator.BIT_XOR: "^",
}
_OVERFLOWING = {
    BinaryOperator.ADD: "__builtin_add_overflow",
    BinaryOperator.SUBTRACT: "__builtin_sub_overflow",
    BinaryOperator.MULTIPLY: "__builtin_mul_overflow",
}
_SHIFTS = {BinaryOperator.SHIFT_LEFT: "shift_left", BinaryOperator.SHIFT_RIGHT: "shift_right"}
_DIVISIONS = (BinaryOperator.DIVIDE, BinaryOperator.REMAINDER)
_EQUALITIES = (BinaryOperator.EQUAL, BinaryOperator.NOT_EQUAL)
_LOGICAL = (BinaryOperator.AND, BinaryOperator.OR, BinaryOperator.IMPLIES)

TRUE, FALSE = Value("1", Interval(1, 1)), Value("0", Interval(0, 0))


def truth(text: str) -> Value:
    return Value(text, TRUTH)


class Expressions(Logic):
    """Writes code for expressions."""

    def value(self, node: Expression) -> Value:
        """Returns the value of an expression of simple type."""
        match node:
            case Constant():
                assert isinstance(node.type, Simple)
                return self.constant(node.type, node.value)
            case Load():
                return self.load(node)
            case Unary():
                return self._unary(node)
            case Binary():
                return self._binary(node)
            case Conditional():
                return self._conditional(node)
            case Quantified():
                self.only_for_real()
                return truth(self.quantified(node))
            case IsUndefined():
                return self._is_undefined(node)
            case IsMember():
                return self._is_member(node)
            case Convert():
                return self._convert(node)
            case SlotUsed():
                assert isinstance(node.place.type, Multiset)
                slot = self.slot(self.address(node.place), node.index, node.place.type)
                return truth(self.keep("int", self.slot_flag(slot)))
            case MultisetCount():
                return self._multiset_count(node)
            case Call():
                return self._call(node)
            case RealCall():
                return self._real_call(node)
            case Let():
                self._let(node)
                return self.value(node.body)
            case Witnessed():
                self.only_for_real()
                self.has_effects = True
                mark = self.unit.mark(node.note)
                return truth(f"({self.condition(node.operand)} && (likely({mark}) || ({mark} = 1)))")
        raise TypeError(f"not an expression: {node}")

    def defined(self, node: Expression) -> Value:
        """Returns the value of an expression; an undefined one fails."""
        return self.require(self.value(node))

    def condition(self, node: Expression) -> str:
        value = self.defined(node)
        if value.packed is not None and value.kind is not None:
            return f"({value.packed} == 2)"  # boolean true in packed form
        return value.text

    def complex_value(self, node: Expression) -> Address:
        """Returns the address of the leaves of an expression of complex type."""
        match node:
            case Constant():
                return self.buffer(node.type)
            case Load():
                return self.address(node.place)
            case Let():
                self._let(node)
                return self.complex_value(node.body)
            case Call():
                result = self.buffer(node.type)
                self.invoke(node, result.base)
                return result
            case Conditional():
                return self._complex_conditional(node)
        raise TypeError(f"not a complex expression: {node}")

    # --- Operators ---

    def _unary(self, node: Unary) -> Value:
        if node.operator is UnaryOperator.NOT:
            return truth(negated(self.condition(node.operand)))
        operand = self.defined(node.operand)
        if node.operator is UnaryOperator.COMPLEMENT:
            return Value(f"(~{operand.text})", Interval(~operand.interval.high, ~operand.interval.low))
        if isinstance(node.type, Real):
            return Value(f"(-{operand.text})")
        return self._arithmetic(BinaryOperator.SUBTRACT, self.constant_value(0), operand)

    def constant_value(self, value: int) -> Value:
        return Value(integer(value), Interval(value, value))

    def _binary(self, node: Binary) -> Value:
        if node.operator in _LOGICAL:
            return truth(self.logical(node))
        if node.operator in _EQUALITIES:
            equal = self._equality(node)
            return truth(equal if node.operator is BinaryOperator.EQUAL else negated(equal))
        left, right = self.defined(node.left), self.defined(node.right)
        if node.operator in _COMPARISONS:
            return truth(f"({left.text} {_COMPARISONS[node.operator]} {right.text})")
        if isinstance(node.type, Real):
            return self._real_arithmetic(node.operator, left, right)
        return self._arithmetic(node.operator, left, right)

    def _arithmetic(self, operator: BinaryOperator, left: Value, right: Value) -> Value:
        if operator in _DIVISIONS and right.constant == 0:
            self.check("1")
            return left  # never reached
        if operator in _DIVISIONS and right.interval.low <= 0 <= right.interval.high:
            right = replace(right, text=self.keep("Integer", right.text))
            self.check(f"{right.text} == 0")
        interval = bounds.OPERATIONS[operator](left.interval, right.interval)
        integers = self.unit.integers
        if interval.constant is not None and operator not in _DIVISIONS and interval.within(integers):
            return self.constant_value(interval.constant)
        if operator in _SHIFTS:
            return Value(f"{_SHIFTS[operator]}({bare(left.text)}, {bare(right.text)})", interval)
        if operator is BinaryOperator.REMAINDER and right.interval.low <= -1 <= right.interval.high:
            return Value(f"remainder_of({bare(left.text)}, {bare(right.text)})", interval)
        if interval.within(integers):
            return Value(f"({left.text} {_INFIX[operator]} {right.text})", interval)
        if operator is BinaryOperator.DIVIDE:
            left, right = (replace(each, text=self.keep("Integer", each.text)) for each in (left, right))
            self.check(f"{left.text} == INT64_MIN && {right.text} == -1")
            return Value(f"({left.text} / {right.text})", interval.clipped(integers))
        if operator not in _OVERFLOWING:
            return self.limit(Value(f"({left.text} {_INFIX[operator]} {right.text})", interval), integers)
        result = self.name()
        self.line(f"Integer {result};")
        self.check(f"{_OVERFLOWING[operator]}((Integer){left.text}, (Integer){right.text}, &{result})")
        if integers == INT64:
            return Value(result, interval.clipped(INT64))
        return self.limit(Value(result, interval), integers)  # an Integer is wider than that

    def _real_arithmetic(self, operator: BinaryOperator, left: Value, right: Value) -> Value:
        if operator in _DIVISIONS:
            self.check(f"{right.text} == 0")
        if operator is BinaryOperator.REMAINDER:
            return self._finite(f"fmod({left.text}, {right.text})")
        return self._finite(f"({left.text} {_INFIX[operator]} {right.text})")

    def _finite(self, text: str) -> Value:
        name = self.constant_of(self.real("double"), text)
        self.check(f"!__builtin_isfinite({name})")
        return Value(name)

    def _equality(self, node: Binary) -> str:
        if not isinstance(node.left.type, Simple):
            left = self.complex_value(node.left)
            if writes_state(node.right):
                left = self.copied(left, node.left)
            right = self.complex_value(node.right)
            return f"equal_bits({left.text}, {right.text}, {size(node.left.type)})"
        return self.equal(self.value(node.left), self.value(node.right))

    def copied(self, source: Address, node: Expression) -> Address:
        target = self.buffer(node.type)
        self.copy(target, source, size(node.type))
        return target

    def equal(self, left: Value, right: Value) -> str:
        """Returns C for equality. Undefined equals only undefined."""
        for one, other in ((left, right), (right, left)):
            if one.packed is not None and one.kind is not None:
                packed = self.packed_as(one.kind, other)
                if packed is not None:
                    return f"({one.packed} == {packed})"
        same = f"({left.text} == {right.text})"
        known = [each.defined for each in (left, right) if each.defined is not None]
        if not known:
            return same
        if len(known) == 1:
            return f"({known[0]} && {same})"
        return f"({known[0]} ? {known[1]} && {same} : !{known[1]})"

    def _conditional(self, node: Conditional) -> Value:
        assert isinstance(node.type, Simple)
        condition = self.condition(node.condition)
        with self.block() as then_lines:
            then = self.value(node.then)
        with self.block() as else_lines:
            otherwise = self.value(node.otherwise)
        is_real = isinstance(node.type, Real)
        c_type = self.real("double") if is_real else "Integer"
        interval = INT64 if is_real else then.interval.joined(otherwise.interval)
        are_defined = then.defined is None and otherwise.defined is None
        if not then_lines and not else_lines and are_defined:
            return Value(f"({condition} ? ({c_type}){then.text} : ({c_type}){otherwise.text})", interval)
        self.only_for_real()
        result, defined = self.name(), None if are_defined else self.name()
        self.line(f"{c_type} {result};")
        if defined is not None:
            self.line(f"int {defined};")
        for value, lines in ((then, then_lines), (otherwise, else_lines)):
            lines.append(f"{result} = {bare(value.text)};")
            if defined is not None:
                lines.append(f"{defined} = {bare(value.defined or '1')};")
        self.branch(condition, then_lines, else_lines)
        return Value(result, interval, defined)

    def _complex_conditional(self, node: Conditional) -> Address:
        self.only_for_real()
        result = self.buffer(node.type)
        condition = self.condition(node.condition)
        with self.block() as then_lines:
            self.copy(result, self.complex_value(node.then), size(node.type))
        with self.block() as else_lines:
            self.copy(result, self.complex_value(node.otherwise), size(node.type))
        self.branch(condition, then_lines, else_lines)
        return result

    # --- Domains ---

    def _multiset_count(self, node: MultisetCount) -> Value:
        assert isinstance(node.place.type, Multiset)
        self.only_for_real()
        result = self.name()
        self.line(f"Integer {result} = 0;")
        with self.used_slots(node.variable, self.address(node.place), node.place.type):
            self.line(f"{result} += {bare(self.condition(node.condition))};")
        return Value(result, Interval(0, node.place.type.capacity))

    # --- Types ---

    def _is_undefined(self, node: IsUndefined) -> Value:
        assert isinstance(node.place.type, Simple)
        location = self.place(node.place)
        if isinstance(location, Value):
            return FALSE if location.defined is None else truth(f"(!{location.defined})")
        return truth(f"({self.read_packed(location, node.place.type)} == 0)")

    def _is_member(self, node: IsMember) -> Value:
        union, operand = node.operand.type, self.value(node.operand)
        start = union.offset(node.member) if isinstance(union, Union) else 0
        if start is None or node.member.cardinality == 0:
            return FALSE
        text = self.keep("Integer", operand.text)
        tests = [] if operand.defined is None else [operand.defined]
        end = start + node.member.cardinality - 1
        if operand.interval.low < start:
            tests.append(f"{text} >= {start}")
        if operand.interval.high > end:
            tests.append(f"{text} <= {end}")
        return truth(f"({' && '.join(tests)})") if tests else TRUE

    def _convert(self, node: Convert) -> Value:
        value, source, target = self.value(node.operand), node.operand.type, node.type
        assert isinstance(source, Simple) and isinstance(target, Simple)
        if source == target:
            return value
        if isinstance(target, Real):
            return Value(self.real(f"((double){value.text})"), INT64, value.defined)
        members = source.members if isinstance(source, Union) else (source,)
        value = replace(value, text=self.keep("Integer", value.text), packed=None, kind=None)
        pieces, start = [], 0  # pairs of the last ordinal of a member and the number to add
        for member in members:
            assert isinstance(member, Enum | Scalarset)
            at = target.offset(member) if isinstance(target, Union) else (0 if target == member else None)
            if at is not None:
                pieces.append((Interval(start, start + member.cardinality - 1), at - start))
            start += member.cardinality
        return self._convert_pieces(value, pieces)

    def _convert_pieces(self, value: Value, pieces: list[tuple[Interval, int]]) -> Value:
        """Returns the ordinal plus the number of the piece that it lies in; outside all pieces it fails."""
        if not pieces:
            self.check(value.defined or "1")
            return Value("0", INT64, value.defined)
        if len(pieces) == 1:
            (interval, shift) = pieces[0]
            value = self.limit(value, interval)
            return replace(
                value,
                text=f"({value.text} + {integer(shift)})",
                interval=bounds.add(value.interval, Interval(shift, shift)),
            )
        inside = " || ".join(f"({value.text} >= {piece.low} && {value.text} <= {piece.high})" for piece, _ in pieces)
        self.check(f"!({inside})" if value.defined is None else f"{value.defined} && !({inside})")
        choices = "".join(f"{value.text} <= {piece.high} ? {integer(shift)} : " for piece, shift in pieces[:-1])
        text = f"({value.text} + ({choices}{integer(pieces[-1][1])}))"
        return Value(text, Interval(0, pieces[-1][0].high + max(shift for _, shift in pieces)), value.defined)

    # --- Calls ---

    def _call(self, node: Call) -> Value:
        assert isinstance(node.type, Simple)
        result = self.name()
        self.line(f"uint64_t {result} = 0;")
        self.invoke(node, f"&{result}")
        callee = self.unit.functions[node.function]
        value = self.unpacked(node.type, result, may_be_undefined=callee.may_be_undefined)
        return self.require(value) if node.undefined is Undefined.ERROR else value

    def invoke(self, node: Call, result: str = "") -> None:
        """Writes a call of a function; ``result`` points to the place of its result."""
        arguments = [self.state, "context"]
        for formal, argument in zip(node.function.formals, node.arguments, strict=True):
            if isinstance(argument, Place):
                address = self.address(argument)
                arguments.append(f"(uint8_t *){address.text}")
            elif isinstance(formal.local.type, Simple):
                packed = self.pack(formal.local.type, self.value(argument))
                arguments.append(bare(packed))
            else:
                arguments.append(self.copied(self.complex_value(argument), argument).base)
        if result:
            arguments.append(result)
        self.call(f"{self.unit.functions[node.function].name}({', '.join(arguments)})")

    def _real_call(self, node: RealCall) -> Value:
        arguments = [bare(self.defined(argument).text) for argument in node.arguments]
        return self._finite(f"{node.name}({', '.join(arguments)})")

    def _let(self, node: Let) -> None:
        for binding in node.bindings:
            self.bind_alias(binding)

    def bind_alias(self, node: Bind) -> None:
        local, target = node.local, node.target
        if isinstance(target, Place):
            location = self.place(target)
            self.locals[local] = self.frozen_address(location) if isinstance(location, Address) else location
        elif isinstance(local.type, Simple):
            self.bind(local, self.frozen(self.value(target), local.type))
        else:
            self.locals[local] = self.copied(self.complex_value(target), target)

"""The evaluation of expressions.

Each node is compiled once to a Python closure over ``(state, frame)``; see places.py. A complex value is a tuple of
leaves.

Closures call one another directly, never through built-ins, so that a deep recursion of the model takes Python frames
but no C stack.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from outcrop.ir.arithmetic import COMPARISONS, INTEGER_OPERATIONS, REAL_OPERATIONS
from outcrop.ir.calls import Calls
from outcrop.ir.faults import Fault, FaultKind
from outcrop.ir.nodes import (
    Binary,
    BinaryOperator,
    Bind,
    Call,
    Conditional,
    Constant,
    Convert,
    Domain,
    Expression,
    GlobalPlace,
    IsMember,
    IsUndefined,
    Let,
    Load,
    LocalPlace,
    MultisetCount,
    Place,
    Quantified,
    Quantifier,
    RealCall,
    SlotUsed,
    TypeDomain,
    Unary,
    UnaryOperator,
    Undefined,
    Witnessed,
)
from outcrop.ir.places import Evaluate, Locate, Store, source_text
from outcrop.ir.system import System
from outcrop.ir.types import Multiset, Real, Simple, Union

_DIVISIONS = (BinaryOperator.DIVIDE, BinaryOperator.REMAINDER)


def may_be_undefined(node: Expression) -> bool:
    """Returns whether an expression of simple type can evaluate to undefined instead of failing."""
    match node:
        case Constant():
            return node.value is None
        case Load() | Call():
            return node.undefined is not Undefined.ERROR
        case Conditional():
            return may_be_undefined(node.then) or may_be_undefined(node.otherwise)
        case Convert():
            return may_be_undefined(node.operand)
        case Let():
            return may_be_undefined(node.body)
    return False


def _undefined(node: Expression) -> str:
    return node.type.undefined if isinstance(node.type, Simple) else "undefined"


class Evaluator(Calls):
    """Compiles the expressions of one System to closures."""

    def __init__(self, system: System) -> None:
        super().__init__(system)
        self.noted: set[int] = set()  #: see Property

    def defined(self, node: Expression) -> Evaluate:
        """Returns a closure for an expression whose value is used, so that undefined is a fault."""
        evaluate = self.expression(node)
        if not may_be_undefined(node):
            return evaluate

        def checked(state: Store, frame: Store) -> Any:
            value = evaluate(state, frame)
            if value is None:
                raise Fault(FaultKind.UNDEFINED, f"{source_text(node.span)} is {_undefined(node)}", node.span)
            return value

        return checked

    def expression(self, node: Expression) -> Evaluate:
        match node:
            case Constant():
                value = node.value
                return lambda state, frame: value
            case Load():
                return self._load(node)
            case Unary():
                return self._unary(node)
            case Binary():
                return self._binary(node)
            case Conditional():
                condition, then, otherwise = (
                    self.defined(node.condition),
                    self.expression(node.then),
                    self.expression(node.otherwise),
                )
                return lambda state, frame: (then if condition(state, frame) else otherwise)(state, frame)
            case Quantified():
                return self._quantified(node)
            case IsUndefined():
                return self._is_undefined(self.place(node.place))
            case IsMember():
                return self._is_member(node)
            case Convert():
                return self._convert(node)
            case SlotUsed():
                return self._slot_used(node)
            case MultisetCount():
                return self._multiset_count(node)
            case Call():
                return self.call(node)
            case RealCall():
                return self.real_call(node)
            case Let():
                return self._let(node)
            case Witnessed():
                return self._witnessed(node)
        raise TypeError(f"not an expression: {node}")

    def _witnessed(self, node: Witnessed) -> Evaluate:
        operand, note = self.defined(node.operand), node.note

        def witnessed(state: Store, frame: Store) -> Any:
            truth = operand(state, frame)
            if truth:
                self.noted.add(note)
            return truth

        return witnessed

    def _load(self, node: Load) -> Evaluate:
        locate = self.place(node.place)
        if not node.type.is_simple:
            return self._load_complex(locate, node.type.leaf_count)

        def undefined(state: Store, frame: Store) -> None:
            if node.undefined is Undefined.NOTE:
                self.noted.add(node.span.start)
            elif node.undefined is Undefined.ERROR:
                name = self.describe(node.place, locate(state, frame), state)
                raise Fault(FaultKind.UNDEFINED, f"{name} is {_undefined(node)}", node.span)

        # The two most frequent kinds of reads need no location.
        if isinstance(node.place, GlobalPlace):
            offset = node.place.variable.offset

            def load_global(state: Store, frame: Store) -> Any:
                value = state[offset]
                return undefined(state, frame) if value is None else value

            return load_global
        if isinstance(node.place, LocalPlace) and not node.place.local.is_reference:
            offset = self.offsets[node.place.local]

            def load_local(state: Store, frame: Store) -> Any:
                value = frame[offset]
                return undefined(state, frame) if value is None else value

            return load_local

        def load(state: Store, frame: Store) -> Any:
            store, at = locate(state, frame)
            value = store[at]
            return undefined(state, frame) if value is None else value

        return load

    @staticmethod
    def _load_complex(locate: Locate, size: int) -> Evaluate:
        def load(state: Store, frame: Store) -> tuple[Any, ...]:
            store, start = locate(state, frame)
            return tuple(store[start : start + size])

        return load

    def _unary(self, node: Unary) -> Evaluate:
        operand = self.defined(node.operand)
        if node.operator is UnaryOperator.NOT:
            return lambda state, frame: not operand(state, frame)
        if node.operator is UnaryOperator.COMPLEMENT:
            return lambda state, frame: ~operand(state, frame)
        if isinstance(node.type, Real):
            return lambda state, frame: -operand(state, frame)

        def negate(state: Store, frame: Store) -> int:
            value: int = operand(state, frame)
            if not self._fits(-value):
                raise Fault(FaultKind.OVERFLOW, f"-({value}) does not fit in 64 bits", node.span)
            return -value

        return negate

    def _binary(self, node: Binary) -> Evaluate:
        if node.operator in (BinaryOperator.EQUAL, BinaryOperator.NOT_EQUAL):
            left, right = self.expression(node.left), self.expression(node.right)
        else:
            left, right = self.defined(node.left), self.defined(node.right)
        match node.operator:
            case BinaryOperator.AND:
                return lambda state, frame: left(state, frame) and right(state, frame)
            case BinaryOperator.OR:
                return lambda state, frame: left(state, frame) or right(state, frame)
            case BinaryOperator.IMPLIES:
                return lambda state, frame: not left(state, frame) or right(state, frame)
        if node.operator in COMPARISONS:
            compare = COMPARISONS[node.operator]
            return lambda state, frame: compare(left(state, frame), right(state, frame))
        if isinstance(node.type, Real):
            return self._real_arithmetic(node, left, right)
        return self._integer_arithmetic(node, left, right)

    def _fits(self, value: int) -> bool:
        return self.system.integers.low <= value <= self.system.integers.high

    def _integer_arithmetic(self, node: Binary, left: Evaluate, right: Evaluate) -> Evaluate:
        operation = INTEGER_OPERATIONS[node.operator]
        is_division = node.operator in _DIVISIONS

        def evaluate(state: Store, frame: Store) -> int:
            a, b = left(state, frame), right(state, frame)
            if is_division and b == 0:
                raise Fault(FaultKind.DIVISION, f"{a} {node.operator} {b} divides by zero", node.span)
            value = operation(a, b)
            if not self._fits(value):
                raise Fault(FaultKind.OVERFLOW, f"{a} {node.operator} {b} does not fit in 64 bits", node.span)
            return value

        return evaluate

    @staticmethod
    def _real_arithmetic(node: Binary, left: Evaluate, right: Evaluate) -> Evaluate:
        operation = REAL_OPERATIONS[node.operator]
        is_division = node.operator in _DIVISIONS

        def evaluate(state: Store, frame: Store) -> float:
            a, b = left(state, frame), right(state, frame)
            if is_division and b == 0:
                raise Fault(FaultKind.DIVISION, f"{a} {node.operator} {b} divides by zero", node.span)
            value = operation(a, b)
            if not math.isfinite(value):
                raise Fault(FaultKind.REAL, f"{a} {node.operator} {b} is not a finite number", node.span)
            return value

        return evaluate

    def domain(self, node: Domain) -> Callable[[Store, Store], range]:
        if isinstance(node, TypeDomain):
            values = range(node.type.low, node.type.high + 1)
            return lambda state, frame: values
        first, last = self.defined(node.first), self.defined(node.last)
        step = self.defined(node.step) if node.step is not None else lambda state, frame: 1
        span = node.span

        def evaluate(state: Store, frame: Store) -> range:
            start, end, by = first(state, frame), last(state, frame), step(state, frame)
            if by == 0:
                raise Fault(FaultKind.STEP, f"the loop from {start} to {end} has step 0", span)
            return range(start, end + (1 if by > 0 else -1), by)

        return evaluate

    def _quantified(self, node: Quantified) -> Evaluate:
        offset = self.offsets[node.variable]
        domain, body = self.domain(node.domain), self.defined(node.body)
        decided_by = node.quantifier is Quantifier.EXISTS

        def evaluate(state: Store, frame: Store) -> bool:
            for value in domain(state, frame):
                frame[offset] = value
                if bool(body(state, frame)) is decided_by:
                    return decided_by
            return not decided_by

        return evaluate

    @staticmethod
    def _is_undefined(locate: Locate) -> Evaluate:
        def evaluate(state: Store, frame: Store) -> bool:
            store, offset = locate(state, frame)
            return store[offset] is None

        return evaluate

    def _is_member(self, node: IsMember) -> Evaluate:
        operand, union = self.expression(node.operand), node.operand.type
        start = union.offset(node.member) if isinstance(union, Union) else 0
        values = range(start, start + node.member.cardinality) if start is not None else range(0)
        return lambda state, frame: operand(state, frame) in values

    def _convert(self, node: Convert) -> Evaluate:
        operand, source, target = self.expression(node.operand), node.operand.type, node.type
        assert isinstance(source, Simple) and isinstance(target, Simple)

        def convert(state: Store, frame: Store) -> int | float | None:
            value: int | float | None = operand(state, frame)
            if value is None or source == target:
                return value
            if isinstance(target, Real):
                return float(value)
            member, ordinal = source.member_of(int(value)) if isinstance(source, Union) else (source, value)
            start = target.offset(member) if isinstance(target, Union) else (0 if target == member else None)
            if start is None:
                raise Fault(FaultKind.UNION, f"{source.show(value)} is not a value of {target}", node.span)
            return start + int(ordinal)

        return convert

    def _slot_used(self, node: SlotUsed) -> Evaluate:
        multiset = node.place.type
        assert isinstance(multiset, Multiset)
        locate, position = self.place(node.place), self.position(node.index, multiset.index, node.place)
        stride = multiset.slot_leaf_count

        def evaluate(state: Store, frame: Store) -> bool:
            store, start = locate(state, frame)
            return store[start + position(state, frame) * stride] is not None

        return evaluate

    def _multiset_count(self, node: MultisetCount) -> Evaluate:
        multiset = node.place.type
        assert isinstance(multiset, Multiset)
        locate, condition = self.place(node.place), self.defined(node.condition)
        variable, capacity, stride = self.offsets[node.variable], multiset.capacity, multiset.slot_leaf_count

        def evaluate(state: Store, frame: Store) -> int:
            store, start = locate(state, frame)
            count = 0
            for slot in range(capacity):
                frame[variable] = slot
                if store[start + slot * stride] is not None and condition(state, frame):
                    count += 1
            return count

        return evaluate

    def bind(self, node: Bind) -> Callable[[Store, Store], None]:
        offset = self.offsets[node.local]
        if isinstance(node.target, Place):
            locate = self.place(node.target)

            def bind_place(state: Store, frame: Store) -> None:
                frame[offset] = locate(state, frame)

            return bind_place
        evaluate, size = self.expression(node.target), node.local.type.leaf_count
        if node.local.type.is_simple:

            def bind_simple(state: Store, frame: Store) -> None:
                frame[offset] = evaluate(state, frame)

            return bind_simple

        def bind_complex(state: Store, frame: Store) -> None:
            frame[offset : offset + size] = evaluate(state, frame)

        return bind_complex

    def _let(self, node: Let) -> Evaluate:
        bindings = [self.bind(binding) for binding in node.bindings]
        body = self.expression(node.body)

        def evaluate(state: Store, frame: Store) -> Any:
            for binding in bindings:
                binding(state, frame)
            return body(state, frame)

        return evaluate

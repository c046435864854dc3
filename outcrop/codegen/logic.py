"""Conjunctions, disjunctions and implications in C.

A chain of thousands of operands becomes several functions of some hundred operands each, since compilers take more than
linear time for a function (GCC 12: 2 s for 10,000 operands in one function, 7 s for 20,000, minutes for 50,000; 4 s for
50,000 operands in 250 functions).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b

from outcrop.codegen.code import Address, Cell, Location, Value
from outcrop.codegen.places import definition
from outcrop.codegen.quantifiers import Quantifiers
from outcrop.codegen.text import bare, negated
from outcrop.ir.nodes import Binary, BinaryOperator, Expression, Let, Local, LocalPlace, MultisetCount, Quantified
from outcrop.ir.types import Real
from outcrop.ir.walk import walk, writes_state

#: Largest number of operands of a chain in one C function.
MOST_OPERANDS = 200


def operands_of(node: Expression, operator: BinaryOperator) -> Iterator[Expression]:
    """Yields the operands of a chain of one operator, in order."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Binary) and each.operator is operator:
            waiting += (each.right, each.left)
        else:
            yield each


class Logic(Quantifiers):
    """Writes code for the connectives."""

    def logical(self, node: Binary) -> str:
        if node.operator is not BinaryOperator.IMPLIES:
            operands = list(operands_of(node, node.operator))
            if len(operands) > MOST_OPERANDS:
                return self._long_chain(node.operator, operands)
        left = self.condition(node.left)
        if node.operator is BinaryOperator.IMPLIES:
            left = negated(left)
        is_and = node.operator is BinaryOperator.AND
        with self.block() as lines:
            right = self.condition(node.right)
        if not lines:
            return f"({left} {'&&' if is_and else '||'} {right})"
        self.only_for_real()
        result = self.name()
        self.line(f"int {result} = {bare(left)};")
        self.nest(f"if ({result})" if is_and else f"if (!{result})", [*lines, f"{result} = {bare(right)};"])
        return result

    def _long_chain(self, operator: BinaryOperator, operands: list[Expression]) -> str:
        self.only_for_real()
        result, neutral = self.name(), int(operator is BinaryOperator.AND)
        self.line(f"int {result} = {neutral};")
        for start in range(0, len(operands), MOST_OPERANDS):
            call = self._outlined(operands[start : start + MOST_OPERANDS], neutral)
            self.line(f"if ({result} == {neutral}) {result} = {call};")
        self.check(f"{result} < 0")
        return result

    def _outlined(self, operands: Sequence[Expression], neutral: int) -> str:
        """Returns a call of a separate function for a part of a chain: 1, 0 or -FAILED."""
        code = type(self)(self.unit, is_condition=True)
        parameters = ["uint8_t *state" if writes_state(tuple(operands)) else "const uint8_t *state", "Context *context"]
        arguments = [self.state, "context"]
        for number, local in enumerate(_free_locals(operands)):
            for parameter, argument in _passed(code, local, self.local(local), f"a{number}"):
                parameters.append(parameter)
                arguments.append(argument)
        for operand in operands:
            text = code.condition(operand)
            code.line(f"if ({bare(negated(text) if neutral else text)}) return {1 - neutral};")
        code.line(f"return {neutral};")
        self.can_fail |= code.can_fail
        self.has_effects |= code.has_effects
        # A condition may be written more than once, on trial and for good, so that its name is a digest of its text.
        head, *lines = definition("chain", parameters, code, "NOINLINE")
        name = f"chain_{blake2b(repr((head, lines)).encode(), digest_size=8).hexdigest()}"
        self.unit.shared[name] = [head.replace(" chain(", f" {name}(", 1), *lines]
        return f"{name}({', '.join(arguments)})"


def _free_locals(operands: Sequence[Expression]) -> list[Local]:
    """Returns the locals that conditions use and do not bind themselves, without duplicates."""
    found: dict[Local, None] = {}
    bound: set[Local] = set()
    for each in walk(tuple(operands)):
        if isinstance(each, LocalPlace):
            found[each.local] = None
        elif isinstance(each, Quantified | MultisetCount):
            bound.add(each.variable)
        elif isinstance(each, Let):
            bound.update(binding.local for binding in each.bindings)
    return [each for each in found if each not in bound]


def _passed(code: Logic, local: Local, location: Location, name: str) -> Iterator[tuple[str, str]]:
    """Passes a local of the caller to a function: yields parameters and their arguments."""
    match location:
        case Cell():
            code.locals[local] = Cell(name)
            yield f"uint64_t {name}", location.name
        case Address():
            code.locals[local] = Address(name, 0, (f"{name}_bit",))
            yield f"uint8_t *{name}", f"(uint8_t *){location.base}"
            yield f"uint64_t {name}_bit", location.position
        case Value(constant=None, packed=str(packed), kind=kind) if kind is not None:
            code.locals[local] = code.unpacked(kind, name, may_be_undefined=location.defined is not None)
            yield f"uint64_t {name}", packed
        case Value(constant=None):
            c_type = "double" if isinstance(local.type, Real) else "Integer"
            defined = None if location.defined is None else f"{name}_defined"
            code.locals[local] = Value(name, location.interval, defined)
            yield f"{c_type} {name}", bare(location.text)
            if location.defined is not None:
                yield f"int {name}_defined", bare(location.defined)
        case Value():
            code.locals[local] = location

"""Values that are not known, for executions that stand for many states.

A symbol is a leaf, or an operation on others, with bounds. What the bounds do not decide raises Undecided. Two symbols
are equal if they are built alike. So an execution that raises nothing is that of every state with such values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from outcrop.ir.arithmetic import INTEGER_OPERATIONS
from outcrop.ir.execute import Executor
from outcrop.ir.faults import Fault, FaultKind
from outcrop.ir.nodes import Binary, BinaryOperator
from outcrop.ir.places import Evaluate, Location, Store, Write
from outcrop.ir.system import System
from outcrop.ir.types import Range, Type
from outcrop.source import Span

#: Operations inside of one another in a symbol.
_MOST_LEVELS = 16


class Undecided(Exception):
    """Raised where an execution depends on more of a value than its bounds. ``leaves``: those that it is made from."""

    def __init__(self, leaves: int) -> None:
        super().__init__(leaves)
        self.leaves = leaves


class Symbol:
    """A value from ``low`` to ``high``. ``form`` tells how it is computed from leaves, in how many ``levels``."""

    __slots__ = ("form", "high", "leaves", "levels", "low")

    def __init__(self, form: object, low: int, high: int, leaves: int, levels: int = 0) -> None:
        self.form, self.low, self.high, self.leaves, self.levels = form, low, high, leaves, levels
        if levels > _MOST_LEVELS:
            raise Undecided(leaves)

    def _undecided(self, *_: object) -> NoReturn:
        raise Undecided(self.leaves)

    def _compared(self, other: Any, is_certain: bool, is_impossible: bool) -> bool:
        if is_certain or is_impossible:
            return is_certain
        raise Undecided(self.leaves | (other.leaves if isinstance(other, Symbol) else 0))

    def __eq__(self, other: object) -> bool:
        if other is None:
            return False
        if are_alike(self, other):
            return True
        low, high = _bounds(other)
        return self._compared(other, low == self.low == self.high == high, self.high < low or high < self.low)

    def __lt__(self, other: Any) -> bool:
        low, high = _bounds(other)
        return self._compared(other, self.high < low, self.low >= high)

    def __le__(self, other: Any) -> bool:
        low, high = _bounds(other)
        return self._compared(other, self.high <= low, self.low > high)

    def __gt__(self, other: Any) -> bool:
        return not self <= other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __bool__(self) -> bool:
        return self._compared(None, self.low > 0 or self.high < 0, self.low == self.high == 0)

    def __neg__(self) -> Symbol:
        return Symbol(("-", self.form), -self.high, -self.low, self.leaves, self.levels + 1)

    def __sub__(self, other: int) -> Symbol:
        return Symbol(("-", self.form, other), self.low - other, self.high - other, self.leaves, self.levels + 1)

    __hash__ = None  # type: ignore[assignment]
    __int__ = __index__ = __float__ = __invert__ = __abs__ = _undecided
    __add__ = __radd__ = __rsub__ = __mul__ = __rmul__ = _undecided


def _bounds(value: Any) -> tuple[int, int]:
    return (value.low, value.high) if isinstance(value, Symbol) else (value, value)


def _form(value: Any) -> object:
    return value.form if isinstance(value, Symbol) else value


def are_alike(one: object, other: object) -> bool:
    """Returns whether two values are surely equal."""
    if isinstance(one, Symbol) or isinstance(other, Symbol):
        return isinstance(one, Symbol) and isinstance(other, Symbol) and one.form == other.form
    return one == other


class SymbolicExecutor(Executor):
    """Executes statements on states that contain symbols. ``checks``: the conditions that decided whether an execution
    fails, and which it took for true."""

    def __init__(self, system: System) -> None:
        super().__init__(system)
        self.checks: list[tuple[object, int, int]] = []

    def write(self, kind: Type, span: Span, name: Callable[[Location, Store], str]) -> Write:  # type: ignore[override]
        store = super().write(kind, span, name)
        if not isinstance(kind, Range):
            return store

        def store_checked(state: Store, location: Location, value: Any) -> None:
            if isinstance(value, Symbol) and not kind.lower <= value.low <= value.high <= kind.upper:
                self.checks.append((value.form, kind.lower, kind.upper))
                low, high = max(value.low, kind.lower), min(value.high, kind.upper)
                if low > high:
                    raise Fault(FaultKind.RANGE, "", span)
                value = Symbol(value.form, low, high, value.leaves, value.levels)
            store(state, location, value)

        return store_checked

    def _integer_arithmetic(self, node: Binary, left: Evaluate, right: Evaluate) -> Evaluate:
        operator, operation = node.operator, INTEGER_OPERATIONS[node.operator]

        def evaluate(state: Store, frame: Store) -> Any:
            a, b = left(state, frame), right(state, frame)
            found = operated(operator, a, b)
            if found is None:
                if operator in (BinaryOperator.DIVIDE, BinaryOperator.REMAINDER) and b == 0:
                    raise Fault(FaultKind.DIVISION, "", node.span)
                found = operation(a, b)
            if not self._fits(found):
                raise Fault(FaultKind.OVERFLOW, "", node.span)
            return found

        return evaluate


def operated(operator: BinaryOperator, left: Any, right: Any) -> Any:
    """Returns the symbol for an operation on values; None if neither is a symbol."""
    if not isinstance(left, Symbol) and not isinstance(right, Symbol):
        return None
    (low, high), (least, most) = _bounds(left), _bounds(right)
    leaves = (left.leaves if isinstance(left, Symbol) else 0) | (right.leaves if isinstance(right, Symbol) else 0)
    match operator:
        case BinaryOperator.ADD:
            bounds = (low + least, high + most)
        case BinaryOperator.SUBTRACT:
            bounds = (low - most, high - least)
        case BinaryOperator.MULTIPLY:
            products = (low * least, low * most, high * least, high * most)
            bounds = (min(products), max(products))
        case BinaryOperator.DIVIDE if low >= 0 and least == most > 0:
            bounds = (low // least, high // least)
        case BinaryOperator.REMAINDER if low >= 0 and least == most > 0:
            bounds = (0, min(high, least - 1))
        case _:
            raise Undecided(leaves)
    levels = 1 + max(each.levels for each in (left, right) if isinstance(each, Symbol))
    return Symbol((operator, _form(left), _form(right)), *bounds, leaves, levels)

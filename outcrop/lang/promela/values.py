"""Values of variables that are known along a way through an atomic sequence.

Nothing else moves inside a sequence, so what it assigns is known until it receives a message or hands control on. A
loop that counts, as in the ``init`` of most models, then has one way, and not one for each option in each turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from outcrop.ir.types import Range
from outcrop.lang.promela import syntax
from outcrop.lang.promela.control import Step
from outcrop.lang.promela.names import NameLowering
from outcrop.lang.promela.priorities import FIELD as PRIORITY
from outcrop.lang.promela.scope import ConstantSymbol, ProctypeSymbol, VariableSymbol

#: Turns of a loop without choice that are followed.
_MOST_TURNS = 1_000
#: Values of expressions that are computed: those of 32 bits in C.
_LEAST, _GREATEST = -(2**31), 2**31 - 1

Known = Mapping[VariableSymbol, int]


class Unknown(Exception):
    """Raised where the value of an expression depends on more than is known."""


class ValueLowering(NameLowering):
    def first_values(self, proctype: ProctypeSymbol) -> Known:
        """Returns the values with which the only process of a proctype begins; with global ones if it begins alone."""
        symbols: list[VariableSymbol] = []
        if sum(len(each.active) for each in self.proctypes.values()) == 1 and proctype.active == proctype.pids:
            symbols = [each for each in self.globals.values() if isinstance(each, VariableSymbol)]
        symbols += [each for each in proctype.fields if each not in proctype.parameters]
        known: dict[VariableSymbol, int] = {}
        for symbol in symbols:
            if _is_followed(symbol, 0) and not symbol.is_channel:
                try:
                    value = 0 if symbol.initial is None else self._initial(symbol.initial, known, proctype)
                except Unknown:
                    continue
                if _is_followed(symbol, value):
                    known[symbol] = value
        return known

    def _initial(self, node: object, known: Known, proctype: ProctypeSymbol) -> int:
        if not isinstance(node, syntax.Expression):
            raise Unknown
        return self._value(node, known, proctype)

    def holds(self, node: syntax.Statement | None, known: Known, proctype: ProctypeSymbol) -> bool | None:
        """Returns whether a test holds; None where that is not known, or where a statement is no test."""
        if not isinstance(node, syntax.Test):
            return None
        try:
            return bool(self._value(node.condition, known, proctype))
        except Unknown:
            return None

    def after(self, steps: Iterable[Step], known: Known, proctype: ProctypeSymbol) -> Known:
        """Returns what is known after steps of one process that meet no other."""
        values = dict(known)
        for step in steps:
            node = step.action
            if isinstance(node, syntax.Assignment) and node.target.next is None and node.target.index is None:
                symbol = self._symbol_of(node.target, proctype)
                if isinstance(symbol, VariableSymbol):
                    values.pop(symbol, None)
                    try:
                        value = self._value(node.value, known, proctype)
                    except Unknown:
                        value = _LEAST - 1
                    if _is_followed(symbol, value):
                        values[symbol] = value
            elif not isinstance(node, syntax.Assignment):
                for name in syntax.stored_names(node):
                    symbol = self._named(name, proctype)
                    if isinstance(symbol, VariableSymbol):
                        values.pop(symbol, None)
            known = values
        return values

    def after_loop(self, loop: tuple[Step, ...], known: Known, proctype: ProctypeSymbol) -> Known:
        """Returns what is known after a loop without choice, which turns as long as its first test holds."""
        for _ in range(_MOST_TURNS):
            match self.holds(loop[0].action, known, proctype):
                case False:
                    return known
                case None:
                    break
            known = self.after(loop, known, proctype)
        stored = {self._named(name, proctype) for step in loop for name in syntax.stored_names(step.action)}
        return {symbol: value for symbol, value in known.items() if symbol not in stored}

    def _named(self, name: str, proctype: ProctypeSymbol) -> object:
        return proctype.names.get(name) or self.globals.get(name)

    def _symbol_of(self, node: syntax.Reference, proctype: ProctypeSymbol) -> object:
        return self._named(node.name.text, proctype)

    def _value(self, node: syntax.Expression, known: Known, proctype: ProctypeSymbol) -> int:
        match node:
            case syntax.Number():
                return node.value
            case syntax.Reference(index=None, next=None):
                symbol = self._symbol_of(node, proctype)
                if isinstance(symbol, ConstantSymbol):
                    return symbol.value
                if isinstance(symbol, VariableSymbol) and symbol in known:
                    return known[symbol]
            case syntax.Unary(operator=operator):
                operand = self._value(node.operand, known, proctype)
                return {"-": -operand, "+": operand, "!": int(not operand), "~": ~operand}[operator]
            case syntax.Binary():
                left, right = self._value(node.left, known, proctype), self._value(node.right, known, proctype)
                return binary_value(node.operator, left, right)
        raise Unknown


def _is_followed(symbol: VariableSymbol, value: int) -> bool:
    """Returns whether a variable keeps a value that is stored into it. Any process can change the priority of another,
    and a statement that does so names no variable."""
    is_held = isinstance(symbol.type, Range) and symbol.type.low <= value <= symbol.type.high
    return is_held and symbol.name != PRIORITY


def binary_value(operator: str, left: int, right: int) -> int:
    """Returns the value of a binary operator, where it is the same in C."""
    match operator:
        case "+":
            value = left + right
        case "-":
            value = left - right
        case "*":
            value = left * right
        case "/" if right > 0 and left >= 0:
            value = left // right
        case "%" if right > 0 and left >= 0:
            value = left % right
        case "<":
            value = int(left < right)
        case "<=":
            value = int(left <= right)
        case ">":
            value = int(left > right)
        case ">=":
            value = int(left >= right)
        case "==":
            value = int(left == right)
        case "!=":
            value = int(left != right)
        case "&&":
            value = int(bool(left and right))
        case "||":
            value = int(bool(left or right))
        case _:
            raise Unknown
    if not _LEAST <= value <= _GREATEST:
        raise Unknown
    return value

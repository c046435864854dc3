"""The unary, binary and conditional operators: operand types, conversions, folding."""

from __future__ import annotations

from outcrop.ir.chains import balanced
from outcrop.ir.nodes import (
    Binary,
    BinaryOperator,
    Conditional,
    Constant,
    Expression,
    Unary,
    UnaryOperator,
)
from outcrop.ir.types import BOOLEAN, DOUBLE, INTEGER, WIDE_INTEGER, Range, Real, Simple
from outcrop.lang.folding import (
    fold_comparison,
    fold_integers,
    fold_reals,
    fold_short_circuit,
    fold_unary,
)
from outcrop.lang.murphi import syntax
from outcrop.lang.murphi.hints import scalarset_hint
from outcrop.lang.murphi.places import PlaceLowering
from outcrop.lang.murphi.scope import UNKNOWN, describe
from outcrop.lang.murphi.types import has_multiset
from outcrop.lang.murphi.undefined import converts_unread
from outcrop.source import Span

_LOGICAL = {"->": BinaryOperator.IMPLIES, "||": BinaryOperator.OR, "&&": BinaryOperator.AND}
#: Operators that are bitwise on integers and logical on booleans; the left operand decides.
_EITHER = {
    "&": (BinaryOperator.BIT_AND, BinaryOperator.AND),
    "|": (BinaryOperator.BIT_OR, BinaryOperator.OR),
}
_BITWISE = {
    "^": BinaryOperator.BIT_XOR,
    "<<": BinaryOperator.SHIFT_LEFT,
    ">>": BinaryOperator.SHIFT_RIGHT,
}
_ORDER = {
    "<": BinaryOperator.LESS,
    "<=": BinaryOperator.LESS_EQUAL,
    ">": BinaryOperator.GREATER,
    ">=": BinaryOperator.GREATER_EQUAL,
}
_EQUALITY = {"=": BinaryOperator.EQUAL, "!=": BinaryOperator.NOT_EQUAL}
_ARITHMETIC = {
    "+": BinaryOperator.ADD,
    "-": BinaryOperator.SUBTRACT,
    "*": BinaryOperator.MULTIPLY,
    "/": BinaryOperator.DIVIDE,
    "%": BinaryOperator.REMAINDER,
}
_UNARY = {"!": UnaryOperator.NOT, "-": UnaryOperator.NEGATE, "~": UnaryOperator.COMPLEMENT}


class OperatorLowering(PlaceLowering):
    def exact(self, node: syntax.Expression) -> Expression:
        """Lowers an expression like ``expression``, except that a folded integer may still exceed 64 bits."""
        raise NotImplementedError

    def settled(self, value: Expression) -> Expression:
        """Returns the expression. Reports a constant that fits into neither a signed nor an unsigned 64-bit integer."""
        if type(value) is Constant and type(value.value) is int:
            if not WIDE_INTEGER.low <= value.value <= WIDE_INTEGER.high:
                self.report.error("this constant does not fit into 64 bits", value.span, "use smaller numbers")
                return self.unknown(value.span)
            if value.value > INTEGER.high:
                self.integers = WIDE_INTEGER
        return value

    # --- Unary ---------------------------------------------------------------------------------------------

    def unary(self, node: syntax.UnaryOperation) -> Expression:
        operand = self.exact(node.operand)
        kind = operand.type
        if kind is UNKNOWN:
            return operand
        sign = node.operator
        if sign == "!":
            wanted, fine = "a boolean", kind is BOOLEAN
        elif sign == "~":
            wanted, fine = "an integer", isinstance(kind, Range)
        else:
            wanted, fine = "a number", isinstance(kind, Range | Real)
        if not fine:
            hint = "'not' is written '!'" if sign == "~" and kind is BOOLEAN else ""
            self.report.error(f"'{sign}' needs {wanted}, not {describe(kind)}", operand.span, hint)
            return self.unknown(node.span)
        if sign == "+":
            return operand
        what = _UNARY[sign]
        result = BOOLEAN if sign == "!" else DOUBLE if isinstance(kind, Real) else INTEGER
        if isinstance(operand, Constant) and operand.value is not None:
            return Constant(type=result, span=node.span, value=fold_unary(what, operand.value))
        return Unary(type=result, span=node.span, operator=what, operand=operand)

    # --- Binary --------------------------------------------------------------------------------------------

    def binary(self, node: syntax.BinaryOperation) -> Expression:
        # Chains such as a & b & c ... lean to the left and may be thousands long, so the left side needs a loop.
        chain = [node]
        first = node.left
        while type(first) is syntax.BinaryOperation:
            chain.append(first)
            first = first.left
        left = self.exact(first)
        operator = chain[-1].operator
        for each in reversed(chain):
            if each.operator != operator:
                left, operator = balanced(left), each.operator
            left = self._combined(each, left, self.exact(each.right))
        return balanced(left)

    def _combined(self, node: syntax.BinaryOperation, left: Expression, right: Expression) -> Expression:
        sign = node.operator
        if sign in _EITHER:
            bitwise, logical = _EITHER[sign]
            if isinstance(left.type, Range):
                return self._integers(node, bitwise, left, right)
            return self._logical(node, logical, left, right)
        if sign in _EQUALITY:
            return self._equality(node, _EQUALITY[sign], left, right)
        if sign in _LOGICAL:
            return self._logical(node, _LOGICAL[sign], left, right)
        if sign in _ARITHMETIC:
            return self._arithmetic(node, _ARITHMETIC[sign], left, right)
        if sign in _ORDER:
            return self._order(node, _ORDER[sign], left, right)
        return self._integers(node, _BITWISE[sign], left, right)

    def _mismatch(self, node: syntax.BinaryOperation, left: Expression, right: Expression, hint: str) -> Expression:
        if left.type is not UNKNOWN and right.type is not UNKNOWN:
            message = f"'{node.operator}' cannot be applied to {describe(left.type)} and {describe(right.type)}"
            self.report.error(message, node.operator_span, scalarset_hint(left.type, right.type) or hint)
        return self.unknown(node.span)

    def _logical(
        self, node: syntax.BinaryOperation, what: BinaryOperator, left: Expression, right: Expression
    ) -> Expression:
        if left.type is not BOOLEAN or right.type is not BOOLEAN:
            both = node.operator in _EITHER
            hint = "both sides must be booleans" + (", or both integers" if both else "")
            return self._mismatch(node, left, right, hint)
        folded = fold_short_circuit(what, left, right)
        if folded is not None:
            return folded
        return Binary(type=BOOLEAN, span=node.span, operator=what, left=left, right=right)

    def _integers(
        self, node: syntax.BinaryOperation, what: BinaryOperator, left: Expression, right: Expression
    ) -> Expression:
        if not isinstance(left.type, Range) or not isinstance(right.type, Range):
            return self._mismatch(node, left, right, "both sides must be integers")
        return self._integer_result(node.span, what, left, right)

    def _integer_result(self, span: Span, what: BinaryOperator, left: Expression, right: Expression) -> Expression:
        if type(left) is Constant and type(right) is Constant:
            assert isinstance(left.value, int) and isinstance(right.value, int)
            value = fold_integers(what, left.value, right.value)
            if value is not None:
                return Constant(type=INTEGER, span=span, value=value)
        return Binary(type=INTEGER, span=span, operator=what, left=self.settled(left), right=self.settled(right))

    def _arithmetic(
        self, node: syntax.BinaryOperation, what: BinaryOperator, left: Expression, right: Expression
    ) -> Expression:
        first, second = left.type, right.type
        if isinstance(first, Range) and isinstance(second, Range):
            return self._integer_result(node.span, what, left, right)
        if not isinstance(first, Range | Real) or not isinstance(second, Range | Real):
            return self._mismatch(node, left, right, "both sides must be numbers")
        if what is BinaryOperator.REMAINDER:
            return self._mismatch(node, left, right, "use 'fmod' for reals")
        pair = self.unified(self.settled(left), self.settled(right))
        assert pair is not None
        left, right = pair
        if isinstance(left, Constant) and isinstance(right, Constant):
            assert left.value is not None and right.value is not None
            value = fold_reals(what, float(left.value), float(right.value))
            if value is not None:
                return Constant(type=DOUBLE, span=node.span, value=value)
        return Binary(type=DOUBLE, span=node.span, operator=what, left=left, right=right)

    def _order(
        self, node: syntax.BinaryOperation, what: BinaryOperator, left: Expression, right: Expression
    ) -> Expression:
        if not isinstance(left.type, Range | Real) or not isinstance(right.type, Range | Real):
            return self._mismatch(node, left, right, "only numbers have an order")
        return self._comparison(node, what, left, right)

    def _equality(
        self, node: syntax.BinaryOperation, what: BinaryOperator, left: Expression, right: Expression
    ) -> Expression:
        if self.unified(left, right) is None:
            return self._mismatch(node, left, right, "both sides must have one type")
        if left.type is UNKNOWN or right.type is UNKNOWN:
            return self.unknown(node.span)
        if not left.type.is_simple and has_multiset(left.type):
            return self._mismatch(node, left, right, "multisets cannot be compared: their elements have no order")
        return self._comparison(node, what, left, right)

    def _comparison(
        self, node: syntax.BinaryOperation, what: BinaryOperator, left: Expression, right: Expression
    ) -> Expression:
        if not (type(left) is Constant and type(right) is Constant):
            left, right = self.settled(left), self.settled(right)
        pair = self.unified(left, right)
        assert pair is not None
        left, right = pair
        if type(left) is Constant and type(right) is Constant and left.value is not None and right.value is not None:
            return Constant(type=BOOLEAN, span=node.span, value=fold_comparison(what, left.value, right.value))
        if converts_unread(left.type):
            left, right = (self.relaxed_unread(each, self.lenient) for each in (left, right))
        return Binary(type=BOOLEAN, span=node.span, operator=what, left=left, right=right)

    # --- Conditional ---------------------------------------------------------------------------------------

    def conditional(self, node: syntax.ConditionalOperation) -> Expression:
        condition = self.condition(node.condition, "the condition of '?:'")
        then, otherwise = self.expression(node.then), self.expression(node.otherwise)
        pair = self.unified(then, otherwise)
        if pair is None:
            message = f"the branches of '?:' have different types: {describe(then.type)} and {describe(otherwise.type)}"
            self.report.error(message, node.span, "give both the same type")
            return self.unknown(node.span)
        then, otherwise = pair
        if UNKNOWN in (condition.type, then.type, otherwise.type) or condition.type is not BOOLEAN:
            return self.unknown(node.span)
        if isinstance(condition, Constant):
            return then if condition.value else otherwise
        kind = then.type
        if isinstance(kind, Range):
            kind = kind if kind == otherwise.type else INTEGER
        elif isinstance(kind, Real):
            kind = DOUBLE
        return Conditional(type=kind, span=node.span, condition=condition, then=then, otherwise=otherwise)


def is_discrete(kind: object) -> bool:
    """Returns whether the values of a type can be counted."""
    return isinstance(kind, Simple) and not isinstance(kind, Real) and kind is not UNKNOWN

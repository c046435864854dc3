"""The parser of DVE expressions, with the precedence of DiVinE 2.

All binary operators associate to the left, and ``and`` and ``or`` bind alike: ``a or b and c`` is ``(a or b) and c``.
"""

from __future__ import annotations

from outcrop.lang.cursor import MAX_HEIGHT
from outcrop.lang.dve.cursor import Cursor
from outcrop.lang.dve.lexer import IDENTIFIER, INTEGER
from outcrop.lang.dve.syntax import Binary, Expression, InState, Name, Number, Reference, Truth, Unary

_LEVELS = (
    ("imply",),
    ("||", "&&"),
    ("|", "&", "^"),
    ("==", "!="),
    ("<", "<=", ">=", ">"),
    ("<<", ">>"),
    ("-", "+"),
    ("*", "/", "%"),
)
_LEVEL = {operator: level for level, operators in enumerate(_LEVELS) for operator in operators}
_ASSOCIATIVE = frozenset(("||", "&&", "|", "&", "^"))
_LARGEST = 2**63 - 1


class ExpressionParser(Cursor):
    def expression(self, loosest: int = 0) -> Expression:
        """Parses an expression whose binary operators have the level ``loosest`` or bind tighter."""
        start = self.at
        self.enter()
        left = self._operand()
        height = 0
        chained = ""
        while (level := _LEVEL.get(self.kind, -1)) >= loosest:
            operator = self.kind
            self.at += 1
            right = self.expression(level + 1)
            left = Binary(operator, left, right, self.span_from(start))
            # A chain of one associative operator counts once, since its tree is low.
            height += operator != chained
            chained = operator if operator in _ASSOCIATIVE else ""
            if height > MAX_HEIGHT:
                self.give_up(f"this expression is too long: more than {MAX_HEIGHT} operators in a row")
        self.nesting -= 1
        return left

    def _operand(self) -> Expression:
        start = self.at
        kind = self.kind
        if kind in ("-", "~", "not"):
            self.at += 1
            self.enter()
            operand = self._operand()
            self.nesting -= 1
            return Unary(kind, operand, self.span_from(start))
        if kind == INTEGER:
            return self._number()
        if kind in ("true", "false"):
            self.at += 1
            return Truth(kind == "true", self.span_from(start))
        if kind == "(":
            self.at += 1
            inner = self.expression()
            self.expect(")", "after an expression in parentheses")
            return inner
        if kind == IDENTIFIER:
            return self._named()
        return self.fail_expected("an expression")

    def _number(self) -> Number:
        digits = self.texts[self.at]
        if len(digits.lstrip("0")) > 19 or int(digits) > _LARGEST:
            self.fail("this number does not fit in 64 bits", "use a smaller one")
        self.at += 1
        return Number(int(digits), self.span_from(self.at - 1))

    def _named(self) -> Expression:
        start = self.at
        first = self.name("a name")
        if self.kind == "(":
            hint = "DVE has no functions; process templates and 'expression' macros of DiVinE 3 are not supported"
            self.fail(f"'{first.text}' cannot be called", hint, first.span)
        if self.accept("."):
            state = self.name(f"a state of process '{first.text}' after '.'")
            return InState(first, state, self.span_from(start))
        return self._rest_of_reference(start, first)

    def reference(self, what: str) -> Reference:
        """Parses a reference to a variable."""
        start = self.at
        first = self.name(what)
        return self._rest_of_reference(start, first)

    def _rest_of_reference(self, start: int, first: Name) -> Reference:
        process = None
        if self.accept("->"):
            process, first = first, self.name(f"a variable of process '{first.text}' after '->'")
        index = None
        if self.accept("["):
            index = self.expression()
            self.expect("]", "after the index")
        if self.kind == "[":
            self.fail("arrays have one dimension only", "compute one index, as in a[row * WIDTH + column]")
        return Reference(process, first, index, self.span_from(start))

"""Expressions, parsed by precedence climbing: one loop for all binary operators."""

from __future__ import annotations

from outcrop.ir.chains import levels
from outcrop.lang.cursor import MAX_HEIGHT, GivenUp
from outcrop.lang.murphi.hints import OPERATORS
from outcrop.lang.murphi.lexer import IDENTIFIER, INTEGER, REAL, STRING
from outcrop.lang.murphi.parser_cursor import Cursor
from outcrop.lang.murphi.syntax import (
    BinaryOperation,
    CallOperation,
    ConditionalOperation,
    ElementAccess,
    Expression,
    FieldAccess,
    Identifier,
    Integer,
    IsMemberOperation,
    IsUndefinedOperation,
    MultisetCountOperation,
    Name,
    QuantifiedOperation,
    QuantifierSyntax,
    RealNumber,
    TypeExpression,
    UnaryOperation,
)
from outcrop.source import Span

_CONDITIONAL, _IMPLICATION, _NOT, _COMPARISON, _PRODUCT = 1, 2, 8, 9, 12
_LEVELS = {
    "?": _CONDITIONAL,
    "->": _IMPLICATION,
    "||": 3,
    "&&": 4,
    "|": 5,
    "^": 6,
    "&": 7,
    **dict.fromkeys(("<", "<=", "=", "!=", ">=", ">"), _COMPARISON),
    "<<": 10,
    ">>": 10,
    "+": 11,
    "-": 11,
    "*": _PRODUCT,
    "/": _PRODUCT,
    "%": _PRODUCT,
}
_ASSOCIATIVE = frozenset(("||", "&&", "|", "^", "&"))
# Levels of the operands of prefix operators: ``!`` binds looser than comparisons, the others tighter than all.
_PREFIX_LEVELS = {"!": _NOT + 1, "-": _PRODUCT + 1, "+": _PRODUCT + 1, "~": _PRODUCT + 1}

_NO_CHAIN = {
    _CONDITIONAL: ("'?:' cannot be chained", "put parentheses around the inner one: a ? b : (c ? d : e)"),
    _IMPLICATION: ("'->' cannot be chained", "use parentheses: a -> (b -> c), or a & b -> c"),
    _COMPARISON: ("comparisons cannot be chained", "write a < b & b < c, or use parentheses"),
}

EXPRESSION_STARTS = frozenset(
    (IDENTIFIER, INTEGER, REAL, "(", "!", "-", "+", "~", "forall", "exists", "isundefined", "ismember")
)

# Largest number of digits: far beyond 64 bits, and below the limit of int().
_MAX_DIGITS = 100


class _Chain:
    """Count of the operands that one associative operator joins, whose tree stays low for any number of them."""

    __slots__ = ("_kind", "_length", "_tallest")

    def __init__(self) -> None:
        self._kind, self._length, self._tallest = "", 0, 0

    def height(self, kind: str, left: int, right: int) -> int:
        """Returns the height of the tree after one more operator, from the heights of its two sides."""
        if kind not in _ASSOCIATIVE:
            self._kind = ""
            return max(left, right) + 1
        if kind != self._kind:
            self._kind, self._length, self._tallest = kind, 1, left
        self._length += 1
        self._tallest = max(self._tallest, right)
        return self._tallest + levels(self._length)


class ExpressionParser(Cursor):
    def type_expression(self) -> TypeExpression:
        raise NotImplementedError

    def quantifiers(self) -> list[QuantifierSyntax]:
        raise NotImplementedError

    def expression(self, minimum: int = _CONDITIONAL) -> Expression:
        """Parses an expression with operators of at least the level ``minimum``. Leaves the height of its tree in
        ``height``."""
        self.enter()
        kinds = self.kinds
        start = self.starts[self.at]
        left = self._operand()
        chain = _Chain()
        while True:
            at = self.at
            kind = kinds[at]
            level = _LEVELS.get(kind, 0)
            if level < minimum:
                if kind in OPERATORS:
                    self.fail(f"there is no '{kind}' in Murphi", OPERATORS[kind])
                break
            height = self.height
            self.at = at + 1
            if level == _CONDITIONAL:
                left = self._conditional(left, start)
                height = max(height, self.height)
            else:
                right = self.expression(level + 1)
                source = self.source
                left = BinaryOperation(
                    Span(source, start, self.ends[self.at - 1]),
                    kind,
                    Span(source, self.starts[at], self.ends[at]),
                    left,
                    right,
                )
            self.height = chain.height(kind, height, self.height)
            self.check_height()
            if level in _NO_CHAIN and _LEVELS.get(kinds[self.at], 0) == level:
                self.fail(*_NO_CHAIN[level])
        self.nesting -= 1
        return left

    def grow(self) -> None:
        """Counts one more level in the height of the current tree."""
        self.height += 1
        self.check_height()

    def check_height(self) -> None:
        if self.height > MAX_HEIGHT:
            self.report_depth(f"nested too deeply: this expression has more than {MAX_HEIGHT} operators in a row")

    def _conditional(self, condition: Expression, start: int) -> Expression:
        then = self.expression(_CONDITIONAL + 1)
        height = self.height
        if self.kinds[self.at] == "?":
            self.fail(*_NO_CHAIN[_CONDITIONAL])
        self.expect(":", "between the two values of '?:'")
        otherwise = self.expression(_CONDITIONAL + 1)
        self.height = max(height, self.height)
        return ConditionalOperation(self.span_from(start), condition, then, otherwise)

    def _operand(self) -> Expression:
        at = self.at
        kind = self.kinds[at]
        if kind == IDENTIFIER:
            if self.kinds[at + 1] == "(":
                if self.word() == "multisetcount" and self.texts[at] not in self.redeclared:
                    return self._multiset_count()
                return self.call()
            return self.designator()
        if kind == INTEGER:
            self.at = at + 1
            self.height = 1
            return self._integer(at)
        if kind == "(":
            self.at = at + 1
            inner = self.expression()
            self.expect(")", "after this expression")
            return inner
        prefix_level = _PREFIX_LEVELS.get(kind)
        if prefix_level is not None:
            self.at = at + 1
            operand = self.expression(prefix_level)
            self.grow()
            return UnaryOperation(self.span_from(self.starts[at]), kind, operand)
        return self._special_operand(kind)

    def _special_operand(self, kind: str) -> Expression:
        start = self.starts[self.at]
        if kind in ("forall", "exists"):
            self.open_block(kind)
            quantifiers = self.quantifiers()
            self.expect_do(f"after the quantifier of '{kind}'")
            body = self.expression()
            self.grow()
            self.close_block()
            return QuantifiedOperation(self.span_from(start), kind, quantifiers, body)
        if kind == "isundefined":
            self.at += 1
            self.expect("(", "after 'isundefined'")
            operand = self.expression()
            self.grow()
            self.expect(")", "after the argument of 'isundefined'")
            return IsUndefinedOperation(self.span_from(start), operand)
        if kind == "ismember":
            self.at += 1
            self.expect("(", "after 'ismember'")
            operand = self.expression()
            height = self.height
            self.expect(",", "between the arguments of 'ismember'")
            member_type = self.type_expression()
            self.height = height
            self.grow()
            self.expect(")", "after the arguments of 'ismember'")
            return IsMemberOperation(self.span_from(start), operand, member_type)
        if kind == REAL:
            self.at += 1
            self.height = 1
            return RealNumber(self.span_from(start), float(self.texts[self.at - 1]))
        if kind == "if":
            self.report("'if' is a statement and has no value", self.token_span(self.at), "write a ? b : c")
            raise GivenUp  # no token tells where it ends
        hint = (
            "a string follows 'put' and 'error' without parentheses, or names a rule or property"
            if kind == STRING
            else ""
        )
        return self.fail_expected("an expression", hint)

    def _integer(self, at: int) -> Integer:
        text = self.texts[at]
        span = self.token_span(at)
        if len(text) > _MAX_DIGITS:
            self.report(f"this number is too large: {len(text):,} digits", span, "numbers have 64 bits")
            return Integer(span, 0)
        if text[0] != "0" or len(text) == 1:
            return Integer(span, int(text))
        if text[1] in "xX":
            return Integer(span, int(text[2:], 16))
        if "8" in text or "9" in text:
            self.report(f"'{text}' is not an octal number", span, "a number that starts with 0 is read as octal")
            return Integer(span, 0)
        value = int(text, 8)
        if value != int(text):
            hint = f"leave out the leading zeros if {text.lstrip('0')} is meant, as CMurphi reads it"
            self.warn(f"'{text}' is read as octal: {value}", span, hint)
        return Integer(span, value)

    def designator(self) -> Expression:
        """Parses a name followed by fields and indices."""
        at = self.at
        if self.kinds[at] != IDENTIFIER:
            self.fail_expected("a variable")
        text = self.texts[at]
        if text not in self.redeclared and len(text) == 9 and text.lower() == "undefined":
            text = "undefined"
        source = self.source
        start = self.starts[at]
        result: Expression = Identifier(Span(source, start, self.ends[at]), text)
        height = 1
        at += 1
        while True:
            kind = self.kinds[at]
            if kind == ".":
                self.at = at + 1
                if self.kinds[at + 1] != IDENTIFIER:
                    self.fail_expected("the name of a field after '.'")
                field = Name(self.token_span(at + 1), self.texts[at + 1])
                at += 2
                result = FieldAccess(Span(source, start, self.ends[at - 1]), result, field)
            elif kind == "[":
                self.at = at + 1
                index = self.expression()
                if self.height > height:
                    height = self.height
                self.expect("]", "after the index")
                at = self.at
                result = ElementAccess(Span(source, start, self.ends[at - 1]), result, index)
            else:
                break
            self.height = height
            self.grow()
            height = self.height
        self.at = at
        self.height = height
        return result

    def call(self) -> CallOperation:
        at = self.at
        name = Name(self.token_span(at), self.texts[at])
        self.at = at + 2
        arguments = self.expressions(")")
        self.expect(")", "after the arguments")
        self.grow()
        return CallOperation(self.span_from(self.starts[at]), name, arguments)

    def expressions(self, closer: str) -> list[Expression]:
        """Parses expressions separated by commas, with an optional trailing comma, up to the token ``closer``."""
        result: list[Expression] = []
        height = 0
        while self.kinds[self.at] != closer:
            result.append(self.expression())
            height = max(height, self.height)
            if not self.accept(","):
                break
        self.height = height
        return result

    def multiset_binding(self, what: str) -> tuple[Name, Expression]:
        """Parses ``( i : m ,``."""
        self.at += 1
        self.expect("(", f"after '{what}'")
        name = self.name("the name of an index")
        self.expect(":", "after the name of the index")
        multiset = self.designator()
        self.expect(",", "after the multiset")
        return name, multiset

    def _multiset_count(self) -> MultisetCountOperation:
        start = self.starts[self.at]
        name, multiset = self.multiset_binding("multisetcount")
        height = self.height
        condition = self.expression()
        self.height = max(height, self.height)
        self.grow()
        self.expect(")", "after the condition of 'multisetcount'")
        return MultisetCountOperation(self.span_from(start), name, multiset, condition)

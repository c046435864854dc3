"""The parser of formulas, by precedence.

From weakest to strongest: ``<->``, ``->``, ``^``, ``||``, ``&&``, the temporal U R V W M, and the prefix operators.
``->`` and the temporal operators associate to the right (a U b U c is a U (b U c)), the others to the left.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, NoReturn

from outcrop.ir.formula import (
    FALSE,
    PRECEDENCE,
    TEMPORAL_BINARY,
    TRUE,
    UNARY,
    Formula,
    Operator,
    proposition,
)
from outcrop.ltl.lexer import (
    CLOSE,
    CLOSE_QUANTIFIER,
    END,
    EXISTS,
    EXPRESSION,
    FORALL,
    NAME,
    OPEN,
    Token,
    refuse,
    tokenize,
)
from outcrop.source import Source, Span

#: Largest number of nesting levels, since the passes over the tree recurse.
MAX_NESTING = 100
#: Largest number of operators and propositions; those under quantifiers count once per value.
MAX_TOKENS = 2_000

_BINARY = frozenset(PRECEDENCE) - UNARY
_RIGHT = TEMPORAL_BINARY | {Operator.IMPLIES}
#: Spellings of other syntaxes, with ours.
_FOREIGN = {
    "always": "G",
    "eventually": "F",
    "next": "X",
    "until": "U",
    "release": "R",
    "weakuntil": "W",
    "stronguntil": "U",
    "equivalent": "<->",
}


@dataclass(frozen=True)
class Bound:
    """A variable that a quantifier over a formula binds, with one value: as text, and as an expression of the model."""

    name: str
    shown: str
    value: Any = field(compare=False)


Binding = tuple[Bound, ...]
#: Function that returns the values that a quantifier stands for, within the quantifiers around it.
Instances = Callable[[Span, Binding], list[Binding]]


@dataclass(frozen=True)
class Parsed:
    """A formula, with the first place of each proposition, and the bindings there."""

    formula: Formula
    propositions: dict[Formula, Span]
    bindings: dict[Formula, Binding] = field(default_factory=dict)


def parse(text: str | Source, known: Collection[str] = ()) -> Parsed:
    """Reads a formula. Raises ModelError, with the place, if it is invalid. A word in ``known`` is a proposition even
    if it begins with a capital."""
    source = text if isinstance(text, Source) else Source("formula", text)
    return parse_span(Span(source, 0, len(source.text)), known)


def parse_span(span: Span, known: Collection[str] = (), instances: Instances | None = None) -> Parsed:
    """Reads the formula in a span. ``instances`` returns the values of quantifiers over formulas."""
    return _Parser(tokenize(span.source, span.start, span.end, known), instances).run()


def outermost_forall(span: Span, known: Collection[str] = ()) -> tuple[Span, Span] | None:
    """Returns the bindings of the quantifier around a whole formula, and the formula under it."""
    tokens = tokenize(span.source, span.start, span.end, known)
    depth = 0
    for number, token in enumerate(tokens):
        depth += (token.kind in (FORALL, EXISTS)) - (token.kind == CLOSE_QUANTIFIER)
        if depth == 0:
            if tokens[0].kind != FORALL or number + 2 < len(tokens):
                return None
            begin = span.source.text.index("do", tokens[0].span.end) + len("do")
            return tokens[0].span, Span(span.source, begin, token.span.start)
    return None


class _Parser:
    def __init__(self, tokens: list[Token], instances: Instances | None = None) -> None:
        self.tokens = tokens
        self.instances = instances
        self.at = 0
        self.nesting = 0
        self.operands = 0
        self.bound: Binding = ()
        self.propositions: dict[Formula, Span] = {}
        self.bindings: dict[Formula, Binding] = {}

    @property
    def here(self) -> Token:
        return self.tokens[self.at]

    def run(self) -> Parsed:
        if len(self.tokens) > MAX_TOKENS:
            raise refuse(f"this formula is too long: more than {MAX_TOKENS:,} tokens", self.tokens[-1].span)
        formula = self._binary(1)
        if self.here.kind != END:
            self._fail("expected an operator or the end of the formula")
        return Parsed(formula, self.propositions, self.bindings)

    def _binary(self, limit: int) -> Formula:
        """Parses an operand and all operators after it that bind at least as tightly as ``limit``."""
        left = self._prefixed()
        chain: Operator | None = None
        while (operator := self._operator()) and PRECEDENCE[operator] >= limit:
            self.at += 1
            self._enter()
            right = self._binary(PRECEDENCE[operator] + (operator not in _RIGHT))
            self.nesting -= 1
            # A chain of && is one conjunction of any length.
            chained = operator is chain and operator in (Operator.AND, Operator.OR)
            left = Formula(operator, *(left.operands if chained else (left,)), right)
            chain = operator
            if left.height > MAX_NESTING:
                self._too_deep()
        return left

    def _operator(self) -> Operator | None:
        """Returns the current binary operator, if there is one."""
        kind = self.here.kind
        return kind if isinstance(kind, Operator) and kind in _BINARY else None

    def _prefixed(self) -> Formula:
        token = self.here
        if token.kind in UNARY:
            self.at += 1
            self._enter()
            operand = self._prefixed()
            self.nesting -= 1
            return Formula(Operator(token.kind), operand)
        return self._operand()

    def _operand(self) -> Formula:
        token = self.here
        self.at += 1
        if token.kind is Operator.TRUE:
            return TRUE
        if token.kind is Operator.FALSE:
            return FALSE
        if token.kind in (NAME, EXPRESSION):
            return self._proposition(token)
        if token.kind in (FORALL, EXISTS):
            return self._quantified(token)
        if token.kind != OPEN:
            self.at -= 1
            self._fail("expected a proposition, a prefix operator or '('")
        self._enter()
        result = self._binary(1)
        self.nesting -= 1
        if self.here.kind != CLOSE:
            self._fail_unclosed(token)
        self.at += 1
        return result

    def _proposition(self, token: Token) -> Formula:
        """Returns a proposition with values in place of bound variables."""
        self.operands += 1
        if self.operands > MAX_TOKENS:
            raise refuse(
                f"this formula is too long: more than {MAX_TOKENS:,} propositions",
                token.span,
                "check its parts one by one",
            )
        text = written = token.text.strip()
        for each in {each.name: each for each in self.bound}.values():
            text = re.sub(rf"\b{each.name}\b", each.shown, text)
        result = proposition(text, verbatim=token.kind == EXPRESSION or text != written)
        self.propositions.setdefault(result, token.span)
        self.bindings.setdefault(result, self.bound)
        return result

    def _quantified(self, token: Token) -> Formula:
        """Returns the conjunction, or disjunction, of the formula for each value."""
        if self.instances is None:
            hint = "a quantifier can be inside the braces of a proposition"
            raise refuse("formulas about this model cannot have quantifiers", token.span, hint)
        begin, around = self.at, self.bound
        operands = []
        self._enter()
        for binding in self.instances(token.span, around):
            self.at, self.bound = begin, (*around, *binding)
            operands.append(self._binary(1))
            if self.here.kind != CLOSE_QUANTIFIER:
                self._fail(f"expected an operator or the 'end' of '{token.kind}'")
            self.at += 1
        self.nesting -= 1
        self.bound = around
        if not operands:
            raise refuse("there is no value to quantify over", token.span, "use a type with at least one value")
        operator = Operator.AND if token.kind == FORALL else Operator.OR
        return operands[0] if len(operands) == 1 else Formula(operator, *operands)

    def _enter(self) -> None:
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            self._too_deep()

    def _too_deep(self) -> NoReturn:
        raise refuse(f"nested too deeply: more than {MAX_NESTING} levels", self.here.span)

    # --- Mistakes ------------------------------------------------------------------------------------------

    def _fail(self, message: str) -> NoReturn:
        token = self.here
        found = "the end of the formula" if token.kind == END else f"'{token.text}'"
        raise refuse(f"{message}, found {found}", token.span, self._hint())

    def _fail_unclosed(self, opening: Token) -> NoReturn:
        if self.here.kind == END:
            raise refuse("this bracket is never closed", opening.span)
        self._fail("expected an operator or ')'")

    def _hint(self) -> str:
        near = [each for each in (self.here, self.tokens[max(self.at - 1, 0)]) if each.kind == NAME]
        for token in near:
            if token.text in _FOREIGN:
                return f"'{token.text}' is written {_FOREIGN[token.text]}"
        if self.here.kind in (NAME, EXPRESSION, OPEN):
            return "an operator is missing between two propositions"
        if self.here.kind in TEMPORAL_BINARY:
            return f"{self.here.text} is a binary operator; write a name with a capital in braces, as in {{Ready}}"
        return ""

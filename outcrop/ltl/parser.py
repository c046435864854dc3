"""Reads a formula: text to tree, by precedence.

From weakest to strongest: ``<->``, ``->``, ``^``, ``||``, ``&&``, the temporal U R V W M, and the prefix operators.
``->`` and the temporal operators lean to the right (a U b U c is a U (b U c)), the others to the left.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NoReturn

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
from outcrop.ltl.lexer import CLOSE, END, EXPRESSION, NAME, OPEN, Token, refuse, tokenize
from outcrop.source import Source, Span

#: Levels of nesting: the passes over the tree recurse, and Python's stack is not deep.
MAX_NESTING = 100
#: Operators and propositions in all.
MAX_TOKENS = 2_000

_BINARY = frozenset(PRECEDENCE) - UNARY
_RIGHT = TEMPORAL_BINARY | {Operator.IMPLIES}
#: What people write who are used to another syntax.
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
class Parsed:
    """A formula, and where each of its propositions stands first."""

    formula: Formula
    propositions: dict[Formula, Span]


def parse(text: str | Source, known: Collection[str] = ()) -> Parsed:
    """Reads a formula; raises ModelError with a caret where it cannot. A word in ``known`` is a proposition even where
    it begins with a capital."""
    source = text if isinstance(text, Source) else Source("formula", text)
    return parse_span(Span(source, 0, len(source.text)), known)


def parse_span(span: Span, known: Collection[str] = ()) -> Parsed:
    """Reads the formula in a stretch of a source."""
    return _Parser(tokenize(span.source, span.start, span.end, known)).run()


class _Parser:
    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.nesting = 0
        self.propositions: dict[Formula, Span] = {}

    @property
    def here(self) -> Token:
        return self.tokens[self.at]

    def run(self) -> Parsed:
        if len(self.tokens) > MAX_TOKENS:
            raise refuse(f"this formula is too long: more than {MAX_TOKENS:,} words and signs", self.tokens[-1].span)
        formula = self._binary(1)
        if self.here.kind != END:
            self._fail("expected an operator or the end of the formula")
        return Parsed(formula, self.propositions)

    def _binary(self, limit: int) -> Formula:
        """An operand and all the operators after it that bind at least as tightly as ``limit``."""
        left = self._prefixed()
        chain: Operator | None = None
        while (operator := self._operator()) and PRECEDENCE[operator] >= limit:
            self.at += 1
            self._enter()
            right = self._binary(PRECEDENCE[operator] + (operator not in _RIGHT))
            self.nesting -= 1
            # A chain of && is one conjunction, however long.
            chained = operator is chain and operator in (Operator.AND, Operator.OR)
            left = Formula(operator, *(left.operands if chained else (left,)), right)
            chain = operator
            if left.height > MAX_NESTING:
                self._too_deep()
        return left

    def _operator(self) -> Operator | None:
        """The binary operator here, if there is one."""
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
            result = proposition(token.text.strip(), verbatim=token.kind == EXPRESSION)
            self.propositions.setdefault(result, token.span)
            return result
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
            return "there is an operator missing between two propositions"
        if self.here.kind in TEMPORAL_BINARY:
            return (
                f"{self.here.text} stands between two operands; a name with a capital goes into braces, as in {{Ready}}"
            )
        return ""

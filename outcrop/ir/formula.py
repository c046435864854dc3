"""Formulas of linear temporal logic as a tree with shared nodes.

Formulas that are built alike are the same object, so that comparing them costs nothing and results are remembered per
node. A formula is kept as it was written; ``outcrop.ltl.simplify`` turns it into the normal form that the translation
reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from hashlib import blake2b
from typing import ClassVar
from weakref import WeakValueDictionary


class Operator(StrEnum):
    """The value is the sign that a formula is printed with."""

    TRUE = "true"
    FALSE = "false"
    PROPOSITION = "proposition"
    NOT = "!"
    NEXT = "X"
    FINALLY = "F"
    GLOBALLY = "G"
    UNTIL = "U"
    RELEASE = "R"
    WEAK_UNTIL = "W"
    STRONG_RELEASE = "M"
    AND = "&&"
    OR = "||"
    XOR = "^"
    IMPLIES = "->"
    IFF = "<->"


UNARY = frozenset((Operator.NOT, Operator.NEXT, Operator.FINALLY, Operator.GLOBALLY))
TEMPORAL_BINARY = frozenset((Operator.UNTIL, Operator.RELEASE, Operator.WEAK_UNTIL, Operator.STRONG_RELEASE))

#: How tightly an operator binds what stands beside it; the parser and the printer agree on this table.
PRECEDENCE = {
    Operator.IFF: 1,
    Operator.IMPLIES: 2,
    Operator.XOR: 3,
    Operator.OR: 4,
    Operator.AND: 5,
    **dict.fromkeys(TEMPORAL_BINARY, 6),
    **dict.fromkeys(UNARY, 7),
}
ATOM = 8

_Key = tuple[Operator, tuple["Formula", ...], str, bool]


class Formula:
    """One node. ``text`` is a proposition's name, or its expression in the model's language if it is ``verbatim``."""

    __slots__ = ("__weakref__", "digest", "height", "operands", "operator", "text", "verbatim")

    operator: Operator
    operands: tuple[Formula, ...]
    text: str
    verbatim: bool
    #: Orders formulas in a way that depends on nothing but their structure.
    digest: bytes
    #: Levels of operators.
    height: int

    _known: ClassVar[WeakValueDictionary[_Key, Formula]] = WeakValueDictionary()

    def __new__(cls, operator: Operator, *operands: Formula, text: str = "", verbatim: bool = False) -> Formula:
        key = (operator, operands, text, verbatim)
        known = cls._known.get(key)
        if known is None:
            known = super().__new__(cls)
            known.operator, known.operands, known.text, known.verbatim = key
            parts = [f"{operator}\0{text}\0{verbatim}".encode(), *(each.digest for each in operands)]
            known.digest = blake2b(b"\0".join(parts), digest_size=16).digest()
            known.height = 1 + max((each.height for each in operands), default=-1)
            cls._known[key] = known
        return known

    @property
    def is_literal(self) -> bool:
        """A proposition or its negation."""
        return self.operator is Operator.PROPOSITION or (
            self.operator is Operator.NOT and self.operands[0].operator is Operator.PROPOSITION
        )

    def propositions(self) -> tuple[Formula, ...]:
        """Every proposition once, in the order of reading."""
        return tuple(each for each in self._nodes() if each.operator is Operator.PROPOSITION)

    def _nodes(self) -> Iterator[Formula]:
        seen: set[Formula] = set()
        waiting = [self]
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                yield node
                waiting.extend(reversed(node.operands))

    def __str__(self) -> str:
        return _print(self)

    def __repr__(self) -> str:
        return f"<{self}>"


TRUE = Formula(Operator.TRUE)
FALSE = Formula(Operator.FALSE)


def proposition(text: str, verbatim: bool = False) -> Formula:
    """A named proposition, or with ``verbatim`` an expression for the model's language to read."""
    return Formula(Operator.PROPOSITION, text=text, verbatim=verbatim)


def negate(formula: Formula) -> Formula:
    """The formula with a negation before it, or without the one that was there."""
    if formula.operator is Operator.NOT:
        return formula.operands[0]
    if formula in (TRUE, FALSE):
        return FALSE if formula is TRUE else TRUE
    return Formula(Operator.NOT, formula)


def _print(formula: Formula) -> str:
    operator, operands = formula.operator, formula.operands
    if operator is Operator.PROPOSITION:
        return _print_expression(formula.text) if formula.verbatim else formula.text
    if not operands:
        return str(operator)
    if operator in UNARY:
        operand = _enclose(operands[0], PRECEDENCE[operator])
        # A run of letters reads well without blanks (GF p), a word needs one.
        joint = "" if operator is Operator.NOT or operand[0] in "GFX(" else " "
        return f"{operator}{joint}{operand}"
    limit = PRECEDENCE[operator]
    # -> and the temporal operators lean to the right, the others do not mind.
    first = [_enclose(each, limit + 1) for each in operands[:-1]]
    last_limit = limit if operator is Operator.IMPLIES or operator in TEMPORAL_BINARY else limit + 1
    return f" {operator} ".join([*first, _enclose(operands[-1], last_limit)])


def _print_expression(text: str) -> str:
    """In braces, unless braces within would confuse them."""
    depth = 0
    for character in text:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth < 0:
            break
    return f'"{text}"' if depth else f"{{{text}}}"


def _enclose(formula: Formula, limit: int) -> str:
    text = _print(formula)
    return text if PRECEDENCE.get(formula.operator, ATOM) >= limit else f"({text})"

"""LTL formulas as trees with shared nodes.

Formulas with equal structure are the same object, so that comparing them is cheap and results can be cached per node. A
formula is stored as it was written; ``outcrop.ltl.simplify`` converts it to the normal form that the translation needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from hashlib import blake2b
from typing import ClassVar
from weakref import WeakValueDictionary


class Operator(StrEnum):
    """An operator; its value is the sign that formulas are printed with."""

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

#: Precedence of each operator, shared by the parser and the printer.
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
    """A node of a formula. ``text`` is the name of a proposition or, if it is ``verbatim``, its expression in the
    language of the model."""

    __slots__ = ("__weakref__", "digest", "height", "operands", "operator", "text", "verbatim")

    operator: Operator
    operands: tuple[Formula, ...]
    text: str
    verbatim: bool
    #: Sort key that depends only on the structure of the formula.
    digest: bytes
    #: Number of levels of operators.
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
        """Whether the formula is a proposition or the negation of one."""
        return self.operator is Operator.PROPOSITION or (
            self.operator is Operator.NOT and self.operands[0].operator is Operator.PROPOSITION
        )

    def propositions(self) -> tuple[Formula, ...]:
        """Returns every proposition once, in reading order."""
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
    """Returns a named proposition or, with ``verbatim``, an expression in the language of the model."""
    return Formula(Operator.PROPOSITION, text=text, verbatim=verbatim)


def negate(formula: Formula) -> Formula:
    """Returns the negation of a formula; a leading negation is removed."""
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
        # A sequence of letters needs no blanks (GF p), a word needs one.
        joint = "" if operator is Operator.NOT or operand[0] in "GFX(" else " "
        return f"{operator}{joint}{operand}"
    limit = PRECEDENCE[operator]
    # -> and the temporal operators associate to the right; for the others it does not matter.
    first = [_enclose(each, limit + 1) for each in operands[:-1]]
    last_limit = limit if operator is Operator.IMPLIES or operator in TEMPORAL_BINARY else limit + 1
    return f" {operator} ".join([*first, _enclose(operands[-1], last_limit)])


def _print_expression(text: str) -> str:
    """Returns an expression in braces, unless it has unbalanced braces."""
    depth = 0
    for character in text:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth < 0:
            break
    return f'"{text}"' if depth else f"{{{text}}}"


def _enclose(formula: Formula, limit: int) -> str:
    text = _print(formula)
    return text if PRECEDENCE.get(formula.operator, ATOM) >= limit else f"({text})"

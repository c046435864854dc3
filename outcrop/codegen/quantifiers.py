"""Quantifiers in C, without loops that cannot change the result.

``exists i do exists j do i != j & p[i] = x & p[j] = x`` needs no loop over j if ``p[i] != x``. So before a loop, those
conjuncts are tried that do not depend on its variable. The loop is entered only if all of them hold, or if one reads an
undefined value, which the loop then finds in order. Every conjunct before them must be one that cannot fail. ``forall``
is treated as the negated body.
"""

from __future__ import annotations

from collections.abc import Iterator

from outcrop.codegen.bounds import Interval
from outcrop.codegen.code import CannotTry, Value
from outcrop.codegen.loops import Loops
from outcrop.codegen.text import bare, negated
from outcrop.ir.nodes import (
    Binary,
    BinaryOperator,
    Expression,
    Local,
    LocalPlace,
    Quantified,
    Quantifier,
    TypeDomain,
    Unary,
    UnaryOperator,
    Witnessed,
)
from outcrop.ir.walk import walk

Literal = tuple[Expression, bool]  #: a condition, and whether it must hold or not


def literals(node: Expression, holds: bool) -> Iterator[Literal]:
    """Yields conditions that are necessary for ``node`` to hold, or not to hold, as far as it is a conjunction; in
    order."""
    if isinstance(node, Unary) and node.operator is UnaryOperator.NOT:
        yield from literals(node.operand, not holds)
        return
    if isinstance(node, Witnessed) and holds:
        yield from literals(node.operand, holds)
        return
    if isinstance(node, Binary):
        match node.operator, holds:
            case (BinaryOperator.AND, True) | (BinaryOperator.OR, False):
                yield from literals(node.left, holds)
                yield from literals(node.right, holds)
                return
            case (BinaryOperator.IMPLIES, False):
                yield from literals(node.left, True)
                yield from literals(node.right, False)
                return
    yield node, holds


class Quantifiers(Loops):
    """Writes code for quantified conditions."""

    def condition(self, node: Expression) -> str:
        raise NotImplementedError

    def quantified(self, node: Quantified) -> str:
        result = self.name()
        is_exists = node.quantifier is Quantifier.EXISTS
        self.line(f"int {result} = {int(not is_exists)};")
        worthwhile = self._worthwhile(node, node.domain, is_exists) if isinstance(node.domain, TypeDomain) else None
        with self.block() as lines, self.loop(node.variable, node.domain):
            condition = self.condition(node.body)
            decided = condition if is_exists else negated(condition)
            self.nest(f"if ({bare(decided)})", [f"{result} = {int(is_exists)};", "break;"])
        if worthwhile is None:
            self.lines += lines
        else:
            self.nest(f"if ({worthwhile})", lines)
        return result

    def _worthwhile(self, node: Quantified, domain: TypeDomain, is_exists: bool) -> str | None:
        """Returns a condition without which the loop decides nothing; None if there is none."""
        undefined: list[str] = []
        holding: list[str] = []
        for literal, holds in literals(node.body, is_exists):
            if _mentions(literal, node.variable):
                if self._can_fail(literal, node.variable, domain):
                    break
                continue
            try:
                with self.block() as lines, self.trying() as unknown:
                    text = self.condition(literal)
            except CannotTry:
                break
            self.lines += lines
            undefined += unknown
            holding.append(text if holds else negated(text))
        if not holding:
            return None
        # Until all notes are recorded, an iteration matters even if it decides nothing.
        undefined += [f"!{self.unit.mark(each.note)}" for each in walk(node.body) if isinstance(each, Witnessed)]
        known = holding[0] if len(holding) == 1 else f"({' && '.join(holding)})"
        return " || ".join([*undefined, known]) if undefined else bare(known)

    def _can_fail(self, node: Expression, variable: Local, domain: TypeDomain) -> bool:
        """Returns whether an expression can fail. It is written on trial, with the variable bound, and dropped."""
        if variable.is_addressed:
            return True
        try:
            with self.block(), self.trying() as unknown:
                self.bind(variable, Value("trial", Interval.of(domain.type)))
                self.condition(node)
        except CannotTry:
            return True
        return bool(unknown)


def _mentions(node: Expression, variable: Local) -> bool:
    return any(isinstance(each, LocalPlace) and each.local is variable for each in walk(node))

"""Vacuity: properties that hold only because their conditions are never met.

``A -> B`` is true wherever A is false. If A is true in no reachable state, the property says nothing, and *holds* would
promise more than it means. So a search also notes, for every such A in an invariant or formula, whether it was ever
true. In an invariant that happens where A is evaluated anyway. The search for bad states does not evaluate formulas, so
there A becomes a separate property, a witness, which is evaluated until it is met.

This is the plainest kind of vacuity, antecedent failure: I. Beer, S. Ben-David, C. Eisner and Y. Rodeh, "Efficient
detection of vacuity in temporal model checking" (2001). Other kinds are not detected.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from outcrop.ir.chains import joined
from outcrop.ir.formula import Formula, Operator
from outcrop.ir.nodes import (
    Binary,
    BinaryOperator,
    Call,
    Constant,
    Cover,
    Expression,
    Let,
    Load,
    Put,
    Quantified,
    Quantifier,
    SlotUsed,
    Statement,
    Unary,
    UnaryOperator,
    Undefined,
    Witnessed,
)
from outcrop.ir.places import source_text
from outcrop.ir.system import Function, Property, PropertyKind, System, TemporalProperty
from outcrop.ir.types import BOOLEAN
from outcrop.ir.walk import changed, walk
from outcrop.source import Diagnostic, Severity, Span

Subject = Property | TemporalProperty


@dataclass(frozen=True, eq=False)
class Antecedent:
    """The left side of an implication in a property. ``note``: see Property."""

    subject: Subject
    text: str
    span: Span
    note: int
    within: Antecedent | None  #: the implication that this one is inside of
    is_part: bool  #: whether the property says something else too

    def warning(self) -> Diagnostic:
        is_formula = isinstance(self.subject, TemporalProperty)
        kind, this = ("ltl", f"'{self.text}'") if is_formula else ("invariant", "this")
        subject = f'{"part of " if self.is_part else ""}{kind} "{self.subject.name}"'
        text = f"{subject} holds vacuously: {this} is true in no state reached"
        return Diagnostic(Severity.WARNING, text, self.span, bears_on_verdict=True)


@dataclass(frozen=True)
class Vacuity:
    """The result of preparing a vacuity check. ``system`` is the System to search, ``asked`` the properties covered."""

    system: System
    antecedents: list[Antecedent]
    asked: frozenset[Subject]

    def unmet(self, noted: Iterable[int]) -> list[Antecedent]:
        """Returns the antecedents that were never true, without those inside another one."""
        met = set(noted)
        return [
            each
            for each in self.antecedents
            if each.note not in met and (each.within is None or each.within.note in met)
        ]


def vacuity(system: System, formulas: Iterable[TemporalProperty] = (), prints: bool = False) -> Vacuity:
    """Prepares the vacuity check of all invariants and of some formulas. Left out are formulas about single scalarset
    values, which symmetry renames, and those for which another evaluation of their conditions would be visible. With
    ``prints``, an evaluated ``put`` statement is visible too."""
    effects = (Put, Cover) if prints else (Cover,)
    found: list[Antecedent] = []
    properties: list[Property] = []
    asked: set[Subject] = set()
    for each in system.properties:
        if each.kind is PropertyKind.INVARIANT:
            marking = _Marking(each)
            properties.append(replace(each, condition=marking.marked(each.condition)))
            found += marking.found
            asked.add(each)
        else:
            properties.append(each)
    for subject in formulas:
        arrows = list(_arrows(subject, subject.formula, None, False))
        if subject.has_scalarset_values or any(_has_effects(condition, effects) for _, condition in arrows):
            continue
        found += [antecedent for antecedent, _ in arrows]
        properties += [_witness(antecedent, condition) for antecedent, condition in arrows]
        asked.add(subject)
    return Vacuity(replace(system, properties=tuple(properties)), found, frozenset(asked))


def _note(subject: Subject, text: str, span: Span) -> int:
    """Returns the number of a note. It is the same for any number of ranks, and after resuming a checkpoint."""
    key = f"{subject.name}\0{subject.span.start}\0{span.start}\0{text}".encode()
    return -1 - int.from_bytes(blake2b(key, digest_size=6).digest())


# --- Invariants --------------------------------------------------------------------------------------------


class _Marking:
    """Marks the implications of an invariant, so that the search notes which left sides were true."""

    def __init__(self, subject: Property) -> None:
        self._subject = subject
        self.found: list[Antecedent] = []

    def marked(self, node: Expression, within: Antecedent | None = None, is_part: bool = False) -> Expression:
        match node:
            case Quantified(quantifier=Quantifier.FORALL) | Let():
                return replace(node, body=self.marked(node.body, within, is_part))
            case Binary(operator=BinaryOperator.AND):
                left, right = (self.marked(each, within, True) for each in (node.left, node.right))
                return replace(node, left=left, right=right)
            case Binary(operator=BinaryOperator.IMPLIES, left=SlotUsed()):  # a choose around the invariant
                return replace(node, right=self.marked(node.right, within, is_part))
            case Binary(operator=BinaryOperator.IMPLIES):
                left, right = self._arrow(node.left, node.right, within, is_part)
                return replace(node, left=left, right=right)
            case Binary(operator=BinaryOperator.OR, left=Unary(operator=UnaryOperator.NOT) as negation):
                operand, right = self._arrow(negation.operand, node.right, within, is_part)
                return replace(node, left=replace(negation, operand=operand), right=right)
        return node

    def _arrow(
        self, left: Expression, right: Expression, within: Antecedent | None, is_part: bool
    ) -> tuple[Expression, Expression]:
        text = source_text(left.span)
        note = _note(self._subject, text, left.span)
        found = Antecedent(self._subject, text, left.span, note, within, is_part)
        self.found.append(found)
        return Witnessed(type=BOOLEAN, span=left.span, operand=left, note=note), self.marked(right, found, is_part)


# --- Formulas ----------------------------------------------------------------------------------------------

#: Operands that make the whole formula vacuous if they are vacuous.
_DECISIVE = {
    Operator.NEXT: slice(None),
    Operator.FINALLY: slice(None),
    Operator.GLOBALLY: slice(None),
    Operator.UNTIL: slice(1, None),
    Operator.RELEASE: slice(1, None),
    Operator.WEAK_UNTIL: slice(None),
    Operator.OR: slice(None),
}
_TEMPORAL = (*_DECISIVE.keys() - {Operator.OR}, Operator.STRONG_RELEASE)
_BINARY = {
    Operator.AND: BinaryOperator.AND,
    Operator.OR: BinaryOperator.OR,
    Operator.IMPLIES: BinaryOperator.IMPLIES,
    Operator.IFF: BinaryOperator.EQUAL,
    Operator.XOR: BinaryOperator.NOT_EQUAL,
}
_Arrow = tuple[Antecedent, Expression]


def _arrows(subject: TemporalProperty, formula: Formula, within: Antecedent | None, is_part: bool) -> Iterator[_Arrow]:
    """Yields the left sides of implications in a formula, each with a condition that must be true in some state."""
    operator, operands = formula.operator, formula.operands
    if operator is Operator.IMPLIES:
        yield from _arrow(subject, operands[0], operands[1], within, is_part)
    elif operator is Operator.OR and operands[0].operator is Operator.NOT:
        yield from _arrow(subject, operands[0].operands[0], operands[1], within, is_part)
    elif operator is Operator.AND or operator in _DECISIVE:
        for each in operands[_DECISIVE.get(operator, slice(None))]:
            yield from _arrows(subject, each, within, is_part or operator is Operator.AND)


def _arrow(
    subject: TemporalProperty, left: Formula, right: Formula, within: Antecedent | None, is_part: bool
) -> Iterator[_Arrow]:
    needed = _needed(left)
    if needed is not None:
        text = str(needed)
        within = Antecedent(subject, text, subject.span, _note(subject, text, subject.span), within, is_part)
        yield within, _expression(subject, needed)
    yield from _arrows(subject, right, within, is_part)


def _needed(formula: Formula) -> Formula | None:
    """Returns a condition that is true in some state of every run that satisfies the formula; None if there is none.

    >>> from outcrop.ir.formula import proposition
    >>> p, q = proposition("p"), proposition("q")
    >>> _needed(Formula(Operator.GLOBALLY, Formula(Operator.FINALLY, p)))
    <p>
    >>> _needed(Formula(Operator.OR, p, Formula(Operator.UNTIL, p, q)))
    <p || q>
    >>> _needed(Formula(Operator.WEAK_UNTIL, p, q)) is None
    True
    """
    operator, operands = formula.operator, formula.operands
    if operator in _TEMPORAL:
        return None if operator is Operator.WEAK_UNTIL else _needed(operands[-1])
    parts = [_needed(each) for each in operands]
    if parts == list(operands):
        return formula
    known = [each for each in parts if each is not None]
    if operator is Operator.AND:
        return known[0] if known else None
    return Formula(Operator.OR, *known) if operator is Operator.OR and len(known) == len(parts) else None


def _witness(antecedent: Antecedent, condition: Expression) -> Property:
    subject = antecedent.subject
    return Property(
        name=subject.name,
        parameters=subject.parameters,
        frame=subject.frame,
        span=antecedent.span,
        kind=PropertyKind.WITNESS,
        condition=condition,
        note=antecedent.note,
    )


def _has_effects(condition: Expression, effects: tuple[type[Statement], ...]) -> bool:
    """Returns whether another evaluation would be visible: through statements of the types ``effects`` in functions, or
    through notes of undefined values."""
    waiting: list[object] = [condition]
    entered: set[Function] = set()
    while waiting:
        for node in walk(waiting.pop()):
            if isinstance(node, effects) or (isinstance(node, Load) and node.undefined is Undefined.NOTE):
                return True
            if isinstance(node, Call) and node.function not in entered:
                entered.add(node.function)
                waiting.append(node.function.body)
    return False


def _silenced(node: Any) -> Any:
    """Returns the node without notes, since reads of a formula are not noted in its own search either."""
    is_noted = isinstance(node, Load) and node.undefined is Undefined.NOTE
    return replace(node, undefined=Undefined.ALLOW) if is_noted else node


def _expression(subject: TemporalProperty, formula: Formula) -> Expression:
    """Returns the expression for a formula without temporal operators."""
    operator, span = formula.operator, subject.span
    if operator is Operator.PROPOSITION:
        return changed(subject.meaning[formula], _silenced)  # type: ignore[no-any-return]
    if operator in (Operator.TRUE, Operator.FALSE):
        return Constant(type=BOOLEAN, span=span, value=int(operator is Operator.TRUE))
    parts = [_expression(subject, each) for each in formula.operands]
    if operator is Operator.NOT:
        return Unary(type=BOOLEAN, span=span, operator=UnaryOperator.NOT, operand=parts[0])
    return joined(_BINARY[operator], parts)

"""Properties that hold because they are never put to the test.

``A -> B`` is true wherever A is false. Where A is true in no reachable state it says nothing, and to hear that it
holds is to be told less than one believes. So a search also asks, of every such A in an invariant or formula, whether
it was ever true: each becomes a witness, a property of the System of which that is noted. Once A has been true, that
costs a look at a mark for each new state.

This is the plainest kind of vacuity, antecedent failure: I. Beer, S. Ben-David, C. Eisner and Y. Rodeh, "Efficient
detection of vacuity in temporal model checking" (2001). Parts that do not matter for other reasons are not looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce
from hashlib import blake2b
from typing import Any

from outcrop.ir.formula import TEMPORAL_BINARY, Formula, Operator
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
    Unary,
    UnaryOperator,
    Undefined,
)
from outcrop.ir.places import source_text
from outcrop.ir.system import Function, Property, PropertyKind, System, TemporalProperty
from outcrop.ir.types import BOOLEAN
from outcrop.ir.walk import changed, walk
from outcrop.source import Span


@dataclass(frozen=True, eq=False)
class Antecedent:
    """What stands before an arrow in a property."""

    subject: Property | TemporalProperty
    text: str
    span: Span
    witness: Property
    within: Antecedent | None  #: the arrow that this one stands behind

    def is_witnessed(self, noted: set[int]) -> bool:
        return self.witness.note in noted


@dataclass(frozen=True, eq=False)
class _Found:
    """``condition``: that an evaluation of the property comes to the antecedent, and that this is true."""

    text: str
    span: Span
    condition: Expression
    within: _Found | None = None


def antecedents(system: System, formulas: bool = True) -> list[Antecedent]:
    """Those of all invariants and formulas. What is left out: what prints or counts when it is evaluated, and what
    speaks of single values of scalarsets, which symmetry renames."""
    every: list[Antecedent] = []
    for each in system.of_kind(PropertyKind.INVARIANT):
        every += _witnesses(each, _of_invariant(each.condition, lambda condition: condition, None))
    for subject in system.temporal if formulas else ():
        if not subject.has_scalarset_values:
            every += _witnesses(subject, _of_formula(subject, subject.formula, None))
    return every


def with_witnesses(system: System, every: list[Antecedent]) -> System:
    """The System of which a search notes which of these are true somewhere."""
    return replace(system, properties=(*system.properties, *(each.witness for each in every)))


def vacuous(every: list[Antecedent], noted: set[int]) -> list[Antecedent]:
    """Those that were never true. What stands behind such an arrow goes without saying."""
    return [
        each
        for each in every
        if not each.is_witnessed(noted) and (each.within is None or each.within.is_witnessed(noted))
    ]


def _witnesses(subject: Property | TemporalProperty, found: Iterator[_Found]) -> Iterator[Antecedent]:
    made: dict[_Found | None, Antecedent] = {}
    for number, each in enumerate(found):
        if _has_effects(each.condition):
            continue
        # The same for any number of ranks, and in a search that goes on with another one's checkpoint.
        key = f"{subject.name}\0{subject.span.start}\0{number}\0{each.text}".encode()
        witness = Property(
            name=subject.name,
            parameters=subject.parameters,
            frame=subject.frame,
            span=each.span,
            kind=PropertyKind.WITNESS,
            condition=each.condition,
            note=-1 - int.from_bytes(blake2b(key, digest_size=6).digest()),
        )
        made[each] = Antecedent(subject, each.text, each.span, witness, made.get(each.within))
        yield made[each]


def _has_effects(condition: Expression) -> bool:
    """Does evaluating it once more show?"""
    waiting: list[object] = [condition]
    entered: set[Function] = set()
    while waiting:
        for node in walk(waiting.pop()):
            if isinstance(node, Put | Cover):
                return True
            if isinstance(node, Call) and node.function not in entered:
                entered.add(node.function)
                waiting.append(node.function.body)
    return False


# --- Invariants --------------------------------------------------------------------------------------------

#: From a condition at some place in a property to a condition of the state: that it is true there, for some values of
#: what is bound around it, when the evaluation of the property comes to it.
_Place = Callable[[Expression], Expression]


def _of_invariant(node: Expression, place: _Place, within: _Found | None) -> Iterator[_Found]:
    match node:
        case Quantified(quantifier=Quantifier.FORALL):
            some = Quantifier.EXISTS
            yield from _of_invariant(node.body, lambda body: place(replace(node, quantifier=some, body=body)), within)
        case Let():
            yield from _of_invariant(node.body, lambda body: place(replace(node, body=body)), within)
        case Binary(operator=BinaryOperator.AND):
            yield from _of_invariant(node.left, place, within)
            yield from _of_invariant(node.right, _behind(node.left, place), within)
        case Binary(operator=BinaryOperator.IMPLIES):
            yield from _of_arrow(node.left, node.right, place, within)
        case Binary(operator=BinaryOperator.OR, left=Unary(operator=UnaryOperator.NOT, operand=operand)):
            yield from _of_arrow(operand, node.right, place, within)


def _of_arrow(left: Expression, right: Expression, place: _Place, within: _Found | None) -> Iterator[_Found]:
    found = _Found(source_text(left.span), left.span, place(left), within)
    yield found
    yield from _of_invariant(right, _behind(left, place), found)


def _behind(left: Expression, place: _Place) -> _Place:
    """What is only evaluated where something before it is true: it may fail elsewhere."""
    return lambda condition: place(_binary(BinaryOperator.AND, left, condition))


# --- Formulas ----------------------------------------------------------------------------------------------

_TEMPORAL = frozenset((Operator.NEXT, Operator.FINALLY, Operator.GLOBALLY)) | TEMPORAL_BINARY
_BINARY = {
    Operator.AND: BinaryOperator.AND,
    Operator.OR: BinaryOperator.OR,
    Operator.IMPLIES: BinaryOperator.IMPLIES,
    Operator.IFF: BinaryOperator.EQUAL,
    Operator.XOR: BinaryOperator.NOT_EQUAL,
}


def _of_formula(subject: TemporalProperty, formula: Formula, within: _Found | None) -> Iterator[_Found]:
    operands = formula.operands
    if formula.operator is Operator.IMPLIES:
        yield from _of_formula_arrow(subject, operands[0], operands[1], within)
    elif formula.operator is Operator.OR and operands[0].operator is Operator.NOT:
        yield from _of_formula_arrow(subject, operands[0].operands[0], operands[1], within)
    elif formula.operator in _TEMPORAL or formula.operator in (Operator.AND, Operator.OR):
        for each in operands:
            yield from _of_formula(subject, each, within)


def _of_formula_arrow(
    subject: TemporalProperty, left: Formula, right: Formula, within: _Found | None
) -> Iterator[_Found]:
    needed = _needed(left)
    if needed is not None:
        within = _Found(str(needed), subject.span, _expression(subject, needed), within)
        yield within
    yield from _of_formula(subject, right, within)


def _needed(formula: Formula) -> Formula | None:
    """What must be true in some state of a run of which the formula is; None: nothing that one state shows.

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


def _silenced(node: Any) -> Any:
    """What a formula reads is not noted in a search of its own either."""
    is_noted = isinstance(node, Load) and node.undefined is Undefined.NOTE
    return replace(node, undefined=Undefined.ALLOW) if is_noted else node


def _expression(subject: TemporalProperty, formula: Formula) -> Expression:
    """Of a formula without temporal operators."""
    operator, span = formula.operator, subject.span
    if operator is Operator.PROPOSITION:
        return changed(subject.meaning[formula], _silenced)  # type: ignore[no-any-return]
    if operator in (Operator.TRUE, Operator.FALSE):
        return Constant(type=BOOLEAN, span=span, value=int(operator is Operator.TRUE))
    parts = [_expression(subject, each) for each in formula.operands]
    if operator is Operator.NOT:
        return Unary(type=BOOLEAN, span=span, operator=UnaryOperator.NOT, operand=parts[0])
    return reduce(partial(_binary, _BINARY[operator]), parts)


def _binary(operator: BinaryOperator, left: Expression, right: Expression) -> Expression:
    return Binary(type=BOOLEAN, span=left.span, operator=operator, left=left, right=right)

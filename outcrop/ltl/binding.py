"""Translates an automaton over the names of propositions to one over the states of a System."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from outcrop.ir.automaton import Automaton, Edge
from outcrop.ir.chains import joined
from outcrop.ir.formula import Formula
from outcrop.ir.nodes import BinaryOperator, Expression, Frame, Unary, UnaryOperator
from outcrop.ir.system import Parameter
from outcrop.ir.types import BOOLEAN
from outcrop.ltl.automaton import Automaton as Unbound
from outcrop.ltl.automaton import Label
from outcrop.source import Span

#: Name of the variable that holds the automaton's state; no name of a model has parentheses.
LOCATION = "(automaton)"


def bind(
    automaton: Unbound,
    meaning: Mapping[Formula, Expression],
    span: Span,
    frame: Frame | None = None,
    parameters: Sequence[Parameter] = (),
    arguments: Sequence[int] = (),
) -> Automaton:
    """Returns the automaton with expressions for its propositions, which may use the locals of ``frame``."""
    return Automaton(
        name=LOCATION,
        states=tuple(map(str, range(automaton.size))),
        initial=automaton.initial,
        accepting=automaton.accepting,
        edges=tuple(
            Edge(state, each.target, _guard(each.label, meaning), span)
            for state, leaving in enumerate(automaton.transitions)
            for each in leaving
        ),
        span=span,
        frame=frame or Frame(),
        parameters=tuple(parameters),
        arguments=tuple(arguments),
    )


def _guard(label: Label, meaning: Mapping[Formula, Expression]) -> Expression | None:
    literals = [meaning[each] for each in label.positive]
    literals += [_negation(meaning[each]) for each in label.negative]
    return joined(BinaryOperator.AND, literals) if literals else None


def _negation(operand: Expression) -> Expression:
    return Unary(type=BOOLEAN, span=operand.span, operator=UnaryOperator.NOT, operand=operand)

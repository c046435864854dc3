"""The common part of all front-ends for LTL formulas: reading them, and giving each proposition its meaning."""

from __future__ import annotations

from collections.abc import Callable, Collection

from outcrop.errors import ModelError
from outcrop.ir.formula import Formula
from outcrop.ir.nodes import Expression
from outcrop.lang.report import Report
from outcrop.ltl.lexer import LETTERS
from outcrop.ltl.parser import Binding, Instances, parse_span
from outcrop.options import FormulaText
from outcrop.source import Span

#: Function that lowers a proposition at a place, given the bindings around it. Returns None after an error.
GiveMeaning = Callable[[Formula, Span, Binding], Expression | None]


def names_in(text: FormulaText, known: Collection[str]) -> set[str]:
    """Returns the names of propositions. ``known`` are those that the model has."""
    return {each for each in (*known, *text.definitions) if not set(each) <= LETTERS}


def read_formula(
    text: FormulaText,
    known: Collection[str],
    report: Report,
    meaning_of: GiveMeaning,
    instances: Instances | None = None,
) -> tuple[Formula, dict[Formula, Expression]] | None:
    """Returns the formula and the meaning of its propositions; None after an error, with all mistakes reported."""
    try:
        parsed = parse_span(text.span, names_in(text, known), instances)
    except ModelError as error:
        report.take(error.diagnostics)
        return None
    meaning: dict[Formula, Expression] = {}
    for each, place in parsed.propositions.items():
        expression = meaning_of(each, place, parsed.bindings.get(each, ()))
        if expression is not None:
            meaning[each] = expression
    return (parsed.formula, meaning) if len(meaning) == len(parsed.propositions) else None


def expression_of(proposition: Formula, place: Span, definitions: dict[str, Span]) -> Span | None:
    """Returns the place of the expression that a proposition stands for; None if it is a name of the model."""
    return place if proposition.verbatim else definitions.get(proposition.text)

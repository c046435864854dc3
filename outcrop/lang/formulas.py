"""What all front-ends do with formulas of temporal logic: read them, and give each proposition its meaning."""

from __future__ import annotations

from collections.abc import Callable, Collection

from outcrop.errors import ModelError
from outcrop.ir.formula import Formula
from outcrop.ir.nodes import Expression
from outcrop.lang.report import Report
from outcrop.ltl.lexer import LETTERS
from outcrop.ltl.parser import parse_span
from outcrop.options import FormulaText
from outcrop.source import Span

#: Gives a proposition that stands at a place, or is an expression there, its meaning; None after an error.
GiveMeaning = Callable[[Formula, Span], Expression | None]


def read_formula(
    text: FormulaText, known: Collection[str], report: Report, meaning_of: GiveMeaning
) -> tuple[Formula, dict[Formula, Expression]] | None:
    """The formula and the meaning of its propositions; None, and all mistakes reported, where something is wrong.
    ``known`` are the names that the model has for propositions."""
    names = {each for each in (*known, *text.definitions) if not set(each) <= LETTERS}
    try:
        parsed = parse_span(text.span, names)
    except ModelError as error:
        report.take(error.diagnostics)
        return None
    meaning: dict[Formula, Expression] = {}
    for each, place in parsed.propositions.items():
        expression = meaning_of(each, place)
        if expression is not None:
            meaning[each] = expression
    return (parsed.formula, meaning) if len(meaning) == len(parsed.propositions) else None


def expression_of(proposition: Formula, place: Span, definitions: dict[str, Span]) -> Span | None:
    """Where the expression stands that a proposition means; None where it is a name of the model."""
    return place if proposition.verbatim else definitions.get(proposition.text)

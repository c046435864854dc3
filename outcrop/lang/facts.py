"""Knowledge about declarations that the System of a model gives: values of constants, and types of variables."""

from __future__ import annotations

from collections.abc import Iterator

from outcrop.errors import OutcropError
from outcrop.ir.system import System
from outcrop.lang import front_end
from outcrop.lang.editing import Declaration, Facts, Index, Kind
from outcrop.options import LoadOptions


def facts_of_system(known: Index) -> dict[Declaration, Facts]:
    """Returns the facts about the names of the top level; none for a text with mistakes."""
    try:
        system, _ = front_end(known.source.name)(known.source, LoadOptions())
    except (OutcropError, RecursionError):
        return {}
    return dict(_facts(known, system))


def _facts(known: Index, system: System) -> Iterator[tuple[Declaration, Facts]]:
    variables = {each.name: each for each in system.variables}
    for name, declaration in known.root.names.items():
        if declaration.kind is Kind.CONSTANT and name in system.constants:
            yield declaration, Facts(value=str(system.constants[name]))
        elif declaration.kind is Kind.VARIABLE and name in variables:
            yield declaration, Facts(type=str(variables[name].type))

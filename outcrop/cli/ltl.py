"""``outcrop ltl``: prints the Büchi automaton of a formula."""

from __future__ import annotations

import argparse
import json

from outcrop.cli.output import emit
from outcrop.ir.formula import Formula, negate
from outcrop.ltl.automaton import Automaton
from outcrop.ltl.parser import parse
from outcrop.ltl.translate import translate


def run(arguments: argparse.Namespace) -> int:
    formula = parse(arguments.formula).formula
    if arguments.negate:
        formula = negate(formula)
    automaton = translate(formula)
    if arguments.dot:
        emit(automaton.to_dot(str(formula)))
    elif arguments.json:
        emit(json.dumps({"formula": str(formula), **automaton.to_json()}, indent=2))
    else:
        emit(summary(formula, automaton))
    return 0


def summary(formula: Formula, automaton: Automaton) -> str:
    """Returns the formula, the size and kind of its automaton, and the automaton."""
    kinds = [str(automaton.strength)]
    kinds += ["very weak"] if automaton.very_weak else []
    kinds += ["deterministic"] if automaton.deterministic else []
    size = f"{_plural(automaton.size, 'state')}, {_plural(automaton.transition_count, 'transition')}"
    return f"{formula}\n{size}; {', '.join(kinds)}\n\n{automaton.to_text()}"


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"

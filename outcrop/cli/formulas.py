"""The options of ``outcrop check`` that are about formulas."""

from __future__ import annotations

import argparse

from outcrop.lang.registry import LANGUAGES
from outcrop.manual import see
from outcrop.options import CheckOptions, Fair

_MOVERS = " or ".join(
    f"{mover} ({', '.join(each.name for each in LANGUAGES if each.mover == mover)})"
    for mover in dict.fromkeys(each.mover for each in LANGUAGES)
)


def add_formulas(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "formulas about runs", "Linear temporal logic, beside what the model declares with ltl. " + see("ltl")
    )
    group.add_argument(
        "--ltl",
        metavar="FORMULA",
        action="append",
        default=[],
        help="what every run must satisfy, like 'G ({x = 1} -> F done)'; may be repeated",
    )
    group.add_argument(
        "--ltl-file",
        metavar="FILE",
        help="read #define and #property lines there (default: the file with the suffix .ltl beside the model, if any)",
    )
    group.add_argument(
        "--property",
        dest="properties",
        metavar="NAME",
        action="append",
        default=[],
        help="check only this formula, by its name or its number; may be repeated",
    )
    group.add_argument(
        "--fair",
        choices=[*map(str, Fair)],
        default=CheckOptions.fair,
        help=f"consider only runs in which every {_MOVERS} moves again and again that can "
        "do so from some time on without a break (weak), or again and again (strong); default: none",
    )

"""The options of ``outcrop check`` about LTL formulas."""

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
        "LTL formulas", "Properties of runs, in addition to those that the model declares. " + see("ltl")
    )
    group.add_argument(
        "--ltl",
        metavar="FORMULA",
        action="append",
        default=[],
        help="formula that every run must satisfy, such as 'G ({x = 1} -> F done)'; may be repeated",
    )
    group.add_argument(
        "--ltl-file",
        metavar="FILE",
        help="file with #define and #property lines (default: MODEL with the suffix .ltl, if that file exists)",
    )
    group.add_argument(
        "--property",
        dest="properties",
        metavar="NAME",
        action="append",
        default=[],
        help="check only the formula with this name or number, or only the invariant or liveness property with this "
        "name; !NAME skips one; may be repeated",
    )
    group.add_argument(
        "--fair",
        choices=[*map(str, Fair)],
        default=CheckOptions.fair,
        help=f"check only fair runs: every {_MOVERS} moves infinitely often that is "
        "enabled at all times from some point on (weak), or infinitely often (strong); default: none, which checks "
        "all runs",
    )

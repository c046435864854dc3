"""The command line of `compare`."""

from __future__ import annotations

import argparse
from typing import Any

from outcrop.cli.argument_parser import Parser
from outcrop.cli.parser_declared import add_language_options
from outcrop.cli.parser_shared import add_constants, add_json, add_no_color, add_resources, add_symmetry, add_trace
from outcrop.cli.values import count
from outcrop.manual import see

_EPILOG = f"""\
{see("compare")}

examples:
  outcrop compare german.m german.py
  outcrop compare german.m other.m --rename "take up request=serve" -D N=3
  outcrop compare german.m german.py --observe memory,client
  outcrop compare server.py protocol.m --relation inclusion --hide "write log"

exit codes: 0 the relation holds, 1 it does not, 2 bad model or usage, 3 unknown, 4 internal error"""


def add_compare(verbs: Any) -> dict[str, Parser]:
    """Adds the command, and returns its parser."""
    parser: Parser = verbs.add_parser(
        "compare",
        help="compare the state graphs of two models",
        description="Explores two models, in any languages, and compares their state graphs by the names of the rules. "
        "If they differ, prints a shortest run that only one of them has.",
        epilog=_EPILOG,
        usage="%(prog)s FIRST SECOND [-D NAME=VALUE]... [options]",
    )
    parser.add_argument("first", metavar="FIRST", help="model file")
    parser.add_argument("second", metavar="SECOND", help="model file")
    add_constants(parser, "set a constant of both models to a value")
    add_constants(parser, "set a constant of the first model", "--first", "first_constants")
    add_constants(parser, "set a constant of the second model", "--second", "second_constants")
    add_language_options(
        parser.add_argument_group("languages", "An option counts for each model whose language has it.")
    )
    group = parser.add_argument_group("relation")
    group.add_argument(
        "--relation",
        choices=["bisimulation", "inclusion"],
        default="bisimulation",
        help="corresponding states permit the same rules (bisimulation, the default); every run of FIRST is a run of "
        "SECOND (inclusion)",
    )
    group.add_argument(
        "--labels",
        choices=["names", "instances"],
        default="names",
        help="steps correspond by the names of their rules (names, the default), or by the names and the values of "
        "parameters (instances)",
    )
    group.add_argument(
        "--map", metavar="FILE", help="mapping file, which translates the labels of steps of either model"
    )
    group.add_argument(
        "--rename",
        metavar="A=B",
        type=_renaming,
        action="append",
        default=[],
        help="rule A of FIRST is rule B of SECOND; may be repeated (default: names that differ in case and punctuation "
        "are equal, and for others a renaming is looked for)",
    )
    group.add_argument(
        "--hide",
        metavar="RULE",
        action="append",
        default=[],
        help="rule of FIRST during which SECOND does nothing; only with --relation inclusion; may be repeated",
    )
    group.add_argument(
        "--observe",
        metavar="A[=B],...",
        type=_observed,
        action="extend",
        default=[],
        help="variables, their parts, or expressions whose values must agree in corresponding states: A in FIRST, B in "
        "SECOND (default: A); members of enumerations agree by name, scalarset values by index; put an expression with "
        "'=' or ',' in parentheses; may be repeated",
    )
    add_symmetry(parser)
    add_resources(parser)
    parser.add_argument("--states", metavar="N", type=count, help="largest number of states of a model")
    group = parser.add_argument_group("output")
    add_trace(
        group,
        "print the run that only one model has: the changes (diff, the default) or the whole state (full) at "
        "each step; off: only the names of its rules",
        default="diff",
    )
    add_json(group)
    add_no_color(group)
    return {"compare": parser}


def _renaming(text: str) -> tuple[str, str]:
    one, sign, other = text.partition("=")
    if not (sign and one.strip() and other.strip()):
        raise argparse.ArgumentTypeError(f"'{text}' is not a renaming; write A=B")
    return one.strip(), other.strip()


def _observed(text: str) -> list[tuple[str, str]]:
    """Returns the pairs of values that a list names.

    >>> _observed("memory,(a = b)=same")
    [('memory', 'memory'), ('(a = b)', 'same')]
    """
    found = []
    for each in _split(text, ","):
        sides = [side.strip() for side in _split(each, "=")]
        if len(sides) > 2 or not all(sides):
            raise argparse.ArgumentTypeError(
                f"'{each}' is not a pair of values; write A=B, an expression in parentheses"
            )
        found.append((sides[0], sides[-1]))
    return found


def _split(text: str, sign: str) -> list[str]:
    """Returns the parts of a text between the signs that stand outside all brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == sign and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts

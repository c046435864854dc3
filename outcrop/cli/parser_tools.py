"""What the command line of the verbs beside `check` looks like: measuring, walking, drawing, repeating."""

from __future__ import annotations

import argparse
from typing import Any

from outcrop.cli.argument_parser import Parser
from outcrop.cli.parser import add_meaning, add_model
from outcrop.cli.values import count, unit, weight
from outcrop.manual import see
from outcrop.units import parse_duration, parse_size

_LOCALITY_EPILOG = f"""\
A k-transition leads from a state of level l to one of level l + k. E{{Δ(k)}} is the
part of a state's transitions that are k-transitions, on average over all reachable
states. {see("locality")}

example:
  outcrop locality cache.m --svg cache.svg"""

_SIMULATE_EPILOG = """\
examples:
  outcrop simulate ring.m                                10 seconds of walks
  outcrop simulate ring.m --walks 1000 --seed 7          always the same walks
  outcrop simulate ring.m --weight 'crash=0' --weight 'send=5'

exit codes: 1 violated, 2 bad model or usage, 3 nothing wrong was met, 4 internal error"""


def add_tools(verbs: Any) -> dict[str, Parser]:
    """Adds the verbs; gives the parser of each."""
    return {"locality": _locality(verbs), "simulate": _simulate(verbs)}


def _locality(verbs: Any) -> Parser:
    parser: Parser = verbs.add_parser(
        "locality",
        help="measure how far transitions lead",
        description="Measures transition locality: how many levels of a breadth-first search transitions lead "
        "forwards or back.",
        epilog=_LOCALITY_EPILOG,
        usage="%(prog)s MODEL [-D NAME=VALUE]... [options]",
    )
    add_model(parser)
    _add_symmetry(parser)
    parser.add_argument("--self-loops", action="store_true", help="also count transitions from a state to itself")
    _add_resources(parser)
    parser.add_argument("--all", action="store_true", help="a row for every k, however many there are")
    _add_json(parser)
    _add_svg(parser)
    return parser


def _simulate(verbs: Any) -> Parser:
    parser: Parser = verbs.add_parser(
        "simulate",
        help="look for trouble by random walks",
        description="Walks through a model at random and checks every state met: quick to find what is wrong, but no "
        "proof that nothing is.",
        epilog=_SIMULATE_EPILOG,
        usage="%(prog)s MODEL [-D NAME=VALUE]... [options]",
    )
    add_model(parser)
    add_meaning(parser)
    group = parser.add_argument_group("how to walk")
    group.add_argument("--seed", metavar="S", type=count, default=0, help="of all that is random (default: 0)")
    group.add_argument(
        "--weight",
        metavar="RULE=N",
        type=weight,
        action="append",
        default=[],
        help="how often to take a rule's instances when they are enabled, compared with 1 for others; 0: never; may be "
        "repeated",
    )
    group.add_argument(
        "--steps", metavar="N", type=count, default=10_000, help="of a walk, at the most (default: 10,000)"
    )
    group.add_argument("--walks", metavar="N", type=count, help="how many (default: as many as there is time for)")
    group.add_argument(
        "--time-limit",
        metavar="TIME",
        type=unit(parse_duration),
        help="like 90s, 30m or 2h (default: 10s, and none with --walks)",
    )
    group.add_argument("--threads", metavar="N", type=count, help="default: every core this process may use")
    group.add_argument(
        "--shrink",
        metavar="TIME",
        type=unit(parse_duration),
        default=3.0,
        help="how long to look for a shorter way to what was found (default: 3s); 0: show the walk as it was",
    )
    group = parser.add_argument_group("what to print")
    group.add_argument(
        "--trace",
        choices=["full", "diff", "off"],
        default="diff",
        help="per step of a trace only what changed (diff, the default) or the whole state (full)",
    )
    group.add_argument("--trace-json", metavar="FILE", help="also write the trace there, in ITF")
    group.add_argument("--coverage", action="store_true", help="how often each rule was enabled and taken")
    _add_json(group)
    group.add_argument("-q", "--quiet", action="store_true", help="no progress, and nothing of what the model prints")
    group.add_argument("--no-color", action="store_true", help="no colours on a terminal")
    return parser


def _add_symmetry(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--symmetry",
        choices=["on", "off"],
        default="on",
        help="count states that differ only by a renaming of scalarset values once (default: on)",
    )


def _add_resources(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--threads", metavar="N", type=count, help="default: every core this process may use")
    parser.add_argument(
        "--memory", metavar="SIZE", type=unit(parse_size), help="peak memory (default: 75%% of what there is)"
    )
    parser.add_argument("--time-limit", metavar="TIME", type=unit(parse_duration), help="like 90s, 30m or 2h")


def _add_json(parser: argparse._ActionsContainer) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of text")


def _add_svg(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--svg", metavar="FILE", help="also draw a chart there")

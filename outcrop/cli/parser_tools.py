"""The command line of `locality` and `simulate`."""

from __future__ import annotations

import argparse
from typing import Any

from outcrop.cli.argument_parser import Parser
from outcrop.cli.parser import add_chart_options, add_meaning, add_model
from outcrop.cli.parser_declared import add_language_options
from outcrop.cli.parser_shared import (
    TRACE_WITH_SPIN,
    add_json,
    add_no_color,
    add_resources,
    add_symmetry,
    add_threads,
    add_time_limit,
    add_trace,
)
from outcrop.cli.values import count, unit, weight
from outcrop.manual import see
from outcrop.units import parse_duration

_LOCALITY_EPILOG = f"""\
A k-transition leads from a state of level l to one of level l + k. E{{Δ(k)}} is the
share of k-transitions among the transitions of a state, averaged over all
reachable states. {see("locality")}

example:
  outcrop locality cache.m --svg cache.svg"""

_SIMULATE_EPILOG = """\
examples:
  outcrop simulate ring.m                                10 seconds of walks
  outcrop simulate ring.m --walks 1000 --seed 7          always the same walks
  outcrop simulate ring.m --weight 'crash=0' --weight 'send=5'

exit codes: 1 violated, 2 bad model or usage, 3 no violation found, 4 internal error"""


_TRACE_EPILOG = """\
examples:
  outcrop check cache.m --json > cache.json
  outcrop trace cache.json
  outcrop trace cache.json -o cache.svg
  outcrop trace cache.json --format mermaid --message order:shared:index"""


def add_tools(verbs: Any) -> dict[str, Parser]:
    """Adds the commands, and returns the parser of each."""
    return {"locality": _locality(verbs), "simulate": _simulate(verbs), "trace": _trace(verbs)}


def _trace(verbs: Any) -> Parser:
    parser: Parser = verbs.add_parser(
        "trace",
        help="draw the trace of a violation as a message chart",
        description="Draws the trace of a violation as a message chart: a lane for each process or node, a row for "
        "each step, arrows for messages.",
        epilog=_TRACE_EPILOG,
        usage="%(prog)s RESULT.json [--format FORMAT] [--lanes TYPE] [--message FIELD:FROM:TO]... [-o FILE]",
    )
    parser.add_argument("result", metavar="RESULT.json", help="output of outcrop check --json; - reads stdin")
    parser.add_argument(
        "--format",
        choices=["text", "mermaid", "svg", "html"],
        help="output format (default: by the suffix of the output file, or text)",
    )
    parser.add_argument("-o", dest="output", metavar="FILE", help="output file (default: stdout)")
    parser.add_argument(
        "--violation", metavar="N", type=count, default=1, help="number of the violation to draw (default: 1)"
    )
    add_chart_options(parser)
    return parser


def _locality(verbs: Any) -> Parser:
    parser: Parser = verbs.add_parser(
        "locality",
        help="measure transition locality",
        description="Measures transition locality: how many levels of a breadth-first search each transition leads "
        "forwards or back.",
        epilog=_LOCALITY_EPILOG,
        usage="%(prog)s MODEL [-D NAME=VALUE]... [options]",
    )
    add_model(parser)
    add_language_options(parser.add_argument_group("properties"))
    add_symmetry(parser)
    parser.add_argument("--self-loops", action="store_true", help="also count transitions from a state to itself")
    add_resources(parser)
    parser.add_argument("--all", action="store_true", help="print a row for every k")
    add_json(parser)
    _add_svg(parser)
    return parser


def _simulate(verbs: Any) -> Parser:
    parser: Parser = verbs.add_parser(
        "simulate",
        help="search for violations by random walks",
        description="Walks through a model at random and checks every state on the way. Walks find violations fast, "
        "but cannot show that there is none.",
        epilog=_SIMULATE_EPILOG,
        usage="%(prog)s MODEL [-D NAME=VALUE]... [options]",
    )
    add_model(parser)
    add_meaning(parser)
    group = parser.add_argument_group("walks")
    group.add_argument("--seed", metavar="S", type=count, default=0, help="seed of all random choices (default: 0)")
    group.add_argument(
        "--weight",
        metavar="RULE=N",
        type=weight,
        action="append",
        default=[],
        help="weight of a rule in the choice among enabled rules, where others have the weight 1; 0: never fire it; "
        "may be repeated",
    )
    group.add_argument(
        "--steps", metavar="N", type=count, default=10_000, help="largest number of steps of a walk (default: 10,000)"
    )
    group.add_argument(
        "--walks", metavar="N", type=count, help="number of walks (default: as many as the time limit allows)"
    )
    add_time_limit(group, "total time, such as 90s, 30m or 2h (default: 10s, and none with --walks)")
    add_threads(group)
    group.add_argument(
        "--shrink",
        metavar="TIME",
        type=unit(parse_duration),
        default=3.0,
        help="time to search for a shorter trace to the violation (default: 3s); 0: show the walk itself",
    )
    group = parser.add_argument_group("output")
    add_trace(group, TRACE_WITH_SPIN, has_spin=True)
    group.add_argument("--trace-json", metavar="FILE", help="write the trace to FILE, in ITF")
    group.add_argument("--coverage", action="store_true", help="print how often each rule was enabled and fired")
    add_json(group)
    group.add_argument("-q", "--quiet", action="store_true", help="print no progress, and no output of the model")
    add_no_color(group)
    return parser


def _add_svg(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--svg", metavar="FILE", help="draw a chart to FILE")

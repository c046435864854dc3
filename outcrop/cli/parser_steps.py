"""The command line of `explore`, `graph`, `sweep` and `reproduce`."""

from __future__ import annotations

import argparse
from dataclasses import fields
from typing import Any

from outcrop.cli.argument_parser import Parser
from outcrop.cli.formulas import add_formulas
from outcrop.cli.parser import add_chart_options, add_limits, add_meaning, add_model, add_search
from outcrop.cli.parser_declared import add_language_options
from outcrop.cli.parser_shared import add_json
from outcrop.cli.values import constant, count, names, unit
from outcrop.options import CheckOptions
from outcrop.strategies import OWN_OPTIONS
from outcrop.units import parse_duration

_EXPLORE_EPILOG = """\
At the prompt 'help' lists the commands: pick a rule by its number, go back, show the
state, evaluate an expression, load a saved trace and continue from any of its steps.

examples:
  outcrop explore ring.m
  outcrop check ring.m --trace-json bug.json; outcrop explore ring.m --load bug.json
  printf '1\\n2\\nprint turn\\n' | outcrop explore ring.m"""

_SERVE_EPILOG = """\
examples:
  outcrop serve ring.m
  outcrop check ring.m --trace-json bug.json; outcrop serve ring.m --load bug.json"""

_GRAPH_EPILOG = """\
examples:
  outcrop graph ring.m | dot -Tsvg > ring.svg
  outcrop graph ring.m -o ring.svg
  outcrop graph ring.m --by phase,holder -o phases.svg
  outcrop graph ring.m --show turn --show state -o ring.graphml
  outcrop graph ring.m --around bug.json --radius 2 | dot -Tsvg > bug.svg"""

_SWEEP_EPILOG = """\
examples:
  outcrop sweep ring.m -D N=2..6
  outcrop sweep ring.m -D N=2..6 -D K=1,2,4 --csv ring.csv --svg ring.svg --draw seconds
  outcrop sweep ring.m -D N=4..6 --strategies ram,compact,disk --time-limit 5m

exit codes: 1 some are violated, 2 some failed, 3 some are unknown, 0 all hold"""

_REPRODUCE_EPILOG = """\
examples:
  outcrop reproduce
  outcrop reproduce 000/table1 --models ../models
  outcrop reproduce 000/table8 --models ../models --budget 30m --svg table8.svg
  outcrop reproduce 000/table8 --models ../models --row sci --results searches.jsonl"""


def add_steps(verbs: Any) -> dict[str, Parser]:
    """Adds the commands, and returns the parser of each."""
    return {
        "explore": _explore(verbs),
        "serve": _serve(verbs),
        "graph": _graph(verbs),
        "sweep": _sweep(verbs),
        "reproduce": _reproduce(verbs),
    }


def _serve(verbs: Any) -> Parser:
    parser: Parser = verbs.add_parser(
        "serve",
        help="explore a model in the browser",
        description="Serves an explorer of a model to a browser on this machine: steps, history, message chart, and "
        "searches from any state. Nothing is searched before you ask.",
        epilog=_SERVE_EPILOG,
        usage="%(prog)s MODEL [-D NAME=VALUE]... [--load FILE [--step N]] [--port N]",
    )
    add_model(parser)
    add_meaning(parser, deadlocks=False)
    parser.add_argument(
        "--load", metavar="FILE", help="saved trace to begin with, from --trace-json or --json, or a trail file of SPIN"
    )
    parser.add_argument("--step", metavar="N", type=count, help="step of the trace to begin at (default: the last)")
    parser.add_argument("--port", metavar="N", type=count, default=0, help="port of 127.0.0.1 (default: any free one)")
    parser.add_argument(
        "--engine",
        choices=["native", "interpreter"],
        help="engine of searches (default: native where there is a C compiler)",
    )
    add_chart_options(parser)
    return parser


def _explore(verbs: Any) -> Parser:
    parser: Parser = verbs.add_parser(
        "explore",
        help="step through a model",
        description="Steps through a model at a prompt, state by state, without searching it first.",
        epilog=_EXPLORE_EPILOG,
        usage="%(prog)s MODEL [-D NAME=VALUE]... [--load FILE] [-c COMMAND]...",
    )
    add_model(parser)
    add_meaning(parser, deadlocks=False)
    parser.add_argument(
        "--load", metavar="FILE", help="saved trace to begin with, from --trace-json or --json, or a trail file of SPIN"
    )
    parser.add_argument(
        "-c",
        dest="command",
        metavar="COMMAND",
        action="append",
        default=[],
        help="command to execute instead of prompting; may be repeated",
    )
    return parser


def _graph(verbs: Any) -> Parser:
    parser: Parser = verbs.add_parser(
        "graph",
        help="write the state graph",
        description="Writes the state graph of a model, or its part around a trace, as a picture or as data.",
        epilog=_GRAPH_EPILOG,
        usage="%(prog)s MODEL [-D NAME=VALUE]... [options]",
    )
    add_model(parser)
    add_language_options(parser.add_argument_group("properties"))
    parser.add_argument(
        "--format",
        choices=["dot", "svg", "png", "mermaid", "graphml", "json"],
        help="output format (default: by the suffix of the output file, or dot)",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="output file (default: stdout)")
    parser.add_argument(
        "--states", metavar="N", type=count, default=500, help="largest number of states (default: 500)"
    )
    parser.add_argument("--depth", metavar="N", type=count, help="largest number of transitions from a start state")
    parser.add_argument("--around", metavar="FILE", help="saved trace to draw, with the states around it")
    parser.add_argument("--radius", metavar="N", type=count, help="number of transitions around the trace (default: 1)")
    parser.add_argument(
        "--show",
        metavar="NAME",
        action="append",
        help="variable, field or element to show in each state; may be repeated (default: all that are defined)",
    )
    parser.add_argument(
        "--by",
        metavar="NAME,NAME",
        type=names,
        default=[],
        help="draw one node for all states with the same values of these variables, fields or elements",
    )
    parser.add_argument(
        "--color",
        metavar="WHAT",
        default="property",
        help="property: violations red (the default); level: darker with the distance from a start state; a variable, "
        "field or element: one colour for each of its values",
    )
    parser.add_argument(
        "--symmetry",
        choices=["on", "off"],
        default="off",
        help="draw states that differ only in a renaming of scalarset values once (default: off)",
    )
    return parser


def _sweep(verbs: Any) -> Parser:
    parser: Parser = verbs.add_parser(
        "sweep",
        help="check a model for ranges of its constants",
        description="Checks a model for every combination of values of its constants, each one in its own process.",
        epilog=_SWEEP_EPILOG,
        usage="%(prog)s MODEL -D NAME=FROM..TO [-D NAME=VALUE,VALUE]... [options]",
    )
    add_model(parser, constant)
    add_meaning(parser)
    add_formulas(parser)
    add_search(parser)
    add_limits(parser)
    group = parser.add_argument_group("output")
    group.add_argument("--strategies", metavar="NAME,NAME", type=names, help="check with each of these strategies")
    group.add_argument("--csv", metavar="FILE", help="write the table to FILE, as CSV")
    group.add_argument("--svg", metavar="FILE", help="draw a chart to FILE")
    group.add_argument(
        "--draw",
        choices=["states", "rules", "seconds", "memory", "rate"],
        default="states",
        help="figure that the chart shows (default: states)",
    )
    add_json(group)
    group.add_argument("-q", "--quiet", action="store_true", help="print no progress")
    _add_defaults(parser)
    return parser


def _reproduce(verbs: Any) -> Parser:
    parser: Parser = verbs.add_parser(
        "reproduce",
        help="repeat the tables of the papers",
        description="Repeats a table of one of the papers that Outcrop implements, and prints the figures of the paper "
        "next to ours. Without a table, lists all of them.",
        epilog=_REPRODUCE_EPILOG,
        usage="%(prog)s [TABLE --models DIR [--budget TIME] [options]]",
    )
    parser.add_argument("table", metavar="TABLE", nargs="?", help="name of a table, such as 000/table8")
    parser.add_argument(
        "--models", metavar="DIR", help="directory of the models of the papers, with a folder for each language"
    )
    parser.add_argument(
        "--budget",
        metavar="TIME",
        type=unit(parse_duration),
        default=600.0,
        help="time for the whole table (default: 10m); a row may take half of the time that is left",
    )
    parser.add_argument(
        "--row",
        metavar="NAME",
        action="append",
        help="run only the row NAME, or the rows whose names begin with NAME (default: all); may be repeated",
    )
    parser.add_argument(
        "--results",
        metavar="FILE",
        help="file that collects finished searches; those in it are not run again, so that a table can be completed in "
        "several calls",
    )
    parser.add_argument(
        "--threads", metavar="N", type=count, default=1, help="number of threads of each search (default: 1)"
    )
    parser.add_argument("--svg", metavar="FILE", help="draw a chart to FILE, if the paper has one")
    add_json(parser)
    return parser


def _add_defaults(parser: argparse.ArgumentParser) -> None:
    """Sets the defaults of the options of `check` that this command does not have."""
    known = {action.dest for action in parser._actions}
    default = CheckOptions()
    parser.set_defaults(
        report=None, **{each.name: getattr(default, each.name) for each in fields(default) if each.name not in known}
    )
    parser.set_defaults(**{name: each.default for name, each in OWN_OPTIONS.items() if name not in known})

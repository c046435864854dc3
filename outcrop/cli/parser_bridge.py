"""The command line of `validate`, `tests` and `recheck`."""

from __future__ import annotations

from typing import Any

from outcrop.cli.argument_parser import Parser
from outcrop.cli.parser import add_chart_lanes, add_model
from outcrop.cli.parser_declared import add_language_options
from outcrop.cli.parser_shared import add_json, add_no_color, add_threads, add_time_limit, add_trace
from outcrop.cli.values import count, unit
from outcrop.manual import see
from outcrop.units import parse_duration

_VALIDATE_EPILOG = f"""\
A line of a log is a JSON object: {{"rule": "Grant", "arguments": {{"n": 2}},
"state": {{"granted[2]": true}}}}. Every part may be missing. {see("validate")}

examples:
  outcrop validate lock.m server.jsonl
  outcrop validate lock.m server.jsonl --map events.json --gap 3
  outcrop validate lock.m a.jsonl b.jsonl --clock time

exit codes: 0 conforms, 1 does not conform, 2 bad model, log or usage, 3 unknown, 4 internal error"""


_RECHECK_EPILOG = """\
examples:
  outcrop check ring.m --keep-states ring.states
  outcrop recheck ring.states --invariant 'leaders < 2'

exit codes: 0 holds, 1 violated, 2 bad usage, 3 unknown, 4 internal error"""


_TESTS_EPILOG = f"""\
{see("tests")}

examples:
  outcrop tests ring.m -o runs                               a run for each rule, in ITF
  outcrop tests ring.m --cover values:phase --format jsonl -o runs
  outcrop tests ring.m --cover instances --format pytest -o test_ring.py

exit codes: 0 every goal that can be reached is, 2 bad model or usage, 3 unknown, 4 internal error"""


def add_bridge(verbs: Any) -> dict[str, Parser]:
    """Adds the commands, and returns the parser of each."""
    return {"validate": _validate(verbs), "tests": _tests(verbs), "recheck": _recheck(verbs)}


def _validate(verbs: Any) -> Parser:
    parser: Parser = verbs.add_parser(
        "validate",
        help="say whether logs of a program are runs of a model",
        description="Says whether recorded runs of a program are runs of a model. Follows all states that agree with "
        "the lines of a log so far; a line that no state agrees with is explained.",
        epilog=_VALIDATE_EPILOG,
        usage="%(prog)s MODEL LOG... [-D NAME=VALUE]... [options]",
    )
    add_model(parser)
    parser.add_argument(
        "logs",
        metavar="LOG",
        nargs="+",
        help="log of one run: JSON lines, ITF (NAME.itf.json) or CSV (NAME.csv); each is a run of its own, unless "
        "--clock merges them",
    )
    add_language_options(parser.add_argument_group("properties"))
    group = parser.add_argument_group("meaning of lines")
    group.add_argument("--map", metavar="FILE", help="mapping file, which translates events and values of the program")
    group.add_argument(
        "--gap",
        metavar="N",
        type=count,
        default=0,
        help="largest number of steps that the program may take without a line in the log, before each line "
        "(default: 0)",
    )
    group.add_argument(
        "--internal",
        metavar="RULE",
        action="append",
        default=[],
        help="rule that may fire without a line, if --gap permits; may be repeated (default: every rule)",
    )
    group.add_argument(
        "--stutter",
        action="store_true",
        help="a line without a rule may show the state of the line before, in which nothing has happened",
    )
    group.add_argument(
        "--clock",
        metavar="FIELD",
        help="field of each line with a Lamport clock, a time or a vector clock: merges all logs into one run; lines "
        "that it does not order may come in any order",
    )
    group.add_argument(
        "--real-time",
        metavar="FIELD",
        help="field of each line with its time, or a list of the earliest and the latest one: merges all logs into one "
        "run, in which a line that is over before another can have begun comes before it; with --clock, both orders "
        "hold",
    )
    group.add_argument(
        "--skew",
        metavar="TIME",
        type=unit(parse_duration),
        default=0.0,
        help="largest difference between the clocks of two writers, such as 0.1s (default: 0s); only with --real-time",
    )
    group.add_argument(
        "--start",
        choices=["initial", "reachable", "any"],
        default="initial",
        help="states that a log may begin with: the start states (initial, the default); every reachable state "
        "(reachable), for a log that begins in the middle of a run; every state that agrees with the first line (any), "
        "reachable or not",
    )
    group = parser.add_argument_group("limits", "A log that reaches a limit is unknown.")
    group.add_argument(
        "--width",
        metavar="N",
        type=count,
        default=100_000,
        help="largest number of states that may be possible at once (default: 100,000)",
    )
    add_time_limit(group, "time, such as 90s, 30m or 2h")
    group = parser.add_argument_group("output")
    add_trace(
        group,
        "print a run of the model up to the line that does not agree: the changes (diff) or the whole state "
        "(full) at each step; off (the default): print no run",
        default="off",
    )
    group.add_argument(
        "--state-coverage",
        action="store_true",
        help="also count the reachable states that no log shows, in a model of at most a million states",
    )
    group.add_argument("--html", metavar="FILE", help="write an HTML report to FILE, with a message chart of each run")
    add_chart_lanes(group)
    add_json(group)
    add_no_color(group)
    return parser


def _recheck(verbs: Any) -> Parser:
    parser: Parser = verbs.add_parser(
        "recheck",
        help="evaluate further invariants over the states of a finished search",
        description="Evaluates invariants over the states that 'outcrop check --keep-states DIR' has kept, without "
        "searching again.",
        epilog=_RECHECK_EPILOG,
        usage="%(prog)s DIR --invariant EXPRESSION... [options]",
    )
    parser.add_argument("directory", metavar="DIR", help="directory with the kept states")
    parser.add_argument(
        "--invariant",
        dest="invariants",
        metavar="EXPRESSION",
        action="append",
        default=[],
        help="expression that must be true in every state, in the language of the model; may be repeated",
    )
    add_threads(parser)
    group = parser.add_argument_group("output")
    add_trace(group)
    group.add_argument("--trace-json", metavar="FILE", help="write the trace of the first violation to FILE, in ITF")
    add_json(group)
    add_no_color(group)
    return parser


def _tests(verbs: Any) -> Parser:
    parser: Parser = verbs.add_parser(
        "tests",
        help="make a small set of runs that covers a model",
        description="Makes a small set of runs of a model that together cover its rules, rule instances, changes of "
        "values or edges, as files with which a program can be tested.",
        epilog=_TESTS_EPILOG,
        usage="%(prog)s MODEL -o OUTPUT [-D NAME=VALUE]... [options]",
    )
    add_model(parser)
    add_language_options(parser.add_argument_group("properties"))
    parser.add_argument(
        "--cover",
        metavar="GOALS",
        default="rules",
        help="rules (the default); instances: every rule instance, up to a renaming of scalarset values; "
        "values:VARIABLE: every change of its values; edges: every transition, or with edges:VARIABLE,VARIABLE every "
        "rule between any two values of these",
    )
    parser.add_argument(
        "--format",
        choices=["itf", "jsonl", "pytest"],
        default="itf",
        help="a trace in ITF for each run (the default), a log for each run as outcrop validate reads it, or a pytest "
        "file",
    )
    parser.add_argument(
        "-o", dest="output", metavar="OUTPUT", required=True, help="directory for the runs, or name of the pytest file"
    )
    parser.add_argument(
        "--adapter",
        metavar="MODULE:CLASS",
        default="adapter:Adapter",
        help="adapter class that the pytest file uses; a module that does not exist is written, with methods to fill "
        "in (default: adapter:Adapter)",
    )
    parser.add_argument(
        "--states",
        metavar="N",
        type=count,
        default=1_000_000,
        help="number of states after which no further goals are searched for (default: 1,000,000)",
    )
    add_json(parser)
    return parser

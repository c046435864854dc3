"""The command line: commands, options and their help."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from outcrop import __version__
from outcrop.cli.argument_parser import Parser
from outcrop.cli.formulas import add_formulas
from outcrop.cli.parser_declared import add_language_options, add_strategy_options
from outcrop.cli.parser_editors import add_editors
from outcrop.cli.parser_manual import add_manual
from outcrop.cli.parser_runs import add_checkpoints, add_ranks
from outcrop.cli.parser_shared import (
    TRACE_WITH_SPIN,
    add_constants,
    add_json,
    add_no_color,
    add_threads,
    add_time_limit,
    add_trace,
)
from outcrop.cli.parser_shell import add_shell
from outcrop.cli.values import count, single_constant, strategy, unit
from outcrop.lang.registry import LANGUAGES
from outcrop.manual import listed
from outcrop.options import (
    CheckOptions,
    Deadlock,
    DeviceChoice,
    Engine,
    Keep,
    Reduce,
    TraceOrder,
)
from outcrop.strategies import STRATEGIES, names
from outcrop.units import parse_size

_DEFAULT = CheckOptions()
_FILES = ", ".join(f"NAME{listed(each.suffixes)} in {each.name}" for each in LANGUAGES)

_DESCRIPTION = f"""\
Outcrop explores every reachable state of a protocol in {listed(each.name for each in LANGUAGES)},
and reports one of three verdicts: holds, violated (with a shortest trace that
shows it), or unknown (with the reason)."""

_EPILOG = """\
examples:
  outcrop examples peterson.m   copy a model into this directory
  outcrop check peterson.m      check it
  outcrop docs                  list the pages of the manual

exit codes: 0 holds, 1 violated, 2 bad model or usage, 3 unknown, 4 internal error"""

_CHECK_EPILOG = """\
examples:
  outcrop check ring.m                      with the constants of the file
  outcrop check ring.m -D N=5 --memory 4G   another N, in at most 4 GiB
  outcrop check ring.m --json > ring.json   the whole report as JSON
  outcrop check *.m                         several models, with a table
  outcrop check                             the models that outcrop.toml lists

exit codes: 0 holds, 1 violated, 2 bad model or usage, 3 unknown, 4 internal error"""


_LTL_EPILOG = """\
operators: G F X (also [] <>), U R W M, ! && || -> <->; propositions begin with a
lower-case letter, or are expressions of the model in braces

examples:
  outcrop ltl 'GF p -> GF q'
  outcrop ltl --negate --dot 'G (request -> F granted)' | dot -Tsvg > automaton.svg"""


def build_parser() -> Parser:
    parser = Parser("outcrop", description=_DESCRIPTION, epilog=_EPILOG)
    parser.add_argument("--version", action="version", version=f"outcrop {__version__}")
    verbs = parser.add_subparsers(title="commands", dest="verb", metavar="COMMAND", required=True)
    check = verbs.add_parser(
        "check",
        help="explore every reachable state of a model",
        description="Explores every reachable state of a model and reports the verdict.",
        epilog=_CHECK_EPILOG,
        usage="%(prog)s [MODEL]... [-D NAME=VALUE]... [options]",
    )
    show = verbs.add_parser(
        "show",
        help="print the parts of a model",
        description="Prints the constants, variables, rules and properties of a model.",
        usage="%(prog)s MODEL [-D NAME=VALUE]... [--ir | --c | --json]",
    )
    ltl = verbs.add_parser(
        "ltl",
        help="print the Büchi automaton of a formula",
        description="Translates a formula of linear temporal logic to a Büchi automaton and prints it.",
        epilog=_LTL_EPILOG,
        usage="%(prog)s FORMULA [--negate] [--dot | --json]",
    )
    report = verbs.add_parser(
        "report",
        help="make an HTML report from the JSON of a check",
        description="Makes the HTML report of a check from the JSON document that it printed.",
        usage="%(prog)s RESULT.json [-o FILE] [--locality FILE]",
    )
    from outcrop.cli.parser_bridge import add_bridge  # these modules import this one
    from outcrop.cli.parser_compare import add_compare
    from outcrop.cli.parser_steps import add_steps
    from outcrop.cli.parser_tools import add_tools

    parser.verbs = {"check": check, "show": show, "ltl": ltl, "report": report, **add_tools(verbs), **add_steps(verbs)}
    parser.verbs |= add_editors(verbs) | add_bridge(verbs) | add_compare(verbs) | add_manual(verbs) | add_shell(verbs)
    add_model(check, several=True)
    add_model(show)
    add_language_options(show.add_argument_group("properties"))
    add_meaning(check)
    add_formulas(check)
    add_search(check)
    add_ranks(check)
    add_limits(check)
    add_checkpoints(check)
    _add_output(check)
    add_strategy_options(check)
    _add_views(show)
    _add_formula(ltl)
    _add_result(report)
    return parser


def add_model(
    parser: argparse.ArgumentParser,
    constant: Callable[[str], tuple[str, str]] = single_constant,
    several: bool = False,
) -> None:
    if several:
        help_text = f"model file: {_FILES}; - reads standard input. Several models are checked one after the other"
        parser.add_argument("models", metavar="MODEL", nargs="*", help=help_text)
        parser.add_argument(
            "--language",
            choices=[each.name.lower() for each in LANGUAGES],
            help=f"language of a model from standard input (default: {LANGUAGES[0].name.lower()})",
        )
    else:
        parser.add_argument("model", metavar="MODEL", help=f"model file: {_FILES}")
    add_constants(parser, "set a constant of the model to a value", convert=constant)


def add_meaning(parser: argparse.ArgumentParser, deadlocks: bool = True) -> None:
    group = parser.add_argument_group("properties")
    if deadlocks:
        group.add_argument(
            "--deadlock",
            choices=[*map(str, Deadlock)],
            default=_DEFAULT.deadlock,
            help="states that count as a deadlock: those that no rule leaves (stuttering, the default), or those in "
            "which no rule is enabled (stuck); off: do not check for deadlocks",
        )
    group.add_argument(
        "--invariant",
        dest="invariants",
        metavar="EXPRESSION",
        action="append",
        default=[],
        help="expression that must be true in every state, in the language of the model, such as 'x < 3'; may be "
        "repeated",
    )
    add_language_options(group)


def add_search(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("search")
    group.add_argument(
        "--engine",
        choices=[*map(str, Engine)],
        default=_DEFAULT.engine,
        help="native compiles the model to C; interpreter is slow and needs no C compiler; auto (the default): the "
        "interpreter searches while C is compiled, and alone where there is no C compiler",
    )
    group.add_argument(
        "--strategy",
        type=strategy,
        choices=names(),
        default=_DEFAULT.strategy,
        help="; ".join(f"{each}: {STRATEGIES[each].summary}" for each in names()) + " (default: auto)",
    )
    group.add_argument(
        "--device",
        choices=[*map(str, DeviceChoice)],
        default=_DEFAULT.device,
        help="gpu: search on a GPU, with auto, ram or compact (needs pip install 'outcrop[gpu]'); auto (the default): "
        "use a GPU if there is one and the processor alone does not finish soon; cpu: never use a GPU",
    )
    group.add_argument(
        "--symmetry",
        choices=["on", "off"],
        default="on",
        help="count states that differ only in a renaming of scalarset values once (default: on)",
    )
    group.add_argument(
        "--reduce",
        choices=[*map(str, Reduce)],
        default=_DEFAULT.reduce,
        help="por: partial-order reduction. A state fires only some of its enabled rules where the order with all "
        "others does not matter: the same verdicts with fewer states, but traces need not be shortest. Not with "
        "fairness, X or liveness properties (default: off)",
    )
    add_threads(group)
    group.add_argument(
        "--bits",
        metavar="B",
        type=count,
        help="size of a signature in bits (default: 40 with compact and cached, 64 with disk, locality and serial, 32 "
        "with --compact)",
    )
    group.add_argument(
        "--keep",
        choices=[*map(str, Keep)],
        help="contents of the visited set past RAM: whole states, which is exact (the default of cached), or "
        "signatures (the default of disk, locality and serial)",
    )
    group.add_argument(
        "--seed",
        metavar="S",
        type=count,
        default=_DEFAULT.seed,
        help="seed of signatures and random choices (default: 0)",
    )
    group.add_argument("--keep-c", metavar="DIR", help="write the generated C to this directory")
    group.add_argument(
        "--workdir", metavar="DIR", help="directory for states that do not fit into memory (default: in ~/.cache)"
    )
    group.add_argument(
        "--sandbox",
        action="store_true",
        help="for an untrusted model: compile and search in a process that has no network and can write only to the "
        "files and directories that other options name",
    )


def add_limits(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "limits", "A search that reaches a limit ends with the verdict unknown, unless it has found a violation."
    )
    group.add_argument(
        "--memory",
        metavar="SIZE",
        type=unit(parse_size),
        help="peak memory of the process, such as 500M or 8G (default: 75%% of the available memory)",
    )
    group.add_argument(
        "--device-memory",
        metavar="SIZE",
        type=unit(parse_size),
        help="memory on the GPU (default: nearly all that is free)",
    )
    group.add_argument(
        "--state-memory",
        metavar="SIZE",
        type=unit(parse_size),
        help="memory for tables, caches and queues, which grow with the states (default: what --memory leaves)",
    )
    group.add_argument(
        "--disk", metavar="SIZE", type=unit(parse_size), help="size of all files of the search (default: no limit)"
    )
    add_time_limit(group)
    group.add_argument("--depth", metavar="N", type=count, help="number of transitions from a start state")
    group.add_argument("--states", metavar="N", type=count, help="number of states")
    errors = group.add_mutually_exclusive_group()
    errors.add_argument(
        "--max-errors",
        metavar="N",
        type=count,
        default=_DEFAULT.max_errors,
        help="stop after the level in which the N-th violation was found (default: 1)",
    )
    errors.add_argument(
        "--continue", dest="max_errors", action="store_const", const=None, help="search all states despite violations"
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    add_trace(group, TRACE_WITH_SPIN, has_spin=True)
    group.add_argument(
        "--trace-order",
        choices=[*map(str, TraceOrder)],
        default=_DEFAULT.trace_order,
        help="which of the shortest traces to show: the one with the fewest switches between processes or nodes "
        "(lanes, the default), or the one that the search found (found)",
    )
    group.add_argument("--chart", action="store_true", help="draw each trace as a message chart")
    add_chart_options(group)
    group.add_argument("--trace-json", metavar="FILE", help="write the trace of the first violation to FILE, in ITF")
    group.add_argument("--report", metavar="FILE", help="write an HTML report to FILE; implies --coverage")
    group.add_argument("--junit", metavar="FILE", help="write the verdict on each property to FILE, as JUnit XML")
    group.add_argument("--sarif", metavar="FILE", help="write the violations to FILE, as SARIF 2.1.0")
    group.add_argument(
        "--coverage",
        action="store_true",
        help="also count how often each rule is enabled and leads to new states (in the JSON document), and list the "
        "code that no process reached, where the language has it",
    )
    group.add_argument(
        "--print",
        dest="prints",
        action="store_true",
        help="print the output of the model (put, printf) during the search, in no particular order",
    )
    add_json(group)
    group.add_argument("-q", "--quiet", action="store_true", help="print only the verdict, and no progress")
    add_no_color(group)


def add_chart_options(parser: argparse._ActionsContainer) -> None:
    """Adds the options that say what a message chart shows."""
    add_chart_lanes(parser)
    parser.add_argument(
        "--message",
        metavar="FIELD:FROM:TO",
        action="append",
        default=[],
        help="FIELD is a variable or field with messages; FROM and TO are a field of a message, index (of the array "
        "around it), index2, actor, shared or a lane; may be repeated",
    )


def add_chart_lanes(parser: argparse._ActionsContainer) -> None:
    """Adds the option that says which type has lanes in a message chart."""
    parser.add_argument(
        "--lanes",
        metavar="TYPE",
        help="type with a lane for each of its values (default: processes, or the type that most rules have a "
        "parameter of)",
    )


def _add_views(parser: argparse.ArgumentParser) -> None:
    views = parser.add_mutually_exclusive_group()
    views.add_argument("--ir", action="store_true", help="print the whole System, the typed form of the model")
    views.add_argument("--c", action="store_true", help="print the C that the native engine compiles")
    add_json(views)


def _add_result(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("result", metavar="RESULT.json", help="output of outcrop check --json; - reads stdin")
    parser.add_argument(
        "-o", dest="output", metavar="FILE", help="output file (default: RESULT.html in the current directory)"
    )
    parser.add_argument("--locality", metavar="FILE", help="output of outcrop locality --json, to show in the report")


def _add_formula(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("formula", metavar="FORMULA", help="formula, such as 'G (request -> F {count > 0})'")
    parser.add_argument(
        "--negate", action="store_true", help="translate the negation, which is what a check searches for"
    )
    views = parser.add_mutually_exclusive_group()
    views.add_argument("--dot", action="store_true", help="print a graph for Graphviz")
    add_json(views)

"""What the command line looks like: verbs, options and their help."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from outcrop import __version__
from outcrop.cli.argument_parser import Parser
from outcrop.cli.formulas import add_formulas
from outcrop.cli.parser_declared import add_language_options, add_strategy_options
from outcrop.cli.parser_manual import add_manual
from outcrop.cli.values import count, single_constant, strategy, unit
from outcrop.lang.registry import LANGUAGES
from outcrop.manual import see
from outcrop.options import (
    CheckOptions,
    Deadlock,
    DeviceChoice,
    Engine,
    Keep,
)
from outcrop.strategies import STRATEGIES, names
from outcrop.units import parse_duration, parse_size

_DEFAULT = CheckOptions()
_FILES = ", ".join(f"NAME{suffix} in {each.name}" for each in LANGUAGES for suffix in each.suffixes)

_DESCRIPTION = f"""\
Outcrop explores every reachable state of a protocol written in {" or ".join(each.name for each in LANGUAGES)}
and says one of three things: it holds, it is violated (with a shortest run that
shows it), or it is unknown (and why)."""

_EPILOG = """\
examples:
  outcrop examples peterson.m   copy a model into this directory
  outcrop check peterson.m      check it
  outcrop docs                  list the pages of the manual

exit codes: 0 holds, 1 violated, 2 bad model or usage, 3 unknown, 4 internal error"""

_CHECK_EPILOG = """\
examples:
  outcrop check ring.m                      check it with the constants of the file
  outcrop check ring.m -D N=5 --memory 4G   another N, in at most 4 GiB
  outcrop check ring.m --json > ring.json   the whole report for a program

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
        description="Explores every reachable state of a model and reports a verdict.",
        epilog=_CHECK_EPILOG,
        usage="%(prog)s MODEL [-D NAME=VALUE]... [options]",
    )
    show = verbs.add_parser(
        "show",
        help="print what a model consists of",
        description="Prints what a model consists of: constants, variables, rules and properties.",
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
    from outcrop.cli.parser_steps import add_steps  # which need what is defined here
    from outcrop.cli.parser_tools import add_tools

    parser.verbs = {"check": check, "show": show, "ltl": ltl, "report": report, **add_tools(verbs), **add_steps(verbs)}
    parser.verbs |= add_manual(verbs)
    for verb in (check, show):
        add_model(verb)
    add_meaning(check)
    add_formulas(check)
    add_search(check)
    _add_ranks(check)
    add_limits(check)
    _add_checkpoints(check)
    _add_output(check)
    add_strategy_options(check)
    _add_views(show)
    _add_formula(ltl)
    _add_result(report)
    return parser


def add_model(parser: argparse.ArgumentParser, constant: Callable[[str], tuple[str, str]] = single_constant) -> None:
    parser.add_argument("model", metavar="MODEL", help=f"a model: {_FILES}")
    parser.add_argument(
        "-D",
        dest="constants",
        metavar="NAME=VALUE",
        type=constant,
        action="append",
        default=[],
        help="replace the value of a constant of the model; may be repeated",
    )


def add_meaning(parser: argparse.ArgumentParser, deadlocks: bool = True) -> None:
    group = parser.add_argument_group("what counts as wrong")
    if deadlocks:
        group.add_argument(
            "--deadlock",
            choices=[*map(str, Deadlock)],
            default=_DEFAULT.deadlock,
            help="a deadlock is a state that no rule leaves (stuttering, the default), or in which no rule is enabled "
            "(stuck); off: do not look for any",
        )
    group.add_argument(
        "--invariant",
        dest="invariants",
        metavar="EXPRESSION",
        action="append",
        default=[],
        help="what must be true in every state, beside what the model declares, in its own language, like 'x < 3'; may "
        "be repeated",
    )
    add_language_options(group)


def _add_ranks(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("several processes")
    group.add_argument(
        "--ranks",
        metavar="N",
        type=count,
        help="search with so many processes that share the states out, over MPI; starts them on this machine, unless "
        f"mpiexec or srun has. {see('clusters')}",
    )
    group.add_argument(
        "--owners",
        choices=("auto", "hash"),
        default="auto",
        help="with several ranks: share states out by a hash, or (auto, the default), once there are many, so that "
        "successors mostly stay with the rank that makes them",
    )


def add_search(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how to search")
    group.add_argument(
        "--engine",
        choices=[*map(str, Engine)],
        default=_DEFAULT.engine,
        help="native compiles the model to C (the default); interpreter is slow and needs no compiler",
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
        help="gpu searches on a GPU, with auto, ram or compact (needs pip install 'outcrop[gpu]'); auto (the default) "
        "does so when there is one and the processor alone does not finish soon; cpu never does",
    )
    group.add_argument(
        "--symmetry",
        choices=["on", "off"],
        default="on",
        help="count states that differ only by a renaming of scalarset values once (default: on)",
    )
    group.add_argument("--threads", metavar="N", type=count, help="default: every core this process may use")
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
        help="what searches past RAM keep of a visited state: all of it, which is exact (the default of cached), or a "
        "signature (the default of disk, locality and serial)",
    )
    group.add_argument(
        "--seed", metavar="S", type=count, default=_DEFAULT.seed, help="of signatures and random choices (default: 0)"
    )
    group.add_argument("--keep-c", metavar="DIR", help="leave the generated C there")
    group.add_argument("--workdir", metavar="DIR", help="where files go that do not fit into memory")
    group.add_argument(
        "--sandbox",
        action="store_true",
        help="for a model that is not trusted: compile and run it in a process without network that can write only "
        "where these options say",
    )


def add_limits(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "when to stop", "A search that a limit ends is unknown, unless it found a violation."
    )
    group.add_argument(
        "--memory",
        metavar="SIZE",
        type=unit(parse_size),
        help="peak memory, like 500M or 8G (default: 75%% of what there is)",
    )
    group.add_argument(
        "--device-memory",
        metavar="SIZE",
        type=unit(parse_size),
        help="of a GPU (default: nearly all that is free)",
    )
    group.add_argument(
        "--state-memory",
        metavar="SIZE",
        type=unit(parse_size),
        help="memory of what grows with the number of states: tables, caches, queues (default: what --memory leaves)",
    )
    group.add_argument(
        "--disk", metavar="SIZE", type=unit(parse_size), help="files in the work directory (default: all there is)"
    )
    group.add_argument("--time-limit", metavar="TIME", type=unit(parse_duration), help="like 90s, 30m or 2h")
    group.add_argument("--depth", metavar="N", type=count, help="rules in a row from a start state")
    group.add_argument("--states", metavar="N", type=count, help="states in all")
    errors = group.add_mutually_exclusive_group()
    errors.add_argument(
        "--max-errors",
        metavar="N",
        type=count,
        default=_DEFAULT.max_errors,
        help="stop after the level in which the N-th violation was found (default: 1)",
    )
    errors.add_argument(
        "--continue", dest="max_errors", action="store_const", const=None, help="go on to the end, whatever is violated"
    )


def _add_checkpoints(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "stopping and going on", f"A checkpoint holds all that a search needs to go on. {see('checkpoints')}"
    )
    group.add_argument(
        "--checkpoint",
        metavar="DIR",
        help="save the search there now and then, and when Ctrl-C or a limit ends it; removed once there is a verdict",
    )
    group.add_argument(
        "--checkpoint-every",
        metavar="TIME",
        type=unit(parse_duration),
        default=_DEFAULT.checkpoint_every,
        help="how often, when a level is complete (default: 10m)",
    )
    group.add_argument(
        "--resume",
        metavar="DIR",
        help="go on from the checkpoint there, with any strategy, threads and memory; saves there too, unless "
        "--checkpoint names another place",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to print")
    group.add_argument(
        "--trace",
        choices=["full", "diff", "off"],
        default="diff",
        help="per step of a violation's trace only what changed (diff, the default) or the whole state (full)",
    )
    group.add_argument("--trace-json", metavar="FILE", help="also write the first violation's trace there, in ITF")
    group.add_argument(
        "--report", metavar="FILE", help="also write a report there, as one HTML file; counts as --coverage"
    )
    group.add_argument("--junit", metavar="FILE", help="also write the verdict on each property there, as JUnit XML")
    group.add_argument("--sarif", metavar="FILE", help="also write the violations there, as SARIF 2.1.0")
    group.add_argument(
        "--coverage",
        action="store_true",
        help="count also how often each rule is enabled and leads to new states (in the JSON document)",
    )
    group.add_argument(
        "--print",
        dest="prints",
        action="store_true",
        help="print what the model's put statements print during the search, in no particular order",
    )
    group.add_argument("--json", action="store_true", help="print one JSON document instead of text")
    group.add_argument("-q", "--quiet", action="store_true", help="print the verdict only, and no progress")
    group.add_argument("--no-color", action="store_true", help="no colours on a terminal")


def _add_views(parser: argparse.ArgumentParser) -> None:
    views = parser.add_mutually_exclusive_group()
    views.add_argument("--ir", action="store_true", help="print the whole model as Outcrop understands it")
    views.add_argument("--c", action="store_true", help="print the C that the native engine compiles")
    views.add_argument("--json", action="store_true", help="print one JSON document")


def _add_result(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("result", metavar="RESULT.json", help="what outcrop check --json has printed; - for stdin")
    parser.add_argument("-o", dest="output", metavar="FILE", help="where to (default: the same name with .html, here)")
    parser.add_argument("--locality", metavar="FILE", help="what outcrop locality --json has printed, to show it too")


def _add_formula(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("formula", metavar="FORMULA", help="like 'G (request -> F {count > 0})'")
    parser.add_argument("--negate", action="store_true", help="take its negation: what a check looks for in a model")
    views = parser.add_mutually_exclusive_group()
    views.add_argument("--dot", action="store_true", help="print a graph for Graphviz")
    views.add_argument("--json", action="store_true", help="print one JSON document")

"""Options that several commands share, each with one text."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from outcrop.cli.values import count, single_constant, unit
from outcrop.units import parse_duration, parse_size

Container = argparse._ActionsContainer  #: a parser, or a group of one


def add_constants(
    parser: Container,
    text: str,
    option: str = "-D",
    name: str = "constants",
    convert: Callable[[str], tuple[str, str]] = single_constant,
) -> None:
    parser.add_argument(
        option,
        dest=name,
        metavar="NAME=VALUE",
        type=convert,
        action="append",
        default=[],
        help=f"{text}; may be repeated",
    )


def add_symmetry(parser: Container) -> None:
    parser.add_argument(
        "--symmetry",
        choices=["on", "off"],
        default="on",
        help="count states that differ only in a renaming of scalarset values once (default: on)",
    )


def add_resources(parser: Container) -> None:
    add_threads(parser)
    parser.add_argument(
        "--memory", metavar="SIZE", type=unit(parse_size), help="peak memory (default: 75%% of the available memory)"
    )
    add_time_limit(parser)


def add_threads(parser: Container) -> None:
    parser.add_argument(
        "--threads", metavar="N", type=count, help="number of threads (default: every core that this process may use)"
    )


def add_time_limit(parser: Container, text: str = "search time, such as 90s, 30m or 2h") -> None:
    parser.add_argument("--time-limit", metavar="TIME", type=unit(parse_duration), help=text)


#: The usual help of --trace, and that for models whose statements SPIN has words for.
_TRACE = "at each step of a trace, print the changes (diff, the default) or the whole state (full); "
TRACE = _TRACE + "off: print no trace"
TRACE_WITH_SPIN = _TRACE + "spin: print each statement in SPIN's words; off: print no trace"


def add_trace(parser: Container, text: str = TRACE, default: str = "diff", has_spin: bool = False) -> None:
    styles = ["full", "diff", "spin", "off"] if has_spin else ["full", "diff", "off"]
    parser.add_argument("--trace", choices=styles, default=default, help=text)


def add_json(parser: Container) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of text")


def add_no_color(parser: Container) -> None:
    parser.add_argument("--no-color", action="store_true", help="do not use colours on a terminal")

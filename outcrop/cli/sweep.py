"""``outcrop sweep``: checks a model for every combination of constants."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator

from outcrop.api import formula_file
from outcrop.cli.check import check_options
from outcrop.cli.files import deliver, keep_apart, prepare
from outcrop.cli.output import complain
from outcrop.cli.parser_declared import language_values
from outcrop.errors import UsageError
from outcrop.options import CheckOptions
from outcrop.sweep.cell import Cell
from outcrop.sweep.cell import run as run_cell
from outcrop.sweep.plan import Axis, axis, combinations
from outcrop.sweep.table import Row, Sweep

#: Name of the axis that holds the strategies.
_STRATEGY = "strategy"


def run(arguments: argparse.Namespace) -> int:
    keep_apart((arguments.model, arguments.ltl_file or formula_file(arguments.model)), (arguments.csv, arguments.svg))
    for path in (arguments.csv, arguments.svg):
        if path:
            prepare(path)
    axes = _axes(arguments)
    options = check_options(arguments)
    places = combinations(axes)
    rows: list[Row] = []
    try:
        for number, place in enumerate(places):
            _say(arguments, f"{number + 1} of {len(places)}: {_name(place)} ...")
            started = time.monotonic()
            rows.append(Row(place, run_cell(_cell(arguments, options, place))))
            _say(arguments, f"  {rows[-1].answer.verdict} after {time.monotonic() - started:.1f} s")
            if rows[-1].answer.was_interrupted:
                break
    except KeyboardInterrupt:
        pass
    sweep = Sweep(arguments.model, axes, rows, len(places) - len(rows))
    text = json.dumps(sweep.to_dict(), ensure_ascii=False, indent=1) if arguments.json else sweep.to_text()
    return deliver(sweep.exit_code, text, _files(arguments, sweep))


def _axes(arguments: argparse.Namespace) -> list[Axis]:
    axes = [axis(name, text) for name, text in arguments.constants]
    names = [each.name for each in axes]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"-D gives {name} twice; write all its values at once, like {name}=2..4,8")
    if arguments.strategies:
        if _STRATEGY in names:
            raise UsageError(
                "the constant 'strategy' cannot be swept together with --strategies; leave out one of them"
            )
        axes.append(Axis(_STRATEGY, tuple(arguments.strategies)))
    if not axes:
        raise UsageError("there is nothing to sweep over; give a range of a constant, like -D N=2..6")
    return axes


def _cell(arguments: argparse.Namespace, options: CheckOptions, place: dict[str, str]) -> Cell:
    constants, check = dict(place), options.flat()
    if arguments.strategies:
        check["strategy"] = constants.pop(_STRATEGY)
    load = {
        **language_values(arguments),
        "invariants": arguments.invariants,
        "ltl": arguments.ltl,
        "ltl_file": arguments.ltl_file,
    }
    return Cell(arguments.model, constants, load, check)


def _name(place: dict[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in place.items())


def _say(arguments: argparse.Namespace, text: str) -> None:
    if not arguments.quiet and sys.stderr.isatty():
        complain(text, bare=True)


def _files(arguments: argparse.Namespace, sweep: Sweep) -> Iterator[tuple[str, Callable[[], str]]]:
    if arguments.csv:
        yield arguments.csv, sweep.to_csv
    if arguments.svg:
        yield arguments.svg, lambda: sweep.to_chart(arguments.draw).to_svg()

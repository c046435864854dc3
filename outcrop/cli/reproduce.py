"""``outcrop reproduce``: repeats the tables of the papers and compares the figures."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from outcrop.cli.files import write
from outcrop.cli.output import complain, emit
from outcrop.errors import UsageError
from outcrop.reproduce.report import listing, listing_document
from outcrop.reproduce.report import run as run_table
from outcrop.reproduce.results import Results
from outcrop.reproduce.runner import Runner, murphi_models
from outcrop.reproduce.tables import table


def run(arguments: argparse.Namespace) -> int:
    if arguments.table is None:
        emit(json.dumps(listing_document(), ensure_ascii=False, indent=1) if arguments.json else listing())
        return 0
    chosen = table(arguments.table)
    if arguments.row:
        chosen = chosen.only(arguments.row)
    if arguments.models is None and chosen.can_run and chosen.experiment != "bound":
        raise UsageError("the models of the papers are missing; name their directory with --models DIR")
    if arguments.svg:
        if not chosen.chart:
            raise UsageError(f"{chosen.name} has no chart in the paper; leave out --svg")
        write(arguments.svg, "")
    runner = Runner(
        models=Path() if arguments.models is None else murphi_models(arguments.models),
        deadline=time.monotonic() + arguments.budget,
        threads=arguments.threads,
        say=lambda text: complain(text, bare=True) if sys.stderr.isatty() else None,
        results=Results(arguments.results),
    )
    done = run_table(chosen, runner)
    chart = done.to_chart()
    if arguments.svg and chart is not None:
        write(arguments.svg, chart.to_svg())
    emit(json.dumps(done.to_dict(), ensure_ascii=False, indent=1) if arguments.json else done.to_text())
    return 0

"""``outcrop locality``: measures how many levels of a breadth-first search each transition spans."""

from __future__ import annotations

import argparse
from shutil import get_terminal_size

from outcrop.api import load
from outcrop.cli.files import dump, keep_apart, write
from outcrop.cli.output import complain, emit
from outcrop.cli.parser_declared import language_values
from outcrop.options import CheckOptions
from outcrop.tools.distances import measure
from outcrop.tools.locality_report import chart, text


def run(arguments: argparse.Namespace) -> int:
    keep_apart((arguments.model,), (arguments.svg,))
    if arguments.svg:
        write(arguments.svg, "")
    model = load(arguments.model, dict(arguments.constants), **language_values(arguments))
    for warning in model.warnings:
        complain(warning.render(), bare=True)
    options = CheckOptions(
        symmetry=arguments.symmetry == "on",
        threads=arguments.threads,
        memory=arguments.memory,
        time_limit=arguments.time_limit,
    )
    locality = measure(model, options, arguments.self_loops)
    if arguments.svg:
        write(arguments.svg, chart(locality).to_svg())
    columns = get_terminal_size((200, 24)).columns  # without a terminal no line needs to be cut
    emit(dump(locality.to_dict()) if arguments.json else text(locality, arguments.all, columns))
    return 0

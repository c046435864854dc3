"""``outcrop validate``: says whether recorded runs are runs of a model."""

from __future__ import annotations

import argparse
import sys

from outcrop.api import load
from outcrop.cli.files import deliver, dump, keep_apart, prepare
from outcrop.cli.output import complain, wants_color
from outcrop.cli.parser_declared import language_values
from outcrop.report.text import Paint
from outcrop.trace.render import TraceStyle
from outcrop.validate.mapping import read_mapping
from outcrop.validate.options import Start, ValidateOptions
from outcrop.validate.report import document, html, text
from outcrop.validate.validation import validate


def run(arguments: argparse.Namespace) -> int:
    keep_apart((arguments.model, arguments.map, *arguments.logs), (arguments.html,))
    if arguments.html:
        prepare(arguments.html)
    options = ValidateOptions(
        gap=arguments.gap,
        internal=tuple(arguments.internal),
        stutter=arguments.stutter,
        start=Start(arguments.start),
        clock=arguments.clock,
        real_time=arguments.real_time,
        skew=arguments.skew,
        mapping=read_mapping(arguments.map),
        width=arguments.width,
        state_coverage=arguments.state_coverage,
        time_limit=arguments.time_limit,
    )
    model = load(arguments.model, dict(arguments.constants), **language_values(arguments))
    for warning in model.warnings:
        complain(warning.render(), bare=True)
    validation = validate(model, arguments.logs, options)
    files = [(arguments.html, lambda: html(validation, arguments.lanes))] if arguments.html else []
    paint = Paint(wants_color(sys.stdout, arguments.no_color))
    shown = dump(document(validation)) if arguments.json else text(validation, paint, TraceStyle(arguments.trace))
    return deliver(validation.conformity.exit_code, shown, files)

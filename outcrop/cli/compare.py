"""``outcrop compare``: says whether two models are the same."""

from __future__ import annotations

import argparse
import sys

from outcrop.api import Model, load
from outcrop.cli.files import dump
from outcrop.cli.output import complain, emit, wants_color
from outcrop.compare.comparison import CompareOptions, Relation, compare
from outcrop.compare.report import document, text
from outcrop.options import CheckOptions
from outcrop.report.text import Paint
from outcrop.trace.render import TraceStyle


def run(arguments: argparse.Namespace) -> int:
    first = _loaded(arguments.first, [*arguments.constants, *arguments.first_constants])
    second = _loaded(arguments.second, [*arguments.constants, *arguments.second_constants])
    options = CompareOptions(
        Relation(arguments.relation), dict(arguments.rename), tuple(arguments.hide), tuple(arguments.observe)
    )
    check = CheckOptions(
        symmetry=arguments.symmetry == "on",
        threads=arguments.threads,
        memory=arguments.memory,
        states=arguments.states,
        time_limit=arguments.time_limit,
    )
    comparison = compare(first, second, options, check)
    paint = Paint(wants_color(sys.stdout, arguments.no_color))
    emit(dump(document(comparison)) if arguments.json else text(comparison, paint, TraceStyle(arguments.trace)))
    return comparison.verdict.exit_code


def _loaded(path: str, constants: list[tuple[str, str]]) -> Model:
    model = load(path, dict(constants))
    for warning in model.warnings:
        complain(warning.render(), bare=True)
    return model

"""``outcrop compare``: says whether two models are the same."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from outcrop.api import Model, load
from outcrop.cli.files import dump
from outcrop.cli.output import complain, emit, wants_color
from outcrop.cli.parser_declared import language_values
from outcrop.compare.comparison import CompareOptions, Relation, compare
from outcrop.compare.labels import LabelKind, LabelOptions
from outcrop.compare.mapping import read_mapping
from outcrop.compare.report import document, text
from outcrop.lang.registry import options_taken
from outcrop.options import CheckOptions
from outcrop.report.text import Paint
from outcrop.trace.render import TraceStyle


def run(arguments: argparse.Namespace) -> int:
    paths, given = (arguments.first, arguments.second), language_values(arguments)
    one, other = ({name: given[name] for name in given if name in options_taken(path)} for path in paths)
    alien = {name: value for name, value in given.items() if name not in one and name not in other}
    first = _loaded(paths[0], [*arguments.constants, *arguments.first_constants], one | alien)  # which is refused
    second = _loaded(paths[1], [*arguments.constants, *arguments.second_constants], other)
    labels = LabelOptions(
        LabelKind(arguments.labels), dict(arguments.rename), tuple(arguments.hide), read_mapping(arguments.map)
    )
    options = CompareOptions(Relation(arguments.relation), labels, tuple(arguments.observe))
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


def _loaded(path: str, constants: list[tuple[str, str]], options: dict[str, Any]) -> Model:
    model = load(path, dict(constants), **options)
    for warning in model.warnings:
        complain(warning.render(), bare=True)
    return model

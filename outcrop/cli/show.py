"""``outcrop show``: prints the parts of a model."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from outcrop.api import load
from outcrop.cli.files import dump
from outcrop.cli.output import complain, emit
from outcrop.cli.parser_declared import language_values
from outcrop.ir.layout import Layout, size
from outcrop.ir.printer import print_system
from outcrop.ir.system import Instantiable, Property, System, TemporalProperty
from outcrop.ir.vacuity import vacuity
from outcrop.report.json import position
from outcrop.trace.document import type_tree


def run(arguments: argparse.Namespace) -> int:
    model = load(arguments.model, dict(arguments.constants), **language_values(arguments))
    for warning in model.warnings:
        complain(warning.render(), bare=True)
    if arguments.ir:
        emit(print_system(model.system))
    elif arguments.c:
        from outcrop.codegen.c import emit as emit_c  # slow to import

        emit(emit_c(vacuity(model.system, model.system.temporal).system, symmetry=True).source)
    elif arguments.json:
        emit(dump(document(model.system)))
    else:
        emit(summary(model.system))
    return 0


def document(system: System) -> dict[str, Any]:
    """Returns the contents of the summary as a JSON document."""
    return {
        "model": system.name,
        "constants": system.constants,
        "state_bits": Layout(system).bits,
        "variables": [
            {"name": each.name, "bits": size(each.type), "type": type_tree(each.type)} for each in system.variables
        ],
        "functions": [{"name": each.name, "position": position(each.span)} for each in system.functions],
        "start_states": [_described(each) for each in system.start_states],
        "rules": [{**_described(each), "priority": each.priority} for each in system.rules],
        "properties": [{"kind": kind, **_described(each)} for kind, each in _properties(system)],
        "property_process": system.automaton.name if system.automaton else None,
    }


def _described(each: Instantiable) -> dict[str, Any]:
    parameters = [{"name": parameter.local.name, "type": type_tree(parameter.type)} for parameter in each.parameters]
    formula = {"formula": str(each.formula)} if isinstance(each, TemporalProperty) else {}
    return {
        "name": each.name,
        "position": position(each.span),
        "instances": each.instance_count,
        "parameters": parameters,
        **formula,
    }


def _properties(system: System) -> Iterator[tuple[str, Property | TemporalProperty]]:
    """Yields every property of the model with its kind: properties of states first, then of runs."""
    yield from ((str(each.kind), each) for each in system.properties)
    yield from (("ltl", each) for each in system.temporal)


def summary(system: System) -> str:
    """Returns constants, variables with their sizes, and rules and properties with their numbers of instances."""
    variables = [(each.name, _plural(size(each.type), "bit"), str(each.type)) for each in system.variables]
    functions = [(each.name, f"line {each.span.line}") for each in system.functions]
    properties = [(each.name, kind, *_instances(each)) for kind, each in _properties(system)]
    if system.automaton is not None:
        properties.append((system.automaton.name, "ltl", f"line {system.automaton.span.line}", "property process"))
    blocks = [
        [system.name],
        _table("Constants", [(name, str(value)) for name, value in system.constants.items()]),
        _table(f"Variables ({_plural(Layout(system).bits, 'bit')} a state)", variables),
        _table("Functions and procedures", functions),
        _table("Start states", [(each.name, *_instances(each)) for each in system.start_states]),
        _table("Rules", [(each.name, *_instances(each)) for each in system.rules]),
        _table("Properties", properties),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _instances(each: Instantiable) -> tuple[str, str]:
    parameters = ", ".join(f"{parameter.local.name}: {parameter.type}" for parameter in each.parameters)
    count = _plural(each.instance_count, "instance") + (f" ({parameters})" if parameters else "")
    return f"line {each.span.line}", count


def _table(heading: str, rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Returns a heading and aligned columns, or nothing if there are no rows."""
    if not rows:
        return []
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [heading] + [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"

"""``outcrop show``: what a model consists of."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from outcrop.api import load
from outcrop.cli.output import complain, emit
from outcrop.ir.layout import Layout, size
from outcrop.ir.system import Instantiable, System


def run(arguments: argparse.Namespace) -> int:
    model = load(arguments.model, dict(arguments.constants))
    for warning in model.warnings:
        complain(warning.render(), bare=True)
    if arguments.ir:
        from outcrop.ir.printer import print_system

        emit(print_system(model.system))
    elif arguments.c:
        from outcrop.codegen.c import emit as emit_c

        emit(emit_c(model.system, symmetry=True).source)
    else:
        emit(summary(model.system))
    return 0


def summary(system: System) -> str:
    """Constants, variables with their sizes, rules and properties with their instance counts."""
    variables = [(each.name, _plural(size(each.type), "bit"), str(each.type)) for each in system.variables]
    functions = [(each.name, f"line {each.span.line}") for each in system.functions]
    properties = [(each.name, str(each.kind), *_instances(each)) for each in system.properties]
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
    """A heading and aligned columns; nothing at all without rows."""
    if not rows:
        return []
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [heading] + [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"

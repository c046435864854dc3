"""``outcrop simulate``: random walks."""

from __future__ import annotations

import argparse
import sys

from outcrop.api import Model, load
from outcrop.cli.files import dump, keep_apart, write
from outcrop.cli.output import complain, emit, wants_color
from outcrop.options import Deadlock
from outcrop.report.text import Paint
from outcrop.result import Verdict
from outcrop.tools.simulate import Simulation, SimulationOptions, simulate
from outcrop.tools.simulation_report import text
from outcrop.trace.itf import itf
from outcrop.trace.render import TraceStyle


def run(arguments: argparse.Namespace) -> int:
    keep_apart((arguments.model,), (arguments.trace_json,))
    if arguments.trace_json:
        write(arguments.trace_json, "")
    model = load(
        arguments.model,
        dict(arguments.constants),
        undefined=arguments.undefined,
        while_limit=arguments.while_limit or None,
        overflow=arguments.overflow,
        invariants=arguments.invariants,
    )
    for warning in model.warnings:
        complain(warning.render(), bare=True)
    simulation = _simulate(model, _options(arguments), arguments.quiet)
    violation = simulation.violation
    if arguments.trace_json and violation is not None and (trace := itf(violation)) is not None:
        write(arguments.trace_json, dump(trace))
    if arguments.json:
        emit(dump(simulation.to_dict()))
    else:
        paint = Paint(wants_color(sys.stdout, arguments.no_color))
        emit(text(simulation, TraceStyle(arguments.trace), paint, arguments.coverage))
    return (Verdict.UNKNOWN if violation is None else Verdict.VIOLATED).exit_code


def _simulate(model: Model, options: SimulationOptions, is_quiet: bool) -> Simulation:
    if is_quiet or not sys.stderr.isatty():
        return simulate(model, options)
    from outcrop.report.walk_progress import WalkLine

    with WalkLine(options.walks, options.time_limit) as progress:
        return simulate(model, options, progress=progress)


def _options(arguments: argparse.Namespace) -> SimulationOptions:
    limit = arguments.time_limit
    if limit is None and arguments.walks is None:
        limit = SimulationOptions.time_limit
    return SimulationOptions(
        walks=arguments.walks,
        steps=arguments.steps,
        time_limit=limit,
        weights=dict(arguments.weight),
        seed=arguments.seed,
        threads=arguments.threads,
        deadlock=Deadlock(arguments.deadlock),
        shrink_seconds=arguments.shrink,
    )

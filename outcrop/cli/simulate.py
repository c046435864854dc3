"""``outcrop simulate``: searches for violations by random walks."""

from __future__ import annotations

import argparse
import sys

from outcrop.api import Model, load
from outcrop.cli.files import deliver, dump, keep_apart, prepare
from outcrop.cli.output import complain, put_output, wants_color
from outcrop.cli.parser_declared import language_values
from outcrop.ir.prints import put_note
from outcrop.options import Deadlock
from outcrop.report.text import Paint
from outcrop.report.walk_progress import WalkLine
from outcrop.result import Verdict
from outcrop.tools.simulate import Simulation, SimulationOptions, simulate
from outcrop.tools.simulation_report import document, text
from outcrop.trace.itf import itf
from outcrop.trace.render import TraceStyle


def run(arguments: argparse.Namespace) -> int:
    keep_apart((arguments.model,), (arguments.trace_json,))
    if arguments.trace_json:
        prepare(arguments.trace_json)
    model = load(
        arguments.model,
        dict(arguments.constants),
        invariants=arguments.invariants,
        **language_values(arguments),
    )
    for warning in model.warnings:
        complain(warning.render(), bare=True)
    simulation = _simulate(model, _options(arguments), arguments)
    violation = simulation.violation
    trace = itf(violation) if arguments.trace_json and violation is not None else None
    files = [] if trace is None else [(arguments.trace_json, lambda: dump(trace))]
    paint = Paint(wants_color(sys.stdout, arguments.no_color))
    shown = text(simulation, TraceStyle(arguments.trace), paint, arguments.coverage)
    verdict = Verdict.UNKNOWN if violation is None else Verdict.VIOLATED
    return deliver(verdict.exit_code, dump(document(simulation)) if arguments.json else shown, files)


def _simulate(model: Model, options: SimulationOptions, arguments: argparse.Namespace) -> Simulation:
    if arguments.quiet:
        return simulate(model, options)
    with put_output(arguments.json) as printed:
        output = None if options.walks is None else printed  # millions of walks would print
        if output is None:
            for note in put_note(model.system, "without a number of walks; use --walks N"):
                complain(note.render(), bare=True)
        if not sys.stderr.isatty():
            return simulate(model, options, output)
        with WalkLine(options.walks, options.time_limit) as progress:
            return simulate(model, options, output, progress)


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

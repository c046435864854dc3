"""``outcrop recheck``: evaluates further invariants over the states of a finished search."""

from __future__ import annotations

import argparse
import sys

from outcrop.cli.files import deliver, dump, keep_apart, prepare
from outcrop.cli.output import complain, wants_color
from outcrop.recheck.recheck import recheck
from outcrop.recheck.report import document, text
from outcrop.report.text import Paint
from outcrop.trace.itf import itf
from outcrop.trace.render import TraceStyle


def run(arguments: argparse.Namespace) -> int:
    keep_apart((), (arguments.trace_json,))
    if arguments.trace_json:
        prepare(arguments.trace_json)
    answer = recheck(arguments.directory, arguments.invariants, arguments.threads, complain)
    trace = itf(answer.violations[0]) if answer.violations else None
    files = [] if trace is None or not arguments.trace_json else [(arguments.trace_json, lambda: dump(trace))]
    paint = Paint(wants_color(sys.stdout, arguments.no_color))
    shown = dump(document(answer)) if arguments.json else text(answer, TraceStyle(arguments.trace), paint)
    return deliver(answer.verdict.exit_code, shown, files)

"""``outcrop check``: load, search, report."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from types import FrameType
from typing import TextIO

from outcrop.api import Model, load
from outcrop.cli.files import dump
from outcrop.cli.interrupts import interrupt
from outcrop.cli.output import annotate, emit, wants_color
from outcrop.cli.results import Files
from outcrop.dist.exchange import exchange_of
from outcrop.dist.launch import STARTED, start, started_ranks
from outcrop.errors import AlreadyTold, InternalError, UsageError
from outcrop.options import CheckOptions, Deadlock, Engine, Fair, Keep, Replacement, Where
from outcrop.report.annotations import of_document, wanted
from outcrop.report.text import Paint, report, verdict_line
from outcrop.result import Result, Verdict
from outcrop.trace.render import TraceStyle

_SHOW_CURSOR = "\x1b[?25h"


def run(arguments: argparse.Namespace) -> int:
    """Alone, or as one of several ranks, of which the first reports; or starts these."""
    ranks = started_ranks()
    if max(ranks, arguments.ranks or 1) > 1:
        if arguments.sandbox:
            raise UsageError("--sandbox keeps a search from all others: it cannot have several ranks")
        return _check_together(arguments, ranks)
    return _check_confined(arguments) if arguments.sandbox else _check(arguments)


def _check_confined(arguments: argparse.Namespace) -> int:
    from outcrop.cli.main import answer
    from outcrop.sandbox import run_confined

    directories = [arguments.workdir, arguments.keep_c, arguments.checkpoint, arguments.resume]
    paths = [Path(each) for each in directories if each]
    for path in paths:
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot make the directory '{path}': {error.strerror}") from None
    paths += [Path(each) for each in (arguments.trace_json, arguments.report, arguments.junit) if each]
    return run_confined(lambda: answer(lambda: _check(arguments)), paths)


def _check_together(arguments: argparse.Namespace, ranks: int) -> int:
    if ranks == 1:
        if STARTED in os.environ:
            raise UsageError(f"mpiexec has started {arguments.ranks} processes that do not know of each other")
        return start(arguments.ranks, arguments.words)
    exchange = exchange_of(ranks)
    try:
        arguments.ranks = exchange_of(arguments.ranks or ranks).size
        return _check(arguments, is_first=exchange.rank == 0)
    except Exception as error:
        exchange.fail(str(error) or type(error).__name__, getattr(error, "exit_code", InternalError.exit_code))
        raise AlreadyTold(error) from error


def _check(arguments: argparse.Namespace, is_first: bool = True) -> int:
    files = Files(arguments) if is_first else None
    with files.prepared() if files else contextlib.nullcontext():
        options = check_options(arguments)
        model = load(
            arguments.model,
            dict(arguments.constants),
            undefined=arguments.undefined,
            while_limit=arguments.while_limit or None,
            overflow=arguments.overflow,
            invariants=arguments.invariants,
            ltl=arguments.ltl,
            ltl_file=arguments.ltl_file,
        )
        with _second_interrupt_kills():
            result = _search(model, options, arguments, is_first)
            if files:
                files.write(result, model, options)
                _report(result, arguments)
    return result.verdict.exit_code


def check_options(arguments: argparse.Namespace) -> CheckOptions:
    values = {each.name: getattr(arguments, each.name) for each in fields(CheckOptions)}
    values["symmetry"] = arguments.symmetry == "on"
    values["squeeze"] = arguments.squeeze == "on"
    values["coverage"] = bool(arguments.coverage or arguments.report)
    values["properties"] = tuple(values["properties"])
    choices_of = {
        "engine": Engine,
        "device": Where,
        "deadlock": Deadlock,
        "fair": Fair,
        "keep": Keep,
        "replacement": Replacement,
    }
    for name, choices in choices_of.items():
        values[name] = None if values[name] is None else choices(values[name])
    return CheckOptions(**values)


def _search(model: Model, options: CheckOptions, arguments: argparse.Namespace, is_first: bool) -> Result:
    if not is_first:
        return model.check(options)
    # The document must stay alone on stdout.
    put = _PutOutput(sys.stderr if arguments.json else sys.stdout)
    try:
        if arguments.quiet or not sys.stderr.isatty():
            return model.check(options, output=put)
        from outcrop.report.progress import ProgressLine, limits_of

        with ProgressLine(limits_of(options)) as progress:
            return model.check(options, progress=progress, output=put)
    finally:
        put.end()


class _PutOutput:
    """What the model prints. Its last line is ended if the model does not, so that the report starts on its own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._open_line = False

    def __call__(self, text: str) -> None:
        if text:
            self._stream.write(text)
            self._open_line = not text.endswith("\n")

    def end(self) -> None:
        if self._open_line:
            self("\n")


def _report(result: Result, arguments: argparse.Namespace) -> None:
    annotate(of_document(result.to_dict()) if wanted() else ())
    style = TraceStyle(arguments.trace)
    if arguments.json:
        document = result.to_dict()
        if style is TraceStyle.OFF:
            document["trace"] = None
            for violation in document["violations"]:
                violation["trace"] = None
        emit(dump(document))
        return
    paint = Paint(wants_color(sys.stdout, arguments.no_color))
    emit(verdict_line(result, paint) if arguments.quiet else report(result, style, paint, arguments.report))


@contextlib.contextmanager
def _second_interrupt_kills() -> Iterator[None]:
    """The first Ctrl-C asks the search to stop and report; should that take too long, the second ends us at once."""
    pressed = False

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            os.write(2, (_SHOW_CURSOR if sys.stderr.isatty() else "").encode() + b"outcrop: interrupted\n")
            os._exit(Verdict.UNKNOWN.exit_code)
        pressed = True
        interrupt(number, frame)

    try:
        before = signal.signal(signal.SIGINT, press)
    except ValueError:  # not the main thread, which alone gets signals
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)

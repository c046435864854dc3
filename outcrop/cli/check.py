"""``outcrop check``: loads a model, searches its states and reports the verdict."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from types import FrameType

from outcrop.api import Model, load
from outcrop.cli.files import FILES, PLACE, deliver, dump
from outcrop.cli.main import answer
from outcrop.cli.output import annotate, chart_width, complain, put_output, wants_color
from outcrop.cli.parser_declared import language_values, own_values
from outcrop.cli.results import Files
from outcrop.dist.launch import STARTED, start, started_ranks
from outcrop.dist.transport import transport_of
from outcrop.errors import AlreadyTold, InternalError, Undecided, UsageError
from outcrop.interrupts import handled, interrupt
from outcrop.lang.registry import LANGUAGES
from outcrop.options import CheckOptions, Deadlock, DeviceChoice, Engine, Fair, Keep, Reduce, TraceOrder, is_remote
from outcrop.outcome import EventKind
from outcrop.reading import STDIN
from outcrop.report.annotations import of_document, wanted
from outcrop.report.text import ChartOptions, Paint, quiet, report
from outcrop.result import Result, Verdict
from outcrop.trace.render import TraceStyle

_SHOW_CURSOR = "\x1b[?25h"


def run(arguments: argparse.Namespace) -> int:
    """Checks in this process, starts the ranks, or takes part as one of them. Only the first rank reports."""
    if len(arguments.models) != 1:
        from outcrop.cli.several import run as run_several  # imports the sweep, and its memory

        return run_several(arguments)
    arguments.model = arguments.models[0]
    for name in FILES:
        if getattr(arguments, name):
            setattr(arguments, name, getattr(arguments, name).replace(PLACE, Path(arguments.model).name))
    if arguments.model == STDIN:
        suffixes = (each.suffixes[0] for each in LANGUAGES if each.name.lower() == arguments.language)
        arguments.model += next(suffixes, "")
    elif arguments.language:
        raise UsageError("--language is for a model from standard input; the suffix of a file tells its language")
    ranks = started_ranks()
    if max(ranks, arguments.ranks or 1) > 1:
        if arguments.sandbox:
            raise UsageError("--sandbox cannot be used with several ranks; leave out --ranks, or --sandbox")
        return _check_together(arguments, ranks)
    return _check_confined(arguments) if arguments.sandbox else _check(arguments)


def _check_confined(arguments: argparse.Namespace) -> int:
    from outcrop.sandbox import run_confined  # for models that are not trusted

    directories = [arguments.workdir, arguments.keep_c, arguments.checkpoint, arguments.resume, arguments.keep_states]
    if any(is_remote(each) for each in directories):
        raise UsageError("--sandbox has no network; name a local directory for checkpoints")
    paths = [Path(each) for each in directories if each]
    for path in paths:
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot make the directory '{path}': {error.strerror}; name another one") from None
    written = (arguments.trace_json, arguments.report, arguments.junit, arguments.sarif)
    paths += [Path(each) for each in written if each]
    return run_confined(lambda: answer(lambda: _check(arguments)), paths)


def _check_together(arguments: argparse.Namespace, ranks: int) -> int:
    if ranks == 1:
        if STARTED in os.environ:
            raise UsageError(
                f"mpiexec started {arguments.ranks} processes that cannot reach one another; use the mpiexec that "
                "belongs to the MPI of mpi4py"
            )
        return start(arguments.ranks, arguments.words)
    transport = transport_of(ranks)
    try:
        arguments.ranks = transport_of(arguments.ranks or ranks).size
        return _check(arguments, is_first=transport.rank == 0)
    except KeyboardInterrupt as error:
        transport.fail(str(error) or "interrupted", Verdict.UNKNOWN.exit_code)
        raise AlreadyTold(Undecided()) from error
    except Exception as error:
        transport.fail(str(error) or type(error).__name__, getattr(error, "exit_code", InternalError.exit_code))
        raise AlreadyTold(error) from error


def _check(arguments: argparse.Namespace, is_first: bool = True) -> int:
    files = Files(arguments) if is_first else None
    with files.prepared() if files else contextlib.nullcontext():
        options = check_options(arguments)
        model = load(
            arguments.model,
            dict(arguments.constants),
            invariants=arguments.invariants,
            ltl=arguments.ltl,
            ltl_file=arguments.ltl_file,
            **language_values(arguments),
        )
        with _second_interrupt_kills():
            result = _search(model, options, arguments, is_first)
            result.command = ["outcrop", *arguments.words]
            if arguments.quiet or not is_first:  # whoever prints no events must still say where a checkpoint is
                for event in result.events:
                    if event.kind is EventKind.NOT_COPIED:
                        complain(event.text)
            if files:
                annotate(of_document(result.to_dict()) if wanted() else ())
                return deliver(result.verdict.exit_code, _text(result, arguments), files.texts(result, model, options))
    return result.verdict.exit_code


def check_options(arguments: argparse.Namespace) -> CheckOptions:
    values = {each.name: getattr(arguments, each.name) for each in fields(CheckOptions) if each.name != "own"}
    values["symmetry"] = arguments.symmetry == "on"
    values["coverage"] = bool(arguments.coverage or arguments.report)
    values["properties"] = tuple(values["properties"])
    choices_of = {
        "engine": Engine,
        "device": DeviceChoice,
        "deadlock": Deadlock,
        "fair": Fair,
        "reduce": Reduce,
        "trace_order": TraceOrder,
        "keep": Keep,
    }
    for name, choices in choices_of.items():
        values[name] = None if values[name] is None else choices(values[name])
    return CheckOptions(**values, **own_values(arguments))


def _search(model: Model, options: CheckOptions, arguments: argparse.Namespace, is_first: bool) -> Result:
    if not is_first:
        return model.check(options)
    with put_output(arguments.json) as output:
        if arguments.quiet or not sys.stderr.isatty():
            return model.check(options, output=output)
        from outcrop.report.progress import ProgressLine, limits_of  # for terminals only

        with ProgressLine(limits_of(options)) as progress:
            return model.check(options, progress=progress, output=output)


def _text(result: Result, arguments: argparse.Namespace) -> str:
    """Returns the text to print about a result."""
    style = TraceStyle(arguments.trace)
    if arguments.json:
        document = result.to_dict()
        if style is TraceStyle.OFF:
            document["trace"] = None
            for violation in document["violations"]:
                violation["trace"] = None
        return dump(document)
    paint = Paint(wants_color(sys.stdout, arguments.no_color))
    if arguments.quiet:
        return quiet(result, paint)
    ask = ChartOptions(chart_width(), arguments.lanes, tuple(arguments.message)) if arguments.chart else None
    return report(result, style, paint, arguments.report, ask)


@contextlib.contextmanager
def _second_interrupt_kills() -> Iterator[None]:
    """Lets the first Ctrl-C ask the search to stop and report, and the second one end the process at once."""
    pressed = False

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            os.write(2, (_SHOW_CURSOR if sys.stderr.isatty() else "").encode() + b"outcrop: interrupted\n")
            os._exit(Verdict.UNKNOWN.exit_code)
        pressed = True
        interrupt(number, frame)

    with handled(press):
        yield

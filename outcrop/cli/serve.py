"""``outcrop serve``: the explorer in the browser."""

from __future__ import annotations

import argparse
import os
import shutil

from outcrop.api import given_invariants, read_source
from outcrop.cli.output import complain, emit
from outcrop.cli.parser_declared import language_values
from outcrop.errors import UsageError
from outcrop.explore.saved import read
from outcrop.lang import load_open, require_start_state
from outcrop.lang.registry import read_options
from outcrop.options import LoadOptions
from outcrop.report.explorer_page import explorer_document, explorer_page
from outcrop.serve.operations import Explorer
from outcrop.serve.server import Server


def run(arguments: argparse.Namespace) -> int:
    """Serves the explorer until Ctrl-C."""
    source = read_source(arguments.model)
    own = read_options(source.name, language_values(arguments))
    options = LoadOptions(dict(arguments.constants), own, invariants=given_invariants(arguments.invariants))
    system, warnings, lower = load_open(source, options)
    require_start_state(system)
    for warning in warnings:
        complain(warning.render(), bare=True)
    document = explorer_document(system)
    engine = arguments.engine or _engine()
    explorer = Explorer(system, lower, options, document, engine, arguments.lanes, tuple(arguments.message))
    answer = explorer.answer({"do": "open"})
    if arguments.step is not None and arguments.load is None:
        raise UsageError("--step is a step of a saved trace. Name its file with --load")
    if arguments.load is not None:
        answer = explorer.answer({"do": "load", "document": read(arguments.load), "step": arguments.step})
    if "error" in answer:
        raise UsageError(answer["error"])
    try:
        server = Server(arguments.port, *explorer_page(document), explorer.answer)
    except OSError as error:
        raise UsageError(
            f"cannot listen on port {arguments.port}: {error.strerror}; choose another with --port"
        ) from None
    emit(f"{server.url}\nOnly this machine can open it; Ctrl-C ends it.")
    with server:
        try:
            server.serve_forever(poll_interval=0.1)
        except KeyboardInterrupt:
            emit("")
    return 0


def _engine() -> str:
    """Returns the native engine if there is a C compiler, otherwise the interpreter."""
    compilers = (os.environ.get("CC", "cc").split()[0], "gcc", "clang")
    return "native" if any(shutil.which(each) for each in compilers) else "interpreter"

"""``outcrop explore``: steps through a model at a prompt."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from outcrop.api import given_invariants, read_source
from outcrop.cli.files import dump, keep_apart, write
from outcrop.cli.output import complain, emit
from outcrop.cli.parser_declared import language_values
from outcrop.explore.evaluate import Scope
from outcrop.explore.session import Session
from outcrop.explore.shell import Shell
from outcrop.lang import load_open
from outcrop.lang.registry import read_options
from outcrop.options import LoadOptions

_PROMPT = "> "


def run(arguments: argparse.Namespace) -> int:
    source = read_source(arguments.model)
    own = read_options(source.name, language_values(arguments))
    options = LoadOptions(dict(arguments.constants), own, invariants=given_invariants(arguments.invariants))
    system, warnings, scope = load_open(source, options)
    for warning in warnings:
        complain(warning.render(), bare=True)

    def save(path: str, document: dict[str, Any]) -> None:
        keep_apart((arguments.model,), (path,))
        write(path, dump(document))

    shell = Shell(Session(system), Scope(scope).evaluate, save)
    emit("\n".join([*shell.greet(), *(shell.load(arguments.load) if arguments.load is not None else ())]))
    for line in _input(arguments.command):
        emit("\n".join(shell.run(line)))
        if shell.has_ended:
            break
    return 0


def _input(commands: list[str]) -> Iterator[str]:
    """Yields the commands of the command line, or else the lines of stdin. Piped lines are echoed after a prompt."""
    if commands:
        for command in commands:
            emit(f"{_PROMPT}{command}")
            yield command
        return
    if not sys.stdin.isatty():
        for line in sys.stdin:
            emit(f"{_PROMPT}{line.rstrip()}")
            yield line
        return
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  (input() then has a history and can be edited)
    while True:
        try:
            yield input(_PROMPT)
        except EOFError:
            emit("\n")
            return

"""Writing to the user: stdout for what was asked for, stderr for the rest."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO

from outcrop.errors import UsageError
from outcrop.report.annotations import wanted


def emit(text: str) -> None:
    """Prints a text with its line end. A reader that has gone away (``| head``) is no error."""
    try:
        if text:
            print(text.rstrip("\n"))
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_rest(sys.stdout)
    except OSError as error:
        _drop_rest(sys.stdout)
        raise UsageError(f"cannot write to stdout: {error.strerror}") from None


def _drop_rest(stream: TextIO) -> None:
    """What is still buffered would raise once more when the interpreter flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextlib.contextmanager
def put_output(is_document: bool) -> Iterator[Callable[[str], None]]:
    """Returns a writer for the output of a model: stdout, or stderr where a JSON document must stay alone on stdout.
    The last line is ended if the model does not, so that the report starts on its own."""
    stream, last = (sys.stderr if is_document else sys.stdout), "\n"

    def write(text: str) -> None:
        nonlocal last
        try:
            stream.write(text)
            last = text[-1:] or last
        except BrokenPipeError:
            _drop_rest(stream)
        except OSError as error:
            _drop_rest(stream)
            raise UsageError(f"cannot write what the model prints: {error.strerror}") from None

    try:
        yield write
    finally:
        if last != "\n":
            write("\n")


def complain(message: str, bare: bool = False) -> None:
    """Prints an error; ``bare`` when the message already says so."""
    with contextlib.suppress(OSError):
        print(message if bare else f"outcrop: {message}", file=sys.stderr, flush=True)


def annotate(lines: Iterable[str]) -> None:
    """Prints, where GitHub Actions reads along, what it turns into annotations. On stderr, which it reads too: a
    document may be alone on stdout."""
    if wanted():
        for line in lines:
            complain(line, bare=True)


def wants_color(stream: TextIO, refused: bool) -> bool:
    """Colours go to terminals only, and not where the user or the environment refuses them."""
    return not refused and stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

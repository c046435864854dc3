"""Output to the user: results go to stdout, everything else to stderr."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO

from outcrop.errors import UsageError
from outcrop.report.annotations import wanted


def emit(text: str) -> None:
    """Prints a text and ends its line. A closed pipe (``| head``) is not an error."""
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
    """Redirects a stream to /dev/null, so that flushing its buffer at exit does not raise again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextlib.contextmanager
def put_output(is_document: bool) -> Iterator[Callable[[str], None]]:
    """Returns a writer for the output of a model. It writes to stdout, or to stderr if stdout must hold only a JSON
    document. On leaving it ends the last line, so that the report begins on a line of its own."""
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
            raise UsageError(f"cannot write the output of the model: {error.strerror}") from None

    try:
        yield write
    finally:
        if last != "\n":
            write("\n")


def complain(message: str, bare: bool = False) -> None:
    """Prints a message to stderr; ``bare`` omits the prefix ``outcrop:``."""
    with contextlib.suppress(OSError):
        print(message if bare else f"outcrop: {message}", file=sys.stderr, flush=True)


def annotate(lines: Iterable[str]) -> None:
    """Prints the annotations of GitHub Actions, if the process runs there. They go to stderr, which GitHub reads too,
    since stdout may hold a JSON document."""
    if wanted():
        for line in lines:
            complain(line, bare=True)


#: Columns of a chart that goes to no terminal.
_WIDTH = 120


def chart_width() -> int:
    """Returns the columns of the terminal, or a usual number where there is none."""
    return shutil.get_terminal_size((_WIDTH, 24)).columns if sys.stdout.isatty() else _WIDTH


def wants_color(stream: TextIO, refused: bool) -> bool:
    """Returns whether to use colours: only on a terminal, and unless the user or the environment refuses them."""
    return not refused and stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

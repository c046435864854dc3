"""The entry point of the command, and the one place where errors become messages and exit codes.

This module imports only what parsing needs. Each command imports the rest when it runs, so that ``--help`` is fast.
"""

from __future__ import annotations

import errno
import gc
import os
import resource
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from outcrop.cli.defaults import with_defaults
from outcrop.cli.output import annotate, complain, emit
from outcrop.cli.parser import build_parser
from outcrop.errors import AlreadyTold, DiskFailed, InternalError, OutcropError
from outcrop.report.annotations import of_diagnostics

UNKNOWN = 3

#: Parts of the messages of the dynamic loader, and of Python, when memory for a library or a thread is missing.
_NO_MEMORY = (
    "failed to map segment",
    "cannot allocate memory",
    "cannot create shared object descriptor",
    "can't start new thread",
)

#: Smallest limit on the memory of the process under which numpy can be imported, in bytes. Where less is allowed, its
#: linear algebra library ends the process with exit code 1, which would mean a violation.
_LEAST_LIMIT = 64 << 20

#: File errors that come from the operating system, wherever they occur, and not from a bug in Outcrop.
_OF_THE_SYSTEM = {
    *(errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.ESTALE, errno.ENXIO),
    *(errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    # The linear algebra library of numpy, which Outcrop does not use, starts threads that spin for 0.1 seconds.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the shell has closed it
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # A model may contain letters that the encoding of the terminal lacks.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    code = answer(lambda: _run(sys.argv[1:] if arguments is None else arguments))
    if "OUTCROP_ANSWERS" in os.environ:
        from outcrop.dist.launch import note_answer  # only several ranks need it

        note_answer(code)
    return code


def answer(action: Callable[[], int]) -> int:
    """Runs an action and returns its exit code. Errors of the action become messages on stderr."""
    try:
        return _with_notes(action)
    except KeyboardInterrupt as error:
        complain(str(error) or "interrupted")
        return UNKNOWN
    except MemoryError as error:
        return _out_of_memory(error)
    except AlreadyTold as error:
        return error.exit_code
    except InternalError as error:
        return _report_bug(error)
    except OutcropError as error:
        complain(str(error), bare=hasattr(error, "diagnostics"))
        annotate(of_diagnostics(getattr(error, "diagnostics", ())))
        return error.exit_code
    except Exception as error:
        if _is_for_memory(error):
            return _out_of_memory()
        if isinstance(error, OSError) and error.errno in _OF_THE_SYSTEM:
            complain(str(DiskFailed(error)))
            return UNKNOWN
        return _report_bug(error)


def _with_notes(action: Callable[[], int]) -> int:
    """Runs an action. Prints the notes on an error that it raises, such as the place of a checkpoint."""
    try:
        return action()
    except BaseException as error:
        for note in getattr(error, "__notes__", ()):
            complain(note)
        raise


def _out_of_memory(error: MemoryError | None = None) -> int:
    why = f": {error}" if error is not None and str(error) else ""
    complain(f"out of memory before a verdict was reached{why}")
    return UNKNOWN


def _is_for_memory(error: BaseException | None) -> bool:
    """Returns whether an error, or one of its causes, means that memory was missing."""
    while error is not None:
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
            return True
        text = str(error).lower()
        if isinstance(error, ImportError | OSError | RuntimeError) and any(each in text for each in _NO_MEMORY):
            return True
        # CPython's parser answers an allocation that failed with a syntax error in a correct file.
        if isinstance(error, SyntaxError) and _memory_limit() is not None:
            return True
        error = error.__cause__ or error.__context__
    return False


def _memory_limit() -> int | None:
    """Returns the number of bytes to which ``ulimit`` bounds the memory of the process, or None."""
    limits = [resource.getrlimit(each)[0] for each in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    return min((each for each in limits if each != resource.RLIM_INFINITY), default=None)


def _run(arguments: Sequence[str]) -> int:
    parser = build_parser()
    if not arguments:
        emit(parser.format_help())
        return 2
    try:
        chosen = parser.parse(arguments)
    except SystemExit as end:  # argparse ends --help and --version this way
        emit("")
        return int(end.code or 0)
    chosen = with_defaults(parser, chosen, list(arguments))
    chosen.words = list(arguments)
    # The parser of all verbs takes some MB, and its parts refer to each other. A search can use that memory.
    del parser
    gc.collect()
    limit = _memory_limit()
    if limit is not None and limit < _LEAST_LIMIT:
        raise MemoryError(f"the limit of the process is {limit >> 20} MiB; allow {_LEAST_LIMIT >> 20} MiB with ulimit")
    code: int = import_module(f"outcrop.cli.{chosen.verb}").run(chosen)
    return code


def _report_bug(error: Exception) -> int:
    """Writes the traceback to a temporary file for a bug report, and prints where that file is."""
    # Needed only here, and slow to import.
    import tempfile
    import traceback

    text = "".join(traceback.format_exception(error))
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="outcrop-", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
        ) as file:
            file.write(text)
        kept = f"Internal error {Path(file.name).stem.removeprefix('outcrop-')}; please report it with {file.name}"
    except OSError:
        kept = "Internal error; please report it (its details could not be written to the temporary directory)"
    summary = str(error).strip().splitlines() or [type(error).__name__]
    complain(f"{kept}\n{summary[0]}" if not isinstance(error, InternalError) else f"{kept}\n{error}")
    return InternalError.exit_code

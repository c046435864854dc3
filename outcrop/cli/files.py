"""The output files of a command."""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from outcrop.cli.output import complain, emit
from outcrop.errors import UsageError

#: Errors of a full or failing disk, which may have recovered by the time a search ends.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO)


#: Stands for the name of the model file in the name of another file.
PLACE = "{model}"
FILES = ("trace_json", "report", "junit", "sarif", "checkpoint", "resume", "keep_c")


def keep_apart(read: Iterable[str | Path | None], written: Iterable[str | Path | None]) -> None:
    """Raises UsageError when an output file is also an input file, or is named for two outputs."""
    taken = {
        _identity(path): "is an input file and would be overwritten; name another output file" for path in read if path
    }
    for path in written:
        place = _identity(path) if path else None
        if not path or (isinstance(place, tuple) and not Path(path).is_file()):
            continue  # a terminal or a pipe, which two outputs can share
        if place in taken:
            raise UsageError(f"'{path}' {taken[place]}")
        taken[place] = "is named for two outputs; name a file for each"


def _identity(path: str | Path) -> object:
    try:
        status = Path(path).stat()
        return status.st_dev, status.st_ino
    except OSError:
        return Path(path).resolve()
    except ValueError:  # not a valid file name; opening it raises the error that names the problem
        return path


def prepare(path: str | Path) -> None:
    """Creates an empty file, to find out before a long search whether it can be written. A full disk is not an error
    yet, since there may be space again when the search ends."""
    try:
        Path(path).write_bytes(b"")
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) not in _FULL:
            raise _cannot_write(path, error) from None


def write(path: str | Path, text: str) -> None:
    """Writes a whole file. Raises UsageError and leaves the file empty if that fails."""
    try:
        Path(path).write_text(text, encoding="utf-8", errors="backslashreplace")
    except (OSError, ValueError) as error:
        with contextlib.suppress(OSError, ValueError):
            if Path(path).is_file():
                os.truncate(path, 0)
        raise _cannot_write(path, error) from None


def _cannot_write(path: str | Path, error: OSError | ValueError) -> UsageError:
    return UsageError(f"cannot write '{path}': {getattr(error, 'strerror', None) or error}; name another file")


def deliver(code: int, text: str, files: Iterable[tuple[str | Path, Callable[[], str]]]) -> int:
    """Prints a text, then writes the files about it, making each one when its turn comes. A file that cannot be written
    is reported on stderr, and the others are written. Returns the exit code: ``code``, or 2 if that is 0 and some
    output could not be written."""
    is_whole = _succeeds("the report", lambda: emit(text))
    for path, make in files:
        is_whole &= try_to_write(path, make)
    return code if is_whole else code or UsageError.exit_code


def try_to_write(path: str | Path, make: Callable[[], str]) -> bool:
    """Makes a text and writes it. Returns whether that succeeded, and prints an error if not."""
    return _succeeds(f"'{path}'", lambda: write(path, make()))


def _succeeds(what: str, action: Callable[[], None]) -> bool:
    try:
        action()
    except UsageError as error:
        complain(str(error))
    except MemoryError:
        complain(f"cannot write {what}: out of memory; end other programs, and check again")
    except KeyboardInterrupt:
        complain(f"interrupted while {what} was written")
    else:
        return True
    return False


def dump(document: dict[str, Any]) -> str:
    """Returns a JSON document with one first-level key per line."""
    rows = [f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in document.items()]
    return "{\n" + ",\n".join(rows) + "\n}\n"

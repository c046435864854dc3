"""Writing the files that a verb was asked for."""

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

#: Errors of a disk that may be over when a search is.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO)


def keep_apart(read: Iterable[str | Path | None], written: Iterable[str | Path | None]) -> None:
    """Refuses to write to a file that is read, or to one twice."""
    taken = {_identity(path): "is read, and would be overwritten" for path in read if path}
    for path in written:
        place = _identity(path) if path else None
        if not path or (isinstance(place, tuple) and not Path(path).is_file()):
            continue  # a terminal, say
        if place in taken:
            raise UsageError(f"'{path}' {taken[place]}")
        taken[place] = "would be written twice"


def _identity(path: str | Path) -> object:
    try:
        status = Path(path).stat()
        return status.st_dev, status.st_ino
    except OSError:
        return Path(path).resolve()
    except ValueError:  # no name that a file can have, which whoever opens it says
        return path


def prepare(path: str | Path) -> None:
    """Makes an empty file, which shows before a long search whether there can be one. A full disk is no obstacle yet:
    it may have room by the time there is something to write."""
    try:
        Path(path).write_bytes(b"")
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) not in _FULL:
            raise _cannot_write(path, error) from None


def write(path: str | Path, text: str) -> None:
    """Writes a file whole, or leaves it empty and raises UsageError."""
    try:
        Path(path).write_text(text, encoding="utf-8", errors="backslashreplace")
    except (OSError, ValueError) as error:
        with contextlib.suppress(OSError, ValueError):
            if Path(path).is_file():
                os.truncate(path, 0)
        raise _cannot_write(path, error) from None


def _cannot_write(path: str | Path, error: OSError | ValueError) -> UsageError:
    return UsageError(f"cannot write '{path}': {getattr(error, 'strerror', None) or error}")


def deliver(code: int, text: str, files: Iterable[tuple[str | Path, Callable[[], str]]]) -> int:
    """Prints what there is to say, then writes files about it, each made when its turn comes. Complains of what cannot
    be written and goes on. Returns the exit code: ``code``, or 2 for a success that was not written whole."""
    is_whole = _succeeds("the report", lambda: emit(text))
    for path, make in files:
        is_whole &= try_to_write(path, make)
    return code if is_whole else code or UsageError.exit_code


def try_to_write(path: str | Path, make: Callable[[], str]) -> bool:
    """Makes a text and writes it. Returns whether that was possible, and complains if not."""
    return _succeeds(f"'{path}'", lambda: write(path, make()))


def _succeeds(what: str, action: Callable[[], None]) -> bool:
    try:
        action()
    except UsageError as error:
        complain(str(error))
    except MemoryError:
        complain(f"cannot write {what}: out of memory")
    except KeyboardInterrupt:
        complain(f"interrupted while {what} was written")
    else:
        return True
    return False


def dump(document: dict[str, Any]) -> str:
    """JSON with one first-level key a line."""
    rows = [f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in document.items()]
    return "{\n" + ",\n".join(rows) + "\n}\n"

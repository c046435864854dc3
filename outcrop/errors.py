"""Every exception that a user can meet, each with the exit code it ends the command with."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence

from outcrop.source import Diagnostic


class OutcropError(Exception):
    """Base of all; ``str()`` of it is what the user reads."""

    exit_code = 4


class UsageError(OutcropError):
    """A command line or an API call that cannot be carried out as asked."""

    exit_code = 2


class ModelError(OutcropError):
    """A model that the front-end refuses; carries all that it found, warnings included."""

    exit_code = 2

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(each.render() for each in self.diagnostics))


class CompilerNotFound(OutcropError):
    """No C compiler on this machine."""

    exit_code = 2


class Undecided(OutcropError):
    """A limit ended a search before it knew what was asked for."""

    exit_code = 3


class DamagedFile(OutcropError):
    """A file that we wrote is not as it was written: a disk fault, or somebody's hand."""

    exit_code = 3

    def __init__(self, path: os.PathLike[str], what: str) -> None:
        super().__init__(f"'{os.fspath(path)}' is damaged: {what}")


class AlreadyTold(OutcropError):
    """An error that the user has been told of: what is left of it is the exit code."""

    def __init__(self, error: Exception) -> None:
        super().__init__("")
        self.exit_code = getattr(error, "exit_code", InternalError.exit_code)


_REFUSED = "Make it readable and writable, or name another directory with --workdir or --checkpoint"
_TOO_MANY = "Allow more open files with 'ulimit -n'"
#: What to do about errors that are not the disk's.
_REMEDIES = {
    errno.EACCES: _REFUSED,
    errno.EPERM: _REFUSED,
    errno.EROFS: _REFUSED,
    errno.EMFILE: _TOO_MANY,
    errno.ENFILE: _TOO_MANY,
}


class DiskFailed(OutcropError):
    """The disk under a search does not read or write. ``path``: the file, where the error does not name it."""

    exit_code = 3

    def __init__(self, error: OSError, path: os.PathLike[str] | None = None) -> None:
        name = error.filename if isinstance(error.filename, str | os.PathLike) else path
        what = "the disk failed" if name is None else f"'{os.fspath(name)}' cannot be read or written"
        remedy = _REMEDIES.get(
            error.errno or 0, "Check the disk, or name a directory on another one with --workdir or --checkpoint"
        )
        super().__init__(f"{what}: {error.strerror or error}. {remedy}")


class InternalError(OutcropError):
    """Our bug: the C compiler refused our code, engines disagree, a trace does not replay."""

    exit_code = 4

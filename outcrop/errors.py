"""The exceptions that users meet, each with the exit code of the command."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence

from outcrop.source import Diagnostic


class OutcropError(Exception):
    """Base class of all exceptions of Outcrop. Its ``str()`` is the message for the user."""

    exit_code = 4


class UsageError(OutcropError):
    """A command line or an API call that cannot be carried out."""

    exit_code = 2


class ModelError(OutcropError):
    """A model that the front-end refuses. Carries all diagnostics, warnings included."""

    exit_code = 2

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(each.render() for each in self.diagnostics))


class CompilerNotFound(OutcropError):
    """The machine has no C compiler."""

    exit_code = 2


class Undecided(OutcropError):
    """A limit ended a search before it decided the question."""

    exit_code = 3


class DamagedFile(OutcropError):
    """A file that Outcrop wrote has changed: a disk fault, or an edit."""

    exit_code = 3

    def __init__(self, path: os.PathLike[str], what: str) -> None:
        super().__init__(f"'{os.fspath(path)}' is damaged: {what}")


class AlreadyTold(OutcropError):
    """An error that was reported already. Only its exit code is left."""

    def __init__(self, error: Exception) -> None:
        super().__init__("")
        self.exit_code = getattr(error, "exit_code", InternalError.exit_code)


_REFUSED = "Make it readable and writable, or name another directory with --workdir or --checkpoint"
_TOO_MANY = "Allow more open files with 'ulimit -n'"
#: Remedies for errors that are not caused by the disk itself.
_REMEDIES = {
    errno.EACCES: _REFUSED,
    errno.EPERM: _REFUSED,
    errno.EROFS: _REFUSED,
    errno.EMFILE: _TOO_MANY,
    errno.ENFILE: _TOO_MANY,
}


class DiskFailed(OutcropError):
    """The disk under a search cannot be read or written. ``path`` names the file if the error does not."""

    exit_code = 3

    def __init__(self, error: OSError, path: os.PathLike[str] | None = None) -> None:
        name = error.filename if isinstance(error.filename, str | os.PathLike) else path
        what = "the disk failed" if name is None else f"'{os.fspath(name)}' cannot be read or written"
        remedy = _REMEDIES.get(
            error.errno or 0, "Check the disk, or name a directory on another one with --workdir or --checkpoint"
        )
        super().__init__(f"{what}: {error.strerror or error}. {remedy}")


class InternalError(OutcropError):
    """A bug in Outcrop: the C compiler refused emitted code, engines disagree, or a trace does not replay."""

    exit_code = 4

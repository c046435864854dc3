"""The work directory of a search: private, within a disk budget, and removed afterwards.

Each search has its own directory under the base, closed to other users. A directory that a killed search has left is
removed by the next search that starts (see outcrop/scratch.py).
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from outcrop.errors import DiskFailed, OutcropError, UsageError
from outcrop.machine import cache_home
from outcrop.scratch import ScratchDirectory, remove_stale

#: Error numbers of a full disk, a full quota and a file past its size limit.
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class DiskFull(OutcropError):
    """Raised when the disk is full or its budget is used up. Most searches then end in an orderly way."""

    exit_code = 3


def no_disk_space(why: str | None = None) -> DiskFull:
    """Returns the error of a full disk, with its remedy."""
    remedy = "free some space, or name a directory on another disk with --workdir or --checkpoint"
    return DiskFull(f"{why or 'no space left on the disk'}; {remedy}")


@contextlib.contextmanager
def disk_errors(path: os.PathLike[str] | None = None) -> Iterator[None]:
    """Translates OSError: a full disk into DiskFull, lack of memory into MemoryError, and a broken disk into
    DiskFailed, which names ``path``. FileNotFoundError passes."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno in _FULL:
            raise no_disk_space(error.strerror) from None
        if error.errno == errno.ENOMEM:
            raise MemoryError(f"{error.strerror} for a file") from None
        raise DiskFailed(error, path) from None


class DiskBudget:
    """The disk budget of a search, in bytes, for all of its files; None for no limit."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.used = 0
        self.peak = 0
        self._guard = threading.Lock()

    def claim(self, count: int) -> None:
        """Reserves bytes of the budget before they are written. Raises DiskFull if fewer are left."""
        with self._guard:
            if self.limit is not None and self.used + count > self.limit:
                raise DiskFull(f"the disk budget of {self.limit:,} bytes is used up; give more with --disk")
            self.used += count
            self.peak = max(self.peak, self.used)

    def release(self, count: int) -> None:
        """Returns the bytes of deleted files to the budget."""
        with self._guard:
            self.used -= count


class Directory:
    """A directory whose files count against a disk budget."""

    def __init__(self, path: Path, budget: DiskBudget) -> None:
        self.path = path
        self.budget = budget
        self._open: set[int] = set()

    def open_file(self, name: str, flags: int) -> int:
        """Opens a file. Returns its descriptor, which is closed with the directory at the latest."""
        with disk_errors():
            file = os.open(self.path / name, flags | os.O_RDWR | os.O_CLOEXEC, 0o600)
        self._open.add(file)
        return file

    def close_file(self, file: int) -> None:
        if file in self._open:
            self._open.remove(file)
            os.close(file)

    def close_files(self) -> None:
        for file in list(self._open):
            self.close_file(file)

    def claim(self, count: int) -> None:
        self.budget.claim(count)

    def release(self, count: int) -> None:
        self.budget.release(count)


def work_place(base: str | os.PathLike[str] | None) -> Path:
    """Returns the base of work directories: ``base``, or by default a directory next to the cache."""
    return Path(base) if base is not None else cache_home() / "outcrop-work"


def _prefix() -> str:
    """Returns the prefix of work directories. It names the user, because the base may be shared, as /tmp is."""
    return f"outcrop-{os.getuid()}-"


def remove_stale_work(base: str | os.PathLike[str] | None) -> None:
    """Removes the directories under ``base`` whose searches were killed."""
    remove_stale(work_place(base), _prefix())


class WorkDirectory(Directory):
    """The work directory of one search. ``base``: where it is created; None for a directory next to the cache."""

    def __init__(self, base: str | os.PathLike[str] | None = None, budget: DiskBudget | None = None) -> None:
        home = work_place(base)
        try:
            home.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._scratch = ScratchDirectory(home, _prefix())
        except OSError as error:
            raise UsageError(
                f"cannot keep files in '{home}': {error.strerror}; name another directory with --workdir"
            ) from None
        super().__init__(self._scratch.path, budget or DiskBudget())

    def __enter__(self) -> WorkDirectory:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Removes the directory with all files in it."""
        self.close_files()
        self._scratch.close()

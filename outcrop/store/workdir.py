"""The directory that a search keeps its files in: private, within a disk budget, and gone afterwards.

Each search has a directory of its own under the base, closed to others, and holds a lock in it for as long as it
runs. The lock goes with the process, however that ends: the next search to start finds the directories whose lock is
free and removes them.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from outcrop.errors import DiskFailed, UsageError
from outcrop.machine import cache_home

_LOCK = "lock"
#: What a full disk, a full quota and a file past its limit are called.
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class DiskFull(Exception):
    """No room on the disk, or none left in the budget."""


@contextlib.contextmanager
def disk_errors() -> Iterator[None]:
    """Turns the errors of a full disk into DiskFull, and those of a broken one into DiskFailed."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise DiskFull(error.strerror) from None
        if isinstance(error, FileNotFoundError | FileExistsError | PermissionError):
            raise
        raise DiskFailed(error) from None


class DiskBudget:
    """Bytes that the files of a search may take, wherever they are; None for all there is."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.used = 0
        self.peak = 0
        self._guard = threading.Lock()

    def claim(self, count: int) -> None:
        """Takes bytes from the budget before they are written. Raises DiskFull when it does not have them."""
        with self._guard:
            if self.limit is not None and self.used + count > self.limit:
                raise DiskFull(f"the disk budget of {self.limit:,} bytes is used up")
            self.used += count
            self.peak = max(self.peak, self.used)

    def release(self, count: int) -> None:
        """Gives back the bytes of what was deleted."""
        with self._guard:
            self.used -= count


class Directory:
    """A place for files, which are paid for from a budget."""

    def __init__(self, path: Path, budget: DiskBudget) -> None:
        self.path = path
        self.budget = budget
        self._open: set[int] = set()

    def open_file(self, name: str, flags: int) -> int:
        """A descriptor of a file in it, which the directory closes with itself if nobody did before."""
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
    """Where searches keep files: as asked, or next to the cache."""
    return Path(base) if base is not None else cache_home() / "outcrop-work"


class WorkDirectory(Directory):
    """``base``: where it is made, None for a place next to the cache."""

    def __init__(self, base: str | os.PathLike[str] | None = None, budget: DiskBudget | None = None) -> None:
        home = work_place(base)
        try:
            home.mkdir(parents=True, exist_ok=True, mode=0o700)
            # The base may be shared with others, as /tmp is: our directories, and the lock that keeps one without a
            # lock of its own yet from being taken for a stale one, have our number in their names.
            prefix = f"outcrop-{os.getuid()}-"
            with _locked(home / f".{prefix}{_LOCK}"):
                _remove_stale(home, prefix)
                super().__init__(Path(tempfile.mkdtemp(prefix=prefix, dir=home)), budget or DiskBudget())
                self._lock = os.open(self.path / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
                fcntl.flock(self._lock, fcntl.LOCK_EX)
        except OSError as error:
            raise UsageError(f"cannot keep files in '{home}': {error.strerror}") from None

    def __enter__(self) -> WorkDirectory:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Removes the directory and all in it."""
        self.close_files()
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _remove_stale(home: Path, prefix: str) -> None:
    for directory in home.glob(prefix + "*"):
        try:
            descriptor = os.open(directory / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            shutil.rmtree(directory, ignore_errors=True)
            continue
        except OSError:  # somebody else's
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(directory, ignore_errors=True)
        except OSError:
            pass  # its search is still at work
        finally:
            os.close(descriptor)

"""Private directories for temporary files, removed even if their process is killed.

Each directory is closed to other users, and its process holds a lock in it. The lock ends with the process in every
case. The next process that uses the same place removes all directories whose lock is free.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

_LOCK = "lock"


class ScratchDirectory:
    """A new directory under ``home`` with the prefix ``prefix``. Raises OSError."""

    def __init__(self, home: Path, prefix: str) -> None:
        with _kept_from_others(home, prefix):
            _remove_stale(home, prefix)
            self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=home))
            try:
                self._lock = os.open(self.path / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
                fcntl.flock(self._lock, fcntl.LOCK_EX)
            except OSError:
                shutil.rmtree(self.path, ignore_errors=True)
                raise

    def __enter__(self) -> ScratchDirectory:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Removes the directory and its contents."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def remove_stale(home: Path, prefix: str) -> None:
    """Removes the directories that ended processes have left under ``home``, as far as possible."""
    with contextlib.suppress(OSError):
        if any(home.glob(f"{prefix}*")):
            with _kept_from_others(home, prefix):
                _remove_stale(home, prefix)


@contextlib.contextmanager
def _kept_from_others(home: Path, prefix: str) -> Iterator[None]:
    """Prevents others from removing a directory that is not locked yet. The lock file is removed afterwards, so that
    whoever has waited for it must test whether the file still has that name."""
    path = home / f".{prefix}{_LOCK}"
    while True:
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _has_name(descriptor, path):
                try:
                    yield
                finally:
                    path.unlink(missing_ok=True)
                return
        finally:
            os.close(descriptor)


def _has_name(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


def _remove_stale(home: Path, prefix: str) -> None:
    for directory in home.glob(f"{prefix}*"):
        try:
            descriptor = os.open(directory / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            shutil.rmtree(directory, ignore_errors=True)
            continue
        except OSError:  # it belongs to another user
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(directory, ignore_errors=True)
        except OSError:
            pass  # its process still runs
        finally:
            os.close(descriptor)

"""Private directories for work in progress, which do not outlive the process that made them for long.

Each is closed to others, and its process holds a lock in it. The lock goes with the process, however that ends: whoever
comes to the same place next finds the directories whose lock is free, and removes them.
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
    """A new directory under ``home``, whose name begins with ``prefix``. Raises OSError."""

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
        """Removes the directory and all in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def remove_stale(home: Path, prefix: str) -> None:
    """Removes what processes that no longer run have left under ``home``, as far as that is possible."""
    with contextlib.suppress(OSError):
        if any(home.glob(f"{prefix}*")):
            with _kept_from_others(home, prefix):
                _remove_stale(home, prefix)


@contextlib.contextmanager
def _kept_from_others(home: Path, prefix: str) -> Iterator[None]:
    """Keeps a directory that has no lock of its own yet from being taken for a stale one. The file that is locked for
    that goes afterwards, so whoever has waited for it must see whether it is still the one of that name."""
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
        except OSError:  # somebody else's
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(directory, ignore_errors=True)
        except OSError:
            pass  # its process is still at work
        finally:
            os.close(descriptor)

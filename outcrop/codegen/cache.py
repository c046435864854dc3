"""The cache of compiled models: its directory, the seal of a library, and its size.

Libraries in the cache are loaded and run, so that the directory must belong to the user and be closed to others.
Otherwise a private temporary directory takes its place.

A library is sealed: its digest follows it, so that a damaged one is noticed before it is loaded. Each use renews the
time of a library. When the cache outgrows its limit, the libraries that were not used for longest are removed.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from outcrop.errors import UsageError
from outcrop.machine import cache_home
from outcrop.units import parse_size

#: Environment variable with the largest size of the cache, and its default.
LIMIT = "OUTCROP_CACHE_LIMIT"
_DEFAULT_LIMIT = "1G"


def sealed(content: bytes) -> bytes:
    """Returns a library followed by its digest, which the loader ignores."""
    return content + hashlib.sha256(content).digest()


def is_whole(library: Path) -> bool:
    """Returns whether a cached library exists and is unchanged. Loading a truncated one would kill the process."""
    try:
        with open(library, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NOFOLLOW)) as file:
            status = os.fstat(file.fileno())
            content = file.read() if stat.S_ISREG(status.st_mode) else b""
    except OSError:
        return False
    if status.st_uid != os.getuid() or status.st_mode & 0o022:
        return False
    return len(content) > 32 and sealed(content[:-32]) == content


@cache
def cache_directory() -> Path:
    """Returns the directory of compiled models, and creates it if necessary."""
    directory = cache_home() / "outcrop"
    if _make_private(directory):
        return directory
    temporary = Path(tempfile.mkdtemp(prefix="outcrop-"))
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    return temporary


def _can_be_replaced(directory: Path) -> bool:
    """Returns whether others could replace the directory, through a parent directory that they can write to."""
    is_open = False
    for above in directory.resolve().parents:
        status = above.stat()
        is_foreign = status.st_uid not in (0, os.getuid())
        if is_foreign or (status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX):
            is_open = True
        elif not status.st_mode & 0o011 and not is_foreign:
            is_open = False  # others cannot get past this directory
    return is_open


def _make_private(directory: Path) -> bool:
    """Returns whether the directory exists, is private, and can be written."""
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        directory.mkdir(mode=0o700, exist_ok=True)
        status = directory.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or _can_be_replaced(directory):
            return False
        if status.st_mode & 0o077:
            directory.chmod(0o700)
            # Others may have written to it while it was open to them.
            for library in directory.glob("*.so"):
                library.unlink()
        return os.access(directory, os.W_OK | os.X_OK)
    except OSError:
        return False


# --- Size ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Library:
    """A compiled model in the cache."""

    path: Path
    size: int  #: bytes
    used: float  #: time of its last use, in seconds since 1970


def limit() -> int:
    """Returns the largest size of the cache, in bytes."""
    text = os.environ.get(LIMIT) or _DEFAULT_LIMIT
    try:
        return parse_size(text)
    except UsageError as error:
        raise UsageError(f"${LIMIT}: {error}") from None


def size(directory: Path) -> int:
    """Returns the size of the compiled models in the cache, in bytes."""
    total = 0
    with os.scandir(directory) as entries:
        for each in entries:
            if each.name.endswith(".so"):
                with suppress(OSError):  # another process may remove it
                    total += each.stat(follow_symlinks=False).st_size
    return total


def libraries(directory: Path) -> list[Library]:
    """Returns the compiled models in the cache, those that were not used for longest first."""
    found = []
    for path in directory.glob("*.so"):
        with suppress(OSError):  # another process may remove it
            status = path.lstat()
            found.append(Library(path, status.st_size, status.st_atime))
    return sorted(found, key=lambda each: (each.used, each.path.name))


def renew(library: Path) -> None:
    """Records that a library is used now, in its access time."""
    with suppress(OSError):  # a sandbox forbids it, and has a cache of its own
        os.utime(library, ns=(time.time_ns(), library.stat().st_mtime_ns))


def keep_below_limit(directory: Path, kept: Path) -> None:
    """Removes a tenth of a cache that has outgrown its limit, so that the next models find room without a removal."""
    if size(directory) > limit():
        evict(directory, limit() * 9 // 10, kept)


def evict(directory: Path, most: int, kept: Path | None = None) -> list[Library]:
    """Removes the libraries that were not used for longest until the rest takes at most ``most`` bytes, and returns
    them. ``kept`` is never removed. A library that a process has loaded stays usable for it."""
    every = libraries(directory)
    total, removed = sum(each.size for each in every), []
    for each in every:
        if total <= most:
            break
        if each.path != kept:
            with suppress(OSError):
                each.path.unlink()
                removed.append(each)
                total -= each.size
    return removed

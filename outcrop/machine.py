"""The resources that this process has used, and those that its container may use.

The limits of a container are those of its cgroup. Version 2 has one tree, version 1 one per resource; in both the
limits of ancestors count too. A limit that cannot be read (another system, a hidden /proc) counts as none.
"""

from __future__ import annotations

import math
import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

_CGROUPS = Path("/sys/fs/cgroup")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def peak_rss() -> int:
    """Returns the peak memory of this process, in bytes."""
    # getrusage also counts the process before exec (the shell that forked it); the high-water mark of the kernel does
    # not.
    for line in _read(Path("/proc/self/status")).splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def resident_bytes() -> int:
    """Returns the current memory of this process, in bytes; a guess on systems that do not report it."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_BYTES
    except (OSError, ValueError, IndexError):
        return 64 << 20


def transferred_bytes() -> tuple[int, int]:
    """Returns the bytes that this process has read and written, as far as the system reports them. For each, the larger
    one of two counters counts: bytes asked for, and bytes fetched for mapped files."""
    fields = dict(line.split(": ") for line in _read(Path("/proc/self/io")).splitlines() if ": " in line)
    counts = {name: int(value) for name, value in fields.items() if value.isdigit()}
    return (
        max(counts.get("rchar", 0), counts.get("read_bytes", 0)),
        max(counts.get("wchar", 0), counts.get("write_bytes", 0)),
    )


def available_memory() -> int:
    """Returns the memory that the container, or else the machine, may use, in bytes."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for group in _groups("memory"):
        for name in ("memory.max", "memory.limit_in_bytes"):
            text = _read(group / name).strip()
            if text.isdigit():
                limits.append(int(text))
    return min([*limits, *_limits_of_addresses()])


#: Reserved addresses per byte of memory that a search uses.
_ADDRESSES_A_BYTE = 3


def _limits_of_addresses() -> Iterator[int]:
    """Yields the memory that ``ulimit -v`` and ``ulimit -d`` leave. These limits count addresses, used or not."""
    fields = [int(each) * _PAGE_BYTES for each in _read(Path("/proc/self/statm")).split() if each.isdigit()]
    mapped, resident, data = (fields[0], fields[1], fields[5]) if len(fields) > 5 else (0, 0, 0)
    for limit, taken in ((resource.RLIMIT_AS, mapped), (resource.RLIMIT_DATA, data)):
        most, _ = resource.getrlimit(limit)
        if most != resource.RLIM_INFINITY:
            yield resident + max(0, most - taken) // _ADDRESSES_A_BYTE


def available_cores() -> int:
    """Returns the number of cores that the container may use. A CPU quota counts as whole cores, rounded up."""
    affinity = getattr(os, "sched_getaffinity", None)
    limits = [float(len(affinity(0)) if affinity else os.cpu_count() or 1)]
    for group in _groups("cpu"):
        fields = _read(group / "cpu.max").split() or [
            _read(group / "cpu.cfs_quota_us").strip(),
            _read(group / "cpu.cfs_period_us").strip(),
        ]
        if len(fields) == 2 and all(each.isdigit() for each in fields) and int(fields[1]):
            limits.append(int(fields[0]) / int(fields[1]))
    return max(1, math.ceil(min(limits)))


def take_core(number: int, of: int, *, stays: bool = False) -> None:
    """Moves the calling thread to its own core, if ``of`` threads have one each. The scheduler may move it again unless
    ``stays`` is set, which suits threads with many short pieces of work.

    Some kernels keep threads that wake one another on one core for seconds, and some virtual machines pack them there.
    With more cores than threads the scheduler chooses better, since it knows which cores share hardware.
    """
    if not hasattr(os, "sched_setaffinity"):
        return
    cores = os.sched_getaffinity(0)
    if of < len(cores):
        return
    try:
        os.sched_setaffinity(0, {sorted(cores)[number % len(cores)]})
        if not stays:
            os.sched_setaffinity(0, cores)
    except OSError:
        pass  # forbidden in this container


def cache_home() -> Path:
    """Returns the cache directory of the user."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or "")
    return home if home.is_absolute() else Path("~/.cache").expanduser()


def _groups(controller: str) -> Iterator[Path]:
    """Yields the directories of the control group of this process and of its ancestors, for one controller."""
    for line in _read(Path("/proc/self/cgroup")).splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            root = _CGROUPS
        elif controller in controllers.split(","):
            root = _CGROUPS / controller
        else:
            continue
        group = root / path.lstrip("/")
        yield group
        while group != root and root in group.parents:
            group = group.parent
            yield group


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""

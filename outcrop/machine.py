"""What this process has used of the machine, and what its container lets it use.

A container's limit is a cgroup's. Version 2 has one tree, version 1 one a resource; in both a limit of an ancestor
counts too. Whatever cannot be read (another system, a hidden /proc) is no limit.
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
    """Bytes of memory that this process held at its peak."""
    # getrusage also counts what the process was before exec (the shell that forked us); the kernel's own
    # high-water mark does not.
    for line in _read(Path("/proc/self/status")).splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def resident_bytes() -> int:
    """Bytes of memory that this process holds now; a guess where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_BYTES
    except (OSError, ValueError, IndexError):
        return 64 << 20


def transferred_bytes() -> tuple[int, int]:
    """Bytes that this process has read and written, as far as the system tells: asked for, or fetched for a file in
    memory, whichever is more."""
    fields = dict(line.split(": ") for line in _read(Path("/proc/self/io")).splitlines() if ": " in line)
    counts = {name: int(value) for name, value in fields.items() if value.isdigit()}
    return (
        max(counts.get("rchar", 0), counts.get("read_bytes", 0)),
        max(counts.get("wchar", 0), counts.get("write_bytes", 0)),
    )


def available_memory() -> int:
    """Bytes that the container, or else the machine, may use."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for group in _groups("memory"):
        for name in ("memory.max", "memory.limit_in_bytes"):
            text = _read(group / name).strip()
            if text.isdigit():
                limits.append(int(text))
    return min([*limits, *_limits_of_addresses()])


#: How many times the addresses that a search reserves exceed the memory that it comes to use.
_ADDRESSES_A_BYTE = 3


def _limits_of_addresses() -> Iterator[int]:
    """What ``ulimit -v`` and ``ulimit -d`` leave, as memory: they count addresses, used or not."""
    fields = [int(each) * _PAGE_BYTES for each in _read(Path("/proc/self/statm")).split() if each.isdigit()]
    mapped, resident, data = (fields[0], fields[1], fields[5]) if len(fields) > 5 else (0, 0, 0)
    for limit, taken in ((resource.RLIMIT_AS, mapped), (resource.RLIMIT_DATA, data)):
        most, _ = resource.getrlimit(limit)
        if most != resource.RLIM_INFINITY:
            yield resident + max(0, most - taken) // _ADDRESSES_A_BYTE


def available_cores() -> int:
    """Cores that the container may use, counting a CPU quota as whole cores, rounded up."""
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
    """Moves the calling thread to the core that is its own when ``of`` threads have one each. It may be moved again,
    unless it ``stays`` there: what has many short pieces of work to do would be moved to and fro all the time.

    Left to itself, a kernel may keep threads that wake one another on one core for seconds, and some virtual machines
    pack them there. With more cores than threads the scheduler, which knows which cores share hardware, chooses better.
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
        pass  # not allowed in this container


def cache_home() -> Path:
    """Where this user's programs keep what they can make again."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or "")
    return home if home.is_absolute() else Path("~/.cache").expanduser()


def _groups(controller: str) -> Iterator[Path]:
    """The directories of our control group and of its ancestors, for one controller."""
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

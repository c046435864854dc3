"""The processes of compilers: their limits, and several at a time that end together."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path

from outcrop.machine import available_cores, available_memory

#: Time limit of a compiler, in seconds.
MOST_SECONDS = 900
#: Smallest memory limit of a compiler, and the largest file that it may write, in kilobytes.
_LEAST_MEMORY = 1 << 21
_LARGEST_FILE = 1 << 20
#: Seconds between two calls of a watcher.
_SECONDS_BETWEEN_LOOKS = 0.1

#: Called several times a second while a compiler runs. Whatever it raises ends the compiler.
Watch = Callable[[], None]
#: A compiler that has ended.
Run = subprocess.CompletedProcess[str]


class _Cancelled(Exception):
    """Raised in the thread of a compiler when another one has failed, or the watcher has raised."""


def at_a_time() -> int:
    """Returns how many compilers run at the same time."""
    return available_cores()


def run_compilers(commands: Sequence[list[str]], scratch: Path, watch: Watch | None) -> Run | None:
    """Runs commands, several at a time. Returns the first that fails, after ending the others; None if all succeed.
    Raises subprocess.TimeoutExpired if one takes too long, and whatever ``watch`` raises."""
    if len(commands) == 1:
        run = run_compiler(commands[0], scratch, watch)
        return run if run.returncode else None
    is_over = threading.Event()

    def look() -> None:
        if is_over.is_set():
            raise _Cancelled

    # Memory for a compiler is what is left: those that run at the same time share it.
    with ThreadPoolExecutor(at_a_time(), "outcrop compiler") as pool:
        runs = [pool.submit(run_compiler, command, scratch, look, at_a_time()) for command in commands]
        try:
            return _first_failure(runs, watch)
        finally:
            is_over.set()


def _first_failure(runs: Sequence[Future[Run]], watch: Watch | None) -> Run | None:
    pending = set(runs)
    while pending:
        if watch is not None:
            watch()
        done, pending = wait(pending, _SECONDS_BETWEEN_LOOKS, "FIRST_COMPLETED")
        for each in done:
            if each.result().returncode:
                return each.result()
    return None


def run_compiler(command: list[str], scratch: Path, watch: Watch | None, sharing: int = 1) -> Run:
    """Runs a compiler in its own process group, so that an interrupt ends it with all processes that it has started,
    which subprocess.run does not do. ``sharing``: number of compilers that share the memory."""
    process = subprocess.Popen(
        limited(command, sharing),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env={**os.environ, "LC_ALL": "C", "TMPDIR": str(scratch)},
        process_group=0,
    )
    try:
        output, said = _watched(process, watch)
    except BaseException:
        with suppress(PermissionError, ProcessLookupError):  # a sandbox forbids signals, and ends the processes itself
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
        raise
    return Run(command, process.returncode, output, said)


def _watched(process: subprocess.Popen[str], watch: Watch | None) -> tuple[str, str]:
    """Waits for a process while ``watch`` is called, and returns its output."""
    if watch is None:
        return process.communicate(timeout=MOST_SECONDS)
    started = time.monotonic()
    while True:
        watch()
        try:
            return process.communicate(timeout=_SECONDS_BETWEEN_LOOKS)
        except subprocess.TimeoutExpired:
            if time.monotonic() - started >= MOST_SECONDS:
                raise


def limited(command: Sequence[str], sharing: int = 1) -> list[str]:
    """Returns the command under limits on time, memory and file size, as far as the system supports them."""
    memory = max(_LEAST_MEMORY, (available_memory() >> 10) // sharing)
    # At the soft time limit a process gets SIGXCPU; at the hard one SIGKILL, which would look like a lack of memory.
    seconds = f"ulimit -S -t {MOST_SECONDS}; ulimit -H -t {MOST_SECONDS + 5}"
    limits = f"{seconds}; ulimit -v {memory}; ulimit -f {2 * _LARGEST_FILE}"
    return ["/bin/sh", "-c", f'{{ {limits}; }} 2>/dev/null; exec "$@"', "sh", *command]

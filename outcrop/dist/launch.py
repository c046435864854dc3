"""The launch of ranks: whether this process is one of several, and how to start several on this machine."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from signal import SIGINT, SIGTERM
from tempfile import NamedTemporaryFile
from types import FrameType

from outcrop.errors import OutcropError, UsageError
from outcrop.interrupts import handled

INSTALL = "pip install 'outcrop[mpi]' (it brings mpi4py and an MPI)"

#: Variables in which launchers give the number of processes. Slurm sets its one for job steps only, which srun starts.
_COUNTS = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS")
#: Variable that is set for the ranks that we start, so that they do not start others.
STARTED = "OUTCROP_RANKS"
#: Variable with the file in which the ranks that we start note their exit codes.
ANSWERS = "OUTCROP_ANSWERS"
#: Variable that lets ranks run on any core if it is 0.
BIND = "OUTCROP_BIND"

#: Directory of the shared memory of Linux.
SHARED_MEMORY = Path("/dev/shm")
#: Free shared memory below which MPI may fail, in bytes. MPICH 5.0 fails with 16 MiB, and starts 8 ranks with 64 MiB.
_LEAST_SHARED = 64 << 20


class RankLost(OutcropError):
    """Raised when a rank has died, which ends the others too."""

    exit_code = 3


def started_ranks(environment: Mapping[str, str] = os.environ) -> int:
    """Returns the number of processes that were started together; 1 if this one was started alone."""
    for name in _COUNTS:
        text = environment.get(name, "")
        if text.isdigit():
            return int(text)
    return 1


def find_mpiexec() -> str:
    """Returns the mpiexec of this Python's MPI if there is one, otherwise that of the system."""
    beside = Path(sys.executable).parent
    for folder in (str(beside), None):
        for name in ("mpiexec", "mpirun"):
            found = shutil.which(name, path=folder)
            if found is not None:
                return found
    raise UsageError(f"there is no mpiexec to start ranks with; install it with {INSTALL}")


def start(ranks: int, arguments: Sequence[str]) -> int:
    """Runs ``outcrop`` with these arguments as ``ranks`` ranks on this machine. Returns the exit code.

    Launchers have exit codes of their own, and 0 or 1 would be taken for a verdict. So a verdict counts only if a rank
    has noted it."""
    if importlib.util.find_spec("mpi4py") is None:
        raise UsageError(f"several ranks need mpi4py; install it with {INSTALL}")
    mpiexec = find_mpiexec()
    command = [mpiexec, "-n", str(ranks), sys.executable, "-m", "outcrop", *arguments]
    if _is_open_mpi(mpiexec):
        # By default Open MPI refuses more ranks than cores, and refuses root.
        command[1:1] = ["--oversubscribe", "--allow-run-as-root"]
    with NamedTemporaryFile("r", prefix="outcrop-ranks-") as answers:
        environment = {**os.environ, STARTED: str(ranks), ANSWERS: answers.name}
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)
        with handled(partial(_pass_on, process)):
            code = process.wait()
        if code in (2, 3, 4) or str(code) in answers.read().split():
            return code
    raise RankLost(
        f"a rank died, or could not be started ({_reason(code)}), and the search over {ranks} ranks has ended; if it "
        f"had --checkpoint, continue from the last checkpoint with --resume{_shared_memory_hint()}"
    )


def note_answer(code: int) -> None:
    """Notes the exit code of this rank for the process that started it."""
    with Path(os.environ[ANSWERS]).open("a", encoding="utf-8") as file:
        file.write(f"{code}\n")


def _shared_memory_hint(place: Path = SHARED_MEMORY) -> str:
    """Returns what to do about the shared memory of this machine if there is too little for MPI; otherwise nothing."""
    try:
        is_writable, free = os.access(place, os.W_OK), shutil.disk_usage(place).free
    except OSError:
        is_writable, free = False, 0
    if is_writable and free >= _LEAST_SHARED:
        return ""
    problem = f"has only {free >> 10:,} KiB free" if is_writable else "is missing or cannot be written"
    return (
        f". {place}, through which MPI passes messages, {problem}; give the container more with docker run "
        "--shm-size=256m, or mount a tmpfs there"
    )


def _pass_on(process: subprocess.Popen[bytes], number: int, frame: FrameType | None) -> None:
    """Passes a signal on to mpiexec as SIGTERM, so that the ranks stop and report. SIGHUP would kill mpiexec. Ctrl-C
    reaches the ranks by itself."""
    if number != SIGINT:
        process.send_signal(SIGTERM)


def _is_open_mpi(mpiexec: str) -> bool:
    said = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, check=False).stdout
    return "Open MPI" in said or "OpenRTE" in said or "prte" in said.lower()


def _reason(code: int) -> str:
    return f"mpiexec was ended by signal {-code}" if code < 0 else f"mpiexec ended with {code}"

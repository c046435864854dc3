"""Starting ranks: was this process started as one of several, and how several are started on this machine."""

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
from types import FrameType

from outcrop.errors import OutcropError, UsageError
from outcrop.interrupts import handled

INSTALL = "pip install 'outcrop[mpi]' (it brings mpi4py and an MPI)"

#: Where launchers write how many processes they start. Slurm's is set for a job step only, which is what srun starts.
_COUNTS = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS")
#: Set for the ranks that we start ourselves, so that they do not start others.
STARTED = "OUTCROP_RANKS"
#: 0 lets ranks run on any core.
BIND = "OUTCROP_BIND"


class RankLost(OutcropError):
    """A rank has died, and taken the others with it."""

    exit_code = 3


def started_ranks(environment: Mapping[str, str] = os.environ) -> int:
    """How many processes this one was started with; 1 if it was started alone."""
    for name in _COUNTS:
        text = environment.get(name, "")
        if text.isdigit():
            return int(text)
    return 1


def find_mpiexec() -> str:
    """The one that belongs to this Python's MPI, if there is one; or else the system's."""
    beside = Path(sys.executable).parent
    for folder in (str(beside), None):
        for name in ("mpiexec", "mpirun"):
            found = shutil.which(name, path=folder)
            if found is not None:
                return found
    raise UsageError(f"there is no mpiexec to start ranks with: {INSTALL}")


def start(ranks: int, arguments: Sequence[str]) -> int:
    """Runs ``outcrop`` with these arguments as so many ranks on this machine, and gives the exit code."""
    if importlib.util.find_spec("mpi4py") is None:
        raise UsageError(f"several ranks need mpi4py: {INSTALL}")
    mpiexec = find_mpiexec()
    environment = {**os.environ, STARTED: str(ranks)}
    command = [mpiexec, "-n", str(ranks), sys.executable, "-m", "outcrop", *arguments]
    if _is_open_mpi(mpiexec):
        # It counts cores, and refuses root, unless it is told not to.
        command[1:1] = ["--oversubscribe", "--allow-run-as-root"]
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)
    with handled(partial(_pass_on, process)):
        code = process.wait()
    if code in (0, 1, 2, 3, 4):
        return code
    raise RankLost(
        f"a rank died, or could not be started ({_reason(code)}): the run of {ranks} ranks is over; with --checkpoint, "
        f"--resume goes on from the last checkpoint"
    )


def _pass_on(process: subprocess.Popen[bytes], number: int, frame: FrameType | None) -> None:
    """Has mpiexec signal the ranks, which stop and report. It would die of SIGHUP. Ctrl-C reaches them by itself."""
    if number != SIGINT:
        process.send_signal(SIGTERM)


def _is_open_mpi(mpiexec: str) -> bool:
    said = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, check=False).stdout
    return "Open MPI" in said or "OpenRTE" in said or "prte" in said.lower()


def _reason(code: int) -> str:
    return f"mpiexec was ended by signal {-code}" if code < 0 else f"mpiexec ended with {code}"

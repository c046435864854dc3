"""Fault injection: the library that makes calls fail (faults.c), and trials of the command under it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent

#: Runs the command once for each trial, in a child process, and prints each result. A child that hangs is killed.
_DRIVER = """
import json, os, signal, sys, tempfile
from outcrop.cli.main import main
import numpy, outcrop.api, outcrop.check.engines, outcrop.report.json, outcrop.report.text
import outcrop.search.auto, outcrop.search.layered, outcrop.search.serial, outcrop.search.compact, outcrop.search.cached

def child(arguments, faults, out, errors):
    os.dup2(out.fileno(), 1)
    os.dup2(errors.fileno(), 2)
    signal.alarm(60)
    os.environ.update(faults)
    code = main(arguments)
    sys.stdout.flush()
    os._exit(code)

warm_up, trials = json.load(sys.stdin)
if warm_up:
    with open(os.devnull, "w") as sys.stdout:
        main(warm_up)
    sys.stdout = sys.__stdout__
for arguments, faults in trials:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        process = os.fork()
        if process == 0:
            child(arguments, faults, out, errors)
        status = os.waitpid(process, 0)[1]
        said = []
        for file in (out, errors):
            file.seek(0)
            said.append(file.read().decode())
        struck = os.path.exists(faults["FAULT_MARK"])
        if struck:
            os.unlink(faults["FAULT_MARK"])
        print(json.dumps([os.waitstatus_to_exitcode(status), *said, struck]), flush=True)
"""


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("faults") / "faults.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, HERE / "faults.c", "-ldl"], check=True)
    return library


@dataclass(frozen=True)
class Fault:
    """A fault: the ``at``-th call of a kind on a file under a directory fails; ``once``: only that one."""

    call: str
    error: int
    at: int
    once: bool

    def environment(self, under: Path) -> dict[str, str]:
        named = {"FAULT_CALL": self.call, "FAULT_KIND": str(self.error), "FAULT_AT": str(self.at)}
        once = {"FAULT_ONCE": "1"} if self.once else {}
        return {**named, **once, "FAULT_UNDER": str(under), "FAULT_MARK": f"{under}.struck"}


@dataclass(frozen=True)
class Trial:
    """A command with a fault. ``under``: the directory in which it happens. ``environment``: further variables."""

    arguments: Sequence[str]
    fault: Fault
    under: Path = field(repr=False)
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Ending:
    """The result of a trial. ``struck``: whether the fault has happened."""

    code: int
    out: str
    errors: str
    struck: bool

    @property
    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.out)
        return document


def run(trials: Sequence[Trial], shim: Path, warm_up: Sequence[str] = ()) -> list[Ending]:
    """Runs all trials, one after the other. ``warm_up``: arguments of a first command in the process from which the
    others are forked, so that they need not import modules again."""
    request = [(trial.arguments, {**trial.environment, **trial.fault.environment(trial.under)}) for trial in trials]
    done = subprocess.run(
        [sys.executable, "-c", _DRIVER],
        input=json.dumps((warm_up, request)),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LD_PRELOAD": str(shim)},
    )
    assert not done.stderr, done.stderr
    return [Ending(*json.loads(line)) for line in done.stdout.splitlines()]

"""Faults in every file system call: each call fails in every possible way. The verdict is right, or unknown with the
reason, or the command is refused. There is never a crash, a hang, an internal error or a broken checkpoint."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from errno import EACCES, EDQUOT, EIO, EMFILE, ENOMEM, ENOSPC
from itertools import product
from pathlib import Path

import pytest
from injector import Ending, Fault, Trial, run
from injector import shim as shim
from matrices import each_strategy
from test_injected import GRID, STATES

pytestmark = pytest.mark.skipif(sys.platform != "linux" or not shutil.which("cc"), reason="needs cc and Linux")

#: Options that make each strategy use the disk for a model of 2,197 states.
_TINY = ["--keep", "states", "--block-states", "50", "--block-size", "50", "--blocks", "7", "--calibration", "3"]
_SETTINGS = {
    "auto": ["--state-memory", "6K"],
    "cached": ["--state-memory", "60K"],
    "disk": ["--state-memory", "3K", *_TINY],
    "locality": ["--state-memory", "3K", "--cloud", "0.5", *_TINY],
    "serial": ["--state-memory", "3K", "--collision-limit", "0.99", *_TINY],
    "layered": ["--state-memory", "3K", "--layers", "4"],
}
STRATEGIES = each_strategy(_SETTINGS, [], finds_cycles=False, decides=True)
#: Error numbers of each call. After EINTR a call is repeated, so it happens once.
ERRORS = {
    "open": (EACCES, EMFILE, ENOSPC, EIO, ENOMEM, errno.EINTR),
    "read": (EIO, errno.EINTR),
    "write": (ENOSPC, EDQUOT, EIO, ENOMEM, errno.EINTR),
    "truncate": (ENOSPC, EDQUOT, EIO, EACCES, errno.EINTR),
    "sync": (EIO, ENOSPC, EDQUOT, errno.EINTR),
    "rename": (EACCES, ENOSPC, EIO, ENOMEM),
    "unlink": (EACCES, EIO),
    "map": (ENOMEM, EACCES, EMFILE),
}


NOTHING = Fault("nothing", 0, 0, once=False)
#: Numbers of the calls that fail: one by one at first, then fewer and fewer, until there are none left.
TIMES = (1, 2, 3, 5, 9, 17, 33, 65, 129, 257)


class Place:
    """A model, and a directory for each search of it."""

    def __init__(self, path: Path) -> None:
        self.model = path / "grid.m"
        self.model.write_text(GRID)
        self._files, self._count = path / "files", 0

    def command(self, files: Path, strategy: str, *more: str) -> list[str]:
        options = [*STRATEGIES[strategy], "--threads", "2", "--deadlock", "off", "--json"]
        return ["check", str(self.model), "--strategy", strategy, *options, "--workdir", str(files / "work"), *more]

    def trial(self, strategy: str, fault: Fault, saved: Path | None = None) -> Trial:
        """Returns a search that saves checkpoints all the time; with ``saved``, one that resumes from a copy of it."""
        self._count += 1
        files = self._files / str(self._count)
        (files / "work").mkdir(parents=True)
        if saved is not None:
            shutil.copytree(saved, files / "save")
        how = ["--checkpoint" if saved is None else "--resume", str(files / "save"), "--checkpoint-every", "0s"]
        return Trial(self.command(files, strategy, *how), fault, files)

    def resumed(self, trial: Trial) -> Trial:
        """Returns the same search, resumed from what a fault has left."""
        return Trial(self.command(trial.under, "auto", "--resume", str(trial.under / "save")), NOTHING, trial.under)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def hold(trial: Trial, ending: Ending) -> None:
    """Asserts that the result of a trial is a permitted one."""
    about = (trial, ending)
    assert ending.code in (0, 2, 3), about
    if ending.code == 0:
        assert ending.document["verdict"] == "holds", about
        assert ending.document["states"] in (STATES, None), about
    elif ending.out:
        assert ending.code == 3 and ending.document["verdict"] == "unknown" and ending.document["kind"], about
    else:
        assert ending.errors.startswith("outcrop: ") and "Internal error" not in ending.errors, about
    assert trial.fault.error != errno.EINTR or ending.code == 0, about


def hold_all(place: Place, trials: list[Trial], shim: Path) -> bool:
    """Runs and asserts all trials. Returns whether some fault has happened. Every saved checkpoint must be usable."""
    endings = run(trials, shim, place.trial("auto", NOTHING).arguments)
    for trial, ending in zip(trials, endings, strict=True):
        hold(trial, ending)
    saved = [each for each in trials if (each.under / "save" / "manifest.json").exists()]
    resumed = [place.resumed(each) for each in saved]
    for before, trial, ending in zip(
        saved, resumed, run(resumed, shim, place.trial("auto", NOTHING).arguments), strict=True
    ):
        assert ending.code == 0, (before, trial, ending)
        hold(trial, ending)
    return any(ending.struck for ending in endings)


QUICK = [
    Fault("truncate", ENOSPC, 1, once=False),
    Fault("truncate", EIO, 1, once=False),
    Fault("open", EACCES, 5, once=False),
    Fault("open", EMFILE, 3, once=False),
    Fault("rename", EACCES, 1, once=False),
    Fault("unlink", EACCES, 1, once=False),
    Fault("map", EACCES, 2, once=False),
    Fault("write", errno.EINTR, 3, once=True),
]


@pytest.mark.parametrize("strategy", ["layered", "serial"])
def test_some_calls(strategy: str, place: Place, shim: Path) -> None:
    assert hold_all(place, [place.trial(strategy, fault) for fault in QUICK], shim)


@pytest.mark.slow
@pytest.mark.parametrize("call", ERRORS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_call(strategy: str, call: str, place: Place, shim: Path) -> None:
    """Tries a search from the start, and one that resumes from a checkpoint."""
    hows = [(error, once) for error in ERRORS[call] for once in (False, True) if once or error != errno.EINTR]
    started = place.trial(strategy, NOTHING)
    (first,) = run([replace(started, arguments=[*started.arguments, "--depth", "12"])], shim)
    assert first.code == 3, first
    for saved in (None, started.under / "save"):
        for at in TIMES:
            trials = [place.trial(strategy, Fault(call, error, at, once), saved) for error, once in hows]
            if not hold_all(place, trials, shim):
                break


#: A compiler that copies an earlier result.
COPIER = """#!/bin/sh
for argument; do
  case $argument in --version|-E) exit 0;; esac
  case $before in -o) exec cp "$COMPILED" "$argument";; esac
  before=$argument
done
"""
CALLS_OF_A_CACHE = {"open": 9, "read": 5, "write": 5, "rename": 1, "unlink": 3}


@pytest.mark.slow
def test_the_cache(place: Place, shim: Path, tmp_path: Path) -> None:
    """Faults happen while a model is compiled, and while the result is read."""
    (tmp_path / "cc").write_text(COPIER)
    (tmp_path / "cc").chmod(0o700)
    command = place.command(tmp_path, "ram")
    filled = tmp_path / "filled"
    subprocess.run(
        [sys.executable, "-m", "outcrop", *command], env={**os.environ, "XDG_CACHE_HOME": str(filled)}, check=True
    )
    copied = {"CC": str(tmp_path / "cc"), "COMPILED": str(next(filled.rglob("*.so")))}
    trials = []
    for call, times in CALLS_OF_A_CACHE.items():
        errors = [error for error in ERRORS[call] if error != errno.EINTR]  # compilers do not continue after it
        for error, at in product(errors, range(1, times + 1)):
            cache = tmp_path / "caches" / f"{call}-{error}-{at}"
            fault = Fault(call, error, at, once=False)
            trials += 2 * [Trial(command, fault, cache, {**copied, "XDG_CACHE_HOME": str(cache)})]
    for trial, ending in zip(trials, run(trials, shim), strict=True):
        hold(trial, ending)

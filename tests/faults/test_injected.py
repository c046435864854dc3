"""Disk faults of every kind, under every strategy that uses the disk. The verdict is right, or unknown with the reason.
It is never wrong, and there is never a traceback."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from injector import shim as shim
from matrices import each_strategy, taken

HERE = Path(__file__).parent
pytestmark = pytest.mark.skipif(sys.platform != "linux" or not shutil.which("cc"), reason="needs cc and Linux")

#: 2,197 states in 37 levels, with back edges to much earlier levels.
GRID = """
type Count : 0 .. 12;
var a : array [0 .. 2] of Count;
startstate begin for i : 0 .. 2 do a[i] := 0; end; end;
ruleset i : 0 .. 2 do
  rule "up" a[i] < 12 ==> begin a[i] := a[i] + 1; end;
  rule "reset" a[i] % 7 = 6 ==> begin a[i] := 0; end;
end;
"""
STATES = 13**3

#: Checks the model once for each fault, in a child process, and prints each result.
DRIVER = """
import json, os, sys
import outcrop
import numpy, outcrop.search.auto, outcrop.search.layered, outcrop.search.serial
from outcrop.errors import OutcropError

def check(options):
    try:
        result = model.check(**options)
    except OutcropError as error:
        return [error.exit_code, None, str(error)]
    return [result.verdict.exit_code, result.states, result.kind]

model = outcrop.load(sys.argv[1])
for options, faults in json.loads(sys.argv[2]):
    sys.stdout.flush()
    if os.fork() == 0:
        os.environ.update(faults)
        print(json.dumps(check(options)), flush=True)
        os._exit(0)
    os.wait()
"""
TINY: dict[str, Any] = {
    "keep": "states",
    "block_states": 50,
    "block_size": 50,
    "blocks": 7,
    "calibration": 3,
    "threads": 2,
}
#: Memory so small that all strategies use the disk.
SETTINGS: dict[str, dict[str, Any]] = {
    "auto": {"state_memory": 6_000},
    "disk": {"state_memory": 3_000, **TINY},
    "locality": {"state_memory": 3_000, "cloud": 0.5, **TINY},
    "cached": {"state_memory": 60_000, "keep": "states", "threads": 2},
    "serial": {"state_memory": 3_000, "collision_limit": 0.99, **TINY},
    "layered": {"state_memory": 3_000, "layers": "4", "block_states": 50, "threads": 2},
}
STRATEGIES = each_strategy(SETTINGS, {"state_memory": 3_000}, past_ram=True)
KINDS = {
    "no room": ("write", errno.ENOSPC),
    "no room in the quota": ("write", errno.EDQUOT),
    "write error": ("write", errno.EIO),
    "short write": ("write", "short"),
    "read error": ("read", errno.EIO),
    "short read": ("read", "short"),
    "flipped when read": ("read", "flip"),
    "flipped when written": ("write", "flip"),
    "torn": ("write", "torn"),
    "sync error": ("sync", errno.EIO),
}


def hold(strategy: str, at: int, shim: Path, directory: Path) -> None:
    """Searches with every kind of fault, and asserts that each result is a permitted one."""
    model, work = directory / "grid.m", directory / "work"
    model.write_text(GRID)
    work.mkdir()
    trials = []
    for call, fault in KINDS.values():
        options = {
            "strategy": strategy,
            "workdir": str(work),
            "deadlock": "off",
            **taken(strategy, STRATEGIES[strategy]),
        }
        if call == "sync":
            options |= {"checkpoint": str(work / "checkpoint"), "checkpoint_every": 0}
        faults = {"FAULT_CALL": call, "FAULT_KIND": str(fault), "FAULT_UNDER": str(work), "FAULT_AT": str(at)}
        if isinstance(fault, str):
            faults["FAULT_ONCE"] = "1"
        trials.append((options, faults))
    command = [sys.executable, "-c", DRIVER, str(model), json.dumps(trials)]
    environment = {**os.environ, "LD_PRELOAD": str(shim)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False, env=environment)
    assert not done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    for kind, (code, states, message) in zip(KINDS, answers, strict=True):
        if code == 0:
            assert states in (STATES, None), kind
        else:
            assert code == 3, (kind, message)
            assert message, kind
            assert not kind.startswith("short"), (kind, message)
            assert not (kind.startswith("no room") and "damaged" in message), (kind, message)
    left = {each.name for each in work.iterdir() if not each.name.endswith("-lock")}
    assert left <= {"checkpoint"}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_failing_disk_changes_no_verdict(strategy: str, shim: Path, tmp_path: Path) -> None:
    hold(strategy, 7, shim, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("at", [1, 2, 3, 12, 25, 40, 70, 120])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_whenever_it_fails(strategy: str, at: int, shim: Path, tmp_path: Path) -> None:
    hold(strategy, at, shim, tmp_path)

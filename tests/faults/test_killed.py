"""Searches that are killed again and again, and resume from their checkpoints."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_checkpoint import GRID


@pytest.mark.parametrize("seed", range(3))
def test_killed_at_random_moments(seed: int, tmp_path: Path, process: Callable[..., Any]) -> None:
    choose = random.Random(seed)
    model, place = tmp_path / "grid.m", tmp_path / "checkpoint"
    model.write_text(GRID.replace("N : 11", "N : 63"))
    check = ["check", str(model), "--json", "--deadlock", "off", "--checkpoint-every", "0s", "--workdir", str(tmp_path)]
    wanted = json.loads(process("check", model, "--json", "--deadlock", "off").out)
    for _ in range(4):
        going_on = ["--resume" if (place / "manifest.json").exists() else "--checkpoint", str(place)]
        compressed = ["--strategy", "ram", "--compress", "quotient"]
        how = choose.choice((["--strategy", "ram"], compressed, ["--state-memory", "1M"], ["--threads", "1"]))
        run = subprocess.Popen([sys.executable, "-m", "outcrop", *check, *going_on, *how], stdout=subprocess.PIPE)
        time.sleep(choose.uniform(0.2, 1.5))
        run.send_signal(choose.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGINT)))
        out = run.communicate()[0]
        if run.returncode == 0:
            break
    else:
        done = process(*check, "--resume" if (place / "manifest.json").exists() else "--checkpoint", place)
        assert not done.err
        out = done.out
    result = json.loads(out)
    for key in ("verdict", "states", "levels", "rules_fired", "coverage"):
        assert result[key] == wanted[key]
    assert not list(place.iterdir())
    assert {each.name for each in tmp_path.iterdir()} == {"grid.m", "checkpoint"}

"""Searches stay within the memory that they are given, measured as peak RSS."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

#: 531,441 states of 138 bytes, 73 MB, in levels of up to 36,000.
MODEL = """
var a : array [0 .. 5] of 0 .. 8; wide : array [0 .. 119] of 0 .. 255;
startstate begin for i : 0 .. 5 do a[i] := 0; end; for i : 0 .. 119 do wide[i] := 7; end; end;
ruleset i : 0 .. 5 do rule a[i] < 8 ==> begin a[i] := a[i] + 1; wide[i] := a[i]; end; end;
"""
#: For Python, two workers, and a part of the states.
MEBIBYTES = 80


@pytest.mark.parametrize("strategy", ["auto", "layered", "disk", "cached", "serial", "compact"])
def test_peak_memory(strategy: str, tmp_path: Path) -> None:
    model = tmp_path / "model.m"
    model.write_text(MODEL)
    command = [sys.executable, "-m", "outcrop", "check", str(model), "--deadlock", "off", "--threads", "2", "--json"]
    memory = ["--memory", f"{MEBIBYTES}M", "--workdir", str(tmp_path)]
    done = subprocess.run([*command, "--strategy", strategy, *memory], capture_output=True, text=True, check=True)
    document = json.loads(done.stdout)
    assert document["verdict"] == "holds"
    assert document["states_visited"] >= 9**6
    assert document["peak_rss_bytes"] < 1.05 * MEBIBYTES * 2**20

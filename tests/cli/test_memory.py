"""Searches stay within the memory that they are given, measured as peak RSS."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from outcrop.strategies import STRATEGIES, CachedOptions, names

#: 531,441 states of 138 bytes, 73 MB, in levels of up to 36,000.
MODEL = """
var a : array [0 .. 5] of 0 .. 8; wide : array [0 .. 119] of 0 .. 255;
startstate begin for i : 0 .. 5 do a[i] := 0; end; for i : 0 .. 119 do wide[i] := 7; end; end;
ruleset i : 0 .. 5 do rule a[i] < 8 ==> begin a[i] := a[i] + 1; wide[i] := a[i]; end; end;
"""
#: 4,000 states of 126 bytes with one successor each, and then, from the 2,500th on, 300 each.
FAN = """
var phase : 0 .. 3; a : 0 .. 3999; b : 0 .. 299; wide : array [0 .. 119] of 0 .. 255;
startstate begin phase := 0; a := 0; b := 0; for i : 0 .. 119 do wide[i] := 7; end; end;
ruleset i : 0 .. 3999 do rule phase = 0 ==> begin phase := 1; a := i; end; end;
rule phase = 1 ==> begin phase := 2; end;
rule phase = 2 & a < 2500 ==> begin phase := 3; a := 0; end;
ruleset i : 0 .. 299 do rule phase = 2 & a >= 2500 ==> begin phase := 3; a := 0; b := i; end; end;
"""
#: 531,441 states of 71 bytes, in levels that end with a few hundred states, which are compared with all sorted runs.
NARROWING = """
var a : array [0 .. 5] of 0 .. 8; wide : array [0 .. 59] of 0 .. 255;
startstate begin for i : 0 .. 5 do a[i] := 0; end; for i : 0 .. 59 do wide[i] := 7; end; end;
ruleset i : 0 .. 5 do rule a[i] < 8 ==> begin
  a[i] := a[i] + 1; for j : 0 .. 9 do wide[6 * j + i] := 28 * a[i] + j; end;
end; end;
"""
#: Memory for Python, two workers, and a part of the states, in MiB.
MEBIBYTES = 80
#: Memory for Python and two workers, with almost none for states, in MiB.
FEW_MEBIBYTES = 60


def peak(tmp_path: Path, *arguments: str, text: str = MODEL, budget: int = MEBIBYTES) -> int:
    """Returns the peak memory, in MiB, of a search through all states."""
    model = tmp_path / "model.m"
    model.write_text(text)
    command = [sys.executable, "-m", "outcrop", "check", str(model), "--deadlock", "off", "--threads", "2", "--json"]
    memory = ["--memory", f"{budget}M", "--workdir", str(tmp_path)]
    done = subprocess.run([*command, *memory, *arguments], capture_output=True, text=True, check=False)
    document = json.loads(done.stdout)
    assert document["verdict"] == "holds" or "--depth" in arguments
    return int(document["peak_rss_bytes"]) >> 20


@pytest.mark.parametrize("strategy", names(past_ram=True))
def test_peak_memory(strategy: str, tmp_path: Path) -> None:
    assert peak(tmp_path, "--strategy", strategy) < 1.05 * MEBIBYTES


@pytest.mark.parametrize(
    "strategy", [each for each in names(past_ram=True) if CachedOptions not in STRATEGIES[each].options]
)
def test_more_successors_than_the_level_before_had(strategy: str, tmp_path: Path) -> None:
    assert peak(tmp_path, "--strategy", strategy, text=FAN) < 1.05 * MEBIBYTES


@pytest.mark.parametrize("strategy", ["auto", "layered"])
def test_few_states_looked_up_on_disk_map_little_of_it(strategy: str, tmp_path: Path) -> None:
    resident = peak(tmp_path, "--strategy", strategy, text=NARROWING, budget=FEW_MEBIBYTES)
    assert resident < 1.05 * FEW_MEBIBYTES


def test_what_was_expanded_of_a_queue_does_not_stay_in_memory(tmp_path: Path) -> None:
    """Signatures take 3 MB, and the ends of the queue a few more; the whole queue takes 73."""
    begun = peak(tmp_path, "--strategy", "compact", "--depth", "3")
    assert peak(tmp_path, "--strategy", "compact") < begun + 18

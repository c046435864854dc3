"""The states on all shortest runs to a violation: compiled searches against the interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest
from native_models import compiled

import outcrop
from outcrop.explorer.shortest import shortest_runs
from outcrop.ir.system import System
from outcrop.options import CheckOptions
from outcrop.oracle.shortest import shortest_runs as interpreted_runs
from outcrop.outcome import Ending, Finding, FindingKind

#: Levels of several blocks of states, with violations of each kind at depth 12.
COUNTERS = """
var count: array [0..4] of 0..4; other: 0..5;
startstate begin for n: 0..4 do count[n] := 0; end; other := 0; end;
ruleset n: 0..4 do rule "up" count[n] < 4 & other < 5 ==> begin count[n] := count[n] + 1; end; end;
rule "other" other < 4 ==> begin other := other + 1; end;
rule "fail" count[0] = 4 & count[1] = 4 & other = 4 ==> begin error "failed"; end;
rule "stop" count[2] = 4 & count[3] = 4 & other = 3 & count[4] = 0 ==> begin other := 5; end;
invariant "few" !(count[0] = 4 & count[2] = 4 & other = 4);
"""
#: Kinds of violations, with the depth of the nearest.
DEPTH = {FindingKind.STATE: 12, FindingKind.RULE: 12, FindingKind.DEADLOCK: 12}


@pytest.fixture
def system(tmp_path: Path) -> System:
    (tmp_path / "counters.m").write_text(COUNTERS)
    return outcrop.load(tmp_path / "counters.m").system


@pytest.mark.parametrize("threads", [1, 2])
def test_states_on_shortest_runs_are_those_of_the_interpreter(
    system: System, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("outcrop.explorer.shortest._STATES_A_WORKER", 64)
    options = CheckOptions(threads=threads, deadlock="stuck", max_errors=None)
    endings = [Ending(Finding(kind, (b"",) * (depth + 1)), lambda state: True) for kind, depth in DEPTH.items()]
    expected = interpreted_runs(system, options, endings)
    assert shortest_runs(compiled(COUNTERS), options, endings) == expected
    for runs in expected:
        assert runs is not None and len(runs[0]) == 1 and all(runs)
    assert max(len(each) for each in expected[0] or ()) > 15


def test_too_many_states_are_not_compared(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    ending = Ending(Finding(FindingKind.STATE, (b"",) * 13), lambda state: True)
    for part in ("explorer", "oracle"):
        monkeypatch.setattr(f"outcrop.{part}.shortest.MOST_ON_SHORTEST_RUNS", 10)
    options = CheckOptions(threads=1, deadlock="off")
    assert interpreted_runs(system, options, [ending]) == [None]
    assert shortest_runs(compiled(COUNTERS), options, [ending]) == [None]

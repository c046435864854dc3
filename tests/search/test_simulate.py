"""Random walks: their findings are real, shrunk and deterministic."""

from __future__ import annotations

from pathlib import Path

import pytest

import outcrop
from outcrop.options import Deadlock
from outcrop.outcome import Progress, WalkProgress
from outcrop.report.walk_progress import WalkLine
from outcrop.tools.simulate import SimulationOptions, simulate

#: A counter that goes up and down, with a violation at 12 only.
COUNTER = """
var n: 0..20;
startstate begin n := 3; end;
rule "up" n < 20 ==> begin n := n + 1; end;
rule "down" n > 0 ==> begin n := n - 1; end;
rule "stay" true ==> begin end;
invariant "small" n != 12;
"""


@pytest.fixture
def counter(tmp_path: Path) -> outcrop.Model:
    path = tmp_path / "counter.m"
    path.write_text(COUNTER)
    return outcrop.load(path)


def test_finds_and_shrinks(counter: outcrop.Model) -> None:
    found = simulate(counter, SimulationOptions(walks=200, steps=1000, time_limit=None, threads=1))
    assert found.violation is not None
    assert found.violation.property == "small"
    assert found.violation.trace is not None
    assert found.walk_steps is not None
    assert len(found.violation.trace) - 1 == 9 <= found.walk_steps


def test_the_same_walk_is_reported_whatever_the_threads(counter: outcrop.Model) -> None:
    options = {"walks": 200, "steps": 40, "time_limit": None, "seed": 5, "shrink_seconds": 0}
    walks = [simulate(counter, SimulationOptions(threads=threads, **options)) for threads in (1, 3)]  # type: ignore[arg-type]
    assert walks[0].violation is not None
    assert (walks[0].walk, walks[0].walk_steps) == (walks[1].walk, walks[1].walk_steps)
    other = simulate(counter, SimulationOptions(threads=1, **{**options, "seed": 6}))  # type: ignore[arg-type]
    assert (other.walk, other.walk_steps) != (walks[0].walk, walks[0].walk_steps)


def test_weights_steer(counter: outcrop.Model) -> None:
    down = SimulationOptions(walks=50, steps=500, time_limit=None, weights={"up": 0}, threads=1)
    assert simulate(counter, down).violation is None
    up = SimulationOptions(walks=1, steps=9, time_limit=None, weights={"down": 0}, threads=1)
    assert simulate(counter, up).violation is not None
    rarely = SimulationOptions(walks=100, steps=100, time_limit=None, weights={"down": 9}, threads=1)
    taken = {each.name: each.taken for each in simulate(counter, rarely).coverage}
    assert taken["stay"] == 0
    assert taken["up"] > 0


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("deadlock_stuttering.m", "deadlock"),
        ("assertion.m", "assertion"),
        ("error_in_startstate.m", "runtime"),
        ("division_by_zero.m", "runtime"),
    ],
)
def test_kinds(repository: Path, name: str, kind: str) -> None:
    model = outcrop.load(repository / "tests/models" / name)
    found = simulate(model, SimulationOptions(walks=100, steps=100, time_limit=None, threads=1))
    assert found.violation is not None
    assert str(found.violation.kind) == kind


def test_deadlocks_may_be_ignored(repository: Path) -> None:
    model = outcrop.load(repository / "tests/models/deadlock_stuttering.m")
    options = SimulationOptions(walks=7, time_limit=None, threads=1, deadlock=Deadlock.OFF)
    found = simulate(model, options)
    assert found.violation is None
    assert found.dead_ends == found.walks == 7


def test_counts_different_states(counter: outcrop.Model) -> None:
    options = SimulationOptions(walks=40, steps=500, time_limit=None, weights={"up": 1, "down": 2}, threads=1)
    found = simulate(counter, options)
    assert 4 <= found.different_states <= 14


def test_progress_counts_walks_under_way(repository: Path) -> None:
    model = outcrop.load(repository / "examples/peterson.m")
    snapshots: list[Progress] = []
    found = simulate(model, SimulationOptions(walks=50, steps=2000, time_limit=None), progress=snapshots.append)
    last = snapshots[-1]
    assert isinstance(last, WalkProgress)
    assert (last.walks, last.steps, last.states) == (50, found.steps, found.different_states)
    line = WalkLine(walks=50, seconds=90)
    assert line.text(last).startswith(f"50 of 50 walks  {found.steps:,} steps  ")
    assert "of 0:01:30" in line.text(last)

"""Searches that are ended at the wrong moment: nothing that was found is lost, and nothing crashes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import REPOSITORY
from native_models import compiled

import outcrop
from outcrop.errors import UsageError
from outcrop.kernels import Settings, StopReason
from outcrop.kernels_spill import Spill
from outcrop.options import CheckOptions
from outcrop.search import spilling, watched
from outcrop.search.outcome import Progress, Stop, Stopped

GRID = """
var x: 0..600; y: 0..600;
startstate begin x := 0; y := 0; end;
rule "right" x < 600 ==> begin x := x + 1; end;
rule "up" y < 600 ==> begin y := y + 1; end;
"""


class Failed(Exception):
    pass


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    path = tmp_path / "grid.m"
    path.write_text(GRID)
    return path


@pytest.mark.parametrize(
    "options",
    [
        *({"strategy": each} for each in ("ram", "auto", "compact", "cached", "disk", "layered")),
        *({"strategy": each, "ltl": True} for each in ("ndfs", "owcty")),
        {"strategy": "owcty", "ltl": True, "compact": True},
    ],
    ids=str,
)
def test_what_fails_while_workers_are_at_work(
    options: dict[str, object], grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are waited for before what they work on is gone."""
    monkeypatch.setattr(watched, "_SECONDS_BETWEEN_LOOKS", 0.001)
    states = 0

    def progress(now: Progress) -> None:
        nonlocal states
        states = now.states
        if now.states > 1000:
            raise Failed

    model = outcrop.load(grid, ltl=["G F {x < 0}"] if options.pop("ltl", False) else [])
    with pytest.raises(Failed):
        model.check(**options, deadlock="off", threads=2, workdir=str(tmp_path), progress=progress)
    assert states < 601 * 601


@pytest.mark.parametrize("strategy", ["auto", "layered"])
def test_what_was_found_in_a_level_on_disk_that_is_not_finished(
    strategy: str, grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid.write_text(GRID + 'invariant "x" x + y < 40;')
    expand = spilling.PastRam.expand

    def interrupted(self: spilling.PastRam, begin: int, end: int) -> None:
        expand(self, begin, end)
        if self.states > 41 * 20:
            raise Stopped(Stop.INTERRUPTED)

    monkeypatch.setattr(spilling.PastRam, "expand", interrupted)
    result = outcrop.load(grid).check(strategy=strategy, deadlock="off", workdir=str(tmp_path), state_memory="4K")
    assert str(result.verdict) == "violated"
    assert result.trace is not None and len(result.trace) == 41


def test_a_request_to_stop_outlives_the_end_of_memory() -> None:
    with compiled(GRID).search(Settings(spills=True, budget=20_000)) as search:
        search.start()
        search.finish_level()
        while search.standing().stop is not StopReason.MEMORY:
            search.expand_level(0)
            search.finish_level()
        search.stop()
        Spill(search).resume()
        assert search.standing().stop is StopReason.REQUESTED


def test_what_is_printed_may_be_too_much(tmp_path: Path) -> None:
    path = tmp_path / "loud.m"
    path.write_text(
        "var x: 0..1; startstate begin x := 0; end;"
        "rule x = 0 ==> begin for i: 0..500000 do put i + 0; end; x := 1; end;"
    )
    printed: list[str] = []
    result = outcrop.load(path).check(deadlock="off", output=printed.append)
    assert str(result.verdict) == "holds"
    assert printed[:3] == ["0", "1", "2"]
    assert "left out" in printed[-1]


@pytest.mark.parametrize("strategy", ["compact", "cached", "disk"])
def test_disks_are_kept_to(strategy: str, grid: Path, tmp_path: Path) -> None:
    result = outcrop.load(grid).check(
        strategy=strategy, deadlock="off", workdir=str(tmp_path), disk="200K", state_memory="1M"
    )
    assert (str(result.verdict), result.kind) == ("unknown", str(Stop.DISK))


def test_a_library_that_lacks_something_lacks_it_twice() -> None:
    native = compiled(GRID)
    signatures = {"outcrop_nothing": (None, ())}
    for _ in range(2):
        with pytest.raises(OSError, match="outcrop_nothing"):
            native.library_with(signatures)


def test_errors_of_others_are_not_taken_for_those_of_the_queue(grid: Path, tmp_path: Path) -> None:
    grid.write_text(GRID + 'rule x = 0 & y = 0 ==> begin put "here"; end;')

    def output(text: str) -> None:
        raise BrokenPipeError

    for strategy in ("ram", "compact", "cached"):
        with pytest.raises(BrokenPipeError):
            outcrop.load(grid).check(strategy=strategy, workdir=str(tmp_path), output=output)


@pytest.mark.parametrize("name", ["checkpoint", "resume", "workdir"])
def test_directories_have_names(name: str) -> None:
    with pytest.raises(UsageError, match="must have a name"):
        CheckOptions(**{name: ""})


@pytest.mark.parametrize("strategy", ["cached", "auto", "ndfs"])
def test_a_second_interrupt_waits_for_nobody(strategy: str, grid: Path, tmp_path: Path) -> None:
    grid.write_text(GRID.replace("600", "6000"))
    command = [
        sys.executable,
        "-m",
        "outcrop",
        "check",
        str(grid),
        "--strategy",
        strategy,
        "--deadlock",
        "off",
        "--threads",
        "2",
    ]
    command += ["--workdir", str(tmp_path), *(["--ltl", "G F {x < 0}"] if strategy == "ndfs" else [])]
    outcrop.load(grid, ltl=["G F {x < 0}"]).check(deadlock="off", depth=2)  # compiles it
    for apart in (0.0, 0.003):
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
            time.sleep(1.5)
            process.send_signal(signal.SIGINT)
            time.sleep(apart)
            process.send_signal(signal.SIGINT)
            # The last of these is what a shell calls 130: the second one came when nobody took interrupts any more.
            assert process.wait(60) in (3, 130, -signal.SIGINT)

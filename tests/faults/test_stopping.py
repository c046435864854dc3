"""Searches that end at a bad moment: no finding is lost, and nothing crashes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from native_models import compiled

import outcrop
from outcrop.errors import UsageError
from outcrop.explorer.explorer import Explorer
from outcrop.explorer.tuning import tuned
from outcrop.kernels import Settings, StopReason
from outcrop.kernels.spill import Spill
from outcrop.options import CheckOptions
from outcrop.outcome import Progress, Stop
from outcrop.strategies import names

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
        *({"strategy": each} for each in names(finds_cycles=False)),
        *({"strategy": each, "ltl": True} for each in names(finds_cycles=True)),
        {"strategy": "owcty", "ltl": True, "compact": True},
    ],
    ids=str,
)
def test_what_fails_while_workers_are_at_work(options: dict[str, object], grid: Path, tmp_path: Path) -> None:
    """The search waits for its workers before it frees their memory."""
    states = 0

    def progress(now: Progress) -> None:
        nonlocal states
        states = now.states
        if now.states > 1000:
            raise Failed

    model = outcrop.load(grid, ltl=["G F {x < 0}"] if options.pop("ltl", False) else [])
    with pytest.raises(Failed), tuned(seconds_between_looks=0.001):
        model.check(**options, deadlock="off", threads=2, workdir=str(tmp_path), progress=progress)
    assert states < 601 * 601


@pytest.mark.parametrize("strategy", ["auto", "layered"])
def test_what_was_found_in_a_level_on_disk_that_is_not_finished(
    strategy: str, grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid.write_text(GRID + 'invariant "x" x + y < 40;')
    stopped_by = Explorer.stopped_by

    def interrupted(explorer: Explorer, action: Callable[[], object]) -> Stop | None:
        stop = stopped_by(explorer, action)
        return Stop.INTERRUPTED if explorer.frontier.position().states > 41 * 20 else stop

    monkeypatch.setattr(Explorer, "stopped_by", interrupted)
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


@pytest.mark.parametrize("strategy", ["ram", "disk"])
def test_all_is_printed_however_much_it_is(tmp_path: Path, strategy: str) -> None:
    path = tmp_path / "loud.m"
    path.write_text(
        "var x: 0..1; startstate begin x := 0; end;"
        'rule x = 0 ==> begin for i: 0..200000 do put i + 0; put "\\n"; end; x := 1; end;'
    )
    printed: list[str] = []
    model = outcrop.load(path)
    result = model.check(strategy=strategy, deadlock="off", workdir=str(tmp_path), prints=True, output=printed.append)
    assert str(result.verdict) == "holds"
    assert "".join(printed) == "".join(f"{number}\n" for number in range(200_001))


@pytest.mark.parametrize("strategy", ["compact", "cached", "disk"])
def test_disks_are_kept_to(strategy: str, grid: Path, tmp_path: Path) -> None:
    result = outcrop.load(grid).check(
        strategy=strategy, deadlock="off", workdir=str(tmp_path), disk="200K", state_memory="1M"
    )
    assert (str(result.verdict), result.kind) == ("unknown", str(Stop.DISK))


def test_a_library_that_lacks_something_lacks_it_twice() -> None:
    native = compiled(GRID)
    for _ in range(2):
        with pytest.raises(OSError, match="outcrop_nothing"):
            native.library_declaring("void outcrop_nothing(void);")


def test_errors_of_others_are_not_taken_for_those_of_the_queue(grid: Path, tmp_path: Path) -> None:
    grid.write_text(GRID + 'rule x = 0 & y = 0 ==> begin put "here"; end;')
    loud = tmp_path / "loud.m"
    loud.write_text(GRID + "rule x = 0 ==> begin for i: 0..9999 do put i + x; end; end;")

    def output(text: str) -> None:
        raise BrokenPipeError

    for strategy in ("ram", "compact", "cached"):
        for model in (grid, loud):
            with pytest.raises(BrokenPipeError):
                outcrop.load(model).check(strategy=strategy, workdir=str(tmp_path), prints=True, output=output)


@pytest.mark.parametrize("name", ["checkpoint", "resume", "workdir"])
def test_directories_have_names(name: str) -> None:
    with pytest.raises(UsageError, match="name of a directory"):
        CheckOptions(**{name: ""})

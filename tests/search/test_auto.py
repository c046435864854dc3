"""The strategy auto past RAM, with so little memory that it goes to disk, compared with the search in RAM."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import pytest
from native_models import compiled, native_of

import outcrop
from outcrop.codegen import compiler
from outcrop.codegen.c import emit
from outcrop.codegen.compiler import compile_model
from outcrop.errors import DamagedFile, ModelError, UsageError
from outcrop.explorer.context import Context
from outcrop.explorer.delayed import WaitingCandidates
from outcrop.explorer.sorted_runs import SortedRuns
from outcrop.explorer.tuning import Tuning
from outcrop.kernels import Native
from outcrop.options import CheckOptions, Deadlock
from outcrop.outcome import EventKind, FindingKind, Outcome, Stop
from outcrop.search import auto, layered, ram
from outcrop.store.runs import Runs

REPOSITORY = Path(__file__).parents[2]
MODELS = sorted((REPOSITORY / "tests" / "models").glob("[!r]*.m")) + sorted((REPOSITORY / "examples").glob("*.*"))

#: 8,000 states in 58 levels; ``reset`` leads back to much earlier levels. States take 12 bytes, and many agree in the
#: first word.
GRID = """
type Count : 0 .. 19;
var a : array [0 .. 2] of Count; wide : array [0 .. 39] of boolean; late : Count;
startstate begin for i : 0 .. 2 do a[i] := 0; end; for i : 0 .. 39 do wide[i] := false; end; late := 0; end;
ruleset i : 0 .. 2 do
  rule "up" a[i] < 19 ==> begin a[i] := a[i] + 1; wide[i] := a[i] % 2 = 1; late := (a[0] + a[1] + a[2]) % 20; end;
end;
ruleset i : 0 .. 2 do
  rule "reset" a[i] % 7 = 6 ==> begin a[i] := 0; wide[i] := false; late := (a[0] + a[1] + a[2]) % 20; end;
end;
cover "far" a[0] = 19 & a[1] = 19;
"""
VIOLATED = GRID + 'invariant "sum" a[0] + a[1] + a[2] < 40;\n'
#: 400 start states, all in level 0.
STARTS = """
type Count : 0 .. 19;
var a : Count; b : Count; steps : 0 .. 9;
ruleset i : Count; j : Count do startstate begin a := i; b := j; steps := 0; end; end;
rule steps < 9 ==> begin steps := steps + 1; if a < 19 then a := a + 1; end; end;
"""
#: One state a level.
CHAIN = """
var x : 0 .. 2999; y : 0 .. 99;
startstate begin x := 0; y := 0; end;
rule x < 2999 ==> begin x := x + 1; y := (y + 7) % 100; end;
"""


@pytest.fixture
def part_of_the_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Native, Path]:
    """Returns a model without the kernels of searches past RAM, and the path at which they will be."""
    cache = tmp_path / "cache"
    cache.mkdir()
    monkeypatch.setattr(compiler, "cache_directory", lambda: cache)
    path = tmp_path / "grid.m"
    path.write_text(GRID)
    emitted = emit(outcrop.load(path).system, False)
    return compile_model(emitted.source, kernels=()), cache


def test_kernels_past_ram_are_compiled_when_memory_ends(
    part_of_the_kernels: tuple[Native, Path], options: Callable[..., CheckOptions]
) -> None:
    native, cache = part_of_the_kernels
    expected = auto.search(native, options(state_memory=None))
    assert not spilled(expected) and len(list(cache.glob("*.so"))) == 1
    found = auto.search(native, options(state_memory=9_000, threads=2))
    assert spilled(found) and len(list(cache.glob("*.so"))) == 2
    assert comparable(found) == comparable(expected)


def test_kernels_past_ram_are_made_ready_in_time(
    part_of_the_kernels: tuple[Native, Path], options: Callable[..., CheckOptions]
) -> None:
    native, cache = part_of_the_kernels
    found = auto.search(native, options(state_memory=200_000), Context(tuning=Tuning(seconds_between_looks=0.0)))
    assert not spilled(found) and len(list(cache.glob("*.so"))) == 2


def test_memory_has_ended_when_they_cannot_be_compiled(
    part_of_the_kernels: tuple[Native, Path], options: Callable[..., CheckOptions], monkeypatch: pytest.MonkeyPatch
) -> None:
    native, _ = part_of_the_kernels

    def fail() -> Native:
        raise UsageError("the C compiler ran out of memory")

    monkeypatch.setattr(native, "_compile_all", fail)
    found = auto.search(native, options(state_memory=9_000))
    assert found.stop is Stop.MEMORY and found.events[-1].kind is EventKind.GAVE_UP


#: Tuning with which different states often have the same hash.
WEAK_HASH = Context(tuning=Tuning(weak_hash=True))


def comparable(outcome: Outcome) -> Outcome:
    return dataclasses.replace(outcome, seconds=0.0, peak_disk_bytes=0, events=[])


def spilled(outcome: Outcome) -> bool:
    return any(event.kind is EventKind.SPILLED for event in outcome.events)


@pytest.fixture
def options(tmp_path: Path) -> Callable[..., CheckOptions]:
    def make(**changes: object) -> CheckOptions:
        chosen = {"symmetry": False, "threads": 1, "deadlock": "off", "state_memory": 1, "workdir": str(tmp_path)}
        return CheckOptions(**{**chosen, **changes})

    return make


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_same_outcome_as_in_ram(path: Path, options: Callable[..., CheckOptions]) -> None:
    try:
        native = native_of(path)
    except ModelError:
        pytest.skip("no model")
    if native.liveness_count:
        pytest.skip("liveness is not checked past RAM")
    for max_errors in (1, None):
        expected = comparable(ram.search(native, CheckOptions(symmetry=False, deadlock="off", max_errors=max_errors)))
        for threads in (1, 2):
            found = auto.search(native, options(threads=threads, max_errors=max_errors, state_memory=50_000))
            assert comparable(found) == expected


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("memory", [1, 4_000, 9_000, 16_000, 30_000, 60_000, 110_000])
def test_it_may_run_out_of_memory_anywhere(options: Callable[..., CheckOptions], memory: int, threads: int) -> None:
    native = compiled(GRID)
    expected = ram.search(native, options(state_memory=None))
    found = auto.search(native, options(state_memory=memory, threads=threads))
    assert spilled(found)
    assert comparable(found) == comparable(expected)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("waits", ["never", "now and then", "for a while", "till the end"])
@pytest.mark.parametrize("text", [GRID, STARTS, VIOLATED], ids=["grid", "starts", "violated"])
def test_candidates_may_wait_for_the_end_of_the_level(
    options: Callable[..., CheckOptions], text: str, waits: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited = []

    add = WaitingCandidates.add

    def note(waiting: WaitingCandidates, begin: int, end: int) -> None:
        waited.append(end - begin)
        add(waiting, begin, end)

    monkeypatch.setattr(WaitingCandidates, "add", note)
    if waits == "now and then":
        much = cycle([0, 10**12])
        monkeypatch.setattr(Runs, "entries", property(lambda runs: next(much)))
    tuning = Tuning(
        much={"never": 10**9, "now and then": 1}.get(waits, 0),
        candidate_bytes=10**12 if waits == "for a while" else 1,
    )
    native = compiled(text)
    expected = ram.search(native, options(state_memory=None, max_errors=None))
    for weak_hash in (False, True):
        chosen = dataclasses.replace(tuning, weak_hash=weak_hash)
        found = auto.search(native, options(threads=threads, max_errors=None), Context(tuning=chosen))
        assert comparable(found) == comparable(expected)
    assert bool(waited) is (waits != "never")


@pytest.mark.parametrize("is_wide", [False, True])
def test_candidates_are_collected_from_slots_of_any_width(options: Callable[..., CheckOptions], is_wide: bool) -> None:
    tuning = Tuning(few_candidates=16, wide=is_wide)
    native = compiled(GRID)
    expected = ram.search(native, options(state_memory=None))
    found = auto.search(native, options(state_memory=60_000, threads=2), Context(tuning=tuning))
    assert spilled(found)
    assert comparable(found) == comparable(expected)


def test_it_may_run_out_of_memory_among_the_start_states(options: Callable[..., CheckOptions]) -> None:
    native = compiled(STARTS)
    expected = ram.search(native, options(state_memory=None))
    for threads in (1, 2):
        found = auto.search(native, options(threads=threads))
        assert (found.events[0].kind, found.events[0].data["level"]) == (EventKind.SPILLED, 0)
        assert comparable(found) == comparable(expected)


def test_one_state_a_level(options: Callable[..., CheckOptions]) -> None:
    native = compiled(CHAIN)
    found = auto.search(native, options(threads=2))
    assert spilled(found)
    assert found.levels == [1] * 3000


@pytest.mark.parametrize("threads", [1, 2])
def test_states_with_the_same_hash_are_told_apart(options: Callable[..., CheckOptions], threads: int) -> None:
    native = compiled(GRID)
    assert native.state_bytes > 8
    expected = ram.search(native, options(state_memory=None))
    found = auto.search(native, options(threads=threads, state_memory=30_000), WEAK_HASH)
    assert spilled(found)
    assert comparable(found) == comparable(expected)


@pytest.mark.parametrize("max_errors", [1, 5, None])
def test_traces_are_those_of_ram(options: Callable[..., CheckOptions], max_errors: int | None) -> None:
    native = compiled(VIOLATED)
    expected = ram.search(native, options(state_memory=None, max_errors=max_errors))
    for threads in (1, 2):
        found = auto.search(native, options(threads=threads, max_errors=max_errors))
        assert spilled(found)
        assert comparable(found) == comparable(expected)
        assert found.findings[0].kind is FindingKind.STATE
        assert len(found.findings[0].path) == 41


@pytest.mark.parametrize("bound", [{"depth": 20}, {"states": 3000}])
def test_bounds_end_it_where_they_end_ram(options: Callable[..., CheckOptions], bound: dict[str, int]) -> None:
    native = compiled(GRID)
    expected = ram.search(native, options(state_memory=None, **bound))
    found = auto.search(native, options(**bound))
    assert spilled(found)
    assert comparable(found) == comparable(expected)


def test_a_full_disk_is_unknown_and_leaves_nothing_behind(options: Callable[..., CheckOptions], tmp_path: Path) -> None:
    native = compiled(GRID)
    found = auto.search(native, options(disk=1_000_000))
    assert found.stop is Stop.DISK
    assert 0 < found.peak_disk_bytes <= 1_000_000
    assert not list(tmp_path.glob("outcrop-*"))


def test_a_time_limit_ends_it_past_ram(options: Callable[..., CheckOptions], tmp_path: Path) -> None:
    found = auto.search(compiled(CHAIN.replace("2999", "2999999")), options(time_limit=0.3))
    assert found.stop is Stop.TIME
    assert spilled(found)
    assert not list(tmp_path.glob("outcrop-*"))


def test_liveness_past_ram_is_unknown(options: Callable[..., CheckOptions]) -> None:
    native = compiled(CHAIN + 'liveness "end" x = 2999;\n')
    found = auto.search(native, options())
    assert found.stop is Stop.MEMORY
    assert found.events[-1].kind is EventKind.GAVE_UP
    assert not found.findings


@pytest.mark.parametrize("place", [0.05, 0.3, 0.6, 0.95])
def test_a_run_that_changes_on_disk_is_noticed(place: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run is not looked up any more, and is not merged."""
    check = SortedRuns.check_files

    def damage_first(levels: SortedRuns) -> None:
        (path,) = sorted(tmp_path.glob("*/run-*"), key=lambda path: path.stat().st_size)[-1:]
        with path.open("r+b") as file:
            file.seek(int(place * path.stat().st_size))
            byte = file.read(1)
            file.seek(-1, 1)
            file.write(bytes([byte[0] ^ 4]))
        check(levels)

    monkeypatch.setattr(SortedRuns, "check_files", damage_first)
    options = CheckOptions(deadlock=Deadlock.OFF, state_memory=9_000, workdir=str(tmp_path))
    with pytest.raises(DamagedFile, match="not what was written"):
        auto.search(compiled(GRID), options)


@pytest.mark.parametrize("place", [0, *range(-12, 0)])  # a state; the slices of the last ones
@pytest.mark.parametrize("strategy", ["auto", "layered"])
def test_candidates_that_change_on_disk_are_noticed(
    strategy: str, place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve = WaitingCandidates.resolve

    def damage_first(waiting: WaitingCandidates, *arguments: object, **options: object) -> object:
        (path,) = tmp_path.glob("*/candidates")
        content = bytearray(path.read_bytes())
        content[place] ^= 4
        path.write_bytes(content)
        return resolve(waiting, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(WaitingCandidates, "resolve", damage_first)
    options = CheckOptions(deadlock=Deadlock.OFF, state_memory=1, workdir=str(tmp_path), threads=1)
    search = {"auto": auto.search, "layered": layered.search}[strategy]
    with pytest.raises(DamagedFile, match="candidates' is damaged: it is not what was written"):
        search(compiled(GRID), options)

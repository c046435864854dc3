"""Squeezing: searches that squeeze their states when memory is full, compared with the search in RAM."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native_models import compiled

from outcrop.errors import DamagedFile, UsageError
from outcrop.explorer import squeezing
from outcrop.explorer.context import Context
from outcrop.explorer.explorer import Explorer
from outcrop.explorer.layer_store import LayerStore
from outcrop.explorer.ram_then_disk import RamThenDisk
from outcrop.explorer.sorted_runs import SortedRuns
from outcrop.explorer.squeezing import form_with
from outcrop.explorer.tuning import DEFAULT_TUNING, Tuning
from outcrop.explorer.watch import Watch
from outcrop.kernels import Native, Settings, States
from outcrop.kernels.squeeze import Form, SqueezedSearch
from outcrop.options import CheckOptions
from outcrop.outcome import Event, EventKind, FindingKind, Outcome, Stop
from outcrop.search import auto, layered, ram
from outcrop.store.workdir import DiskFull

REPOSITORY = Path(__file__).parents[2]

#: 9,261 states of 53 bytes, of which few bits change; ``far`` only when ``a[0]`` has reached its end, and one of
#: ``late`` for each step of ``a[1]`` from there on.
WIDE = """
type Count : 0 .. 20;
var unused : array [0 .. 9] of 0 .. 1000000; a : array [0 .. 2] of Count; far : boolean;
    late : array [0 .. 99] of boolean;
startstate begin
  for i : 0 .. 9 do unused[i] := 7 * i; end;
  for i : 0 .. 2 do a[i] := 0; end;
  far := false;
  for i : 0 .. 99 do late[i] := false; end;
end;
ruleset i : 0 .. 2 do
  rule "up" a[i] < 20 ==> begin
    a[i] := a[i] + 1;
    far := a[0] = 20;
    for j : 0 .. 19 do late[5 * j] := a[0] > 15 & a[1] > j; end;
  end;
end;
ruleset i : 0 .. 2 do
  rule "reset" a[i] % 7 = 6 ==> begin
    a[i] := 0;
    far := a[0] = 20;
    for j : 0 .. 19 do late[5 * j] := a[0] > 15 & a[1] > j; end;
  end;
end;
cover "far" a[0] = 20 & a[1] = 20;
"""
VIOLATED = WIDE + 'invariant "sum" a[0] + a[1] + a[2] < 45;\n'
#: 1,001 states, one a level. The last one has 4,000 successors, more than a buffer holds, and the last of these change
#: bits that no other state does.
BURST = """
var unused : array [0 .. 9] of 0 .. 1000000; x : 0 .. 1001; y : 0 .. 4095; late : array [0 .. 19] of boolean;
startstate begin
  for i : 0 .. 9 do unused[i] := 7 * i; end; x := 0; y := 0;
  for i : 0 .. 19 do late[i] := false; end;
end;
rule "chain" x < 1000 ==> begin x := x + 1; y := (y + 37) % 4096; end;
ruleset i : 0 .. 3999 do
  rule "burst" x = 1000 ==> begin x := 1001; y := i; if i > 3000 then for j : 0 .. 19 do late[j] := true; end; end; end;
end;
"""
CONTINUED, DISK_FULL, RESUMED = EventKind.CONTINUED, EventKind.DISK_FULL, EventKind.RESUMED
SPILLED, SQUEEZED, WIDENED = EventKind.SPILLED, EventKind.SQUEEZED, EventKind.WIDENED

#: Tuning with which states are squeezed early, and handed over so few at a time that workers share every level.
EARLY = Tuning(least_states=100, seconds_to_compile=1000.0, states_a_part=16)
#: Tuning without spare places for bits that change later, except those that rounding leaves.
NO_SPARE_PLACES = dataclasses.replace(
    EARLY, spare_places=0, least_spare_places=0, bits_a_spare_place=10**9, bytes_step=1
)


def _search(module: ModuleType, native: Native, options: CheckOptions, tuning: Tuning = EARLY) -> Outcome:
    outcome: Outcome = module.search(native, options, Context(tuning=tuning))
    return outcome


STRATEGIES = {"auto": partial(_search, auto), "layered": partial(_search, layered)}


def comparable(outcome: Outcome) -> Outcome:
    return dataclasses.replace(outcome, seconds=0.0, peak_disk_bytes=0, events=[], layers=None)


def told(outcome: Outcome, kind: EventKind) -> list[Event]:
    """Returns the events of a kind."""
    return [event for event in outcome.events if event.kind is kind]


def restarts(outcome: Outcome) -> list[int]:
    """Returns the levels from which the search continued when it had to restart; 0 for the start states."""
    return [event.data["from_level"] for event in outcome.events if "from_level" in event.data]


@pytest.fixture
def options(tmp_path: Path) -> Callable[..., CheckOptions]:
    def make(**changes: object) -> CheckOptions:
        chosen = {"symmetry": False, "threads": 1, "deadlock": "off", "workdir": str(tmp_path)}
        return CheckOptions(**{**chosen, **changes})

    return make


# --- The form of a state --------------------------------------------------------------------------------------------


@cache
def opened(width: int) -> Native:
    """Returns a model whose states have ``width`` bytes, compiled for squeezed states."""
    native = compiled(
        f"var a : array [0 .. {width - 1}] of 0 .. 254; startstate begin a[0] := 0; end; rule true ==> end;"
    )
    assert native.state_bytes == width and native.compile_squeezed is not None
    return native.compile_squeezed(min(16, width - 4))


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from([9, 16, 29, 64]))
def test_what_is_squeezed_can_be_spread_again(data: st.DataObject, width: int) -> None:
    native = opened(width)
    row = st.binary(min_size=width, max_size=width)
    bits = 8 * native.state_bytes
    places = data.draw(st.permutations(range(8 * width)))
    known = data.draw(st.integers(0, bits))
    first = np.frombuffer(data.draw(row), dtype=np.uint8)

    def mask(count: int) -> np.ndarray:
        chosen = np.zeros(8 * width, dtype=np.uint8)
        chosen[places[:count]] = 1
        return np.packbits(chosen)

    form = Form(first, mask(known), native.state_bytes)
    values = [np.frombuffer(each, dtype=np.uint8) for each in data.draw(st.lists(row, min_size=1, max_size=20))]
    # Bits get places when they change, and later states change more of them.
    states = np.array(
        [first ^ (value & mask(known + (bits - known) * i // len(values))) for i, value in enumerate(values, 1)]
    )
    with SqueezedSearch(native, Settings(), form) as search:
        kept = np.concatenate([search.kept_form(states[i : i + 1]) for i in range(len(states))])
        assert (search.packed_form(kept) == states).all()
        assert (search.kept_form(states) == kept).all()
        changed = np.bitwise_or.reduce(states ^ first, axis=0)
        assert (search.placed_bits() == (changed | mask(known))).all()


# --- Searches -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("memory", [20_000, 60_000, 120_000, 200_000, 300_000])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_it_may_squeeze_anywhere(
    options: Callable[..., CheckOptions], strategy: str, memory: int, threads: int
) -> None:
    native = compiled(WIDE)
    expected = ram.search(native, options())
    found = STRATEGIES[strategy](native, options(strategy=strategy, threads=threads, state_memory=memory))
    assert told(found, SQUEEZED)
    assert comparable(found) == comparable(expected)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("max_errors", [1, 5, None])
def test_traces_are_those_of_ram(options: Callable[..., CheckOptions], strategy: str, max_errors: int | None) -> None:
    native = compiled(VIOLATED)
    expected = ram.search(native, options(max_errors=max_errors))
    # With most of them memory is full in levels in which every state is a finding.
    for memory in (60_000, 300_000, *(range(500_000, 550_000, 10_000) if max_errors is None else ())):
        limits = options(strategy=strategy, threads=2, max_errors=max_errors, state_memory=memory)
        found = STRATEGIES[strategy](native, limits)
        assert told(found, SQUEEZED)
        assert comparable(found) == comparable(expected)
        assert found.findings[0].kind is FindingKind.STATE and len(found.findings[0].path) == 46


def test_it_ends_with_the_level_in_which_something_is_found(options: Callable[..., CheckOptions]) -> None:
    """Memory may be full in the same level, after the finding."""
    native = compiled(WIDE + 'rule "bad" a[0] = 20 & a[1] = 20 & a[2] = 4 ==> begin error "bad"; end;\n')
    expected = ram.search(native, options())
    ended_there = 0
    for memory in range(500_000, 520_000, 1_500):
        found = STRATEGIES["auto"](native, options(state_memory=memory))
        ended_there += any(event.data["level"] == len(expected.levels) - 2 for event in told(found, SQUEEZED))
        assert comparable(found) == comparable(expected)
    assert ended_there


def test_it_needs_no_disk_where_squeezed_states_fit(options: Callable[..., CheckOptions]) -> None:
    native = compiled(WIDE)
    found = STRATEGIES["auto"](native, options(state_memory=300_000))
    assert told(found, SQUEEZED) and not told(found, SPILLED) and not restarts(found)
    assert found.peak_disk_bytes == 0
    found = STRATEGIES["auto"](native, options(state_memory=300_000, squeeze=False))
    assert not told(found, SQUEEZED) and told(found, SPILLED)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("memory", [20_000, 100_000, 200_000, 300_000])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_states_that_become_too_wide(
    options: Callable[..., CheckOptions],
    strategy: str,
    memory: int,
    threads: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    native = compiled(VIOLATED)
    for max_errors in (1, None):
        expected = ram.search(native, options(max_errors=max_errors))
        limits = options(strategy=strategy, threads=threads, max_errors=max_errors, state_memory=memory)
        found = STRATEGIES[strategy](native, limits, NO_SPARE_PLACES)
        assert any(event.data.get("from_level") != 0 for event in told(found, WIDENED))
        assert bool(told(found, CONTINUED)) is (memory <= 100_000)
        assert comparable(found) == comparable(expected)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_states_that_become_too_wide_when_memory_has_ended_already(
    options: Callable[..., CheckOptions], strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    native = compiled(BURST)
    expected = ram.search(native, options())
    for memory in range(10_000, 60_000, 5_000):
        found = STRATEGIES[strategy](native, options(strategy=strategy, state_memory=memory), NO_SPARE_PLACES)
        if memory < 45_000:
            assert any(event.data.get("from_level") != 0 for event in told(found, WIDENED))
        else:
            assert (33, 8) in [(event.data["before"], event.data["after"]) for event in told(found, SQUEEZED)]
        assert comparable(found) == comparable(expected)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_states_that_become_too_wide_and_no_room_on_disk_to_take_the_others_up(
    options: Callable[..., CheckOptions], strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    native = compiled(VIOLATED)
    restore, restored = RamThenDisk._restore, []

    def without_room(frontier: RamThenDisk, blocks: Iterator[States]) -> None:
        restore(frontier, blocks)
        restored.append(frontier)
        if restored.count(frontier) == 20:
            raise DiskFull("the disk budget is used up")

    monkeypatch.setattr(RamThenDisk, "_restore", without_room)
    found = STRATEGIES[strategy](native, options(strategy=strategy, state_memory=20_000), NO_SPARE_PLACES)
    assert {event.data["from_level"] for event in told(found, DISK_FULL)} == {0}
    assert comparable(found) == comparable(ram.search(native, options()))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_files_that_were_damaged_before_states_became_too_wide(
    options: Callable[..., CheckOptions], strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """States that were looked up in them may have been taken for old."""
    native = compiled(VIOLATED)

    def damaged(files: object) -> None:
        raise DamagedFile(Path("run-1"), "it is not what was written")

    monkeypatch.setattr(SortedRuns, "check_files", damaged)
    monkeypatch.setattr(LayerStore, "check_files", damaged)
    with pytest.raises(DamagedFile):
        STRATEGIES[strategy](native, options(strategy=strategy, state_memory=20_000), NO_SPARE_PLACES)


def test_states_that_do_not_fit_when_memory_is_full(
    options: Callable[..., CheckOptions], monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no memory to hand the search over to one with wider states."""
    monkeypatch.setattr(squeezing, "hand_over", _without_room(squeezing.hand_over))
    native = compiled(WIDE)
    found = STRATEGIES["auto"](native, options(state_memory=300_000), NO_SPARE_PLACES)
    assert 0 in restarts(found)
    assert comparable(found) == comparable(ram.search(native, options()))


def _without_room(hand_over: Callable[..., bool]) -> Callable[..., bool]:
    def handed_over(explorer: Explorer, *arguments: object) -> bool:
        return hand_over(explorer, *arguments) and not isinstance(explorer.search, SqueezedSearch)

    return handed_over


def test_liveness_is_checked_as_long_as_squeezed_states_fit(options: Callable[..., CheckOptions]) -> None:
    for goal, stop in (("a[0] = 0", Stop.COMPLETE), ("a[0] > 20", Stop.VIOLATION)):
        native = compiled(WIDE + f'liveness "again" {goal};\n')
        expected = ram.search(native, options())
        found = STRATEGIES["auto"](native, options(state_memory=300_000, threads=2))
        assert told(found, SQUEEZED) and found.stop is stop
        assert comparable(found) == comparable(expected)


@pytest.mark.parametrize("bound", [{"depth": 30}, {"states": 6000}])
def test_bounds_end_it_where_they_end_ram(options: Callable[..., CheckOptions], bound: dict[str, int]) -> None:
    native = compiled(WIDE)
    found = STRATEGIES["auto"](native, options(state_memory=100_000, **bound))
    assert told(found, SQUEEZED)
    assert comparable(found) == comparable(ram.search(native, options(**bound)))


def test_without_a_compiler_it_goes_to_disk(
    options: Callable[..., CheckOptions], monkeypatch: pytest.MonkeyPatch
) -> None:
    native = compiled(WIDE)

    def fail(state_bytes: int) -> Native:
        raise UsageError("the C compiler ran out of memory")

    monkeypatch.setattr(native, "compile_squeezed", fail)
    found = STRATEGIES["auto"](native, options(state_memory=100_000))
    assert not told(found, SQUEEZED) and told(found, SPILLED)
    assert comparable(found) == comparable(ram.search(native, options()))


def test_without_a_compiler_for_wider_states_it_goes_on_as_the_model_packs_them(
    options: Callable[..., CheckOptions], monkeypatch: pytest.MonkeyPatch
) -> None:
    native = compiled(WIDE)
    compile_squeezed = native.compile_squeezed
    assert compile_squeezed is not None

    def compiled_twice(state_bytes: int) -> Native:
        if state_bytes > 4:
            raise UsageError("the C compiler ran out of memory")
        return compile_squeezed(state_bytes)

    monkeypatch.setattr(native, "compile_squeezed", compiled_twice)
    found = STRATEGIES["auto"](native, options(state_memory=20_000), NO_SPARE_PLACES)
    assert 4 in [event.data["before"] for event in told(found, WIDENED)] and told(found, CONTINUED)
    assert comparable(found) == comparable(ram.search(native, options()))


def test_time_goes_on_where_states_become_too_wide(
    options: Callable[..., CheckOptions], monkeypatch: pytest.MonkeyPatch
) -> None:
    native = compiled(WIDE)
    seconds = Watch.seconds
    monkeypatch.setattr(Watch, "seconds", lambda watch: 100.0 + seconds(watch))
    found = STRATEGIES["auto"](native, options(state_memory=20_000), NO_SPARE_PLACES)
    times = sum(event.data.get("from_level", 0) > 0 for event in told(found, WIDENED))
    assert times and 100.0 * (times + 1) <= found.seconds < 100.0 * (times + 2)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_states_that_become_as_wide_as_declared(options: Callable[..., CheckOptions], strategy: str) -> None:
    """They are not squeezed again at the next end of memory, before all of their bits have changed."""
    native = compiled("""
type Count : 0 .. 20;
var a : array [0 .. 2] of Count; late : array [0 .. 399] of boolean;
startstate begin
  for i : 0 .. 2 do a[i] := 0; end;
  for i : 0 .. 399 do late[i] := false; end;
end;
ruleset i : 0 .. 2 do
  rule "up" a[i] < 20 ==> begin
    a[i] := a[i] + 1;
    for j : 0 .. 399 do late[j] := a[0] > 15 & a[1] = j % 20; end;
  end;
end;
""")
    expected = ram.search(native, options())
    for memory in (20_000, 60_000, 150_000, 280_000):
        found = STRATEGIES[strategy](native, options(strategy=strategy, state_memory=memory))
        assert told(found, SQUEEZED) and told(found, WIDENED) and 0 not in restarts(found)
        assert comparable(found) == comparable(expected)


def test_it_is_not_worth_it_for_states_that_use_what_they_declare(options: Callable[..., CheckOptions]) -> None:
    native = compiled("""
type Count : 0 .. 30;
var a : array [0 .. 2] of Count;
startstate begin for i : 0 .. 2 do a[i] := 0; end; end;
ruleset i : 0 .. 2 do rule a[i] < 30 ==> begin a[i] := a[i] + 1; end; end;
""")
    assert not told(STRATEGIES["auto"](native, options(state_memory=20_000)), SQUEEZED)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_checkpoints_hold_states_as_the_model_packs_them(
    options: Callable[..., CheckOptions], strategy: str, tmp_path: Path
) -> None:
    """Any search can then resume from them."""
    native = compiled(VIOLATED)
    native.identity = {"model": "wide"}
    expected = ram.search(native, options())
    for memory in (60_000, 300_000):
        place = str(tmp_path / f"saved-{memory}")
        limits = options(strategy=strategy, state_memory=memory, checkpoint=place, checkpoint_every=0.0, depth=40)
        stopped = STRATEGIES[strategy](native, limits)
        assert stopped.stop is Stop.DEPTH and told(stopped, SQUEEZED)
        for search, more in ((ram.search, {}), (STRATEGIES[strategy], {"state_memory": memory})):
            copy = str(shutil.copytree(place, f"{place}-{bool(more)}"))
            found = search(native, options(resume=copy, **more))
            assert bool(told(found, SQUEEZED)) is bool(more)
            assert found.levels == expected.levels
            assert found.findings == expected.findings and found.fired == expected.fired


@pytest.mark.parametrize("every", [0.0, 600.0])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_states_that_become_too_wide_where_checkpoints_are_kept(
    options: Callable[..., CheckOptions], strategy: str, every: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checkpoint is saved then, if there was none."""
    native = compiled(VIOLATED)
    expected = ram.search(native, options())
    place = str(tmp_path / "saved")
    limits = options(strategy=strategy, state_memory=20_000, checkpoint=place, checkpoint_every=every)
    found = STRATEGIES[strategy](native, limits, NO_SPARE_PLACES)
    levels = restarts(found)
    assert levels and 0 not in levels
    assert [event.data["level"] for event in told(found, RESUMED)] == levels
    assert found.findings == expected.findings
    assert (found.levels, found.fired, found.covered) == (expected.levels, expected.fired, expected.covered)


def test_ranges_of_the_arena_tell_which_bits_change() -> None:
    native = compiled(WIDE)
    with native.search(Settings()) as search:
        search.start()
        search.finish_level()
        search.expand_levels(0, np.zeros(30, dtype=np.uint64), np.zeros(30, dtype=np.uint64), 2**63)
        count = search.standing().level_end
        states = search.read_block(0, count)
        assert (
            squeezing.form_of(search, count, DEFAULT_TUNING).changing
            == np.bitwise_or.reduce(states ^ states[0], axis=0)
        ).all()


def test_a_form_has_places_for_bits_that_change_later() -> None:
    changing = np.array([255, 255, 15, 0], dtype=np.uint8)
    form = form_with(np.zeros(4, dtype=np.uint8), changing, DEFAULT_TUNING)
    assert form.bits == 20 and 8 * form.state_bytes >= 20 + 16

"""The search on a GPU without the GPU: one thread runs its kernels and stands in for all threads."""

from __future__ import annotations

import dataclasses
import functools
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from conftest import Run
from devices import TINY, TINY_TUNING, compare, load_program, program, reduced_program
from expectations import EXAMPLES, TEST_MODELS, expectation
from generator import generate

from outcrop.api import Model, load
from outcrop.explorer.context import Context
from outcrop.gpu import blocks, choose, memory
from outcrop.gpu.choose import search_somewhere
from outcrop.gpu.device import KERNEL, NoDevice, OutOfDeviceMemory, Refused
from outcrop.gpu.search import search
from outcrop.gpu.source import Tuning, translation_unit
from outcrop.gpu.standin import StandIn
from outcrop.lang import load_text
from outcrop.lang.while_limit import LoopOptions
from outcrop.options import CheckOptions, Deadlock, DeviceChoice, LoadOptions
from outcrop.outcome import EventKind, Outcome, Stop
from outcrop.search import ram

pytestmark = pytest.mark.skipif(not (shutil.which("g++") or shutil.which("clang++")), reason="needs a C++ compiler")

_SMALL = [
    path
    for path in (*EXAMPLES, *TEST_MODELS)
    if expectation(path).verdict != "rejected" and path.stem not in ("deep_and_thin", "many_start_states")
]


@pytest.fixture
def device() -> StandIn:
    return StandIn()


def kinds(outcome: Outcome) -> list[EventKind]:
    return [event.kind for event in outcome.events]


@pytest.mark.parametrize("path", _SMALL[::5], ids=lambda path: path.stem)
def test_counts_and_traces_are_those_of_the_processor(path: Path, device: StandIn) -> None:
    made = load_program(path, symmetry=True)
    if made.why_not is None:
        compare(made, device, CheckOptions(strategy="ram"))


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["ram", "compact"])
@pytest.mark.parametrize("symmetry", [True, False])
@pytest.mark.parametrize("path", _SMALL, ids=lambda path: path.stem)
def test_every_small_model(path: Path, device: StandIn, strategy: str, symmetry: bool) -> None:
    made = load_program(path, symmetry=symmetry)
    if made.why_not is None:
        compare(made, device, CheckOptions(strategy=strategy, symmetry=symmetry, max_errors=None))


@pytest.mark.parametrize("name", ["german_cache.pml", "german_cache.m", "print_queue.dve"])
def test_reduced_searches_are_those_of_the_processor(name: str, device: StandIn) -> None:
    made = reduced_program(load(next(path for path in EXAMPLES if path.name == name)), symmetry=True)
    assert made is not None
    outcome = compare(made, device, CheckOptions(strategy="ram", max_errors=None))
    states, reduced, enabled, fired = outcome.covered[-4:]
    assert states == outcome.visited
    assert 0 < reduced < states
    assert fired < enabled


@pytest.mark.parametrize("seed", range(6))
def test_generated_models(seed: int, device: StandIn) -> None:
    _compare_generated(seed, device)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 200))
def test_more_generated_models(seed: int, device: StandIn) -> None:
    _compare_generated(seed, device)


def _compare_generated(seed: int, device: StandIn) -> None:
    random = Random(seed)
    options = LoadOptions(own=(LoopOptions(while_limit=100),))
    system, warnings = load_text(generate(random), "generated.m", options)
    for symmetry in (False, True):
        made = program(Model(system, tuple(warnings), options), symmetry=symmetry)
        if made.why_not is not None:
            continue
        chosen = CheckOptions(
            strategy=random.choice(["ram", "compact"]),
            symmetry=symmetry,
            depth=6,
            max_errors=random.choice([1, None]),
            deadlock=random.choice(list(Deadlock)),
        )
        compare(made, device, chosen)


# --- Memory ------------------------------------------------------------------------------------------------


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    """Returns a model of counters in a ring: 7 ** 4 states, with a violation in the deepest level if asked for."""
    path = tmp_path / "ring.m"
    path.write_text(
        """
        const Worst: 24;
        var a: array [0..3] of 0..6;
        startstate begin for i: 0..3 do a[i] := 0; end; end;
        ruleset i: 0..3 do rule "step" a[i] < 6 ==> begin a[i] := a[i] + 1; end; end;
        rule "again" a[0] = 6 & a[1] = 6 & a[2] = 6 & a[3] = 6 ==> begin for i: 0..3 do a[i] := 0; end; end;
        invariant "sum" a[0] + a[1] + a[2] + a[3] < Worst;
        """
    )
    return path


@pytest.mark.parametrize("strategy", ["ram", "compact"])
def test_tables_and_buffers_grow(ring: Path, device: StandIn, strategy: str) -> None:
    got = compare(load_program(ring, Worst=25), device, CheckOptions(strategy=strategy))
    assert got.states == 7**4
    assert (got.omission_bound > 0) == (strategy == "compact")


def test_old_levels_are_dropped_and_searched_again_for_a_trace(ring: Path, device: StandIn) -> None:
    # The table must reach its full size early, so that memory need not hold two at once.
    sizes = dataclasses.replace(TINY, device_bytes=40_000, first_slots=4096, buffer_bytes=512)
    made = load_program(ring)
    got = compare(made, device, CheckOptions(strategy="compact"), sizes)
    assert got.stop is Stop.VIOLATION
    assert EventKind.RETRACED in kinds(got)


def test_states_that_wait_for_expansion_go_to_host_memory(ring: Path, device: StandIn) -> None:
    sizes = dataclasses.replace(TINY, device_bytes=35_200, first_slots=4096, buffer_bytes=512, host_bytes=1 << 20)
    made = load_program(ring, Worst=25)
    sent: list[tuple[int, int]] = []
    send = blocks.Blocks.send_away

    def watched(which: blocks.Blocks, begin: int, end: int) -> bool:
        done = send(which, begin, end)
        sent.extend([(begin, end)] * done)
        return done

    with patch.object(blocks.Blocks, "send_away", watched):
        compare(made, device, CheckOptions(strategy="compact"), sizes)
    assert sent


def test_signatures_that_do_not_fit_leave_the_answer_unknown(ring: Path, device: StandIn) -> None:
    sizes = dataclasses.replace(TINY, device_bytes=20_000, first_slots=64, buffer_bytes=512, host_bytes=0)
    got = search(load_program(ring), device, CheckOptions(strategy="compact"), sizes=sizes, tuning=TINY_TUNING)
    assert got.stop is Stop.MEMORY
    assert 0 < got.visited < 7**4


@pytest.mark.parametrize(("worst", "host"), [(24, 1 << 20), (25, 1 << 20), (25, 70_000)])
def test_signatures_go_on_in_host_memory(ring: Path, device: StandIn, worst: int, host: int) -> None:
    sizes = dataclasses.replace(TINY, device_bytes=20_000, first_slots=64, buffer_bytes=512, host_bytes=host)
    got = compare(load_program(ring, Worst=worst), device, CheckOptions(strategy="compact"), sizes)
    assert EventKind.SPILLED in kinds(got)
    assert got.omission_bound > 0


def test_buffers_are_made_to_fit_once(ring: Path, device: StandIn) -> None:
    made, make = load_program(ring, Worst=25), memory.Memory._make_buffers
    rooms: list[int] = []

    def watched(which: memory.Memory, room: int) -> None:
        rooms.append(room)
        make(which, room)

    with patch.object(memory.Memory, "_make_buffers", watched):
        compare(made, device, CheckOptions(strategy="ram"), tuning=Tuning(block_shift=8, group=4))
    assert rooms == [16, 4]


def test_less_memory_than_there_seemed_to_be(ring: Path, device: StandIn) -> None:
    """Another process takes the memory that the table was to have."""
    made, zeros = load_program(ring, Worst=25), device.zeros

    def refuses(count: int, kind: type = np.uint64) -> Any:
        if 6_000 < count < 60_000:
            raise OutOfDeviceMemory
        return zeros(count, kind)

    with patch.object(device, "zeros", refuses):
        compare(made, device, CheckOptions(strategy="ram"), dataclasses.replace(TINY, first_slots=1024))


@pytest.mark.parametrize("strategy", ["ram", "compact"])
def test_levels_that_are_too_small_are_left_to_the_processor(tmp_path: Path, device: StandIn, strategy: str) -> None:
    path = tmp_path / "clock.m"
    path.write_text(
        """
        var time: 0..2000;
        startstate begin time := 0; end;
        rule "tick" time < 2000 ==> begin time := time + 1; end;
        invariant "early" time < 1990;
        """
    )
    options = CheckOptions(strategy=strategy, threads=1)
    got = compare(load_program(path), device, options, dataclasses.replace(TINY, first_slots=4096))
    assert {EventKind.SWITCHED, EventKind.CONTINUED} <= set(kinds(got)) and EventKind.DEVICE_FULL not in kinds(got)
    assert (got.omission_bound > 0) == (strategy == "compact")


@pytest.mark.parametrize("worst", [24, 25])
def test_an_exact_search_goes_on_on_the_host(ring: Path, device: StandIn, worst: int) -> None:
    sizes = dataclasses.replace(TINY, device_bytes=30_000, buffer_bytes=512)
    got = compare(load_program(ring, Worst=worst), device, CheckOptions(strategy="auto", threads=1), sizes)
    assert {EventKind.DEVICE_FULL, EventKind.CONTINUED} <= set(kinds(got))


def test_states_with_the_same_hash_are_told_apart(ring: Path, device: StandIn) -> None:
    made = load_program(ring, Worst=12)  # few enough for one row of slots
    with patch.object(memory, "hash_keys", lambda words, seed: np.zeros(2 * words + 2, dtype=np.uint64)):
        compare(made, device, CheckOptions(strategy="ram"), dataclasses.replace(TINY, first_slots=4096))


def test_states_in_memory_and_in_registers_give_the_same(ring: Path, device: StandIn) -> None:
    made = load_program(ring, Worst=25)
    tuning = Tuning(block_shift=8, register_words=0, group=4)
    compare(made, device, CheckOptions(strategy="ram"), tuning=tuning)


def test_all_kernels_are_known(ring: Path, device: StandIn) -> None:
    """A real device asks each kernel how much memory a thread needs."""
    text = translation_unit(load_program(ring).emitted, TINY_TUNING)
    device.load(text)
    names = KERNEL.findall(text)
    assert {"expand", "prepare", "check", "insert_states", "insert_signatures", "insert_lower", "match"} <= set(names)
    assert all(hasattr(device._library, name) for name in names)


def test_limits(ring: Path, device: StandIn) -> None:
    made = load_program(ring, Worst=25)
    for options in (CheckOptions(depth=5), CheckOptions(states=100)):
        got = compare(made, device, dataclasses.replace(options, strategy="ram"))
        assert not got.stop.is_conclusive
    got = search(made, device, CheckOptions(strategy="ram", time_limit=1e-9), sizes=TINY, tuning=TINY_TUNING)
    assert got.stop is Stop.TIME


# --- Choice of the device ----------------------------------------------------------------------------------


def _why_not(path: Path, prints: bool = False) -> str:
    """Returns why a model cannot run on a GPU."""
    reason = load_program(path, prints=prints).why_not
    assert reason is not None
    return reason


def _somewhere(path: Path, options: CheckOptions, device: StandIn, prints: bool = False) -> Outcome:
    made = load_program(path, prints=prints)

    def on_host(options: CheckOptions) -> Outcome:
        return ram.search(made.native, options)

    return search_somewhere(made, options, Context(), on_host, lambda: device)


def test_a_small_model_is_not_worth_a_device(ring: Path, device: StandIn) -> None:
    assert _somewhere(ring, CheckOptions(), device).device == ""


def test_a_model_that_takes_long_is(ring: Path, device: StandIn) -> None:
    made = load_program(ring)

    def slow_host(options: CheckOptions) -> Outcome:
        assert options.time_limit == choose.WORTH_SECONDS
        return dataclasses.replace(ram.search(made.native, options), stop=Stop.TIME)

    got = search_somewhere(made, CheckOptions(), Context(), slow_host, lambda: device)
    assert got.device == "stand-in"
    assert (got.stop, got.levels) == (Stop.VIOLATION, ram.search(made.native, CheckOptions()).levels)
    assert kinds(got)[:2] == [EventKind.SWITCHED, EventKind.DEVICE]


def test_a_model_that_cannot_run_there_says_why(repository: Path, device: StandIn) -> None:
    path = repository / "tests/models/liveness_holds.m"
    got = _somewhere(path, CheckOptions(device=DeviceChoice.GPU), device)
    assert got.device == "" and kinds(got) == [EventKind.SWITCHED]
    assert _why_not(path) in got.events[0].text


def test_a_model_that_would_print_runs_there_and_stays_silent(tmp_path: Path, device: StandIn) -> None:
    """With --print it is searched on the processor instead."""
    path = tmp_path / "chatty.m"
    path.write_text("var x: 0..9; startstate x := 0; end; rule x < 9 ==> put x; put 9 / (9 - x); x := x + 1; end;")
    made = load_program(path)
    assert made.why_not is None
    compare(made, device, CheckOptions(strategy="ram"))
    path.write_text(path.read_text().replace("(9 - x)", "(5 - x)"))
    assert compare(load_program(path), device, CheckOptions(strategy="ram")).stop is Stop.VIOLATION
    got = _somewhere(path, CheckOptions(device=DeviceChoice.GPU), device, prints=True)
    assert kinds(got)[0] is EventKind.SWITCHED
    assert _why_not(path, prints=True) in got.events[0].text


def test_a_formula_is_checked_on_the_processor_and_says_so(ring: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "search_somewhere", functools.partial(search_somewhere, open_device=StandIn))
    result = load(ring, ltl="F G {true}").check(device="gpu", strategy="owcty", max_errors=None)
    assert result.device == "" and result.events[0].kind is EventKind.SWITCHED


def test_a_model_that_would_take_minutes_to_compile_says_so(ring: Path, device: StandIn) -> None:
    with patch("outcrop.gpu.source.MOST_LINES", 10):
        got = _somewhere(ring, CheckOptions(device=DeviceChoice.GPU), device)
        assert _why_not(ring) in got.events[0].text
    assert got.device == "" and kinds(got)[0] is EventKind.SWITCHED


def test_a_device_that_fails_leaves_the_search_to_the_processor(ring: Path, device: StandIn) -> None:
    device.failures = (ZeroDivisionError,)
    with patch.object(device, "launch", side_effect=ZeroDivisionError("no current")):
        got = _somewhere(ring, CheckOptions(device=DeviceChoice.GPU), device)
    assert got.device == ""
    assert got.visited > 1000
    assert kinds(got)[0] is EventKind.SWITCHED and "no current" in got.events[0].text


def test_a_compiler_that_refuses_leaves_the_search_to_the_processor(ring: Path, device: StandIn) -> None:
    with patch.object(device, "load", side_effect=Refused("no such intrinsic")):
        got = _somewhere(ring, CheckOptions(device=DeviceChoice.GPU), device)
    assert got.stop is Stop.VIOLATION
    assert kinds(got)[0] is EventKind.SWITCHED and "no such intrinsic" in got.events[0].text


@pytest.mark.parametrize("memory", [10_000, 1_000_000])
@pytest.mark.parametrize("strategy", ["auto", "compact"])
def test_any_amount_of_memory_will_do(ring: Path, device: StandIn, memory: int, strategy: str) -> None:
    options = CheckOptions(device=DeviceChoice.GPU, strategy=strategy, device_memory=memory, threads=1)
    got = _somewhere(ring, options, device)
    expected = ram.search(load_program(ring).native, CheckOptions())
    assert (got.stop, got.levels, got.fired, got.findings) == (
        expected.stop,
        expected.levels,
        expected.fired,
        expected.findings,
    )


def test_a_device_with_no_memory_leaves_the_search_to_the_processor(ring: Path, device: StandIn) -> None:
    got = _somewhere(ring, CheckOptions(device=DeviceChoice.GPU, device_memory=100), device)
    assert got.device == ""
    assert kinds(got)[0] is EventKind.SWITCHED


def test_a_strategy_that_is_not_there_says_so(ring: Path, device: StandIn) -> None:
    got = _somewhere(ring, CheckOptions(device=DeviceChoice.GPU, strategy="cached"), device)
    assert got.device == "" and kinds(got)[0] is EventKind.SWITCHED


def test_without_cupy_the_message_says_so(ring: Path, cli: Callable[..., Run]) -> None:
    with patch.dict("sys.modules", {"cupy": None}):
        run = cli("check", ring, "--device", "gpu")
    assert run.code == NoDevice.exit_code
    assert "needs CuPy, which is not installed" in run.err


def test_a_device_is_never_used_where_that_is_forbidden(ring: Path, cli: Callable[..., Run]) -> None:
    with patch("outcrop.gpu.device.is_there", side_effect=AssertionError):
        assert cli("check", ring, "--device", "cpu", "-D", "Worst=25").code == 0

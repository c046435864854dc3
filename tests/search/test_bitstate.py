"""Bitstate hashing: violations are real, and a search without any never says *holds*."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from native_models import compiled
from test_auto import GRID, VIOLATED

import outcrop
from outcrop.kernels import Settings
from outcrop.kernels.bitstate import BitSet
from outcrop.options import CheckOptions
from outcrop.outcome import Stop
from outcrop.search import bitstate, ram


def options(tmp_path: Path, **changes: object) -> CheckOptions:
    return CheckOptions(**{"strategy": "bitstate", "deadlock": "off", "workdir": str(tmp_path), **changes})


@pytest.mark.parametrize("threads", [1, 2])
def test_with_enough_memory_it_visits_what_ram_does(threads: int, tmp_path: Path) -> None:
    native = compiled(GRID, kernels=("bitstate.c",))
    expected = ram.search(native, options(tmp_path))
    found = bitstate.search(native, options(tmp_path, threads=threads))
    assert found.stop is Stop.COVERAGE
    assert (found.levels, found.fired) == (expected.levels, expected.fired)
    assert found.signature_coverage == pytest.approx(1.0)


@pytest.mark.parametrize("functions", [1, 3])
def test_with_little_memory_the_count_is_a_lower_bound(functions: int, tmp_path: Path) -> None:
    native = compiled(GRID, kernels=("bitstate.c",))
    everything = sum(ram.search(native, options(tmp_path)).levels)
    found = bitstate.search(native, options(tmp_path, threads=1, state_memory=3_000, hash_functions=functions))
    assert found.stop is Stop.COVERAGE
    assert found.visited < everything
    assert found.signature_coverage is not None and found.signature_coverage < 0.99


@pytest.mark.parametrize("functions", [1, 3])
def test_coverage_is_about_the_part_that_was_visited(functions: int, tmp_path: Path) -> None:
    native = compiled(GRID, kernels=("bitstate.c",))
    everything = sum(ram.search(native, options(tmp_path)).levels)
    found = bitstate.search(native, options(tmp_path, threads=1, state_memory=6_000, hash_functions=functions))
    assert found.signature_coverage == pytest.approx(found.visited / everything, abs=0.01)


def test_workers_that_meet_a_state_at_once_take_it_for_new_once() -> None:
    native, workers = compiled(GRID, kernels=("bitstate.c",)), 4
    states = np.random.default_rng(1).integers(0, 256, (20_000, native.state_bytes), dtype=np.uint8)
    new, ready = [0] * workers, threading.Barrier(workers)
    with native.search(Settings(workers=workers, seed=1)) as search, closing(BitSet(search, 1 << 26, 64)):

        def insert(worker: int) -> None:
            ready.wait()
            new[worker] = int(search.insert_block(worker, states).sum())

        threads = [threading.Thread(target=insert, args=(worker,)) for worker in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(new) == search.finish_level() == len(states)


def test_traces_are_those_of_ram(tmp_path: Path) -> None:
    native = compiled(VIOLATED, kernels=("bitstate.c",))
    expected = ram.search(native, options(tmp_path))
    found = bitstate.search(native, options(tmp_path, threads=2))
    assert found.stop is Stop.VIOLATION
    assert found.findings == expected.findings


def test_the_verdict_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "grid.m"
    path.write_text(GRID)
    result = outcrop.load(path).check(strategy="bitstate", deadlock="off", workdir=str(tmp_path))
    assert (result.verdict, result.kind) == (outcrop.Verdict.UNKNOWN, str(Stop.COVERAGE))
    assert "coverage" in result.guarantee


def test_it_refuses_what_it_cannot_do(tmp_path: Path) -> None:
    path = tmp_path / "grid.m"
    path.write_text(GRID)
    with pytest.raises(outcrop.UsageError, match="writes no checkpoints"):
        outcrop.load(path).check(strategy="bitstate", checkpoint=str(tmp_path / "saved"))


def test_coverage_of_rules_is_counted_too(tmp_path: Path) -> None:
    """Counting coverage compiles the model with all kernels."""
    path = tmp_path / "grid.m"
    path.write_text(GRID)
    result = outcrop.load(path).check(strategy="bitstate", deadlock="off", workdir=str(tmp_path), coverage=True)
    assert result.kind == str(Stop.COVERAGE)

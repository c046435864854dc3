"""The layered search, with so little memory that it must go to disk, against the search in RAM."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest
from test_auto import CHAIN, GRID, MODELS, STARTS, VIOLATED, compiled, native_of, spilled

from outcrop.errors import ModelError
from outcrop.options import CheckOptions
from outcrop.search import layered, ram
from outcrop.search.outcome import Outcome, Stop

#: Fig. 2 of Della Penna et al. (2004): from x one may go anywhere up to x + 1.
NON_LOCAL = """
const n : 1000;
type state : 1 .. n;
var x : state;
startstate x := 1; end;
ruleset i : state do rule "go" x >= i - 1 ==> begin x := i; end; end;
invariant true;
"""
LAYERS = ("all", 1, 3, "auto")


def comparable(outcome: Outcome) -> Outcome:
    return dataclasses.replace(outcome, seconds=0.0, peak_disk_bytes=0, events=[])


@pytest.fixture
def options(tmp_path: Path) -> Callable[..., CheckOptions]:
    def make(**changes: object) -> CheckOptions:
        chosen = {"symmetry": False, "threads": 1, "deadlock": "off", "state_memory": 1, "workdir": str(tmp_path)}
        return CheckOptions(strategy="layered", **{**chosen, **changes})

    return make


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("layers", LAYERS)
def test_same_outcome_as_in_ram(options: Callable[..., CheckOptions], layers: int | str, threads: int) -> None:
    for model, memories in ((GRID, (9_000, 30_000)), (STARTS, (1,)), (VIOLATED, (20_000,))):
        native = compiled(model)
        expected = ram.search(native, options(state_memory=None))
        for memory in memories:
            found = layered.search(native, options(state_memory=memory, threads=threads, layers=layers))
            assert spilled(found)
            assert comparable(found) == comparable(expected)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_corpus(path: Path, options: Callable[..., CheckOptions]) -> None:
    try:
        native = native_of(path)
    except ModelError:
        pytest.skip("no model")
    if native.liveness_count:
        pytest.skip("liveness is not checked past RAM")
    for max_errors, threads, layers in ((1, 1, 2), (None, 2, "auto")):
        changes = {"max_errors": max_errors, "deadlock": "stuttering"}
        expected = comparable(ram.search(native, options(state_memory=None, **changes)))
        found = layered.search(native, options(threads=threads, layers=layers, state_memory=30_000, **changes))
        assert comparable(found) == expected


@pytest.mark.parametrize("threads", [1, 2])
def test_states_with_the_same_hash_are_told_apart(options: Callable[..., CheckOptions], threads: int) -> None:
    native = compiled(GRID)
    expected = ram.search(native, options(state_memory=None))
    for layers in ("all", 3):
        found = layered.search(native, options(threads=threads, state_memory=20_000, layers=layers), weak_hash=True)
        assert spilled(found)
        assert comparable(found) == comparable(expected)


def test_one_state_a_level(options: Callable[..., CheckOptions]) -> None:
    native = compiled(CHAIN)
    found = layered.search(native, options(threads=2, layers=3))
    assert spilled(found)
    assert found.levels == [1] * 3000


@pytest.mark.parametrize("layers", [1, "auto"])
def test_non_local_system(options: Callable[..., CheckOptions], layers: int | str) -> None:
    found = layered.search(compiled(NON_LOCAL), options(layers=layers, state_memory=7_000))
    assert spilled(found)
    assert (found.stop, found.states, found.levels) == (Stop.COMPLETE, 1000, [1] * 1000)

"""Compressed visited states: trees and quotient tables agree with states kept in full."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from threading import Barrier, Thread

import numpy as np
import pytest
from native_models import compiled as compiled_model

import outcrop
from outcrop.explorer.tuning import tuned
from outcrop.kernels import Settings, StopReason
from outcrop.kernels.compressed import CompressedSearch
from outcrop.kernels.tree_shape import best_shape, pairs_shape
from outcrop.outcome import EventKind

_MODELS = Path(__file__).parent.parent / "models"

#: Counters that walk independently: 6^5 states whose bytes are many, and some of them never written.
_WIDE = """
type Value: 0..5;
     Cell: record used: Value; spare: 0..1000000; more: 0..1000000 end;
var cells: array [0..4] of Cell;
startstate for i: 0..4 do cells[i].used := 0; cells[i].spare := i; cells[i].more := 0 end end;
ruleset i: 0..4 do
  rule "up" cells[i].used < 5 ==> cells[i].used := cells[i].used + 1; cells[i].more := 1000 * cells[i].used end;
  rule "down" cells[i].used > 0 ==> cells[i].used := cells[i].used - 1; cells[i].more := 1000 * cells[i].used end;
end;
invariant "below" cells[0].used + cells[1].used + cells[2].used + cells[3].used + cells[4].used < LIMIT;
"""
_STATES = 6**5


def _wide(limit: int = 100) -> str:
    return _WIDE.replace("LIMIT", str(limit))


#: The same states in 14 bytes, which a key of a quotient table has room for.
_NARROW = _wide().replace("spare: 0..1000000; more: 0..1000000", "spare: 0..7; more: 0..10000")


def _search_all(search: CompressedSearch) -> list[int]:
    """Returns the sizes of all levels."""
    search.start()
    levels = [search.finish_level()]
    sizes, generated = np.zeros(64, dtype=np.uint64), np.zeros(64, dtype=np.uint64)
    while levels[-1] and not search.is_stopping():
        counts: list[int] = []

        def work(worker: int, counts: list[int] = counts) -> None:
            counts.append(search.expand_levels(worker, sizes, generated, 2**63))

        threads = [Thread(target=partial(work, worker)) for worker in range(search.workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        levels += sizes[: counts[0]].tolist()
    return levels


def _expected_levels(cells: int = 5) -> list[int]:
    levels = np.array([1])
    for _ in range(cells):
        levels = np.convolve(levels, np.ones(6, dtype=np.int64))
    return [*levels.tolist(), 0]


@pytest.mark.parametrize("is_tree", [True, False])
@pytest.mark.parametrize("name", ["scalarset_orbits", "deep_and_thin", "many_successors"])
def test_results_are_those_of_ram(name: str, is_tree: bool) -> None:
    model = outcrop.load(_MODELS / f"{name}.m")
    expected = model.check(strategy="ram", compress="off")
    for threads in (1, 2):
        result = model.check(strategy="ram", compress="tree" if is_tree else "quotient", threads=threads)
        assert (result.verdict, result.states, result.rules_fired) == (
            expected.verdict,
            expected.states,
            expected.rules_fired,
        )
        assert result.levels == expected.levels
        assert result.compression is not None and expected.compression is None


@pytest.mark.parametrize("compress", ["tree", "quotient"])
@pytest.mark.parametrize("threads", [1, 2])
def test_trace_is_that_of_ram(compress: str, threads: int, tmp_path: Path) -> None:
    path = tmp_path / "wide.m"
    path.write_text(_wide(limit=11))
    model = outcrop.load(path)
    expected = model.check(strategy="ram", compress="off")
    result = model.check(strategy="ram", compress=compress, threads=threads)
    assert result.verdict == expected.verdict == "violated"
    assert result.to_dict()["trace"] == expected.to_dict()["trace"]


def test_liveness_is_that_of_ram() -> None:
    for name in ("liveness_violated", "liveness_holds"):
        model = outcrop.load(_MODELS / f"{name}.m")
        expected, result = (model.check(strategy="ram", compress=each) for each in ("off", "tree"))
        assert (result.verdict, result.kind, result.states) == (expected.verdict, expected.kind, expected.states)


@pytest.mark.parametrize("workers", [1, 2])
def test_tables_that_grow_all_the_time(workers: int) -> None:
    """From tables of a few lines on, every table grows many times, and keeps every key."""
    native = compiled_model(_wide())
    assert native.compile_compressed is not None
    small = native.compile_compressed(True)
    with CompressedSearch(small, Settings(workers=workers, first_lines=1, budget=64 << 20)) as search:
        assert _search_all(search) == _expected_levels()
        states = search.packed_form(search.read_block(0, _STATES))
        assert len(np.unique(states, axis=0)) == _STATES
        assert (search.packed_form(search.kept_form(states)) == states).all()


def test_nodes_with_the_same_hash_are_different_nodes() -> None:
    """With a weak hash, nodes collide all the time, and keys crowd into a few lines, which makes tables grow early."""
    small = compiled_model(_wide()).compile_compressed
    assert small is not None
    taken = []
    for weak, workers in ((False, 1), (True, 1), (True, 2)):
        settings = Settings(workers=workers, first_lines=1, budget=64 << 20, weak_hash=weak)
        with CompressedSearch(small(True), settings) as search:
            assert _search_all(search) == _expected_levels()
            states = search.packed_form(search.read_block(0, _STATES))
            assert len(np.unique(states, axis=0)) == _STATES
            assert (search.packed_form(search.kept_form(states)) == states).all()
            taken.append(search.memory().root_bytes)
    assert taken[0] < min(taken[1:])


@pytest.mark.parametrize("is_tree", [True, False])
def test_two_threads_enter_the_same_states(is_tree: bool) -> None:
    """Each state is new to one of them only."""
    compile_compressed = compiled_model(_NARROW).compile_compressed
    assert compile_compressed is not None
    small = compile_compressed(is_tree)
    with CompressedSearch(small, Settings(budget=64 << 20)) as search:
        _search_all(search)
        states = search.packed_form(search.read_block(0, _STATES)).copy()
    for seed in range(150):
        counts, begin = [0, 0], Barrier(2)
        with CompressedSearch(small, Settings(workers=2, first_lines=1, budget=64 << 20, seed=seed)) as search:

            def work(worker: int, search: CompressedSearch, counts: list[int], begin: Barrier) -> None:
                begin.wait()
                counts[worker] = int(search.insert_packed(worker, states).sum())

            threads = [Thread(target=work, args=(worker, search, counts, begin)) for worker in (0, 1)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert sum(counts) == _STATES


@pytest.mark.parametrize("workers", [1, 2])
def test_tables_of_any_number_of_lines(workers: int) -> None:
    """Small tables double. Large ones, and those that memory limits, have numbers of lines that are no power of two."""
    compile_compressed = compiled_model(_NARROW).compile_compressed
    assert compile_compressed is not None
    small, lines = compile_compressed(False), []
    for budget in range(280_000, 400_000, 20_000):
        with CompressedSearch(small, Settings(workers=workers, first_lines=1, budget=budget)) as search:
            levels = _search_all(search)
            assert levels[:-1] == _expected_levels()[: len(levels) - 1]
            if search.standing().stop is StopReason.NONE:
                assert sum(levels) == _STATES
                lines.append(search.memory().root_bytes // 64)
    assert any(each & (each - 1) for each in lines)


@pytest.mark.parametrize("workers", [1, 2])
def test_keys_too_far_from_home_are_no_verdict(workers: int) -> None:
    """Where even a larger table has no room near the home of a key, memory counts as used up."""
    native = compiled_model(_NARROW)
    assert native.compile_compressed is not None
    settings = Settings(workers=workers, first_lines=1, budget=64 << 20, weak_hash=True)
    with CompressedSearch(native.compile_compressed(False), settings) as search:
        levels = _search_all(search)
        assert search.standing().stop is StopReason.MEMORY
        assert levels[:-1] == _expected_levels()[: len(levels) - 1]


def test_weak_hashes_change_no_result(tmp_path: Path) -> None:
    path = tmp_path / "wide.m"
    path.write_text(_wide(limit=20))
    model = outcrop.load(path)
    expected = model.check(strategy="ram", compress="off")
    with tuned(weak_hash=True, first_lines=1):
        for threads in (1, 2):
            result = model.check(strategy="ram", compress="tree", threads=threads)
            assert (result.verdict, result.levels) == (expected.verdict, expected.levels)
            assert result.to_dict()["trace"] == expected.to_dict()["trace"]


@pytest.mark.parametrize("times", [50, pytest.param(1000, marks=pytest.mark.slow)])
def test_two_threads_many_times(times: int) -> None:
    native = compiled_model(_wide().replace("0..4", "0..2"))
    assert native.compile_compressed is not None
    small = native.compile_compressed(True)
    for seed in range(times):
        with CompressedSearch(small, Settings(workers=2, first_lines=1, budget=16 << 20, seed=seed)) as search:
            assert sum(_search_all(search)) == 6**3


def test_any_shape_keeps_every_state() -> None:
    """Shapes change memory, not states: leaves of all sizes, halves that are leaves, chains."""
    native = compiled_model(_wide())
    assert native.compile_compressed is not None
    small = native.compile_compressed(True)
    with CompressedSearch(small, Settings(budget=64 << 20)) as search:
        _search_all(search)
        states = search.packed_form(search.read_block(0, _STATES))
    shapes = [pairs_shape(native.model_bytes), best_shape(states, _STATES), best_shape(states[:50], 10**9)]
    nodes = []
    for shape in shapes:
        assert shape.leaf_bytes.sum() == native.model_bytes
        with CompressedSearch(small, Settings(budget=64 << 20), shape) as search:
            assert _search_all(search) == _expected_levels()
            nodes.append(search.memory().nodes)
    assert nodes[1] <= nodes[0]


def test_end_of_memory_is_no_verdict(tmp_path: Path) -> None:
    """Where memory ends, the block that was being expanded counts as not expanded, and nothing is claimed."""
    native = compiled_model(_wide())
    assert native.compile_compressed is not None
    small = native.compile_compressed(True)
    for budget in (1 << 15, 1 << 16, 3 << 15):
        with CompressedSearch(small, Settings(first_lines=1, budget=budget)) as search:
            levels = _search_all(search)
            assert search.standing().stop is StopReason.MEMORY
            assert sum(levels) < _STATES


def test_quotient_table_of_narrow_states() -> None:
    """States of up to 128 bits are keys themselves: the permutation of a key and its slot give it back."""
    native = compiled_model(_NARROW)
    assert 8 < native.model_bytes <= 16 and native.compile_compressed is not None
    small = native.compile_compressed(False)
    for workers in (1, 2):
        with CompressedSearch(small, Settings(workers=workers, first_lines=1, budget=64 << 20)) as search:
            assert _search_all(search) == _expected_levels()


def _check_with_little(tmp_path: Path, cells: int, **options: object) -> outcrop.Result:
    """Checks a model of 6^cells states with a megabyte for them, which is more than they take in full."""
    path = tmp_path / "wide.m"
    terms = " + ".join(f"cells[{i}].used" for i in range(cells))
    path.write_text(f"{_wide().split('invariant')[0].replace('0..4', f'0..{cells - 1}')}invariant {terms} < 100;")
    with tuned(least_compressed=500, least_compressed_bytes=1, seconds_to_compile=60.0, least_states=1 << 30):
        return outcrop.load(path).check(
            strategy="auto", state_memory=1 << 20, workdir=str(tmp_path / "work"), **options
        )


@pytest.mark.parametrize("threads", [1, 2])
def test_goes_over_in_the_middle_of_a_level(tmp_path: Path, threads: int) -> None:
    result = _check_with_little(tmp_path, 6 if threads == 1 else 7, threads=threads, depth=22)
    expected = _expected_levels(6 if threads == 1 else 7)[:23]
    assert result.levels == expected
    event = next(event for event in result.events if event.kind == EventKind.COMPRESSED)
    assert event.data["after"] < event.data["before"]


def test_goes_to_disk_when_compressed_states_are_too_many(tmp_path: Path) -> None:
    """The snapshot of the last complete level is taken up by a search that goes to disk."""
    result = _check_with_little(tmp_path, 7, threads=1)
    assert result.levels == _expected_levels(7)[:-1]
    kinds = [event.kind for event in result.events]
    assert kinds.count(EventKind.COMPRESSED) == 2
    assert kinds.index(EventKind.COMPRESSED) < kinds.index(EventKind.CONTINUED)
    assert EventKind.SPILLED in kinds


def test_off_never_compresses(tmp_path: Path) -> None:
    result = _check_with_little(tmp_path, 6, threads=1, compress="off")
    assert result.states == 6**6
    assert EventKind.COMPRESSED not in [event.kind for event in result.events]


def test_checkpoint_of_a_compressed_search(tmp_path: Path) -> None:
    path = tmp_path / "wide.m"
    path.write_text(_wide())
    model = outcrop.load(path)
    place = str(tmp_path / "checkpoint")
    first = model.check(strategy="ram", compress="tree", depth=8, checkpoint=place)
    assert first.verdict == "unknown"
    for compress in ("off", "quotient"):
        copy = tmp_path / compress
        _copy(Path(place), copy)
        result = model.check(strategy="ram", compress=compress, resume=str(copy))
        assert (result.verdict, result.levels) == ("holds", _expected_levels()[:-1])


def _copy(source: Path, goal: Path) -> None:
    goal.mkdir()
    for each in source.iterdir():
        (goal / each.name).write_bytes(each.read_bytes())


@pytest.mark.parametrize("options", [{"strategy": "layered"}, {"strategy": "compact"}, {"engine": "interpreter"}])
def test_refused_where_states_are_not_compressed(options: dict[str, str]) -> None:
    model = outcrop.load(_MODELS / "deep_and_thin.m")
    with pytest.raises(outcrop.UsageError, match="--compress"):
        model.check(compress="tree", **{"strategy": "ram", **options})


#: Formulas by their verdict.
_FORMULAS = {"holds": "G F {cells[0].used < 9}", "violated": "G F {cells[0].used = 0}"}


@pytest.mark.parametrize("verdict", _FORMULAS)
@pytest.mark.parametrize("threads", [1, 2])
def test_cycles_are_those_of_full_states(tmp_path: Path, verdict: str, threads: int) -> None:
    path = tmp_path / "wide.m"
    path.write_text(_wide().split("invariant")[0])
    model = outcrop.load(path, ltl=[_FORMULAS[verdict]])
    with tuned(first_lines=1):
        results = [
            model.check(strategy="owcty", compress=compress, threads=threads, state_memory=memory)
            for compress, memory in (("off", None), ("tree", None), ("auto", 250_000))
        ]
    for result in results:
        assert result.verdict == verdict
        assert result.levels == results[0].levels
        assert result.to_dict()["trace"] == results[0].to_dict()["trace"]
    told = [any(event.kind == EventKind.COMPRESSED for event in result.events) for result in results]
    assert told == [False, False, verdict == "holds"]


def test_refused_for_signatures_of_products() -> None:
    model = outcrop.load(_MODELS / "deep_and_thin.m", ltl=["G {true}"])
    with pytest.raises(outcrop.UsageError, match="--compress"):
        model.check(strategy="owcty", compact=True, compress="tree")

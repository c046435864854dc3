"""The strategy layered, with so little memory that it goes to disk, compared with the search in RAM."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from test_auto import CHAIN, GRID, MODELS, STARTS, VIOLATED, WEAK_HASH, compiled, native_of, spilled

from outcrop.errors import DamagedFile, ModelError, UsageError
from outcrop.kernels.spill import SLICES, TAG_BYTES, index_bytes
from outcrop.options import CheckOptions
from outcrop.outcome import EventKind, Outcome, Stop
from outcrop.report.layers import layers_document
from outcrop.search import layered, ram
from outcrop.store.layers import Group, LayerFiles

#: Fig. 2 of Della Penna et al. (2004): from x a transition leads to every state up to x + 1.
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


# Half of the models; test_past_ram.py has the others.
@pytest.mark.parametrize("path", [each for each in MODELS if len(each.stem) % 2], ids=lambda path: path.stem)
def test_corpus(path: Path, options: Callable[..., CheckOptions]) -> None:
    try:
        native = native_of(path)
    except ModelError:
        pytest.skip("no model")
    if native.liveness_count:
        pytest.skip("liveness is not checked past RAM")
    for max_errors, threads, layers in ((1, 1, 2), (None, 2, "auto")):
        changes = {"max_errors": max_errors, "deadlock": "stuttering", "depth": 150}
        expected = comparable(ram.search(native, options(state_memory=None, **changes)))
        found = layered.search(native, options(threads=threads, layers=layers, state_memory=30_000, **changes))
        assert comparable(found) == expected


@pytest.mark.parametrize("threads", [1, 2])
def test_states_with_the_same_hash_are_told_apart(options: Callable[..., CheckOptions], threads: int) -> None:
    native = compiled(GRID)
    expected = ram.search(native, options(state_memory=None))
    for layers in ("all", 3):
        found = layered.search(native, options(threads=threads, state_memory=20_000, layers=layers), WEAK_HASH)
        assert spilled(found)
        assert comparable(found) == comparable(expected)


def test_one_state_a_level(options: Callable[..., CheckOptions]) -> None:
    native = compiled(CHAIN)
    found = layered.search(native, options(threads=2, layers=3))
    assert spilled(found)
    assert found.levels == [1] * 3000


def test_a_step_from_a_state_to_itself_makes_no_candidate(options: Callable[..., CheckOptions]) -> None:
    """RAM no longer holds the state by then, because layers are larger than RAM."""
    model = """
var a, b : 0 .. 9999;
startstate begin a := 0; b := 0; end;
ruleset i : 1 .. 9999 do rule a = 0 ==> begin a := i; end; end;
rule a > 0 & b = 0 ==> begin b := a; end;
rule b > 0 ==> begin b := b; end;
rule b > 0 ==> begin a := a; end;
"""
    found = layered.search(compiled(model), options(state_memory=30_000))
    assert spilled(found)
    assert found.levels == [1, 9999, 9999]
    document = layers_document(found.layers, found.generated)
    assert document is not None
    assert (document["duplicates_ram"], document["duplicates_delayed"]) == (2 * 9999, 0)


@pytest.mark.parametrize("layers", [1, "auto"])
def test_non_local_system(options: Callable[..., CheckOptions], layers: int | str) -> None:
    found = layered.search(compiled(NON_LOCAL), options(layers=layers, state_memory=7_000))
    assert spilled(found)
    assert (found.stop, found.states, found.levels) == (Stop.COMPLETE, 1000, [1] * 1000)


# --- Deleted layers ---------------------------------------------------------------------------------------------


def test_without_layers_a_search_may_go_round(options: Callable[..., CheckOptions]) -> None:
    """A ring of 600 states is longer than RAM and 20 layers can tell, but not longer than RAM and 100 layers."""
    ring = "var x : 0 .. 599;\nstartstate x := 0; end;\nrule true ==> begin x := (x + 1) % 600; end;\n"
    assert layered.search(compiled(ring), options(layers=100, forget=True)).stop is Stop.COMPLETE
    found = layered.search(compiled(ring), options(layers=20, forget=True))
    assert found.stop is Stop.REDUNDANT
    assert (found.states, found.revisits) == (None, True)
    assert found.visited > 1200
    assert found.layers is not None and found.layers.states_estimate is not None
    assert abs(found.layers.states_estimate - 600) < 30
    assert found.events[-1].kind is EventKind.GAVE_UP
    for layers in (100, "auto"):
        assert layered.search(compiled(ring), options(layers=layers)).states == 600


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("layers", [1, 5, "auto"])
def test_traces_are_found_again(options: Callable[..., CheckOptions], layers: int | str, threads: int) -> None:
    for max_errors in (1, 5):
        native = compiled(VIOLATED)
        expected = ram.search(native, options(state_memory=None, max_errors=max_errors))
        found = layered.search(
            native,
            options(layers=layers, forget=True, threads=threads, max_errors=max_errors, state_memory=20_000),
        )
        assert spilled(found)
        assert found.findings == expected.findings


#: Layers of 20 and of 400 states in turn: RAM is full in the middle of a large one. The last states are deadlocks.
UNEVEN = """
const LAST: 11;
var level: 0 .. LAST; at: 0 .. 399; wide: array [0 .. 20] of 0 .. 1000000;
function size(n: 0 .. LAST + 1): 0 .. 400;
begin
  switch n case 0: return 1; case LAST + 1: return 0; else if n % 3 = 0 then return 400; else return 20; end; end;
end;
startstate begin level := 0; at := 0; clear wide; end;
ruleset next: 0 .. 399 do
  rule next < size(level + 1) & (next % size(level) = at | next = at % size(level + 1)) ==>
  begin at := next; level := level + 1; end;
end;
"""


@pytest.mark.parametrize(("layers", "memory"), [(1, 40_000), (3, 22_000)])
def test_traces_through_a_layer_of_which_part_is_deleted(
    options: Callable[..., CheckOptions], layers: int, memory: int
) -> None:
    native, changes = compiled(UNEVEN), {"deadlock": "stuck", "max_errors": None}
    expected = ram.search(native, options(state_memory=None, **changes))
    assert len(expected.findings) == 20
    found = layered.search(native, options(layers=layers, forget=True, state_memory=memory, **changes))
    assert found.revisits
    assert found.findings == expected.findings


def test_a_trace_through_many_layers(options: Callable[..., CheckOptions]) -> None:
    native = compiled(CHAIN.replace("2999", "999") + "invariant x < 999;\n")
    expected = ram.search(native, options(state_memory=None))
    found = layered.search(native, options(layers=7, forget=True))
    assert found.revisits
    assert found.findings == expected.findings


@pytest.mark.parametrize("layers", ["all", 3])
@pytest.mark.parametrize("window", [(1, 1 << 24), (1 << 22, 1), (1 << 12, 1 << 14), (1 << 22, 1 << 24)])
def test_layers_are_read_one_by_one_or_several_together(
    options: Callable[..., CheckOptions], layers: int | str, window: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("outcrop.store.layers._WINDOW_BYTES", window[0])
    monkeypatch.setattr("outcrop.store.layers._MOST_WINDOW_BYTES", window[1])
    native = compiled(VIOLATED)
    expected = ram.search(native, options(state_memory=None, max_errors=20))
    found = layered.search(native, options(layers=layers, max_errors=20, state_memory=20_000))
    assert spilled(found) and found.findings == expected.findings


def test_predecessors_are_of_the_layer_before(
    options: Callable[..., CheckOptions], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some states have predecessors in their own layer too."""
    monkeypatch.setattr("outcrop.store.layers._WINDOW_BYTES", 1)
    native = compiled("""
var y : 0 .. 60; x : 0 .. 60;
startstate begin x := 0; y := 60; end;
rule x < 60 ==> begin x := x + 1; end;
ruleset k : 0 .. 60 do rule y != k ==> begin y := k; end; end;
invariant x < 50 | y != 30;
""")
    expected = ram.search(native, options(state_memory=None))
    found = layered.search(native, options(state_memory=5_000))
    assert spilled(found) and found.findings == expected.findings


def test_what_is_forgotten_saves_disk(options: Callable[..., CheckOptions]) -> None:
    native = compiled(GRID)
    disk = {
        (layers, forget): layered.search(native, options(layers=layers, forget=forget, state_memory=9_000))
        for layers, forget in (("all", False), (20, False), (20, True))
    }
    assert disk[20, True].peak_disk_bytes < disk["all", False].peak_disk_bytes


def test_forgetting_all_layers_is_refused(options: Callable[..., CheckOptions]) -> None:
    with pytest.raises(UsageError, match="--forget"):
        layered.search(compiled(GRID), options(forget=True))


# --- Limits and reports -----------------------------------------------------------------------------------------


def test_a_full_disk_is_unknown_and_leaves_nothing_behind(options: Callable[..., CheckOptions], tmp_path: Path) -> None:
    found = layered.search(compiled(GRID), options(disk=80_000))
    assert found.stop is Stop.DISK
    assert 0 < found.peak_disk_bytes <= 80_000
    assert not list(tmp_path.glob("outcrop-*"))


def test_a_full_disk_does_not_keep_it_from_finding_traces(options: Callable[..., CheckOptions]) -> None:
    native = compiled(VIOLATED)
    paths = {finding.path for finding in ram.search(native, options(state_memory=None, max_errors=None)).findings}
    for memory in (20_000, 100_000):
        needed = layered.search(native, options(state_memory=memory, max_errors=None)).peak_disk_bytes
        full = []
        for disk in range(needed * 4 // 5, needed, needed // 30):
            found = layered.search(native, options(state_memory=memory, max_errors=None, disk=disk))
            assert {finding.path for finding in found.findings} <= paths
            full += [found.stop is Stop.DISK and bool(found.findings)]
        assert any(full) is (memory == 20_000)  # with more of it the disk is full before there is a finding


def test_a_time_limit_ends_it(options: Callable[..., CheckOptions], tmp_path: Path) -> None:
    found = layered.search(compiled(CHAIN.replace("2999", "2999999")), options(time_limit=0.5, layers=5, forget=True))
    assert found.stop is Stop.TIME
    assert spilled(found)
    assert not list(tmp_path.glob("outcrop-*"))


def test_every_successor_is_accounted_for(options: Callable[..., CheckOptions]) -> None:
    found = layered.search(compiled(GRID), options(state_memory=9_000, layers="auto"))
    document = layers_document(found.layers, found.generated)
    assert document is not None
    for row in document["rows"]:
        if row["states"]:
            assert row["states"] == found.levels[row["level"]]
        generated = row["states"] + row["duplicates_ram"] + row["duplicates_delayed"]
        assert generated == found.generated[row["level"]]
    assert document["duplicates_ram"] > 0
    assert document["duplicates_delayed"] > 0
    assert document["missed"] == 0
    assert 0 < document["longest_back_edge"] < document["kept"]


@pytest.mark.parametrize("moment", ["check", "_pack"])
def test_a_flipped_bit_of_a_packed_layer_is_noticed(
    options: Callable[..., CheckOptions], monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """It is noticed before the search says that it is complete, and when packed layers are merged."""
    native = compiled("var tail : array [0 .. 20] of 0 .. 255;\n" + CHAIN.replace("2999", "599"))
    whole = getattr(LayerFiles, moment)
    flipped = []

    def flip_and_go_on(files: LayerFiles, groups: Sequence[Group] = ()) -> object:
        for group in [group for group in groups or files._old if group.tails is not None][:1]:
            layout = group.run.layout
            at = int(layout.starts[layout.counts.argmax()]) + index_bytes(layout.bits) // SLICES + TAG_BYTES - 1
            os.pwrite(layout.file, bytes([os.pread(layout.file, 1, at)[0] ^ 1]), at)
            flipped.append(group)
        return whole(files, groups) if groups else whole(files)

    monkeypatch.setattr(LayerFiles, moment, flip_and_go_on)
    with pytest.raises(DamagedFile):
        layered.search(native, options(layers=2))
    assert flipped


def test_the_longest_back_edge_is_that_of_the_model(options: Callable[..., CheckOptions]) -> None:
    ring = "var x : 0 .. 599;\nstartstate x := 0; end;\nrule true ==> begin x := (x + 1) % 600; end;\n"
    for layers in (2, "all"):
        found = layered.search(compiled(ring), options(layers=layers))
        assert found.layers is not None
        assert found.layers.longest_back_edge == 599


@pytest.mark.parametrize("threads", [1, 2])
def test_without_ram_cache_every_duplicate_is_found_on_disk(options: Callable[..., CheckOptions], threads: int) -> None:
    for model in (GRID, STARTS, VIOLATED):
        native = compiled(model)
        expected = ram.search(native, options(state_memory=None))
        for memory in (None, 20_000):
            found = layered.search(native, options(state_memory=memory, threads=threads, ram_cache=False))
            assert spilled(found)
            assert comparable(found) == comparable(expected)
            assert found.layers is not None
            document = layers_document(found.layers, found.generated)
            assert document is not None and document["rows"] and document["duplicates_ram"] == 0


def test_without_ram_cache_no_liveness(options: Callable[..., CheckOptions]) -> None:
    native = compiled(CHAIN + 'liveness "ends" true;')
    with pytest.raises(UsageError, match="liveness"):
        layered.search(native, options(ram_cache=False))


def test_without_ram_cache_nothing_is_forgotten(options: Callable[..., CheckOptions]) -> None:
    with pytest.raises(UsageError, match="--ram-cache"):
        layered.search(compiled(GRID), options(ram_cache=False, forget=True, layers=3))

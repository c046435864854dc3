"""The searches past RAM, with memory so small that every path is taken, compared with the search in RAM."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from expectations import TINY
from test_ram import MODELS, compiled

import outcrop
from outcrop import strategies as registry
from outcrop.codegen.c import emit
from outcrop.codegen.compiler import compile_model
from outcrop.errors import DamagedFile, UsageError
from outcrop.explorer import file_arena
from outcrop.explorer.arena import Arena
from outcrop.explorer.blocks import BlockFrontier
from outcrop.explorer.context import DEFAULT_CONTEXT, Context
from outcrop.explorer.explorer import Explorer
from outcrop.explorer.tuning import Tuning
from outcrop.kernels import Native
from outcrop.kernels.tables import Cache
from outcrop.options import CheckOptions, Deadlock, Keep
from outcrop.outcome import Outcome, Stop
from outcrop.search import cached, compact, locality, ram
from outcrop.strategies import Replacement, names

#: Strategies past RAM. Those that also check liveness have their own tests.
STRATEGIES = {name: registry.STRATEGIES[name].function() for name in names(past_ram=True, liveness=False)}


class Watch:
    """A record of what a search did."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.states: list[bytes] = []  #: visited states, in order
        run = Explorer.run

        def watched(explorer: Explorer, explore: Callable[[], Stop]) -> Outcome:
            def explore_and_note() -> Stop:
                try:
                    return explore()
                finally:
                    self.explorer = explorer
                    frontier, end = explorer.frontier, sum(explorer.levels)
                    in_log = isinstance(frontier, BlockFrontier)
                    visited = frontier.log.blocks(0, end) if in_log else [explorer.search.read_block(0, end)]
                    self.states = [row.tobytes() for block in visited for row in block]

            return run(explorer, explore_and_note)

        monkeypatch.setattr(Explorer, "run", watched)

    def search(
        self, strategy: str, native: Native, options: CheckOptions, context: Context = DEFAULT_CONTEXT
    ) -> Outcome:
        outcome: Outcome = STRATEGIES[strategy](native, dataclasses.replace(options, strategy=strategy), context)
        return outcome


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    return Watch(monkeypatch)


def compare(
    watch: Watch, strategy: str, native: Native, options: CheckOptions, context: Context = DEFAULT_CONTEXT
) -> Outcome:
    """Runs a strategy, and asserts what must be as in RAM."""
    expected = ram.search(native, dataclasses.replace(options, state_memory=None))
    outcome = watch.search(strategy, native, options, context)
    if outcome.stop is Stop.COLLISIONS:
        assert strategy == "cached"
        return outcome
    if outcome.stop is Stop.STATES and expected.stop is not Stop.STATES:
        assert outcome.revisits  # the bound is on visits
        return outcome
    assert outcome.stop is expected.stop
    assert outcome.findings == expected.findings
    assert outcome.noted == expected.noted
    assert outcome.visited == len(watch.states)
    if expected.stop is Stop.STATES:
        return outcome
    assert len(set(watch.states)) == expected.states
    if strategy == "disk" or not outcome.revisits:
        assert (outcome.levels, outcome.fired, outcome.covered) == (expected.levels, expected.fired, expected.covered)
        assert outcome.states == expected.states
    else:
        assert outcome.states is None
        assert len(outcome.levels) >= len(expected.levels)
        assert [level > 0 for level in outcome.fired] == [level > 0 for level in expected.fired]
    assert not (strategy == "disk" and outcome.revisits)
    return outcome


#: Steps from some states to themselves, and levels in which states have few or very many successors.
UNEVEN = """
var a, b: 0 .. 40; wide: array [0 .. 19] of 0 .. 9;
startstate begin a := 0; b := 0; clear wide; end;
rule "a" a < 40 ==> a := a + 1; end;
rule "b" b < 40 ==> b := b + 1; end;
rule "stay" a % 7 = 3 ==> b := b; end;
ruleset i: 0 .. 40 do rule "jump" b % 8 = 5 ==> a := i; b := 40 - i; end; end;
rule "back" a = 40 ==> a := 0; b := b / 2; end;
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_what_is_visited_does_not_depend_on_blocks(threads: int, watch: Watch, tmp_path: Path) -> None:
    path = tmp_path / "uneven.m"
    path.write_text(UNEVEN, encoding="utf-8")
    _, native = compiled(path, symmetry=False)
    options = CheckOptions(deadlock=Deadlock.OFF, threads=threads, state_memory=6000, block_size=16, cloud=0.5)
    visited = []
    for fewest, few, most in ((1, 1, 1), (3, 1, 600), (30, 20, 600), (128, 4096, 1 << 20)):
        tuning = Tuning(fewest_to_expand=fewest, few_successors=few, most_successor_bytes=most)
        outcome = watch.search("locality", native, options, Context(tuning=tuning))
        assert outcome.revisits
        visited.append(watch.states)
    assert visited[0] == visited[1] == visited[2] == visited[3]
    assert len(set(visited[0])) == 41 * 41


# Half of the models; test_layered.py has the others.
@pytest.mark.parametrize("path", [each for each in MODELS if not len(each.stem) % 2], ids=lambda path: path.stem)
def test_corpus_with_next_to_no_memory(path: Path, watch: Watch, tmp_path: Path) -> None:
    _, native = compiled(path, symmetry=False)
    if native.liveness_count:
        pytest.skip("liveness needs the whole state space")
    for strategy in STRATEGIES:
        for max_errors, threads in ((1, 1), (None, 2)):
            options = CheckOptions(
                symmetry=False, threads=threads, max_errors=max_errors, states=700, workdir=str(tmp_path), **TINY
            )
            compare(watch, strategy, native, options)
    assert list(tmp_path.glob("outcrop-*")) == []


@pytest.mark.parametrize("keep", list(Keep))
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_larger_models(strategy: str, keep: Keep, watch: Watch, shared: Path) -> None:
    for native in larger(shared):
        for memory, cloud in ((10_000, 0.1), (1 << 24, 0.6)):
            options = CheckOptions(
                threads=2, deadlock=Deadlock.OFF, keep=keep, **{**TINY, "state_memory": memory, "cloud": cloud}
            )
            options = dataclasses.replace(options, block_states=200, block_size=200, chain=8)
            outcome = compare(watch, strategy, native, options)
            if memory == 1 << 24:
                assert not (strategy in ("cached", "serial") and outcome.revisits)
            assert (outcome.omission_bound > 0) == (keep is Keep.SIGNATURES)


def larger(shared: Path) -> list[Native]:
    natives = []
    for name, constants in (("n_peterson", {"N": 4}), ("mcslock1", {"N": 2}), ("german", {})):
        path = next(shared.rglob(f"murphi/**/{name}.m"), None)
        if path is not None:
            emitted = emit(outcrop.load(path, constants).system, True)
            natives.append(compile_model(emitted.source, notes=emitted.notes))
    assert natives
    return natives


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_same_result_whatever_the_threads(strategy: str) -> None:
    _, native = compiled(MODELS[0].parent / "interleaved.m", False)
    options = CheckOptions(strategy=strategy, replacement=Replacement.RANDOM, **{**TINY, "state_memory": 2_000})
    # The order of discovery decides what a cache evicts.
    counts = (1, 1) if strategy in ("cached", "serial") else (1, 2, 4)
    one, *others = (STRATEGIES[strategy](native, dataclasses.replace(options, threads=threads)) for threads in counts)
    for other in others:
        assert dataclasses.replace(other, seconds=one.seconds) == one


def test_every_path_is_taken(watch: Watch, monkeypatch: pytest.MonkeyPatch, shared: Path) -> None:
    """The tiny sizes take every path: M full inside a level, calibrations that grow and shrink, queues on disk."""
    events: Counter[str] = Counter()
    calibrate, check = locality.Locality.Calibrate, locality.Locality.Checktable

    def note_calibration(self: locality.Locality, inside: int, outside: int) -> None:
        before = self.disk_cloud_size
        calibrate(self, inside, outside)
        events["grown"] += self.disk_cloud_size > before
        events["shrunk"] += self.disk_cloud_size < before
        events["missed"] += outside > 0

    def note_check(self: locality.Locality) -> None:
        events["full"] += self.Q_unck.block_count > 1
        events["unchecked queue on disk"] += len(self.Q_unck.file) > 0
        events["checks"] += 1
        check(self)

    monkeypatch.setattr(locality.Locality, "Calibrate", note_calibration)
    monkeypatch.setattr(locality.Locality, "Checktable", note_check)
    native = larger(shared)[0]
    options = CheckOptions(threads=2, deadlock=Deadlock.OFF, **{**TINY, "state_memory": 5_000})
    outcome = compare(watch, "locality", native, options)
    assert outcome.revisits
    assert events["checks"] > len(outcome.levels)
    assert min(events[name] for name in ("grown", "shrunk", "missed", "full", "unchecked queue on disk")) > 0
    outcome = compare(watch, "serial", native, options)
    assert isinstance(watch.explorer.frontier, BlockFrontier)


def test_too_many_collisions_are_unknown(shared: Path) -> None:
    native = larger(shared)[0]
    options = CheckOptions(deadlock=Deadlock.OFF, **{**TINY, "collision_limit": 0.5})
    outcome = cached.search(native, dataclasses.replace(options, strategy="cached"))
    assert outcome.stop is Stop.COLLISIONS
    assert not outcome.findings


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_full_disk_is_unknown(strategy: str, shared: Path, tmp_path: Path) -> None:
    native = larger(shared)[0]
    options = CheckOptions(strategy=strategy, deadlock=Deadlock.OFF, workdir=str(tmp_path), disk=20_000, **TINY)
    outcome = STRATEGIES[strategy](native, options)
    assert outcome.stop in (Stop.DISK, Stop.COLLISIONS)
    assert outcome.peak_disk_bytes <= 20_000
    assert list(tmp_path.glob("outcrop-*")) == []


@pytest.mark.parametrize("strategy", [cached, compact])
def test_a_queue_that_the_disk_has_changed_is_refused(
    strategy: Any, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    native = larger(shared)[0]
    nameless_file, files = file_arena.nameless_file, []

    @contextmanager
    def noted(directory: Path) -> Iterator[int]:
        with nameless_file(directory) as file:
            files.append(file)
            yield file

    monkeypatch.setattr(file_arena, "nameless_file", noted)
    expand_levels = Arena.expand_levels

    def flip(levels: Arena) -> None:
        explorer = levels._explorer
        if len(explorer.levels) == 7:
            at = explorer.search.standing().level_begin * native.state_bytes + 3
            os.pwrite(files[-1], bytes([os.pread(files[-1], 1, at)[0] ^ 16]), at)
        expand_levels(levels)

    options = CheckOptions(deadlock=Deadlock.OFF, threads=2, max_errors=None)
    context = Context(tuning=Tuning(levels_a_call=1))
    assert strategy.search(native, options, context).stop is Stop.COMPLETE
    monkeypatch.setattr(Arena, "expand_levels", flip)
    with pytest.raises(DamagedFile, match="not what was written"):
        strategy.search(native, options, context)


def test_visited_states_that_the_disk_has_changed_are_refused(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    native = larger(shared)[0]
    check_table = locality.Locality.Checktable

    def flip(visited: locality.Locality) -> None:
        keys = visited.D._keys.file
        if len(keys) == 3:
            with keys.path.open("r+b") as file:
                file.seek(100)
                (byte,) = file.read(1)
                file.seek(100)
                file.write(bytes([byte ^ 16]))
        check_table(visited)

    monkeypatch.setattr(locality.Locality, "Checktable", flip)
    options = CheckOptions(strategy="disk", deadlock=Deadlock.OFF, threads=2, block_size=50)
    with pytest.raises(DamagedFile, match="visited' is damaged: block 0 has a wrong checksum"):
        locality.search_disk(native, options)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_limits(strategy: str, shared: Path) -> None:
    native, *_, longest = larger(shared)
    options = CheckOptions(strategy=strategy, deadlock=Deadlock.OFF, block_states=16)
    assert STRATEGIES[strategy](longest, dataclasses.replace(options, time_limit=0.0)).stop is Stop.TIME
    deep = STRATEGIES[strategy](native, dataclasses.replace(options, depth=5))
    assert (deep.stop, len(deep.levels)) == (Stop.DEPTH, 6)


def test_liveness_is_refused() -> None:
    model = outcrop.load(MODELS[0].parent / "liveness_holds.m")
    with pytest.raises(UsageError, match="does not check liveness"):
        model.check(strategy="cached")


@pytest.mark.parametrize("keep", list(Keep))
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_tables_that_grow_lose_nothing(
    strategy: str, keep: Keep, watch: Watch, monkeypatch: pytest.MonkeyPatch, shared: Path
) -> None:
    context = Context(tuning=Tuning(first_table_bytes=300, table_growth=2))
    sizes: list[int] = []
    close = Cache.close

    def note_size(self: Cache) -> None:
        sizes.append(self.bytes)
        close(self)

    monkeypatch.setattr(Cache, "close", note_size)
    options = CheckOptions(deadlock=Deadlock.OFF, keep=keep, cloud=1.0, block_states=32)
    outcome = compare(watch, strategy, larger(shared)[0], options, context)
    assert not outcome.revisits
    table = watch.explorer.visited
    if isinstance(table, locality.Locality):
        assert table.M.bytes > 300
    else:
        assert sizes[-1] > 5_000

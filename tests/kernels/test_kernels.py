"""The kernels alone, with a model written by hand: tables, arena, levels, paths."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from outcrop.codegen.compiler import FLAGS, NATIVE, compile_model
from outcrop.kernels import Found, Native, Search, Settings, States, StopReason
from outcrop.options import CheckOptions
from outcrop.outcome import FindingKind, Stop
from outcrop.search import compact, ram

HERE = Path(__file__).parent


@cache
def toy(*definitions: str) -> Native:
    text = (HERE / "toy_model.c").read_text()
    return compile_model(text, flags=(*FLAGS, *(f"-D{each}" for each in definitions)))


def random_states(native: Native, count: int, seed: int) -> States:
    return np.random.default_rng(seed).integers(0, 256, (count, native.state_bytes), dtype=np.uint8)


def as_set(states: States) -> set[bytes]:
    return {row.tobytes() for row in states}


VISITED_SETS = {
    "exact": {"first_lines": 1},
    "exact, 64-bit slots": {"first_lines": 1, "wide": True},
    "40-bit signatures": {"bits": 40},
    "48-bit signatures": {"bits": 48},
    "64-bit signatures": {"bits": 64},
}


@pytest.mark.parametrize("visited_set", VISITED_SETS)
def test_insert_says_what_is_new_while_the_table_grows(visited_set: str) -> None:
    native = toy()
    known: set[bytes] = set()
    with native.search(Settings(**VISITED_SETS[visited_set], seed=3)) as search:
        for round_number in range(6):
            block = random_states(native, 30_000, round_number)
            block = np.concatenate([block, block[::7], random_states(native, 5_000, max(0, round_number - 1))])
            fresh = search.insert_block(0, block)
            expected = []
            for row in block:
                state = row.tobytes()
                expected.append(state not in known)
                known.add(state)
            assert fresh.tolist() == expected
        assert search.finish_level() == len(known)
        assert as_set(search.read_block(0, len(known))) == known


@pytest.mark.parametrize("visited_set", VISITED_SETS)
def test_concurrent_inserts_take_each_state_once(visited_set: str) -> None:
    native, workers = toy(), 4
    pool = random_states(native, 60_000, 1)
    rng = np.random.default_rng(2)
    blocks = [pool[rng.permutation(len(pool))[:40_000]] for _ in range(workers)]
    with native.search(Settings(**VISITED_SETS[visited_set], workers=workers, seed=5)) as search:
        fresh: list[States] = [pool[:0]] * workers

        def insert(worker: int) -> None:
            fresh[worker] = blocks[worker][search.insert_block(worker, blocks[worker])]

        run_threads(insert, workers)
        everything = as_set(np.concatenate(blocks))
        assert sum(map(len, fresh)) == len(everything)
        assert as_set(np.concatenate(fresh)) == everything
        assert search.finish_level() == len(everything)
        # The holes between the workers' claims are closed, and the table has the new indexes of the moved states.
        assert as_set(search.read_block(0, len(everything))) == everything
        assert not search.insert_block(0, pool[: len(pool) // 2][::-1])[-1]
        assert not any(search.insert_block(1, np.concatenate(blocks)))


def run_threads(task: object, count: int) -> None:
    threads = [threading.Thread(target=task, args=(number,)) for number in range(count)]  # type: ignore[arg-type]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("bits", [8, 12, 15, 16, 20])
def test_few_bits_fill_up_without_growing_for_ever(bits: int) -> None:
    native = toy()
    with native.search(Settings(bits=bits, seed=1)) as search:
        fresh = search.insert_block(0, random_states(native, 40 * 2 ** min(bits, 12), 1))
        assert 0.9 * 2 ** min(bits, 12) < fresh.sum() <= 2**bits
        assert search.standing().stop is StopReason.NONE


def test_signature_collisions_are_as_rare_as_the_bits_say() -> None:
    native, count, bits = toy(), 20_000, 30
    missed = 0
    for seed in range(20):
        with native.search(Settings(bits=bits, seed=seed)) as search:
            # Counters in the low bytes: a regular set on which a weak hash fails.
            block = np.zeros((count, native.state_bytes), dtype=np.uint8)
            block[:, :4] = np.arange(count, dtype="<u4").view(np.uint8).reshape(count, 4)
            missed += count - int(search.insert_block(0, block).sum())
    expected = 20 * count**2 / 2 / 2**bits
    assert expected / 4 < missed < expected * 4


@pytest.mark.parametrize("visited_set", VISITED_SETS)
def test_out_of_memory_stops_and_keeps_what_it_has(visited_set: str) -> None:
    native, budget = toy(), 36 << 20
    with tempfile.TemporaryFile() as file:
        settings = Settings(
            **VISITED_SETS[visited_set],
            budget=budget,
            file=file.fileno() if "bits" in visited_set else None,
            disk_limit=1 << 30,
        )
        with native.search(settings) as search:
            inserted = 0
            for seed in range(300):
                block = random_states(native, 50_000, seed)
                inserted += int(search.insert_block(0, block).sum())
                if search.standing().stop is not StopReason.NONE:
                    break
            assert search.standing().stop is StopReason.MEMORY
            assert search.standing().memory <= budget
            assert search.finish_level() == inserted


def test_a_large_table_of_signatures_grows() -> None:
    """Past 16 MB the number of lines is no power of two, so rebuilding a signature from its line needs rounding."""
    native, blocks = toy(), 13
    with native.search(Settings(bits=40, budget=1 << 30)) as search:
        fresh = [int(search.insert_block(0, random_states(native, 500_000, seed)).sum()) for seed in range(blocks)]
        assert search.standing().memory > 40 << 20
        again = [int(search.insert_block(0, random_states(native, 500_000, seed)).sum()) for seed in (0, 6, blocks - 1)]
    assert sum(fresh) > blocks * 500_000 - 100
    assert again == [0, 0, 0]


def test_firings_that_lead_nowhere_for_want_of_memory_are_not_counted() -> None:
    """Each firing of this model gives a successor. Both are counted, or neither is."""
    for kilobytes in (500, 900, 1700):
        with toy("N=5").search(Settings(budget=kilobytes << 10)) as search:
            search.start()
            search.finish_level()
            while search.standing().stop is StopReason.NONE:
                sizes = np.zeros(50, dtype=np.uint64)
                search.expand_levels(0, sizes, np.zeros_like(sizes), 10**9)
            assert search.standing().stop is StopReason.MEMORY
            assert int(search.count()[0].sum()) == search.standing().generated - 1 > 0  # one is the start state


def test_out_of_disk_stops() -> None:
    native = toy()
    with tempfile.TemporaryFile() as file:
        settings = Settings(bits=40, file=file.fileno(), disk_limit=40 << 20)
        with native.search(settings) as search:
            for seed in range(200):
                search.insert_block(0, random_states(native, 50_000, seed))
            assert search.standing().stop is StopReason.DISK


@pytest.mark.parametrize("workers", [1, 3])
def test_levels_of_peterson(workers: int) -> None:
    """Other model checkers count 628,868 states and 3,144,340 rules for five processes."""
    outcome = ram.search(toy("N=5"), CheckOptions(threads=workers))
    assert (outcome.states, outcome.rules_fired, len(outcome.levels)) == (628_868, 3_144_340, 74)
    assert outcome.stop is Stop.COMPLETE
    assert not outcome.findings


def test_compact_misses_little() -> None:
    exact, narrow = 628_868, compact.search(toy("N=5"), CheckOptions(threads=2, bits=32))
    assert exact - 200 < narrow.states <= exact
    assert 0 < narrow.omission_bound < 0.01
    wide = compact.search(toy("N=5"), CheckOptions(threads=2, bits=64))
    assert (wide.states, wide.rules_fired) == (exact, 3_144_340)


def test_findings_and_paths_do_not_depend_on_workers() -> None:
    native = toy("N=4", "BREAK_INVARIANT")
    for max_errors in (1, 5, None):
        one, *others = (
            strategy.search(native, CheckOptions(threads=threads, max_errors=max_errors, bits=64))
            for strategy, threads in ((ram, 1), (ram, 2), (ram, 4), (compact, 3))
        )
        assert one.findings
        for other in others:
            assert (other.findings, other.levels, other.fired) == (one.findings, one.levels, one.fired)
    shortest = one.findings[0]
    assert shortest.kind is FindingKind.STATE
    assert len(shortest.path) == min(len(finding.path) for finding in one.findings)


def test_a_state_is_found_once() -> None:
    """A state that is found again takes no second place in the list. If the list is full, the least states stay."""
    native = toy("N=3", "BREAK_INVARIANT")
    outcome = ram.search(native, CheckOptions(threads=1, max_errors=None))
    found = sorted({each.path[-1] for each in outcome.findings if each.kind is FindingKind.STATE})[:3]
    assert len(found) == 3
    first, second, third = found
    for rows in ([first, first, second, third], [third, second, second, first, first], [second, third, first]):
        block = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(-1, native.state_bytes)
        for most in (1, 2, 3):
            with native.search(Settings(most_found=most)) as search:
                search.check_block(0, block)
                assert search.take_found(Found.STATE) == found[:most]


def test_predecessors_are_the_least() -> None:
    native = toy("N=3")
    with native.search(Settings()) as search:
        search.start()
        ends = [search.finish_level()]
        for _ in range(12):
            (size,) = expand_levels(search, 1)
            ends.append(ends[-1] + size)
        targets = search.read_block(ends[-2], ends[-1])
        least, is_found = search.find_predecessors(0, ends[-3], ends[-2], targets)
        assert is_found.all()
        for target, predecessor in zip(targets, least, strict=True):
            parents = [
                state.tobytes() for state in search.read_block(ends[-3], ends[-2]) if leads_to(native, state, target)
            ]
            assert predecessor.tobytes() == min(parents)
            # With a single target, whose least predecessor comes last, greater states are skipped.
            others = [target.tobytes()] * 5_000
            among = np.frombuffer(b"".join([max(parents), *others, min(parents), *others]), dtype=np.uint8)
            alone, is_alone_found = native.states(1), np.zeros(1, dtype=np.uint8)
            rows = among.reshape(-1, native.state_bytes)
            search.find_predecessors_among(0, rows, target.reshape(1, -1), alone, is_alone_found)
            assert is_alone_found[0] and alone[0].tobytes() == min(parents)


def expand_levels(search: Search, most: int) -> list[int]:
    """Returns the sizes of the new levels."""
    sizes = np.zeros(most, dtype=np.uint64)
    return [int(size) for size in sizes[: search.expand_levels(0, sizes, np.zeros_like(sizes), 1000)]]


def leads_to(native: Native, state: States, target: States) -> bool:
    """Returns whether one state leads to another, by expanding it in a new search."""
    with native.search(Settings()) as search:
        search.insert_block(0, state.reshape(1, -1))
        search.finish_level()
        expand_levels(search, 1)
        _, is_found = search.find_predecessors(0, 0, 1, target.reshape(1, -1))
        return bool(is_found[0])


def test_stop_takes_back_what_is_half_done() -> None:
    native = toy("N=5")
    with native.search(Settings()) as search:
        search.start()
        search.finish_level()
        search.stop()
        assert expand_levels(search, 10) == [0]
        assert search.count()[0].sum() == 0
        assert search.take_found(Found.STATE) == []


def sanitizer_works(directory: Path) -> bool:
    (directory / "empty.c").write_text("int main(void) { return 0; }")
    command = ["cc", "-fsanitize=thread", str(directory / "empty.c"), "-o", str(directory / "empty")]
    if shutil.which("cc") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        return False
    return subprocess.run([directory / "empty"], capture_output=True, check=False).returncode == 0


def test_thread_sanitizer_finds_no_race_in_the_tables(tmp_path: Path) -> None:
    if not sanitizer_works(tmp_path):
        pytest.skip("no thread sanitizer here")
    program = tmp_path / "concurrent_inserts"
    command = ["cc", "-std=gnu11", "-g", "-O1", "-w", "-fsanitize=thread", "-pthread", "-I", str(NATIVE)]
    subprocess.run([*command, str(HERE / "concurrent_inserts.c"), "-o", str(program)], check=True)
    for exact, wide, is_cache in product("01", "01", "01"):
        run = subprocess.run([program, exact, wide, is_cache], capture_output=True, text=True, check=False)
        assert run.returncode == 0, (exact, wide, is_cache, run.stdout + run.stderr)

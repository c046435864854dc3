"""The cache and table M alone, compared with Python sets."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from test_kernels import as_set, random_states, run_threads, toy

from outcrop.kernels import Counts, Search, Settings, States
from outcrop.kernels.tables import Cache, MemoryTable, hash_block
from outcrop.store.blockfile import BlockFile
from outcrop.store.workdir import WorkDirectory


def hashed(search: Search, states: States) -> tuple[States, Counts]:
    return states.copy(), hash_block(search, states)


def new(search: Search, states: States, worker: int = 0) -> States:
    """Returns the states that a search with a cache takes for new."""
    return states[search.insert_block(worker, states)]


def signatures(search: Search, states: States, bits: int) -> list[int]:
    return [int(each) >> (64 - bits) for each in hash_block(search, states)]


@pytest.mark.parametrize("bits", [None, 20, 40, 64])
@pytest.mark.parametrize("chain", [2, 16, 40])
@pytest.mark.parametrize("idle", [False, True])
def test_a_cache_with_room_forgets_nothing(bits: int | None, chain: int, idle: bool) -> None:
    native = toy()
    with native.search(Settings(seed=7)) as search, Cache(search, 4 << 20, bits, chain, idle) as cache:
        known: set[object] = set()
        for seed in range(3):
            block = np.concatenate([random_states(native, 5_000, seed), random_states(native, 3_000, max(0, seed - 1))])
            expected = []
            for row, key in zip(block, keys_of(search, block, bits), strict=True):
                if key not in known:
                    known.add(key)
                    expected.append(row.tobytes())
            fresh = new(search, block)
            if cache.collisions == 0:
                assert [row.tobytes() for row in fresh] == expected
            else:
                assert {row.tobytes() for row in fresh} >= set(expected)
        assert cache.collisions <= (cache.insertions // 20 if chain == 2 else 0)
        assert cache.has_forgotten == (cache.collisions > 0)
        assert cache.bytes <= 4 << 20


@pytest.mark.parametrize("bits", [None, 24, 40, 64])
@pytest.mark.parametrize("idle", [False, True])
@pytest.mark.parametrize("processes", [1, 5, 9])  # states of 3, 10 and 18 bytes
def test_a_cache_that_grows_keeps_what_it_has(bits: int | None, idle: bool, processes: int) -> None:
    native = toy(f"N={processes}")
    block = random_states(native, 9_000, 1)
    block[:, 8:] = block[np.arange(len(block)) % 90, 8:]  # makes some of them packable
    with (
        native.search(Settings(seed=7)) as search,
        Cache(search, 1_000, bits, 16, idle, most_bytes=1 << 20) as cache,
    ):
        before = cache.slots
        fresh = new(search, block)
        assert as_set(fresh) == as_set(block) or bits == 24
        assert cache.slots > 20 * before
        assert not cache.has_forgotten
        # None of them is new now.
        assert len(new(search, block)) == 0
        strangers = random_states(native, 1_000, 2)
        expected = set(keys_of(search, strangers, bits)) - set(keys_of(search, block, bits))
        assert len(new(search, strangers)) == len(expected)


def test_states_whose_first_bits_look_alike_are_told_apart() -> None:
    """In an exact cache, what is kept of the first bits is the same for all of these, so the rest must be compared."""

    def rest_hash(rest: int) -> int:
        total = (rest ^ rest >> 32) * 0x9E3779B97F4A7C15 % 2**64
        return (total ^ total >> 29) * 0xD6E8FEB86659FD93 % 2**64 >> 32

    native = toy("N=5")
    assert native.state_bytes == 10
    rows = [
        (0x12345678 ^ rest_hash(rest << 40)).to_bytes(4, "little") + (rest << 40).to_bytes(6, "little")
        for rest in range(12)
    ]
    block = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), 10)
    for seed in range(3):
        with native.search(Settings(seed=seed)) as search, Cache(search, 1 << 20, None, 16, False):
            assert len(new(search, block)) == len(rows)
            assert len(new(search, block)) == 0


def rest_hash(rest: bytes) -> int:
    """Returns the hash of cache.c that the first four bytes of a state are combined with."""
    one, other, wide = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, (1 << 64) - 1
    total, factor = 0, one
    for at in range(0, len(rest), 8):
        word = int.from_bytes(rest[at : at + 8], "little")
        total = total + (word ^ word >> 32) * factor & wide
        factor = factor * other & wide
    return ((total ^ total >> 29) * other & wide) >> 32


@pytest.mark.parametrize("is_packed", [False, True])
def test_states_that_agree_in_all_but_their_rest_are_told_apart(is_packed: bool) -> None:
    """All of them have the same bits in the places that are compared first."""
    native = toy("N=9")
    block = random_states(native, 8, 1)
    for row in block:
        row[:4] = np.frombuffer((rest_hash(row[4:].tobytes()) ^ 0x1234567).to_bytes(4, "little"), dtype=np.uint8)
    with native.search(Settings(seed=7)) as search, Cache(search, 200_000, None, 16, False) as cache:
        if not is_packed:  # too many words for a dictionary
            new(search, random_states(native, 4_000, 2))
        assert as_set(new(search, block)) == as_set(block)
        assert cache.is_packed == is_packed


def test_a_packed_cache_holds_more_and_loses_nothing() -> None:
    native = toy("N=9")
    block = random_states(native, 4_000, 1)
    few = block.copy()
    few[:, 4:] = few[np.arange(len(few)) % 50, 4:]  # few different parts
    slots = {}
    with native.search(Settings(seed=7)) as search:
        for states, is_packed in ((few, True), (block, False)):
            with Cache(search, 200_000, None, 16, False) as cache:
                fresh = new(search, states)
                assert cache.is_packed == is_packed
                assert as_set(fresh) == as_set(states)
                assert cache.bytes <= 200_000
                assert not cache.has_forgotten
                assert len(new(search, states)) == 0
                slots[is_packed] = cache.slots
    assert slots[True] > 1.5 * slots[False]


def test_threads_may_insert_together() -> None:
    """Each state is new to one thread, however often the cache and its dictionary grow meanwhile."""
    native = toy("N=9")
    blocks = [random_states(native, 20_000, 1) for _ in range(3)]
    for block in blocks:
        block[:, 4:] = block[np.arange(len(block)) % 3_000, 4:]
    with (
        native.search(Settings(workers=3, seed=7)) as search,
        Cache(search, 1_000, None, 16, False, most_bytes=4 << 20) as cache,
    ):
        fresh: list[list[bytes]] = [[], [], []]

        def insert(number: int) -> None:
            for part in np.array_split(blocks[number], 40):
                fresh[number] += [row.tobytes() for row in new(search, part, number)]

        run_threads(insert, 3)
        assert not cache.has_forgotten
        assert cache.is_packed
        everything = [row for each in fresh for row in each]
        assert len(everything) == len(set(everything)) == len(as_set(blocks[0]))


def test_what_was_met_lately_is_spared() -> None:
    native = toy()
    recent = {}
    with native.search(Settings()) as search:
        for idle in (False, True):
            with Cache(search, 200_000, None, 16, idle, seed=3) as cache:
                blocks = [random_states(native, cache.slots // 40, seed) for seed in range(70)]
                for block in blocks:
                    new(search, block)
                assert cache.collisions > cache.insertions // 4
                again = len(new(search, np.concatenate(blocks[-3:])))
                recent[idle] = again / (3 * len(blocks[-2]))
    assert recent[True] < recent[False] / 2


def test_what_is_met_often_stays() -> None:
    native = toy()
    favourites = random_states(native, 100, 99)
    forgotten = {}
    with native.search(Settings()) as search:
        for idle in (False, True):
            with Cache(search, 50_000, 40, 16, idle) as cache:
                forgotten[idle] = 0
                for seed in range(90):
                    new(search, random_states(native, cache.slots // 50, seed))
                    forgotten[idle] += len(new(search, favourites))
    assert forgotten[True] < forgotten[False]


def test_the_same_seed_gives_the_same_cache() -> None:
    native = toy()
    outcomes = []
    for seed in (1, 1, 2):
        with native.search(Settings()) as search, Cache(search, 20_000, 40, 8, False, seed):
            outcomes.append([new(search, random_states(native, 3_000, each % 3)).tobytes() for each in range(9)])
    assert outcomes[0] == outcomes[1] != outcomes[2]


@pytest.mark.parametrize("bits", [None, 20, 40, 64])
def test_table_m(bits: int | None) -> None:
    native = toy()
    with native.search(Settings(seed=5)) as search, MemoryTable(search, 100_000, bits) as table:
        for round_number in range(3):
            entered: dict[object, bytes] = {}
            block = np.concatenate([random_states(native, 6_000, round_number), random_states(native, 3_000, 50)])
            block = np.concatenate([block, block[::3]])
            states, hashes = hashed(search, block)
            fresh, dealt = table.insert(states, hashes)
            for row, key in zip(block[:dealt], keys_of(search, block, bits), strict=False):
                entered.setdefault(key, row.tobytes())
            assert [row.tobytes() for row in fresh] == list(entered.values())
            assert dealt == len(block) or len(fresh) == table.limit
            kept, keys = table.keep(fresh.copy())
            assert (kept == fresh).all()
            strangers = random_states(native, 1_000, 77)
            present = sum(key in entered for key in keys_of(search, strangers, bits))
            assert len(table.keep(strangers)[0]) == present
            # Half of them are old. Some come twice, and from several threads.
            old = np.concatenate([keys[::2], keys[:100:2]])
            removed = [0] * 3

            def remove(number: int, old: States = old, removed: list[int] = removed) -> None:
                removed[number] = table.remove(old)

            run_threads(remove, 3)
            assert sum(removed) == len(keys[::2])
            left, left_keys = table.keep(fresh.copy())
            assert (left == fresh[1::2]).all()
            assert (left_keys == keys[1::2]).all()
            table.clear()
            assert len(table.keep(fresh.copy())[0]) == 0


@pytest.mark.parametrize("bits", [None, 40, 64])
def test_table_m_and_a_file(bits: int | None, tmp_path: Path) -> None:
    """Blocks of lengths around the row size of checksums are read as they were written, or not at all."""
    native = toy()
    with native.search(Settings()) as search, MemoryTable(search, 400_000, bits) as table:
        states, hashes = hashed(search, random_states(native, 9_000, 1))
        fresh, _ = table.insert(states, hashes)
        _, keys = table.keep(fresh.copy())
        with WorkDirectory(tmp_path) as directory:
            file = BlockFile(directory, "keys")
            counts = [1, 2, 7, 508, 509, 510, 1018, 1019, 3000]
            for end, count in zip(np.cumsum(counts), counts, strict=True):
                file.append(keys[end - count : end])
            assert table.remove_blocks(*file.places([0, 1, 5, 9])) == (1 + 2 + 510, 3)  # there is no block 9
            content = bytearray(file.path.read_bytes())
            content[-1] ^= 8
            file.path.write_bytes(content)
            assert table.remove_blocks(*file.places([2, 8])) == (7, 1)
            content[-1] ^= 8
            file.path.write_bytes(content)
            assert table.remove_blocks(*file.places(range(2, 9))) == (sum(counts) - (1 + 2 + 7 + 510), 7)
            os.truncate(file.path, len(content) - 1)
            assert table.remove_blocks(*file.places([8])) == (0, 0)


def keys_of(search: Search, states: States, bits: int | None) -> list[object]:
    return [row.tobytes() for row in states] if bits is None else list(signatures(search, states, bits))


def test_a_tiny_table_fills_up() -> None:
    native = toy()
    block = random_states(native, 100, 1)
    with native.search(Settings()) as search, MemoryTable(search, 1, None) as table:
        states, hashes = hashed(search, block)
        fresh, dealt = table.insert(states, hashes)
        assert (len(fresh), dealt) == (table.limit, table.limit)
        assert table.limit < 16

"""The cache and table M on their own, against Python sets."""

from __future__ import annotations

import numpy as np
import pytest
from test_kernels import as_set, random_states, run_threads, toy

from outcrop.kernels import Counts, Search, Settings, States
from outcrop.kernels_tables import Cache, MemoryTable, hash_block


def hashed(search: Search, states: States) -> tuple[States, Counts]:
    return states.copy(), hash_block(search, states)


def signatures(search: Search, states: States, bits: int) -> list[int]:
    return [int(each) >> (64 - bits) for each in hash_block(search, states)]


@pytest.mark.parametrize("bits", [None, 20, 40, 64])
@pytest.mark.parametrize("chain", [2, 16])
@pytest.mark.parametrize("idle", [False, True])
def test_a_cache_with_room_forgets_nothing(bits: int | None, chain: int, idle: bool) -> None:
    native = toy()
    with native.search(Settings(seed=7)) as search, Cache(native, 4 << 20, bits, chain, idle) as cache:
        known: set[object] = set()
        for seed in range(3):
            block = np.concatenate([random_states(native, 5_000, seed), random_states(native, 3_000, max(0, seed - 1))])
            keys: list[object] = (
                [row.tobytes() for row in block] if bits is None else list(signatures(search, block, bits))
            )
            expected = []
            for row, key in zip(block, keys, strict=True):
                if key not in known:
                    known.add(key)
                    expected.append(row.tobytes())
            fresh = cache.insert(*hashed(search, block))
            if cache.collisions == 0:
                assert [row.tobytes() for row in fresh] == expected
            else:
                assert {row.tobytes() for row in fresh} >= set(expected)
        assert cache.collisions <= (0 if chain == 16 else cache.insertions // 20)
        assert cache.bytes <= 4 << 20


@pytest.mark.parametrize("bits", [None, 24, 40, 64])
@pytest.mark.parametrize("size", [2_000, 60_000])
@pytest.mark.parametrize("processes", [3, 4, 5, 9])  # states of 7, 8, 10 and 18 bytes
def test_what_a_cache_holds_can_be_read_back(bits: int | None, size: int, processes: int) -> None:
    native = toy(f"N={processes}")
    block = random_states(native, 4_000, 1)
    with native.search(Settings(seed=7)) as search, Cache(native, size, bits, 4, True) as cache:
        cache.insert(*hashed(search, block))
        held = cache.read(0, cache.buckets)
        assert len(held) == cache.insertions - cache.collisions
        if bits is None:
            assert as_set(held) <= as_set(block)
            assert len(as_set(held)) == len(held)
            # And none of them is new.
            assert len(cache.insert(*hashed(search, held))) == 0
        else:
            assert set(held.view(np.uint64).reshape(-1).tolist()) <= set(signatures(search, block, bits))


def test_states_whose_first_words_look_alike_are_told_apart() -> None:
    """Of an exact cache: what stands for the first word is the same for all of these, so the rest must be compared."""

    def rest_hash(rest: int) -> int:
        scrambled = rest * 0x9E3779B97F4A7C15 % 2**64
        return scrambled ^ scrambled >> 32

    native = toy("N=5")
    assert native.state_bytes == 10
    rows = [(0x123456789 ^ rest_hash(rest)).to_bytes(8, "little") + rest.to_bytes(2, "little") for rest in range(12)]
    block = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), 10)
    with native.search(Settings(seed=7)) as search, Cache(native, 1 << 20, None, 16, False) as cache:
        assert len(cache.insert(*hashed(search, block))) == len(rows)
        assert len(cache.insert(*hashed(search, block))) == 0
        assert as_set(cache.read(0, cache.buckets)) == as_set(block)


def test_a_packed_cache_holds_more_and_loses_nothing() -> None:
    native = toy("N=9")
    block = random_states(native, 4_000, 1)
    block[:, 8:] = block[np.arange(len(block)) % 50, 8:]  # few different parts
    slots = {}
    with native.search(Settings(seed=7)) as search:
        for packed in (False, True):
            with Cache(native, 100_000, None, 16, False, packed=packed) as cache:
                fresh = cache.insert(*hashed(search, block))
                slots[packed] = cache.slots
                held = cache.read(0, cache.buckets)
                assert not cache.is_full
                assert len(held) == cache.insertions - cache.collisions
                assert as_set(held) <= as_set(block) == as_set(fresh)
                assert len(cache.insert(*hashed(search, held))) == 0
    assert slots[True] > 1.1 * slots[False]


def test_a_packed_cache_whose_dictionary_is_full_says_so() -> None:
    native = toy("N=9")
    block = random_states(native, 4_000, 1)
    with native.search(Settings(seed=7)) as search, Cache(native, 100_000, None, 16, False, packed=True) as cache:
        fresh = cache.insert(*hashed(search, block))
        assert cache.is_full
        assert as_set(fresh) == as_set(block)
        held = cache.read(0, cache.buckets)
        assert 0 < len(held) < len(block)
        assert as_set(held) <= as_set(block)


def test_what_was_met_lately_is_spared() -> None:
    native = toy()
    recent = {}
    with native.search(Settings()) as search:
        for idle in (False, True):
            with Cache(native, 200_000, None, 16, idle, seed=3) as cache:
                blocks = [random_states(native, cache.slots // 40, seed) for seed in range(70)]
                for block in blocks:
                    cache.insert(*hashed(search, block))
                assert cache.collisions > cache.insertions // 4
                again = len(cache.insert(*hashed(search, np.concatenate(blocks[-3:]))))
                recent[idle] = again / (3 * len(blocks[-2]))
    assert recent[True] < recent[False] / 2


def test_what_is_met_often_stays() -> None:
    native = toy()
    favourites = random_states(native, 100, 99)
    forgotten = {}
    with native.search(Settings()) as search:
        for idle in (False, True):
            with Cache(native, 50_000, 40, 16, idle) as cache:
                forgotten[idle] = 0
                for seed in range(90):
                    cache.insert(*hashed(search, random_states(native, cache.slots // 50, seed)))
                    forgotten[idle] += len(cache.insert(*hashed(search, favourites)))
    assert forgotten[True] < forgotten[False]


def test_the_same_seed_gives_the_same_cache() -> None:
    native = toy()
    with native.search(Settings()) as search:
        outcomes = []
        for seed in (1, 1, 2):
            with Cache(native, 20_000, 40, 8, False, seed) as cache:
                fresh = [
                    cache.insert(*hashed(search, random_states(native, 3_000, number % 3))).tobytes()
                    for number in range(9)
                ]
                outcomes.append(fresh)
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
            # Half of them are old; some come twice, and from several threads.
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

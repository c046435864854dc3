"""Kernels of a search over several ranks: messages, and a visited set that grows between levels."""

from __future__ import annotations

import tempfile
import threading
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import outcrop
from outcrop.codegen.c import emit
from outcrop.codegen.compiler import compile_model
from outcrop.kernels import Native, Settings, States
from outcrop.kernels.route import Route


@cache
def native_of(width: int) -> Native:
    """Returns a model whose states have ``width`` bytes."""
    text = f"""
    var on: array [1 .. {4 * width}] of boolean; -- 2 bits each: they may be undefined
    startstate clear on; end;
    rule true ==> on[1] := !on[1]; end;
    """
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "wide.m"
        path.write_text(text)
        return compile_model(emit(outcrop.load(path).system, False).source)


def random_states(width: int, count: int, changed: float) -> States:
    """Returns states that each differ from the previous one in some bytes."""
    random = np.random.default_rng(width)
    changes = random.integers(1, 256, size=(count, width), dtype=np.uint8)
    changes[random.random((count, width)) >= changed] = 0
    return np.bitwise_xor.accumulate(changes, axis=0)


@pytest.mark.parametrize("width", [1, 7, 8, 9, 17, 56, 63, 64, 65, 72, 128, 205])
def test_messages_are_read_as_they_were_written(width: int) -> None:
    """Tries states of whole words and of others, and of more words than one group of masks covers."""
    with native_of(width).search(Settings()) as search:
        assert search.native.state_bytes == width
        route = Route(search, 0, 2)
        for changed in (0.0, 0.1, 0.5, 1.0):
            states = random_states(width, 500, changed)
            message = np.zeros(route.most_bytes(len(states)), dtype=np.uint8)
            length = route.write(states, message)
            assert length <= route.most_bytes(len(states))
            assert (route.read(message) == states).all()
            few = int((states[1:] != states[:-1]).sum()) + width
            assert length <= 8 + few + len(states) * -(-width // 8), "no more than what differs, and which bytes do"


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("bits", [None, 64])
def test_room_is_made_between_levels(workers: int, bits: int | None) -> None:
    native = native_of(17)
    states = np.unique(random_states(17, 3000, 0.8), axis=0)
    with native.search(Settings(bits=bits, workers=workers)) as search:
        route = Route(search, 0, 2)
        assert search.insert_block(0, states).all()
        search.finish_level()
        assert not route.lacks_room(len(states))
        for many in (300_000, 3_000_000):
            assert route.lacks_room(many)
            while route.lacks_room(many):
                growing = [threading.Thread(target=route.make_room, args=(each,)) for each in range(workers)]
                for thread in growing:
                    thread.start()
                for thread in growing:
                    thread.join()
            assert not search.insert_block(0, states).any(), "nothing is forgotten"
        assert not search.is_stopping()


def test_room_is_not_made_past_the_budget() -> None:
    """A set that cannot grow is no reason to stop: there may be fewer states than expected."""
    with native_of(17).search(Settings(budget=1 << 22)) as search:
        route = Route(search, 0, 2)
        growths = 0
        while route.lacks_room(1 << 40) and not search.is_stopping():
            route.make_room(0)
            growths += 1
        assert growths > 0
        assert not search.is_stopping()

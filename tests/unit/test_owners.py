"""Parts of states that seldom change, and by which these find their owners evenly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import outcrop
from outcrop.codegen.c import emit
from outcrop.codegen.compiler import compile_model
from outcrop.dist.owners import Learner, choose_parts, read_parts, write_parts
from outcrop.kernels import Search, Settings, States
from outcrop.kernels_route import sample_steps

STEPS = 8192


def steps(slow: int, rate: float) -> tuple[States, States]:
    """Between states of two bytes that change with every step and ``slow`` ones, each of whose bits seldom does."""
    random = np.random.default_rng(3)
    before = random.integers(256, size=(STEPS, 2 + slow), dtype=np.uint8)
    after = before.copy()
    after[:, :2] = random.integers(256, size=(STEPS, 2), dtype=np.uint8)
    flips = random.random((STEPS, 8 * slow)) < rate
    after[:, 2:] ^= np.packbits(flips, axis=1)
    return before, after


def owners(states: States, parts: States) -> list[int]:
    return [
        sum((int.from_bytes(row & part, "little").bit_count() & 1) << number for number, part in enumerate(parts))
        for row in states
    ]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_owners_seldom_change_and_are_even(count: int) -> None:
    before, after = steps(slow=6, rate=0.01)
    parts = choose_parts(before, after, count)
    assert parts is not None and parts.shape == (count, 8)
    old, new = owners(before, parts), owners(after, parts)
    assert sum(one != other for one, other in zip(old, new, strict=True)) < 0.15 * count * STEPS
    sizes = np.bincount(old, minlength=1 << count)
    assert len(sizes) == 1 << count and sizes.max() < 1.1 * sizes.mean()


def test_nothing_is_chosen_where_everything_changes() -> None:
    before, after = steps(slow=0, rate=0.0)
    assert choose_parts(before, after, 1) is None


def test_nothing_is_chosen_where_nothing_varies() -> None:
    before, after = steps(slow=6, rate=0.01)
    before[:, 2:] = after[:, 2:] = 5
    assert choose_parts(before, after, 1) is None


def test_parts_are_written_and_read() -> None:
    parts = np.array([[1, 2, 255], [0, 0, 16]], dtype=np.uint8)
    assert write_parts(parts) == ["0102ff", "000010"]
    again = read_parts(write_parts(parts))
    assert again is not None and (again == parts).all()
    assert read_parts(write_parts(None)) is None


SWITCHES = """
var on: array [0 .. 29] of boolean;
startstate clear on; end;
ruleset i: 0 .. 29 do rule true ==> on[i] := !on[i]; end; end;
"""


def begun(path: Path, found: int) -> Search:
    """A search that has come to so many states."""
    model = outcrop.load(path)
    emitted = emit(model.system, False)
    search = compile_model(emitted.source, notes=emitted.notes).search(Settings())
    search.start()
    search.finish_level()
    while search.standing().level_end < found:
        search.expand_levels(0, np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.uint64), 2**63)
    return search


def test_steps_are_sampled_from_what_was_found() -> None:
    """Single steps of states from the later half of the arena, and walks from anywhere in it."""
    with begun(Path(__file__).parents[1] / "dist" / "grid.m", 1000) as search:
        found = search.standing().level_end
        arena = [row.tobytes() for row in search.read_block(0, found)]
        before, after = sample_steps(search, 1, 500, 1, first=found // 2)
        assert {row.tobytes() for row in before} <= set(arena[found // 2 :])
        assert len({row.tobytes() for row in before}) > 200
        for state, next_state in zip(before, after, strict=True):
            assert next_state.tobytes() in successors(search, state)
        walked, _ = sample_steps(search, 1, 4096, 64, 8, first=0)
        assert {row.tobytes() for row in walked} - set(arena), "walks lead on"


def successors(search: Search, state: States) -> set[bytes]:
    return {row.tobytes() for row in search.expand_block(0, state.reshape(1, -1))[0]}


@pytest.mark.parametrize("rank", [0, 1])
def test_what_is_proposed_seldom_changes_and_is_even(rank: int, tmp_path: Path) -> None:
    (tmp_path / "switches.m").write_text(SWITCHES)
    with begun(tmp_path / "switches.m", 10_000) as search:
        learner = Learner(search, 2, rank)
        assert learner.proposed is not None
        assert learner.cost(learner.proposed) < 0.4
        nothing = np.zeros_like(learner.proposed)
        assert learner.cost(nothing) == 1.0, "it never changes, and one rank has twice its share"
        assert Learner(search, 3, rank).proposed is None, "parities tell powers of two apart"

"""The choice of bits that rarely change and partition states evenly among owners."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import outcrop
from outcrop.codegen.c import emit
from outcrop.codegen.compiler import compile_model
from outcrop.dist.owners import Steps, can_be_parities, join_samples, propose, read_parts, take_sample, write_parts
from outcrop.kernels import Search, Settings, States
from outcrop.kernels.route import sample_steps

PARTS, STEPS = 8, 1024


def steps(slow: int, rate: float) -> Steps:
    """Yields steps between states of two bytes that change with every step, and ``slow`` ones, whose bits rarely do."""
    random = np.random.default_rng(3)
    before = random.integers(256, size=(PARTS, STEPS, 2 + slow), dtype=np.uint8)
    after = before.copy()
    after[:, :, :2] = random.integers(256, size=(PARTS, STEPS, 2), dtype=np.uint8)
    flips = random.random((PARTS, STEPS, 8 * slow)) < rate
    after[:, :, 2:] ^= np.packbits(flips, axis=2)
    return before, after


def owners(states: States, parts: States) -> list[int]:
    return [
        sum((int.from_bytes(row & part, "little").bit_count() & 1) << number for number, part in enumerate(parts))
        for row in states.reshape(-1, parts.shape[1])
    ]


def changes(steps: Steps, parts: States) -> float:
    """Returns how often the owner changes."""
    old, new = (owners(states, parts) for states in steps)
    return sum(one != other for one, other in zip(old, new, strict=True)) / len(old)


def largest(states: States, parts: States) -> float:
    """Returns the number of states of the largest owner, as a multiple of its share."""
    sizes = np.bincount(owners(states, parts), minlength=1 << len(parts))
    return float(sizes.max() / sizes.mean())


@pytest.mark.parametrize("count", [1, 2, 3])
def test_owners_seldom_change_and_are_even(count: int) -> None:
    seen = steps(slow=6, rate=0.01)
    proposal = propose(seen, count)
    assert proposal is not None and proposal.parts.shape == (count, 8)
    assert changes(seen, proposal.parts) < 0.02 * count
    assert largest(seen[0], proposal.parts) < 1.1


def test_bits_make_up_for_each_other() -> None:
    """No single bit is even, but the parity of several is."""
    before, after = steps(slow=6, rate=0.01)
    kept = np.random.default_rng(5).integers(256, size=before.shape, dtype=np.uint8)
    proposal = propose((before & kept, after & kept), 1)
    assert proposal is not None
    assert largest(before & kept, proposal.parts) < 1.1


def test_what_is_even_on_the_whole_must_be_so_in_every_part() -> None:
    """The first of the slow bytes only depends on when a state was found."""
    before, after = steps(slow=6, rate=0.01)
    for number in range(PARTS):
        before[number, :, 2] = after[number, :, 2] = 255 * (number % 2)
    proposal = propose((before, after), 1)
    assert proposal is not None
    assert all(largest(part, proposal.parts) < 1.2 for part in before)


def test_what_changes_often_in_some_part_is_not_taken() -> None:
    """It is avoided although on the whole it changes less often than all others."""
    before, after = steps(slow=6, rate=0.05)
    after[:, :, 2] = before[:, :, 2]
    after[-1, ::5, 2] ^= 255
    proposal = propose((before, after), 1)
    assert proposal is not None and not proposal.parts[0, 2]


def test_several_parities_are_even_together() -> None:
    """Chosen one by one, the best two would be the same bit."""
    before, after = steps(slow=6, rate=0.05)
    for states in (before, after):
        states[:, :, 2] = np.where(before[:, :, 2] & 1, 255, 0)
    proposal = propose((before, after), 2)
    assert proposal is not None
    assert largest(before, proposal.parts) < 1.1


def test_ranks_begin_with_different_bits() -> None:
    seen = steps(slow=6, rate=0.01)
    everything = propose(seen, 1)
    proposals = [propose(seen, 1, rank, 4) for rank in range(4)]
    assert everything is not None
    assert min(each.cost for each in proposals if each is not None) == everything.cost
    assert len({each.parts.tobytes() for each in proposals if each is not None}) > 1


def test_nothing_is_chosen_where_everything_changes() -> None:
    assert propose(steps(slow=0, rate=0.0), 1) is None


def test_nothing_is_chosen_where_nothing_varies() -> None:
    before, after = steps(slow=6, rate=0.01)
    before[:, :, 2:] = after[:, :, 2:] = 5
    assert propose((before, after), 1) is None
    before[:] = after[:] = 5
    assert propose((before, after), 1) is None


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
    """Returns a search that has found this many states."""
    model = outcrop.load(path)
    emitted = emit(model.system, False)
    search = compile_model(emitted.source, notes=emitted.notes).search(Settings())
    if not found:
        return search
    search.start()
    search.finish_level()
    while search.standing().level_end < found:
        search.expand_levels(0, np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.uint64), 2**63)
    return search


def test_steps_are_sampled_from_what_was_found() -> None:
    """The sample has single steps of states from all over the arena, in their order, and walks from there."""
    with begun(Path(__file__).parents[1] / "dist" / "grid.m", 1000) as search:
        found = search.standing().level_end
        numbers = {row.tobytes(): number for number, row in enumerate(search.read_block(0, found))}
        before, after = sample_steps(search, 1, 500, 1)
        places = [numbers[row.tobytes()] for row in before]
        assert places == sorted(places) and len(set(places)) > 400
        assert places[0] < found // 100 and places[-1] > found - found // 100
        for state, next_state in zip(before, after, strict=True):
            assert next_state.tobytes() in successors(search, state)
        walked, _ = sample_steps(search, 1, 4096, 64, 8)
        assert {row.tobytes() for row in walked} - numbers.keys(), "walks lead on"


def successors(search: Search, state: States) -> set[bytes]:
    return {row.tobytes() for row in search.expand_block(0, state.reshape(1, -1))[0]}


@pytest.mark.parametrize("found", [0, 10_000])
def test_what_is_proposed_seldom_changes_and_is_even(found: int, tmp_path: Path) -> None:
    (tmp_path / "switches.m").write_text(SWITCHES)
    with begun(tmp_path / "switches.m", found) as search:
        seen = join_samples([take_sample(search, 2, rank) for rank in (0, 1)])
        assert seen is not None
        proposal = propose(seen, 1)
        assert proposal is not None
        assert changes(seen, proposal.parts) < 0.3
        assert largest(seen[0], proposal.parts) < 1.2
        assert can_be_parities(search, 2) and not can_be_parities(search, 3) and not can_be_parities(search, 32)


def test_too_little_is_not_learned_from() -> None:
    before, after = steps(slow=6, rate=0.01)
    assert join_samples([(before[:, :400], after[:, :400])]) is None, "too few steps"
    assert join_samples([(before[:, :400], after[:, :400])] * 2) is not None
    before[:] = before[0, 0]
    assert join_samples([(before, after)]) is None, "always the same state"

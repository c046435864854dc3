"""Expansion and checks of blocks of states outside the arena, compared with the search in RAM."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import outcrop
from outcrop.codegen.c import emit
from outcrop.codegen.compiler import compile_model
from outcrop.kernels import DeadlockRule, Found, Native, Settings, States
from outcrop.options import CheckOptions
from outcrop.outcome import FindingKind
from outcrop.search import ram

EXAMPLES = Path(__file__).parents[2] / "examples"


def compiled(name: str) -> Native:
    emitted = emit(outcrop.load(EXAMPLES / name).system, False)
    return compile_model(emitted.source, notes=emitted.notes)


@pytest.mark.parametrize("name", ["two_phase_commit.m", "bounded_buffer.m"])
def test_a_search_made_of_blocks_counts_like_one_in_ram(name: str) -> None:
    native = compiled(name)
    expected = ram.search(native, CheckOptions(symmetry=False, threads=1, max_errors=None))
    with native.search(Settings(deadlock=DeadlockRule.STUTTERING, workers=2, most_found=1000)) as search:
        search.start()
        search.finish_level()
        level: States = search.read_block(0, search.standing().states)
        visited = {row.tobytes() for row in level}
        sizes = []
        while len(level):
            sizes.append(len(level))
            successors, hashes = search.expand_block(1, level)
            assert len(successors) == len(hashes)
            fresh = {row.tobytes() for row in successors} - visited
            visited |= fresh
            level = np.frombuffer(b"".join(sorted(fresh)), dtype=np.uint8).reshape(-1, native.state_bytes)
            search.check_block(1, level)
        fired, covered, _ = search.count()
        assert sizes == expected.levels
        assert fired.tolist() == expected.fired
        assert covered.tolist() == expected.covered
        failing = [finding.path[-1] for finding in expected.findings if finding.kind is FindingKind.RULE]
        assert set(search.take_found(Found.RULE)) == set(failing)
        assert bool(failing) == (name == "bounded_buffer.m")

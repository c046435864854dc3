"""Leaks: a search leaves no open files and no threads in its process, because programs run many of them."""

from __future__ import annotations

import gc
import sys
import threading
from pathlib import Path

import pytest

import outcrop
from outcrop.strategies import STRATEGIES, CachedOptions, names


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("strategy", names(finds_cycles=False))
def test_nothing_stays_open(strategy: str, tmp_path: Path) -> None:
    model = outcrop.load(Path(__file__).parents[2] / "examples" / "german_cache.m")

    own = {"collision_limit": 0.99} if CachedOptions in STRATEGIES[strategy].options else {}

    def things() -> tuple[int, int]:
        result = model.check(strategy=strategy, state_memory=30_000, workdir=tmp_path, deadlock="off", threads=2, **own)
        assert result.verdict is not outcrop.Verdict.VIOLATED
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and thread.daemon:
                thread.join(0.2)
        return len(list(Path("/proc/self/fd").iterdir())), threading.active_count()

    gc.collect()  # leftovers of other tests
    assert things() == things()

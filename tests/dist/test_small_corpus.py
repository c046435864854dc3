"""Small models: every strategy gives the same result with one, two, three and four ranks.

OUTCROP_MODELS=../shared pytest -m slow tests/dist/test_small_corpus.py
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from outcrop.dist.launch import find_mpiexec

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not installed"),
]

HERE = Path(__file__).parent
_SECONDS = 3000
#: Strategies whose revisits depend on what each rank remembers.
_REVISITS = ("states_visited", "duplicates", "events")
#: Strategies with which the order of discovery decides which of several cycles is shown.
_CYCLE = ("traces", "messages")


@cache
def results(ranks: int) -> list[dict[str, Any]]:
    command = [sys.executable, str(HERE / "check_corpus.py")]
    if ranks > 1:
        command = [find_mpiexec(), "-n", str(ranks), *command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def comparable(row: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields that must not depend on the number of ranks."""
    left_out = {"locality, 8K": _REVISITS, "owcty --compact": _CYCLE}.get(row["search"], ())
    same = {name: value for name, value in row["same"].items() if name not in left_out}
    same["properties"] = [{**each, "seconds": None} for each in same["properties"]]
    return {"subject": row["subject"], "search": row["search"], "printed": row["printed"], **same}


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_all_searches_agree_with_one_rank(ranks: int) -> None:
    for alone, together in zip(results(1), results(ranks), strict=True):
        if "refused" in alone:
            assert "refused" in together, together
        elif "refused" in together:
            assert "liveness cannot be checked over several ranks" in together["refused"], together
        else:
            assert together["ranks"] == ranks
            assert comparable(together) == comparable(alone)


def test_the_corpus_is_not_lost() -> None:
    """Nearly all of the corpus is searched, and every search gives both verdicts."""
    searched = [row for row in results(2) if "refused" not in row]
    assert len(searched) > 0.9 * len(results(2))
    verdicts = Counter((row["search"], row["same"]["verdict"]) for row in searched)
    for search in {row["search"] for row in results(2)}:
        assert verdicts[search, "holds"] and verdicts[search, "violated"], (search, verdicts)

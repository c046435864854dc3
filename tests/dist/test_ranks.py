"""Several ranks: every strategy gives the counts, levels, verdict and traces of one process."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from outcrop.dist.launch import find_mpiexec
from outcrop.outcome import EventKind
from outcrop.strategies import names

pytestmark = pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not installed")

HERE = Path(__file__).parent
MODELS = HERE.parent / "models"
STRATEGIES = names(ranks=True, finds_cycles=False)
#: Models with findings of every kind, start states, covers, prints, notes, symmetry, and levels that are empty on some
#: ranks.
SMALL = (
    "max_errors.m",
    "scalarset_orbits.m",
    "start_states.m",
    "put.m",
    "cover_met.m",
    "first_of_several.m",
    "error_in_startstate.m",
    "many_successors.m",
    "undefined_copy_permitted.m",
    "deadlock_stuck_found.m",
)


#: Masks of states whose parities select the owner, by number of ranks. Those of "00" leave all states to the first.
PARTS = {"2": "2d96", "4": "2d96,53c3"}
UNEVEN = {"2": "00", "4": "00,53"}
BY_HASH = {"2": "hash", "3": "hash", "4": "hash"}


def jobs() -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    listed: list[tuple[str, dict[str, Any], dict[str, Any]]] = []
    for number, name in enumerate(SMALL):
        for strategy in ("ram", STRATEGIES[number % len(STRATEGIES)]):
            options = {"strategy": strategy, "threads": 1 + len(listed) % 2}
            listed.append((str(MODELS / name), {}, options if len(listed) % 2 else {**options, "owners": PARTS}))
    for number, strategy in enumerate(STRATEGIES):
        options = {"strategy": strategy, "threads": 2, "max_errors": 3}
        listed.append((str(HERE / "grid.m"), {}, {**options, "owners": PARTS} if number % 2 else options))
    listed.append((str(HERE / "grid.m"), {}, {"strategy": "ram", "owners": UNEVEN, "max_errors": None}))
    # New owners take the states over: a search that started over would print twice.
    listed.append((str(HERE / "printing.m"), {}, {"owners": UNEVEN, "deadlock": "off"}))
    # The handover to disk happens in the middle of a level.
    for strategy in ("auto", "layered"):
        options = {"strategy": strategy, "threads": 2, "state_memory": "8K", "max_errors": None}
        listed.append((str(HERE / "grid.m"), {}, options))
    listed.append((str(HERE / "grid.m"), {}, {"strategy": "disk", "keep": "states", "state_memory": "8K"}))
    listed.append((str(HERE / "grid.m"), {}, {"strategy": "ram", "depth": 9}))
    listed.append((str(HERE / "grid.m"), {}, {"strategy": "ram", "states": 900}))
    # Ranks send states as the model packs them, and each folds its own.
    wide = str(HERE / "wide.m")
    listed.append((wide, {}, {"strategy": "ram", "compress": "tree", "threads": 2, "max_errors": 3}))
    listed.append((wide, {}, {"strategy": "ram", "compress": "quotient", "owners": UNEVEN, "max_errors": 3}))
    listed.append((str(HERE / "grid.m"), {}, {"strategy": "ram", "compress": "quotient", "max_errors": None}))
    listed.append((str(HERE / "grid.m"), {}, {"strategy": "compact", "owners": PARTS, "max_errors": 3}))
    listed.append((str(HERE / "grid.m"), {}, {"strategy": "compact", "bits": 8, "owners": BY_HASH, "max_errors": None}))
    return listed


@cache
def results(ranks: int) -> list[dict[str, Any]]:
    command = [sys.executable, str(HERE / "check_many.py"), json.dumps(jobs())]
    if ranks > 1:
        command = [find_mpiexec(), "-n", str(ranks), *command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_all_strategies_agree_with_one_rank(ranks: int) -> None:
    for job, alone, together in zip(jobs(), results(1), results(ranks), strict=True):
        assert together["ranks"] == ranks
        # Which of two states with the same signature is met first depends on the ranks.
        assert together["same"] == alone["same"] or "bits" in job[2], job
        assert together["printed"] == alone["printed"], job


def test_states_of_one_signature_have_one_owner() -> None:
    """With ownership by the hash and very few bits, several ranks have no more signatures than one."""
    bits, listed = 8, jobs()
    few = next(number for number, (_, _, options) in enumerate(listed) if options.get("bits") == bits)
    for ranks in (2, 3, 4):
        assert results(ranks)[few]["same"]["states_visited"] <= 1 << bits


def test_states_and_signatures_find_their_owners_alike() -> None:
    """With ownership by parities too, the same number of successors goes to other ranks."""
    given = [
        number
        for number, (path, _, options) in enumerate(jobs())
        if Path(path).name == "grid.m" and options.get("owners") == PARTS and options["strategy"] in ("ram", "compact")
    ]
    assert len(given) == 2
    for ranks in (2, 4):
        of_others = [[row["successors_of_others"] for row in results(ranks)[number]["per_rank"]] for number in given]
        assert of_others[0] == of_others[1]


def test_ranks_report_what_they_did() -> None:
    for job, alone, together in zip(jobs(), results(1), results(2), strict=True):
        if "bits" in job[2]:
            continue
        rows = together["per_rank"]
        assert [row["rank"] for row in rows] == [0, 1]
        assert sum(row["states"] for row in rows) == alone["same"]["states_visited"]
        assert sum(row["rules_fired"] for row in rows) == alone["same"]["rules_fired"]
        assert all(row["states_sent"] <= row["successors_of_others"] for row in rows)


def test_states_are_shared_out_evenly() -> None:
    """The partition is even, also if ownership is learned during the search."""
    by_hash = next(number for number, (path, *_) in enumerate(jobs()) if Path(path).name == "grid.m")
    uneven = next(number for number, (*_, options) in enumerate(jobs()) if options.get("owners") == UNEVEN)
    for ranks in (2, 4):
        for number in (by_hash, uneven):
            rows = results(ranks)[number]["per_rank"]
            share = sum(row["states"] for row in rows) / ranks
            assert all(0.8 * share < row["states"] < 1.2 * share for row in rows)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_layers_are_those_of_all_ranks(ranks: int) -> None:
    wanted = {"strategy": "layered", "state_memory": "8K"}
    layered = next(i for i, (*_, each) in enumerate(jobs()) if each.items() >= wanted.items())
    result = results(ranks)[layered]
    sizes, duplicates = [*result["same"]["levels"], 0], result["same"]["duplicates"]
    assert len(result["layers"]["rows"]) > 5
    for row in result["layers"]["rows"]:
        assert row["states"] == sizes[row["level"]]
        if row["duplicates_ram"] is not None:
            assert row["duplicates_ram"] + row["duplicates_delayed"] == duplicates[row["level"] - 1]


def test_a_rank_out_of_memory_goes_to_disk() -> None:
    past_ram = next(number for number, (_, _, options) in enumerate(jobs()) if options.get("state_memory") == "8K")
    assert EventKind.SPILLED in [event["kind"] for event in results(2)[past_ram]["events"]]

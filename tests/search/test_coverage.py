"""Counts per level and per rule for reports: the same for every engine, thread count and strategy."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from conftest import REPOSITORY

import outcrop
from outcrop.explorer.samples import MOST_SAMPLES, Samples
from outcrop.outcome import EventKind, Outcome, Progress, Stop
from outcrop.result import Result, RuleCounts
from outcrop.strategies import names

MODEL = REPOSITORY / "examples" / "german_cache.m"


def counted(result: Result) -> tuple[object, ...]:
    return result.levels, result.duplicates, result.missed, result.coverage


@pytest.mark.parametrize("path", ["german_cache.m", "needham_schroeder.m", "print_queue.dve", "bounded_buffer.m"])
@pytest.mark.parametrize("symmetry", [True, False])
def test_engines_and_threads_agree(path: str, symmetry: bool) -> None:
    model = outcrop.load(REPOSITORY / "examples" / path)
    expected = counted(model.check(engine="interpreter", coverage=True, symmetry=symmetry, depth=9))
    for threads in (1, 3):
        assert counted(model.check(coverage=True, symmetry=symmetry, depth=9, threads=threads)) == expected


def test_levels_large_enough_to_be_shared() -> None:
    model = outcrop.load(MODEL)
    one, two, three = (model.check(coverage=True, symmetry=False, threads=threads) for threads in (1, 2, 3))
    assert max(one.levels) > 2048
    assert counted(one) == counted(two) == counted(three)


def test_counts_add_up() -> None:
    result = outcrop.load(MODEL).check(coverage=True)
    duplicates = [count for count in result.duplicates if count is not None]
    assert len(duplicates) == len(result.levels)
    assert sum(duplicates) + sum(result.levels[1:]) == result.rules_fired
    assert result.missed == [0] * len(result.levels)
    rows = result.to_dict()["coverage"]
    assert sum(rule["new"] for rule in rows) >= sum(result.levels[1:])
    assert all(rule["new"] <= rule["fired"] <= rule["enabled"] for rule in rows)


def test_not_counted_unless_asked() -> None:
    result = outcrop.load(MODEL).check(depth=2)
    assert result.coverage[0].counts is None and "new" not in result.to_dict()["coverage"][0]


#: Strategies that know the level of every visited state.
LEVELS = names(exact=True, liveness=True, finds_cycles=False)


@pytest.mark.parametrize("strategy", [each for each in names(finds_cycles=False, decides=True) if each not in LEVELS])
def test_strategies_that_keep_no_levels(strategy: str, tmp_path: Path) -> None:
    """They know how often a rule is enabled. They do not know whether it led deeper, and say so."""
    model = outcrop.load(MODEL)
    exact, other = (model.check(strategy=each, coverage=True, workdir=str(tmp_path)) for each in ("ram", strategy))
    assert other.duplicates == exact.duplicates
    for expected, row in zip(exact.coverage, other.coverage, strict=True):
        assert expected.counts is not None
        assert row == replace(expected, counts=replace(expected.counts, new=None))


def test_past_ram_levels_are_counted_too(tmp_path: Path) -> None:
    model = outcrop.load(MODEL)
    exact = model.check(strategy="ram", symmetry=False, coverage=True)
    past = model.check(symmetry=False, coverage=True, state_memory=100_000, workdir=str(tmp_path))
    assert [event.kind for event in past.events] == [EventKind.SPILLED]
    assert (past.levels, past.duplicates) == (exact.levels, exact.duplicates)
    for expected, row in zip(exact.coverage, past.coverage, strict=True):
        assert expected.counts is not None
        assert row.counts == RuleCounts(expected.counts.enabled, None)


def test_going_on_from_a_checkpoint(tmp_path: Path) -> None:
    model = outcrop.load(MODEL)
    place = str(tmp_path / "checkpoint")
    model.check(coverage=True, checkpoint=place, depth=7)
    assert counted(model.check(coverage=True, resume=place)) == counted(model.check(coverage=True))


def test_revisiting_leaves_missed_open() -> None:
    assert Outcome(Stop.COMPLETE, [1, 2], [3], [], revisits=True).missed_duplicates is None


def test_samples_are_bounded_and_spread_evenly() -> None:
    samples = Samples()
    for tick in range(100_000):
        seconds = tick / 100
        if samples.is_due(seconds):
            samples.take(Progress(level=1, states=tick, rules_fired=0, frontier=0, seconds=seconds))
    times = samples.columns()["seconds"]
    assert MOST_SAMPLES / 2 <= len(times) <= MOST_SAMPLES
    assert times[0] == 0 and times[-1] > 980
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert max(gaps) < 2.5 * min(gaps)


def test_a_search_is_sampled_from_beginning_to_end() -> None:
    samples = outcrop.load(MODEL).check().samples
    assert {len(column) for column in samples.values()} == {len(samples["seconds"])}
    assert samples["states"][0] == 0 and samples["states"][-1] > 0
    assert samples["rss_bytes"][-1] > 1_000_000

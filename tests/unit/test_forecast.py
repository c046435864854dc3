"""The forecast, compared with the level profiles of real models."""

from __future__ import annotations

import json
from itertools import accumulate
from pathlib import Path
from statistics import mean, median

import pytest

from outcrop.report.forecast import LEAST_LEVELS, forecast, seconds_until

#: Level sizes of Murphi and DVE models, from their first to their last level.
PROFILES: dict[str, list[int]] = json.loads(
    (Path(__file__).parents[1] / "data" / "level_profiles.json").read_text(encoding="utf-8")
)


def moments(levels: list[int]) -> list[int]:
    """Returns the numbers of levels after which to forecast: whenever another fiftieth of all states has been found."""
    sums, total = list(accumulate(levels)), sum(levels)
    return sorted({next(at + 1 for at, done in enumerate(sums) if 50 * done >= part * total) for part in range(1, 50)})


def verdicts(levels: list[int]) -> list[bool | None]:
    """Returns, for each moment, whether the true number lies in the range; None if there was no forecast."""
    total = sum(levels)
    found = [forecast(levels[:count]) for count in moments(levels)]
    return [None if each is None else each.least <= total <= each.most for each in found]


def test_how_often_the_truth_lies_in_the_range() -> None:
    assert len(PROFILES) >= 50
    shares = []
    for levels in PROFILES.values():
        given = [each for each in verdicts(levels) if each is not None]
        if given:
            shares.append(mean(given))
    assert mean(shares) >= 0.9  # 0.94 when this was written
    assert sum(share >= 0.75 for share in shares) >= 0.9 * len(shares)


def test_how_much_it_says() -> None:
    """A range that always holds because it is endless would be useless."""
    given, widths, late = [], [], []
    for levels in PROFILES.values():
        given.append(mean(each is not None for each in verdicts(levels)))
        for count in moments(levels):
            found = forecast(levels[:count])
            if found is not None:
                widths.append(found.most / found.least)
                if sum(levels[:count]) > 0.9 * sum(levels):
                    late.append(found.most / found.least)
    assert mean(given) > 0.5  # share of the moments of a search
    assert median(widths) < 6 and median(late) < 2


def test_no_basis() -> None:
    assert forecast([]) is None
    assert forecast([1] * (LEAST_LEVELS - 1)) is None
    assert forecast([2**level for level in range(30)]) is None  # still growing fast
    assert forecast([1] * 10 + [0] * 10) is None


@pytest.mark.parametrize("levels", [[5] * 40, [10, 90] * 20, list(range(60, 0, -1))])
def test_a_range_begins_with_what_is_there(levels: list[int]) -> None:
    found = forecast(levels)
    assert found is not None and sum(levels) <= found.least <= found.middle <= found.most


def test_when_something_runs_out() -> None:
    assert seconds_until(60, 100, 4) == 10
    assert seconds_until(120, 100, 4) == 0
    assert seconds_until(60, None, 4) is None and seconds_until(60, 100, 0) is None

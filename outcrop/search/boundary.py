"""Where a search stands when a level is complete, so that it can be taken up from there: in another process, by another
strategy, or with states of another form."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from outcrop.kernels import Counts, Found, Marks
from outcrop.search.outcome import FindingKind
from outcrop.store.checkpoint import Manifest, StatesPart

if TYPE_CHECKING:
    from outcrop.search.driver import Exploration


@dataclass
class Before:
    """What was counted before the place at which a search has taken up another. None: that is not known."""

    fired: Counts = field(default_factory=lambda: np.zeros(1, dtype=np.uint64))
    covered: Counts = field(default_factory=lambda: np.zeros(1, dtype=np.uint64))
    enabled: list[int] | None = field(default_factory=list)
    deeper: list[int] | None = field(default_factory=list)
    noted: frozenset[int] = frozenset()
    omission_bound: float = 0.0
    revisits: bool = False
    seconds: float = 0.0


@dataclass(frozen=True)
class Boundary:
    """What is known when a level is complete. What only grows is noted by its length."""

    levels: int
    found: int
    has_failed_start: bool
    counts: tuple[Counts, Counts, Marks]
    coverage: tuple[list[int] | None, list[int] | None]
    revisits: bool
    collision_rate: float | None

    @staticmethod
    def of(run: Exploration) -> Boundary:
        return Boundary(
            len(run.levels),
            len(run.found),
            run.has_failed_start,
            run.count(),
            run.coverage(),
            run.revisits,
            run.collision_rate,
        )

    def describe(self, run: Exploration, part: StatesPart) -> Manifest:
        """Of a search that may have gone on since. ``part``: where its states are."""
        fired, covered, marks = self.counts
        levels = run.levels[: self.levels]
        return Manifest(
            identity=run.native.identity,
            strategy=run.options.strategy,
            levels=levels,
            fired=fired.tolist(),
            covered=covered.tolist(),
            noted=run.noted(marks),
            found=[
                [str(kind), state.hex(), level, liveness]
                for (kind, state, liveness), level in islice(run.found.items(), self.found)
            ],
            has_failed_start=self.has_failed_start,
            revisits=self.revisits,
            keys=run.keys,
            omission_bound=run.total_omission_bound(levels),
            collision_rate=self.collision_rate,
            seconds=run.before.seconds + run.seconds(),
            states=part,
            generated=run.generated[: self.levels],
            enabled=self.coverage[0],
            deeper=self.coverage[1],
        )


def restore_counts(run: Exploration, own: list[Manifest], everyone: list[Manifest]) -> None:
    """Has a search go on counting where another stopped, whose states it has taken. ``own``: the parts of which
    this rank counts what was counted."""
    manifest = everyone[0]
    # Searches may have checked the states while they took them. That has been counted and found before.
    for kind in Found:
        run.search.take_found(kind)
    run.search.take_put()
    fired, covered, _ = run.search.count()
    run.before = Before(
        _sum([each.fired for each in own], fired) - fired,
        _sum([each.covered for each in own], covered) - covered,
        _sum_known([each.enabled for each in own], fired),
        _sum_known([each.deeper for each in own], fired),
        frozenset(note for each in own for note in each.noted),
        # Keys that are the same miss the same states, and their bound is that of all levels.
        0.0 if manifest.keys == run.keys else manifest.omission_bound,
        manifest.revisits and not run.drops_revisited,
        manifest.seconds,
    )
    if run.totals == [sum(sizes) for sizes in zip(*(each.levels for each in everyone), strict=True)]:
        run.generated = _generated([each.generated for each in own], len(manifest.levels))
    run.has_failed_start = manifest.has_failed_start
    for kind, state, level, liveness in manifest.found:
        run.find(FindingKind(kind), bytes.fromhex(state), level, liveness)
    if manifest.revisits:
        run.tell("rules fired include those of states that were visited again before the checkpoint")


def _sum(rows: list[list[int]], like: Counts) -> Counts:
    total = np.zeros_like(like)
    for row in rows:
        total += np.array(row, dtype=np.uint64)
    return total


def _sum_known(rows: list[list[int] | None], like: Counts) -> list[int] | None:
    known = [row for row in rows if row is not None]
    return _sum(known, like).tolist() if len(known) == len(rows) else None


def _generated(rows: list[list[int | None]], level_count: int) -> list[int | None]:
    """None where that was not counted."""
    columns = ([row[level] if level < len(row) else None for row in rows] for level in range(level_count))
    return [None if None in column else sum(each for each in column if each is not None) for column in columns]

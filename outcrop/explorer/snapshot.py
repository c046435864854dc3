"""Snapshots: a search where a level was complete, in the one form in which it is handed on.

To another process (a checkpoint), another strategy, states of another form, or from a GPU to the host: each hands on
levels, counters, findings, and a source of states by level. To continue a snapshot is to take its states as visited,
whatever set is now to remember them, and to expand the last level. What was done of an incomplete level is done again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from outcrop.kernels import Counts, Found, Marks, States
from outcrop.outcome import Event, EventKind, FindingKind
from outcrop.store.checkpoint import Manifest, StatesPart
from outcrop.store.workdir import DiskBudget

if TYPE_CHECKING:
    from outcrop.explorer.explorer import Explorer

#: The part of a state file that a snapshot names which is not in one.
NO_FILE = StatesPart("", 0, 0, 0)


@dataclass
class Counted:
    """What was counted before the snapshot that a search began with. None: that is not known."""

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
    """Counters of a search when a level is complete. Lists that only grow are noted by their length."""

    levels: int
    found: int
    has_failed_start: bool
    counts: tuple[Counts, Counts, Marks]
    coverage: tuple[list[int] | None, list[int] | None]
    revisits: bool
    collision_rate: float | None

    @staticmethod
    def of(explorer: Explorer) -> Boundary:
        return Boundary(
            len(explorer.levels),
            len(explorer.findings.states),
            explorer.findings.has_failed_start,
            explorer.count(),
            explorer.coverage(),
            explorer.visited.revisits,
            explorer.visited.collision_rate,
        )

    def describe(self, explorer: Explorer, part: StatesPart = NO_FILE) -> Manifest:
        """Returns the manifest of a search that may have gone on since. ``part``: where its states are."""
        fired, covered, marks = self.counts
        levels = explorer.levels[: self.levels]
        return Manifest(
            identity=explorer.native.identity,
            strategy=explorer.options.strategy,
            levels=levels,
            fired=fired.tolist(),
            covered=covered.tolist(),
            noted=explorer.noted(marks),
            found=[
                [str(kind), state.hex(), level, liveness]
                for (kind, state, liveness), level in islice(explorer.findings.states.items(), self.found)
            ],
            has_failed_start=self.has_failed_start,
            revisits=self.revisits,
            keys=explorer.visited.keys,
            omission_bound=explorer.total_omission_bound(levels),
            collision_rate=self.collision_rate,
            seconds=explorer.before.seconds + explorer.watch.seconds(),
            states=part,
            generated=explorer.generated[: self.levels],
            enabled=self.coverage[0],
            deeper=self.coverage[1],
        )


@dataclass(frozen=True)
class Snapshot:
    """A search to be continued. ``read_level`` gives the states of a level as the model packs them, and is asked for
    one level after the other."""

    own: list[Manifest]  #: the parts whose counters this rank goes on with
    everyone: list[Manifest]  #: the parts of all ranks
    read_level: Callable[[int], Iterator[States]]
    event: str  #: what is told when the search goes on, with places for ``level`` and ``states``
    event_kind: EventKind = EventKind.CONTINUED
    stays: bool = True  #: states belong to the rank that reads them
    check: Callable[[Explorer], None] = lambda explorer: None  #: raises if the levels are not those that were written
    disk: DiskBudget | None = None  #: the budget that its files are paid for from, if it has any
    close: Callable[[], None] = lambda: None  #: gives back what holds the states

    def resume(self, explorer: Explorer) -> None:
        """Has a search stand where the other stood when its last level was complete."""
        try:
            for level in range(len(self.everyone[0].levels)):
                explorer.exchange.restore_level(self.read_level(level), self.stays)
            self.check(explorer)
            self._restore_counts(explorer)
        finally:
            self.close()
        figures = {"level": len(explorer.totals) - 1, "states": explorer.totals.states}
        explorer.watch.tell(Event(self.event_kind, self.event.format(**figures), figures))

    def _restore_counts(self, explorer: Explorer) -> None:
        manifest, own = self.everyone[0], self.own
        # Searches may have checked the states while they took them. That has been counted and found before.
        for kind in Found:
            explorer.search.take_found(kind)
        explorer.printing.take_rest()
        fired, covered, _ = explorer.search.count()
        explorer.before = Counted(
            _sum([each.fired for each in own], fired) - fired,
            _sum([each.covered for each in own], covered) - covered,
            _sum_known([each.enabled for each in own], fired),
            _sum_known([each.deeper for each in own], fired),
            frozenset(note for each in own for note in each.noted),
            # Keys that are the same miss the same states, and their bound is that of all levels.
            0.0 if manifest.keys == explorer.visited.keys else manifest.omission_bound,
            manifest.revisits and not explorer.visited.drops_revisited,
            manifest.seconds,
        )
        if explorer.totals == [sum(sizes) for sizes in zip(*(each.levels for each in self.everyone), strict=True)]:
            explorer.generated = _generated([each.generated for each in own], len(manifest.levels))
        explorer.findings.has_failed_start = manifest.has_failed_start
        for kind, state, level, liveness in manifest.found:
            explorer.findings.add(FindingKind(kind), bytes.fromhex(state), level, liveness)
        explorer.exchange.counts_are_restored()
        if manifest.revisits:
            text = "rules fired include those of states that were visited again before the checkpoint"
            explorer.watch.tell(Event(EventKind.WARNED, text))


def _sum(rows: list[list[int]], like: Counts) -> Counts:
    total = np.zeros_like(like)
    for row in rows:
        total += np.array(row, dtype=np.uint64)
    return total


def _sum_known(rows: list[list[int] | None], like: Counts) -> list[int] | None:
    known = [row for row in rows if row is not None]
    return _sum(known, like).tolist() if len(known) == len(rows) else None


def _generated(rows: list[list[int | None]], level_count: int) -> list[int | None]:
    """Returns the successors of each level over all parts; None where they were not counted."""
    columns = ([row[level] if level < len(row) else None for row in rows] for level in range(level_count))
    return [None if None in column else sum(each for each in column if each is not None) for column in columns]

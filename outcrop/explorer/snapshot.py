"""Snapshots: the form in which a search is handed over, as of its last complete level.

A search is handed over to another process (a checkpoint), another strategy, states of another form, or from a GPU to
the host. Each handover carries levels, counters, findings, and a source of states by level. To continue a snapshot, a
search marks its states as visited and expands the last level. The work on an incomplete level is repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import TYPE_CHECKING

import numpy as np

from outcrop.kernels import Counts, Found, Marks, States
from outcrop.outcome import Event, EventKind, FindingKind
from outcrop.store.checkpoint import Manifest, StatesPart
from outcrop.store.workdir import DiskBudget
from outcrop.strategies import STRATEGIES

if TYPE_CHECKING:
    from outcrop.explorer.explorer import Explorer

#: Largest copy of the states in memory, as a fraction of the memory budget, and rows of it that are read at a time.
_COPIED_SHARE = 1 / 8
_COPIED_ROWS = 1 << 15
#: The state file of a snapshot whose states are not in a file.
NO_FILE = StatesPart("", 0, 0, 0)


@dataclass
class Counted:
    """The counts of the snapshot that a search continues. None: not known."""

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
    """The counters of a search when a level is complete. Lists that only grow are recorded by their length."""

    levels: int
    found: int
    has_failed_start: bool
    counts: tuple[Counts, Counts, Marks]
    coverage: tuple[list[int] | None, list[int] | None]
    revisits: bool
    collision_rate: float | None

    @staticmethod
    def of(explorer: Explorer) -> Boundary:
        """Returns the counters of a search now."""
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
        """Returns the manifest as of this boundary, which the search may have passed. ``part``: file of its states."""
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
    """A search to be continued. ``read_level`` yields the states of a level as the model packs them. It is called for
    one level after the other."""

    own: list[Manifest]  #: the parts whose counters this rank continues
    everyone: list[Manifest]  #: the parts of all ranks
    read_level: Callable[[int], Iterator[States]]
    event: str = ""  #: text of the event when the search continues, with fields ``level`` and ``states``; "": none
    event_kind: EventKind = EventKind.CONTINUED
    stays: bool = True  #: whether states belong to the rank that reads them
    check: Callable[[Explorer], None] = lambda explorer: None  #: raises if the levels differ from what was written
    disk: DiskBudget | None = None  #: the disk budget that its files are counted in, if it has files
    close: Callable[[], None] = lambda: None  #: frees the source of the states

    def resume(self, explorer: Explorer) -> None:
        """Brings a search to where the other one stood when its last level was complete."""
        try:
            for level in range(len(self.everyone[0].levels)):
                explorer.exchange.restore_level(self.read_level(level), self.stays)
            self.check(explorer)
            self._restore_counts(explorer)
        finally:
            self.close()
        if self.event:
            figures = {"level": len(explorer.totals) - 1, "states": explorer.totals.states}
            explorer.watch.tell(Event(self.event_kind, self.event.format(**figures), figures))

    def _restore_counts(self, explorer: Explorer) -> None:
        manifest, own = self.everyone[0], self.own
        # Inserting the states may have checked them again. Their findings and counts are in the snapshot already.
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
            # Equal keys miss the same states, so the bound of all levels covers those of the snapshot.
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
            text = "rules fired include those of states that were revisited before the checkpoint"
            explorer.watch.tell(Event(EventKind.WARNED, text))


def can_be_copied(explorer: Explorer) -> bool:
    """Returns whether a search can be continued from a copy of its states in memory.

    The copy must take a small part of the memory budget, because it exists at the same time as the states. A search
    that may have visited states twice starts over instead.
    """
    is_small = explorer.levels.states * explorer.native.model_bytes <= explorer.search.budget * _COPIED_SHARE
    strategy = STRATEGIES[explorer.options.strategy]
    return strategy.checkpoints and explorer.frontier.is_arena and is_small and not explorer.revisits


def copied(explorer: Explorer) -> Snapshot:
    """Returns a snapshot of all levels, with the states in memory. Each state goes to the rank that then owns it."""
    manifest, search = Boundary.of(explorer).describe(explorer), explorer.search
    levels = [search.packed_form(search.read_block(*ends)) for ends in pairwise(explorer.levels.ends)]
    return Snapshot(
        own=[manifest],
        everyone=explorer.exchange.gather(manifest),
        read_level=lambda level: iter(np.array_split(levels[level], len(levels[level]) // _COPIED_ROWS + 1)),
        stays=False,
        close=levels.clear,
    )


def _sum(rows: list[list[int]], like: Counts) -> Counts:
    """Returns the sum of the rows, with the shape of ``like``."""
    total = np.zeros_like(like)
    for row in rows:
        total += np.array(row, dtype=np.uint64)
    return total


def _sum_known(rows: list[list[int] | None], like: Counts) -> list[int] | None:
    """Returns the sum of the rows; None if one of them is not known."""
    known = [row for row in rows if row is not None]
    return _sum(known, like).tolist() if len(known) == len(rows) else None


def _generated(rows: list[list[int | None]], level_count: int) -> list[int | None]:
    """Returns the successors generated for each level over all parts; None where they were not counted."""
    columns = ([row[level] if level < len(row) else None for row in rows] for level in range(level_count))
    return [None if None in column else sum(each for each in column if each is not None) for column in columns]

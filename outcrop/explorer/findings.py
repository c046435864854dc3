"""Findings of a search: states by kind and level, and later the paths to them."""

from __future__ import annotations

from outcrop.explorer.paths import Look, PathFinder
from outcrop.options import CheckOptions
from outcrop.outcome import Event, EventKind, Finding, FindingKind, are_enough, most_found

_KIND_ORDER = {kind: position for position, kind in enumerate(FindingKind)}


class Findings:
    """The findings of one search. It lists the first ones by level, kind and bytes of the state."""

    def __init__(self, options: CheckOptions) -> None:
        self._options = options
        self._last_listed_level: int | None = None  #: set when the list is full
        self.states: dict[tuple[FindingKind, bytes, int | None], int] = {}  #: with the level of each state
        self.has_failed_start = False
        self.traced: list[Finding] = []  #: findings that came with a path

    def __len__(self) -> int:
        return len(self.states) + self.has_failed_start + len(self.traced)

    @property
    def are_enough(self) -> bool:
        """Whether the search ends with the current level."""
        return are_enough(len(self), self._options)

    def add(self, kind: FindingKind, state: bytes, level: int, liveness: int | None = None) -> None:
        """Records a finding. If states are revisited, the first visit counts."""
        if self._last_listed_level is None or level <= self._last_listed_level:
            self.states.setdefault((kind, state, liveness), level)

    def level_is_done(self, newest: int) -> Event | None:
        """Stops recording findings of later levels once the list is full. Deadlocks and failing rules of the newest
        level are still to come, when it is expanded. Returns an event the first time, or None."""
        most = most_found(self._options)
        if self._last_listed_level is not None or len(self.states) < most:
            return None
        self._last_listed_level = newest
        if self.are_enough:
            return None
        text = f"{most:,} violations found, the most that are listed; the search continues without listing more"
        return Event(EventKind.UNLISTED, text)

    def with_paths(self, look: Look) -> list[Finding]:
        """Returns the first findings by length of the path, kind, and bytes of the last state, with their paths."""
        rows = sorted(
            (level, _KIND_ORDER[kind], state, -1 if liveness is None else liveness, kind)
            for (kind, state, liveness), level in self.states.items()
        )
        findings = [Finding(FindingKind.START, ())] if self.has_failed_start else []
        most = most_found(self._options)
        rows = rows[: most - len(findings)]
        paths = PathFinder(look).paths([(state, level) for level, _, state, *_ in rows])
        for (_, _, _, liveness, kind), path in zip(rows, paths, strict=True):
            findings.append(Finding(kind, path, None if liveness < 0 else liveness))
        return [*findings, *self.traced][:most]

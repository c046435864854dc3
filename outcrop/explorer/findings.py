"""What a search has found wrong: states by kind and level, and later the paths to them."""

from __future__ import annotations

from outcrop.explorer.paths import Look, PathFinder
from outcrop.options import CheckOptions
from outcrop.outcome import Event, EventKind, Finding, FindingKind, are_enough, most_found

_KIND_ORDER = {kind: position for position, kind in enumerate(FindingKind)}


class Findings:
    """Findings of one search, of which it lists the first by level, kind and bytes of the state."""

    def __init__(self, options: CheckOptions) -> None:
        self._options = options
        self._last_listed_level: int | None = None  #: once there are as many as are listed
        self.states: dict[tuple[FindingKind, bytes, int | None], int] = {}  #: each with the level of its state
        self.has_failed_start = False
        self.traced: list[Finding] = []  #: findings that came with a path

    def __len__(self) -> int:
        return len(self.states) + self.has_failed_start + len(self.traced)

    @property
    def are_enough(self) -> bool:
        """Whether the search ends with its level."""
        return are_enough(len(self), self._options)

    def add(self, kind: FindingKind, state: bytes, level: int, liveness: int | None = None) -> None:
        """Takes note of a finding. Where states are visited again, the first visit counts."""
        if self._last_listed_level is None or level <= self._last_listed_level:
            self.states.setdefault((kind, state, liveness), level)

    def level_is_done(self, newest: int) -> Event | None:
        """Leaves out what later levels add once there are as many findings as are listed. Deadlocks and failing rules
        of the newest level are found when it is expanded. Returns what to tell of that, when it begins."""
        most = most_found(self._options)
        if self._last_listed_level is not None or len(self.states) < most:
            return None
        self._last_listed_level = newest
        if self.are_enough:
            return None
        text = f"{most:,} violations found: the search goes on without listing others"
        return Event(EventKind.UNLISTED, text)

    def with_paths(self, look: Look) -> list[Finding]:
        """Returns the first few by length of the path, kind, and bytes of the last state, with their paths."""
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

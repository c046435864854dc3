"""The progress display of a simulation."""

from __future__ import annotations

from outcrop.outcome import Progress, WalkProgress
from outcrop.report.progress import Limits, ProgressLine, clock
from outcrop.units import size


class WalkLine(ProgressLine):
    """Progress display of random walks. ``walks`` and ``seconds`` are the limits, None for none."""

    def __init__(self, walks: int | None, seconds: float | None) -> None:
        super().__init__(Limits())
        self._walks = walks
        self._seconds = seconds

    def text(self, snapshot: Progress) -> str:
        assert isinstance(snapshot, WalkProgress)
        before, now = self._look(snapshot)
        elapsed = max(now.snapshot.seconds - before.snapshot.seconds, 1e-3)
        was = before.snapshot.steps if isinstance(before.snapshot, WalkProgress) else 0
        walks = f"{snapshot.walks:,} walks" if self._walks is None else f"{snapshot.walks:,} of {self._walks:,} walks"
        until = "" if self._seconds is None else f" of {clock(self._seconds)}"
        where = [
            walks,
            f"{snapshot.steps:,} steps",
            f"{(snapshot.steps - was) / elapsed:,.0f} steps/s",
            f"about {snapshot.states:,} different states",
            clock(snapshot.seconds) + until,
            f"RAM {size(snapshot.memory)}",
        ]
        return "  ".join(where)

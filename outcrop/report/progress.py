"""The live progress line of a terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from outcrop.machine import peak_rss
from outcrop.report.text import size
from outcrop.search.outcome import Progress

if TYPE_CHECKING:
    from rich.live import Live

_SECONDS_BEFORE_FIRST = 0.3
_SECONDS_BETWEEN = 0.1
#: The rate is taken over at least this long, so that it does not jump about.
_RATE_SECONDS = 1.0


class ProgressLine:
    """Call it with each snapshot of a search; it redraws one line on stderr and leaves nothing behind.

    rich is imported when the first line is due, so that a quick check does not pay for it.
    """

    def __init__(self) -> None:
        self._live: Live | None = None
        self._next_drawing = time.monotonic() + _SECONDS_BEFORE_FIRST
        self._earlier = Progress(level=0, states=0, rules_fired=0, frontier=0, seconds=0.0)
        self._rate = 0.0

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, snapshot: Progress) -> None:
        now = time.monotonic()
        if snapshot.event:
            self._draw(self.line(snapshot))
            assert self._live is not None
            self._live.console.print(snapshot.event, markup=False, highlight=False)
        if now < self._next_drawing:
            return
        self._next_drawing = now + _SECONDS_BETWEEN
        self._draw(self.line(snapshot))

    def line(self, snapshot: Progress) -> str:
        """The text for a snapshot."""
        elapsed = snapshot.seconds - self._earlier.seconds
        if elapsed >= _RATE_SECONDS or not self._rate:
            self._rate = (snapshot.states - self._earlier.states) / max(elapsed, 1e-3)
            self._earlier = snapshot
        minutes, seconds = divmod(int(snapshot.seconds), 60)
        hours, minutes = divmod(minutes, 60)
        return "  ".join(
            [
                f"level {snapshot.level:,}",
                f"{snapshot.states:,} states",
                f"{snapshot.rules_fired:,} rules fired",
                f"{snapshot.frontier:,} waiting",
                f"{self._rate:,.0f} states/s",
                f"{hours}:{minutes:02}:{seconds:02}",
                size(peak_rss()),
            ]
        )

    def _draw(self, text: str) -> None:
        from rich.text import Text

        if self._live is None:
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(file=sys.stderr), transient=True, auto_refresh=False)
            self._live.start()
        self._live.update(Text(text, no_wrap=True, overflow="ellipsis"), refresh=True)

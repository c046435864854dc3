"""The progress display of a terminal: the position of the search, its resources, and a forecast."""

from __future__ import annotations

import shutil
import sys
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from outcrop.machine import available_memory, cache_home, transferred_bytes
from outcrop.options import CheckOptions
from outcrop.outcome import Progress
from outcrop.report.forecast import Forecast, forecast, seconds_until
from outcrop.units import size

if TYPE_CHECKING:
    from rich.live import Live

_SECONDS_BEFORE_FIRST = 0.3
_SECONDS_BETWEEN = 0.1
#: Time, in seconds, after which the C compiler is mentioned.
_SECONDS_OF_COMPILING = 0.5
#: Length of the window, in seconds, over which rates are averaged, and the time between two samples in it.
_RATE_SECONDS = 10.0
_SECONDS_BETWEEN_LOOKS = 0.5
#: Longest time, in seconds, until memory or disk is full that is worth a message.
_FAR_AWAY = 30 * 86400.0

#: Share of its memory budget from which a search counts as using all of it.
_FULL = 0.85


@dataclass(frozen=True)
class Limits:
    """Bytes that a search may use; None where that is not known."""

    memory: int | None = None
    disk: int | None = None


def limits_of(options: CheckOptions) -> Limits:
    """Returns the budgets of the options, or the resources of the machine where the options set none."""
    memory = options.memory if options.memory is not None else available_memory() * 3 // 4
    disk = options.disk
    if disk is None:
        place = Path(options.workdir) if options.workdir is not None else cache_home()
        with suppress(OSError):  # the search itself reports a directory that cannot be used
            while not place.exists() and place != place.parent:
                place = place.parent
            disk = shutil.disk_usage(place).free
    # A budget for states alone does not limit the process as a whole.
    return Limits(memory if options.state_memory is None else None, disk)


@dataclass(frozen=True)
class _Look:
    snapshot: Progress
    read: int
    written: int


class ProgressLine:
    """Progress display on stderr. Call it with each snapshot of a search; it redraws its lines and removes them at the
    end.

    rich is imported with the first drawing, so that a fast check does not pay for it.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._live: Live | None = None
        self._next_drawing = time.monotonic() + _SECONDS_BEFORE_FIRST
        self._looks: deque[_Look] = deque()
        self._forecast: tuple[int, Forecast | None] = (0, None)  #: with the number of levels that it was made from

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, snapshot: Progress) -> None:
        now = time.monotonic()
        if snapshot.event is not None:
            self._draw(self.text(snapshot))
            assert self._live is not None
            self._live.console.print(snapshot.event.text, markup=False, highlight=False)
        if now < self._next_drawing:
            return
        self._next_drawing = now + _SECONDS_BETWEEN
        self._draw(self.text(snapshot))

    # --- Text -----------------------------------------------------------------------------------------------

    def text(self, snapshot: Progress) -> str:
        """Returns three lines: the position of the search, its resources, and the forecast; before the search begins,
        a line about the compiler."""
        is_compiling = snapshot.compiling is not None and snapshot.compiling >= _SECONDS_OF_COMPILING
        compiling = f"compiling … {clock(snapshot.compiling or 0.0)}"
        if not snapshot.states and snapshot.compiling is not None:
            return compiling if is_compiling else ""
        before, now = self._look(snapshot)
        elapsed = max(now.snapshot.seconds - before.snapshot.seconds, 1e-3)
        new = (snapshot.states - before.snapshot.states) / elapsed
        old = max(0.0, (snapshot.generated - before.snapshot.generated) / elapsed - new)
        where = [
            f"level {snapshot.level:,}",
            f"{snapshot.states:,} states",
            f"{snapshot.frontier:,} waiting",
            f"{new:,.0f} new/s",
            f"{old:,.0f} old/s",
            clock(snapshot.seconds),
            *([compiling] if is_compiling else []),
        ]
        takes = [f"RAM {size(snapshot.memory)}"]
        if snapshot.disk:
            takes += [
                f"disk {size(snapshot.disk)}",
                f"reading {size(int((now.read - before.read) / elapsed))}/s",
                f"writing {size(int((now.written - before.written) / elapsed))}/s",
            ]
        return "\n".join(["  ".join(where), "  ".join(takes), self._to_come(before.snapshot, snapshot, new)])

    def _look(self, snapshot: Progress) -> tuple[_Look, _Look]:
        """Returns the sample from the beginning of the window, and a new one."""
        now = _Look(snapshot, *transferred_bytes())
        looks = self._looks
        if not looks or snapshot.seconds - looks[-1].snapshot.seconds >= _SECONDS_BETWEEN_LOOKS:
            looks.append(now)
        while len(looks) > 2 and snapshot.seconds - looks[1].snapshot.seconds >= _RATE_SECONDS:
            looks.popleft()
        if looks[0].snapshot is snapshot:  # first call: measure from the beginning
            start = Progress(level=0, states=0, rules_fired=0, frontier=0, seconds=0.0, memory=snapshot.memory)
            return _Look(start, now.read, now.written), now
        return looks[0], now

    def _to_come(self, before: Progress, now: Progress, new: float) -> str:
        levels, expected = self._forecast
        if levels != len(now.levels):
            expected = forecast(now.levels)
            self._forecast = len(now.levels), expected
        said = ["forecast: " + _expected(expected, now.states, new)]
        elapsed = max(now.seconds - before.seconds, 1e-3)
        end = None if expected is None or new <= 0 else (expected.most - now.states) / new
        for name, used, was, limit in (
            ("RAM", now.memory, before.memory, self._limits.memory),
            ("disk", now.disk, before.disk, self._limits.disk),
        ):
            if name == "RAM" and now.disk and limit and used >= _FULL * limit:
                continue  # a search on disk keeps its memory full
            left = seconds_until(used, limit, (used - was) / elapsed)
            if left is not None and left < (_FAR_AWAY if end is None else end):
                said.append(f"at this rate {name} is full in {_roughly(left)}")
        return "; ".join(said)

    def _draw(self, text: str) -> None:
        # rich is slow to import, and fast checks draw nothing.
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        if self._live is None:
            self._live = Live(console=Console(file=sys.stderr), transient=True, auto_refresh=False)
            self._live.start()
        self._live.update(Text(text, no_wrap=True, overflow="ellipsis"), refresh=True)


def _expected(expected: Forecast | None, states: int, new: float) -> str:
    if expected is None:
        return "not yet possible"
    said = f"{_brief(max(states, expected.least))} to {_brief(max(states, expected.most))} states"
    if new <= 0:
        return said
    soonest, latest = (max(0, goal - states) / new for goal in (expected.least, expected.most))
    return f"{said}, {_roughly(soonest)} to {_roughly(latest)} more"


def _brief(count: int) -> str:
    """Returns a count with two digits, which is the precision of a forecast.

    >>> _brief(12_345_678)
    '12 million'
    """
    for unit, name in ((1_000_000_000, " billion"), (1_000_000, " million"), (1_000, ",000")):
        if count >= unit:
            amount = count / unit
            return f"{amount:.1f}{name}" if amount < 10 and name != ",000" else f"{amount:.0f}{name}"
    return str(count)


def _roughly(seconds: float) -> str:
    """Returns a duration in one unit.

    >>> _roughly(5400)
    '90 min'
    """
    for unit, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds:.0f} s"


def clock(seconds: float) -> str:
    """Returns a duration as hours, minutes and seconds."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"

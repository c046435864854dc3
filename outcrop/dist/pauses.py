"""Pauses of a rank that waits for others, which leave the cores to them if there are more ranks than cores."""

from __future__ import annotations

import os
import select
import time

#: The pauses of a wait: a number of shortest ones, then growing ones, in seconds.
_SHORT_PAUSES = 50
_FIRST_PAUSE = 20e-6
_LONGEST_PAUSE = 1e-3
#: ... if every rank has its own core.
_SHORT_PAUSES_OF_OWN = 2000
_LONGEST_PAUSE_OF_OWN = 1e-4


class Pauses:
    """The pauses of one wait. They grow."""

    def __init__(self, has_own_core: bool = False) -> None:
        self._count = 0
        self._next = _FIRST_PAUSE
        self._short = _SHORT_PAUSES_OF_OWN if has_own_core else _SHORT_PAUSES
        self._longest = _LONGEST_PAUSE_OF_OWN if has_own_core else _LONGEST_PAUSE
        self._ended: float | None = None  #: when the last pause ended

    def pause(self) -> float:
        """Pauses once. Returns the seconds since the end of the last pause."""
        begun = self._ended or time.perf_counter()
        self._count += 1
        if self._count <= self._short:
            os.sched_yield()
            # Lets other threads of this process run, a hundred times faster than time.sleep(0).
            select.select((), (), (), 0)
        else:
            time.sleep(self._next)
            self._next = min(self._longest, 1.5 * self._next)
        self._ended = time.perf_counter()
        return self._ended - begun

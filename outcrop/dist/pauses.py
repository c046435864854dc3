"""Waiting for others without keeping them from their work, where ranks are more than cores."""

from __future__ import annotations

import os
import select
import time

#: The pauses of a wait: so many as short as can be, then longer and longer ones, in seconds.
_SHORT_PAUSES = 50
_FIRST_PAUSE = 20e-6
_LONGEST_PAUSE = 1e-3
#: ... where every rank has a core of its own, and nobody else wants it.
_SHORT_PAUSES_OF_OWN = 2000
_LONGEST_PAUSE_OF_OWN = 1e-4


class Pauses:
    """The pauses of one wait."""

    def __init__(self, has_own_core: bool = False) -> None:
        self._count = 0
        self._next = _FIRST_PAUSE
        self._short = _SHORT_PAUSES_OF_OWN if has_own_core else _SHORT_PAUSES
        self._longest = _LONGEST_PAUSE_OF_OWN if has_own_core else _LONGEST_PAUSE
        self._ended: float | None = None  #: the last one

    def pause(self) -> float:
        """Gives the seconds that it took, with the look since the last one whether the wait is over."""
        begun = self._ended or time.perf_counter()
        self._count += 1
        if self._count <= self._short:
            os.sched_yield()
            select.select(
                (), (), (), 0
            )  # lets other threads of ours go on, a hundred times as fast as to sleep for no time
        else:
            time.sleep(self._next)
            self._next = min(self._longest, 1.5 * self._next)
        self._ended = time.perf_counter()
        return self._ended - begun

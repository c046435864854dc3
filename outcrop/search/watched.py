"""What goes on beside the kernels of a search: threads, the clock, progress, Ctrl-C.

Kernels run for seconds, in threads of their own, while the main thread looks at the clock now and then. What must end a
search, a time limit or an interrupt, asks the workers to stop; they return soon, and the search ends in order.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import TypeVar

from outcrop.kernels import Search
from outcrop.options import CheckOptions
from outcrop.search.outcome import Progress, Stop, Stopped
from outcrop.search.samples import Samples
from outcrop.search.workers import Workers

ShowProgress = Callable[[Progress], None]

_Result = TypeVar("_Result")

_SECONDS_BETWEEN_LOOKS = 0.1


class Watched:
    """A search that is watched while it runs."""

    def __init__(self, search: Search, options: CheckOptions, progress: ShowProgress | None) -> None:
        self.search = search
        self.options = options
        self.samples = Samples()
        self.events: list[str] = []
        self.asked: Stop | None = None  #: why the workers were asked to stop
        self._workers = Workers()
        self._progress = progress
        self._started = time.monotonic()
        self._next_look = 0.0

    def standing_of_all(self) -> Progress:
        """Where the search stands; over several ranks, that of all of them."""
        raise NotImplementedError

    def together(self, *tasks: Callable[[], _Result]) -> list[_Result]:
        """Runs each task in a thread of its own, and watches the clock meanwhile."""
        return self._workers.run(tasks, self._wait, lambda: self._ask_to_stop(Stop.INTERRUPTED))

    def _wait(self, ended: threading.Semaphore) -> None:
        while not ended.acquire(timeout=self.seconds_to_next_look()):
            self.look_at_clock()

    def poll(self) -> None:
        """Looks at the clock now and then. Raises Stopped when the search must end."""
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + self.seconds_to_next_look()
            self.look_at_clock()
        if self.asked is not None:
            raise Stopped(self.asked)

    def seconds_to_next_look(self) -> float:
        limit = self.options.time_limit
        if limit is None or self.asked is not None:
            return _SECONDS_BETWEEN_LOOKS
        return min(_SECONDS_BETWEEN_LOOKS, max(0.001, self._started + limit - time.monotonic()))

    def look_at_clock(self) -> None:
        limit = self.options.time_limit
        if limit is not None and self.seconds() >= limit:
            self._ask_to_stop(Stop.TIME)
        if self.samples.is_due(self.seconds()):
            self._sample()
        self._report_progress()

    def _sample(self) -> None:
        self.samples.take(self.standing_of_all())

    def _ask_to_stop(self, why: Stop) -> None:
        if self.asked is None:
            self.asked = why
            self.search.stop()

    def seconds(self) -> float:
        """Since the search began."""
        return time.monotonic() - self._started

    def tell(self, event: str) -> None:
        """Says what the search has done that the user should know of."""
        self.events.append(event)
        if self._progress is not None:
            self._progress(replace(self.standing_of_all(), event=event))

    def _report_progress(self) -> None:
        if self._progress is not None:
            self._progress(self.standing_of_all())

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Ctrl-C asks the workers to stop; a second one does not wait for them."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def interrupted(number: int, frame: FrameType | None) -> None:
            if self.asked is Stop.INTERRUPTED:
                self.search.is_abandoned = True
                raise KeyboardInterrupt
            self._ask_to_stop(Stop.INTERRUPTED)
            self.asked = Stop.INTERRUPTED

        before = signal.signal(signal.SIGINT, interrupted)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

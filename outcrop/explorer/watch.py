"""The watch over a search: clock, limits, progress and signals, next to the kernels.

Kernels run for seconds, in their own threads, while the main thread polls the clock. A time limit or a signal asks the
workers to stop. They return soon, and the search ends in an orderly way.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from signal import SIGINT
from types import FrameType
from typing import TypeVar

from outcrop.explorer.context import Context
from outcrop.explorer.samples import Samples
from outcrop.explorer.workers import Workers
from outcrop.interrupts import handled
from outcrop.options import CheckOptions
from outcrop.outcome import Event, Progress, Stop, Stopped

_Result = TypeVar("_Result")


class Watch:
    """The watch over one search. ``standing`` returns its progress, ``stop`` makes its workers return, ``abandon``
    stops waiting for them."""

    def __init__(
        self,
        options: CheckOptions,
        context: Context,
        standing: Callable[[], Progress],
        stop: Callable[[], None],
        abandon: Callable[[], None],
    ) -> None:
        self.samples = Samples()
        self.events: list[Event] = []  #: all events of the search
        self.asked: Stop | None = None  #: why the workers were asked to stop
        self.on_look: list[Callable[[], None]] = []  #: called whenever the clock is polled
        self._limit = options.time_limit
        self._progress = context.progress
        self._seconds_between_looks = context.tuning.seconds_between_looks
        self._standing = standing
        self._stop = stop
        self._abandon = abandon
        self.workers = Workers()
        self._started = time.monotonic() - context.seconds
        self._next_look = 0.0

    def parallel(self, *tasks: Callable[[], _Result]) -> list[_Result]:
        """Runs each task in its own thread and polls the clock meanwhile. Returns their results."""
        return self.workers.run(tasks, self._wait, lambda: self.ask_to_stop(Stop.INTERRUPTED))

    def _wait(self, ended: threading.Semaphore) -> None:
        while not ended.acquire(timeout=self._seconds_to_next_look()):
            self.look()

    def poll(self) -> None:
        """Calls ``look`` if the interval has passed. Raises Stopped when the search must end."""
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + self._seconds_to_next_look()
            self.look()
        if self.asked is not None:
            raise Stopped(self.asked)

    def _seconds_to_next_look(self) -> float:
        if self._limit is None or self.asked is not None:
            return self._seconds_between_looks
        return min(self._seconds_between_looks, max(0.001, self._started + self._limit - time.monotonic()))

    def look(self) -> None:
        """Polls the clock: enforces the time limit, takes samples, reports progress."""
        if self._limit is not None and self.seconds() >= self._limit:
            self.ask_to_stop(Stop.TIME)
        if self.samples.is_due(self.seconds()):
            self.sample()
        self.report_progress()
        for callback in self.on_look:
            callback()

    def sample(self) -> None:
        self.samples.take(self._standing())

    def ask_to_stop(self, why: Stop) -> None:
        """Asks the workers to stop. Only the first reason counts."""
        if self.asked is None:
            self.asked = why
            self._stop()

    def seconds(self) -> float:
        """Returns the duration of the search, in seconds."""
        return time.monotonic() - self._started

    def tell(self, event: Event) -> None:
        """Records an event, and reports it to the user."""
        self.events.append(event)
        if self._progress is not None:
            self._progress(replace(self._standing(), event=event))

    def report_progress(self) -> None:
        if self._progress is not None:
            try:
                self._progress(self._standing())
            except KeyboardInterrupt:  # how a caller in another thread stops a search
                if self.asked is Stop.INTERRUPTED:  # a second Ctrl-C
                    raise
                self.ask_to_stop(Stop.INTERRUPTED)

    def close(self) -> None:
        self.workers.close()

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Handles signals. Ctrl-C and SIGTERM ask the workers to stop; a second Ctrl-C does not wait for them."""

        def interrupted(number: int, frame: FrameType | None) -> None:
            if self.asked is Stop.INTERRUPTED and number == SIGINT:
                self._abandon()
                raise KeyboardInterrupt
            self.ask_to_stop(Stop.INTERRUPTED)
            self.asked = Stop.INTERRUPTED

        with handled(interrupted):
            yield

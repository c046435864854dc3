"""A check in a separate thread, with its progress and a way to cancel it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from outcrop.outcome import Progress

_T = TypeVar("_T")


class Handle(Generic[_T]):
    """A running check.

    ``progress`` is the latest snapshot, None before the first. ``cancel`` asks the search to stop: it ends as on
    Ctrl-C, with what it knows. ``result`` waits, and raises what the check raised.
    """

    def __init__(self, run: Callable[[Callable[[Progress], None]], _T]) -> None:
        self.progress: Progress | None = None
        self._run = run
        self._is_cancelled = False
        self._is_told = False  #: whether the search knows
        self._result: _T | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="outcrop check", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        try:
            self._result = self._run(self._take)
        except BaseException as error:  # raised where the result is asked for
            self._error = error

    def _take(self, progress: Progress) -> None:
        self.progress = progress
        if self._is_cancelled and not self._is_told:
            self._is_told = True
            raise KeyboardInterrupt

    def cancel(self) -> None:
        """Asks the search to stop when it next checks the time."""
        self._is_cancelled = True

    @property
    def is_done(self) -> bool:
        return not self._thread.is_alive()

    def result(self, timeout: float | None = None) -> _T:
        """Waits for the result. Raises TimeoutError if it takes longer than ``timeout`` seconds."""
        self._thread.join(timeout)
        if self._thread.is_alive():
            raise TimeoutError("the check is still running; ask again, or cancel it")
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result

    def __repr__(self) -> str:
        if self.is_done:
            return "<Handle: done>"
        states = "" if self.progress is None else f", {self.progress.states:,} states"
        return f"<Handle: running{states}>"

"""Threads that outlive a level: to start new ones for each would cost deep models dear.

They are daemons, so that a second Ctrl-C need not wait for what a kernel is doing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import TypeVar

from outcrop.machine import take_core

_Result = TypeVar("_Result")
_Job = Callable[[], None]


class Workers:
    def __init__(self) -> None:
        self._inboxes: list[SimpleQueue[_Job | None]] = []

    def run(
        self,
        tasks: tuple[Callable[[], _Result], ...],
        wait: Callable[[threading.Semaphore], None],
        stop: Callable[[], None],
    ) -> list[_Result]:
        """Runs each task in a thread of its own. ``wait`` takes one permit from a semaphore, and may do what it likes
        until there is one. Raises what a task raised, or what ``wait`` did, once all have ended: ``stop`` has them do
        so. Only a second Ctrl-C does not wait for them."""
        results: dict[int, _Result] = {}
        failures: list[BaseException] = []
        ended = threading.Semaphore(0)

        def job(number: int, task: Callable[[], _Result]) -> _Job:
            def work() -> None:
                take_core(number, len(tasks))
                try:
                    results[number] = task()
                except BaseException as failure:
                    failures.append(failure)
                ended.release()

            return work

        while len(self._inboxes) < len(tasks):
            self._inboxes.append(SimpleQueue())
            threading.Thread(target=_serve, args=(self._inboxes[-1],), daemon=True).start()
        for number, task in enumerate(tasks):
            self._inboxes[number].put(job(number, task))
        left = len(tasks)
        try:
            while left:
                wait(ended)
                left -= 1
        except Exception:
            stop()
            for _ in range(left):
                ended.acquire()
            raise
        if failures:
            raise failures[0]
        return [results[number] for number in range(len(tasks))]

    def close(self) -> None:
        """Lets the threads end once they have nothing to do."""
        for inbox in self._inboxes:
            inbox.put(None)
        self._inboxes = []


def _serve(inbox: SimpleQueue[_Job | None]) -> None:
    while (job := inbox.get()) is not None:
        job()
        del job  # and with it all that it holds, such as mapped files

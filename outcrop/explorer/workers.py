"""Threads that outlive a level, because starting new ones for each level would slow deep models down.

They are daemons, so that a second Ctrl-C need not wait for a kernel.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TypeVar

from outcrop.machine import take_core

_Result = TypeVar("_Result")
_Job = Callable[[], None]


class Workers:
    """A pool of threads that grows as needed."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._threads = 0

    def run(
        self,
        tasks: tuple[Callable[[], _Result], ...],
        wait: Callable[[threading.Semaphore], None],
        stop: Callable[[], None],
    ) -> list[_Result]:
        """Runs all tasks at the same time, each in its own thread. Returns their results.

        ``wait`` takes one permit from a semaphore, and may do other work until there is one. If a task raises, its
        exception is raised once all tasks have ended. If ``wait`` raises, ``stop`` first asks the tasks to end. Only a
        second Ctrl-C does not wait for them."""
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

        self.grow(len(tasks))
        for number, task in enumerate(tasks):
            self._jobs.put(job(number, task))
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

    def submit(self, task: Callable[[], _Result]) -> Future[_Result]:
        """Queues a task for the next free thread."""
        future: Future[_Result] = Future()

        def work() -> None:
            try:
                future.set_result(task())
            except BaseException as failure:
                future.set_exception(failure)

        self._jobs.put(work)
        return future

    def grow(self, count: int, *, stays: bool = False) -> None:
        """Ensures at least ``count`` threads. ``stays``: new ones are pinned to a core each, which pays for short
        tasks."""
        for number in range(self._threads, count):
            threading.Thread(target=self._serve, args=(self._jobs, number, count, stays), daemon=True).start()
        self._threads = max(self._threads, count)

    def close(self) -> None:
        """Ends the threads once they are idle."""
        for _ in range(self._threads):
            self._jobs.put(None)
        self._jobs, self._threads = SimpleQueue(), 0

    @staticmethod
    def _serve(jobs: SimpleQueue[_Job | None], number: int, count: int, stays: bool) -> None:
        if stays:
            take_core(number, count, stays=True)
        while (job := jobs.get()) is not None:
            job()
            del job  # and everything that it holds, such as mapped files

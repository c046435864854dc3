"""The pool of threads: results in the order of the tasks, failures of single tasks, and an early end."""

from __future__ import annotations

import threading

import pytest

from outcrop.explorer.workers import Workers


def take(ended: threading.Semaphore) -> None:
    assert ended.acquire(timeout=20)


def fail() -> int:
    raise ValueError("no result")


def test_results_have_the_order_of_the_tasks() -> None:
    first_may_end = threading.Event()

    def first() -> int:
        assert first_may_end.wait(20)
        return 1

    def second() -> int:
        first_may_end.set()
        return 2

    assert Workers().run((first, second), take, stop=lambda: None) == [1, 2]


@pytest.mark.parametrize("position", (0, 1, 2))
def test_a_single_failure_is_raised_after_all_tasks_have_ended(position: int) -> None:
    ended: list[int] = []
    tasks = [lambda: ended.append(1) or 1, lambda: ended.append(2) or 2]
    tasks.insert(position, fail)
    with pytest.raises(ValueError, match="no result"):
        Workers().run(tuple(tasks), take, stop=lambda: None)
    assert sorted(ended) == [1, 2]


def test_tasks_are_stopped_and_awaited_if_the_wait_is_broken_off() -> None:
    may_end, ended = threading.Event(), threading.Event()

    def task() -> int:
        assert may_end.wait(20)
        ended.set()
        return 0

    def broken(_: threading.Semaphore) -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        Workers().run((task,), broken, stop=may_end.set)
    assert ended.is_set()

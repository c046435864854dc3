"""Signals that ask the command to stop: Ctrl-C, SIGTERM and SIGHUP.

Clusters, containers and spot machines send SIGTERM before they kill a process; a terminal that closes sends SIGHUP.
Both do what Ctrl-C does: the search stops, saves its checkpoint and reports.

These two may arrive more than once: ``timeout`` signals a process and then its group, and a launcher passes on what
its ranks have got already. So a repeated SIGTERM or SIGHUP changes nothing. A second Ctrl-C comes from a user who
will not wait.

An interrupt in the middle of an import must not be raised there. Packages turn it into errors of their own, and Python
remembers some of those that were caught and ends itself by the signal after all.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from signal import SIGHUP, SIGINT, SIGTERM, Signals
from types import FrameType

#: Exit code of a command that Ctrl-C ended before the search began. Shells read it as "ended by Ctrl-C".
INTERRUPTED = 130
#: Exit code of a command that another signal ended before the search began: unknown.
_STOPPED = 3

Handler = Callable[[int, FrameType | None], None]


class _State:
    """The signals that this process treats as requests to stop, and the first one that arrived."""

    def __init__(self) -> None:
        self.heard = [SIGINT]
        self.first: Signals | None = None


_state = _State()


def interrupt(number: int, frame: FrameType | None) -> None:
    """Raises KeyboardInterrupt, except during an import, where it ends the command at once."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            os.write(2, f"outcrop: {_sentence(number)}\n".encode())
            os._exit(INTERRUPTED if number == SIGINT else _STOPPED)
        frame = frame.f_back
    raise KeyboardInterrupt(_sentence(number))


def _sentence(number: int) -> str:
    return "interrupted" if number == SIGINT else f"interrupted by {Signals(number).name}"


def causes() -> list[str]:
    """Returns the line of a report that names the signal which ended the search; none for Ctrl-C."""
    return [] if _state.first in (None, SIGINT) else [_sentence(_state.first)]


def _without_repetitions(handler: Handler) -> Handler:
    def handle(number: int, frame: FrameType | None) -> None:
        if number != SIGINT and _state.first is not None:
            return
        _state.first = _state.first or Signals(number)
        handler(number, frame)

    return handle


_interrupt = _without_repetitions(interrupt)


def listen() -> None:
    """Lets SIGTERM and SIGHUP interrupt this process as Ctrl-C does. A signal that was ignored from the start, as by
    nohup, stays ignored."""
    if signal.getsignal(SIGINT) is signal.default_int_handler:
        signal.signal(SIGINT, _interrupt)
    for number in (SIGTERM, SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt)
            _state.heard.append(number)


def ignore() -> None:
    """Ignores the signals from now on. The report is complete, and its exit code must be that of the process."""
    for number in _state.heard:
        if signal.getsignal(number) is _interrupt:
            signal.signal(number, signal.SIG_IGN)


@contextmanager
def handled(handler: Handler) -> Iterator[None]:
    """Installs another handler for the signals that ask to stop. Python delivers signals to the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _state.heard}
    try:
        for number in before:
            signal.signal(number, _without_repetitions(handler))
        yield
    finally:
        for number, handler_before in before.items():
            signal.signal(number, handler_before)

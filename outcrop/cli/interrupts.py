"""Ctrl-C before there is anything to report: while Python is still importing.

An interrupt in the middle of an import must not be raised there. Packages turn it into errors of their own, and Python
remembers some of those that were caught and ends itself by the signal after all.
"""

from __future__ import annotations

import os
import signal
from types import FrameType

#: What shells take for "ended by Ctrl-C".
INTERRUPTED = 130


def interrupt(number: int, frame: FrameType | None) -> None:
    """The handler: raises, except during an import, where it ends the command at once."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            os.write(2, b"outcrop: interrupted\n")
            os._exit(INTERRUPTED)
        frame = frame.f_back
    raise KeyboardInterrupt


def listen() -> None:
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)


def ignore() -> None:
    """Once all is said: nothing is left to interrupt, and the exit code shall be that of what was said."""
    if signal.getsignal(signal.SIGINT) is interrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

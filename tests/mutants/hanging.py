"""A plugin of pytest: ends the whole run when a test does not end, as seeded bugs bring about now and then.

What counts is the time of the processor, as the machine may do other things meanwhile; a test that only waits has
longer.
"""

from __future__ import annotations

import faulthandler
import signal
from collections.abc import Iterator

import pytest

#: Far more than any test takes.
_PROCESSOR_SECONDS = 60
_SECONDS = 3600


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    signal.setitimer(signal.ITIMER_PROF, _PROCESSOR_SECONDS)  # SIGPROF ends a process that does not expect it
    faulthandler.dump_traceback_later(_SECONDS, exit=True)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_PROF, 0)

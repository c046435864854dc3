"""A pytest plugin that ends the whole session when a test hangs, as some seeded bugs cause.

It counts processor time, because the machine may be busy. A test that only waits has longer.
"""

from __future__ import annotations

import faulthandler
import signal
from collections.abc import Iterator

import pytest

#: Limits far above the duration of any test, in seconds.
_PROCESSOR_SECONDS = 60
_SECONDS = 3600


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    signal.setitimer(signal.ITIMER_PROF, _PROCESSOR_SECONDS)  # SIGPROF kills a process that does not handle it
    faulthandler.dump_traceback_later(_SECONDS, exit=True)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_PROF, 0)

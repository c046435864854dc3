"""Garbage collection while a model is read and translated."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Postpones garbage collection. Trees and closures of a model are no garbage, and looking through them again and
    again takes a third of the time of reading and analysing it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()

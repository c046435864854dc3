"""The adapter between runs of examples/ring_buffer.m and examples/programs/ring_buffer.py.

RING_BUFFER_BUG=1 tests the program with its bug.
"""

from __future__ import annotations

import os

from ring_buffer import RingBuffer


class Adapter:
    def start(self, state: dict[str, object]) -> None:
        """Brings the program into the start state."""
        self._buffer = RingBuffer(3, has_bug=bool(os.environ.get("RING_BUFFER_BUG")))

    def state(self) -> dict[str, object]:
        """Returns values of variables of the model, as far as the program knows them."""
        buffer = self._buffer
        return {"first": buffer.first, "length": len(buffer), "ring": dict(enumerate(buffer.ring))}

    def put(self, item: str) -> None:
        self._buffer.put(item)

    def take(self) -> None:
        self._buffer.take()

"""A bounded queue in a ring of slots: the program that examples/ring_buffer.m describes.

``RingBuffer(3, has_bug=True)`` forgets to wrap around when it looks for the slot of a new item.
"""

from __future__ import annotations


class RingBuffer:
    """A queue of at most ``slots`` items."""

    def __init__(self, slots: int, has_bug: bool = False) -> None:
        self.ring: list[str | None] = [None] * slots
        self.first = 0
        self._count = 0
        self._has_bug = has_bug

    def __len__(self) -> int:
        return self._count

    def put(self, item: str) -> None:
        """Adds an item at the end."""
        if self._count == len(self.ring):
            raise IndexError("the buffer is full")
        at = self.first + self._count
        last = len(self.ring) - 1
        self.ring[min(at, last) if self._has_bug else at % len(self.ring)] = item
        self._count += 1

    def take(self) -> str:
        """Removes the oldest item, and returns it."""
        if not self._count:
            raise IndexError("the buffer is empty")
        item, self.ring[self.first] = self.ring[self.first], None
        self.first = (self.first + 1) % len(self.ring)
        self._count -= 1
        assert item is not None, "an item was lost"
        return item

"""A bounded buffer with an off-by-one bug: the twin of bounded_buffer.m.

One producer and one consumer share a ring of slots. The positions run over twice the number of slots, so that a full
ring differs from an empty one. The producer should wait while the ring is full, but waits only when it is *more* than
full: the next item lands on the oldest one, and the trace shows how. Write ``self.used() < SLOTS`` in ``produce``, and
the model holds.
"""

from typing import Annotated

from outcrop.model import Array, Model, Range, invariant, rule, when

SLOTS = 3
Position = Annotated[int, Range(0, 2 * SLOTS - 1)]


class BoundedBuffer(Model):
    ring: Array[Position | None, SLOTS] = Array([None] * SLOTS)
    put_at: Position = 0  # where the producer writes next
    take_at: Position = 0  # where the consumer reads next
    expected: Position = 0  # the item that the consumer must get next

    def used(self) -> Position:
        return (self.put_at - self.take_at + 2 * SLOTS) % (2 * SLOTS)

    @rule
    def produce(self) -> None:
        when(self.used() <= SLOTS)  # the bug: this should be <
        self.ring[self.put_at % SLOTS] = self.put_at
        self.put_at = (self.put_at + 1) % (2 * SLOTS)

    @rule
    def consume(self) -> None:
        when(self.used() > 0)
        assert self.ring[self.take_at % SLOTS] == self.expected, "items come out in the order they went in"
        self.ring[self.take_at % SLOTS] = None
        self.expected = (self.expected + 1) % (2 * SLOTS)
        self.take_at = (self.take_at + 1) % (2 * SLOTS)

    @invariant
    def the_oldest_item_is_still_there(self) -> bool:
        return self.used() == 0 or self.ring[self.take_at % SLOTS] == self.expected

"""Leader election in a one-way ring (Chang and Roberts): the twin of ring_election.m.

A station that wakes gets an identity and sends it on. A larger identity than one's own is passed on, a smaller one is
swallowed, and a station that gets its own identity back is the leader.
"""

from dataclasses import dataclass, field
from typing import Annotated

from outcrop.model import Array, Model, Range, invariant, liveness, rule, when

SIZE = 4
Station = Annotated[int, Range(0, SIZE - 1)]
Identity = Annotated[int, Range(1, SIZE)]


@dataclass
class Queue:
    length: Range[0, SIZE] = 0
    item: Array[Identity | None, SIZE] = field(default_factory=lambda: Array([None] * SIZE))

    def send(self, identity: Identity) -> None:
        self.item[self.length] = identity
        self.length += 1

    def receive(self) -> Identity:
        first = self.item[0]
        self.length -= 1
        for i in range(SIZE):
            if i < self.length:
                self.item[i] = self.item[i + 1]
        self.item[self.length] = None  # equal queues are equal states
        return first


def neighbour(s: Station) -> Station:
    return (s + 1) % SIZE


class RingElection(Model):
    identity: Array[Identity | None, SIZE] = Array([None] * SIZE)  # None: asleep
    inbox: Array[Queue, SIZE] = Array(Queue() for _ in range(SIZE))
    leader: Array[bool, SIZE] = Array([False] * SIZE)

    def sleep(self) -> None:
        for s in range(SIZE):
            self.identity[s] = None
            self.inbox[s].length = 0
            self.leader[s] = False

    @rule
    def wake(self, s: Station, identity: Identity) -> None:
        when(self.identity[s] is None)
        when(all(other != identity for other in self.identity))
        self.identity[s] = identity
        self.inbox[neighbour(s)].send(identity)

    @rule
    def receive(self, s: Station) -> None:
        when(self.identity[s] is not None and self.inbox[s].length > 0)
        identity = self.inbox[s].receive()
        if identity > self.identity[s]:
            self.inbox[neighbour(s)].send(identity)
        elif identity == self.identity[s]:
            self.leader[s] = True

    @rule
    def retire(self, s: Station) -> None:
        when(self.leader[s] and all(queue.length == 0 for queue in self.inbox))
        self.sleep()

    @invariant
    def at_most_one_leader(self) -> bool:
        return sum(self.leader) <= 1

    @invariant
    def the_leader_has_the_largest_identity(self) -> bool:
        return all(
            self.identity[t] is not None and self.identity[t] <= self.identity[s]
            for s in range(SIZE)
            if self.leader[s]
            for t in range(SIZE)
        )

    @liveness
    def a_leader_can_always_be_elected(self) -> bool:
        return any(self.leader)

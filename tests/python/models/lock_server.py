from dataclasses import dataclass
from enum import Enum

from outcrop.model import Bag, Model, Range, Symmetric, choose, cover, invariant, ltl, rule, start, when

NODES = 3


class Node(Symmetric, size=NODES): ...


class Phase(Enum):
    IDLE = 0
    WAITING = 1
    CRITICAL = 2


class Kind(Enum):
    REQUEST = 0
    GRANT = 1


@dataclass(frozen=True)
class Message:
    kind: Kind
    node: Node


class Lock(Model):
    """A server that hands a lock to one client at a time."""

    holder: Node | None
    phase: dict[Node, Phase]
    network: Bag[Message, 2 * NODES]
    served: Range[0, 2] = 0

    @start
    def begin(self) -> None:
        self.phase = dict.fromkeys(Node, Phase.IDLE)

    @rule
    def request(self, n: Node) -> None:
        when(self.phase[n] is Phase.IDLE)
        self.phase[n] = Phase.WAITING
        self.network.add(Message(Kind.REQUEST, n))

    @rule
    def grant(self) -> None:
        m = choose(self.network)
        when(m.kind is Kind.REQUEST and self.holder is None)
        self.network.remove(m)
        self.holder = m.node
        self.network.add(Message(Kind.GRANT, m.node))

    @rule
    def enter(self) -> None:
        m = choose(self.network)
        when(m.kind is Kind.GRANT)
        self.phase[m.node] = Phase.CRITICAL
        self.network.remove(m)

    @rule
    def leave(self, n: Node) -> None:
        when(self.phase[n] is Phase.CRITICAL)
        self.phase[n] = Phase.IDLE
        self.holder = None
        self.served = (self.served + 1) % 3

    @invariant
    def exclusive(self) -> bool:
        return sum(self.phase[n] is Phase.CRITICAL for n in Node) <= 1

    @invariant
    def held(self) -> bool:
        return all(self.holder == n for n in Node if self.phase[n] is Phase.CRITICAL)

    @cover
    def busy(self) -> bool:
        return len(self.network) == 2

    returns = ltl("forall n: Node do G ({phase[n] is Phase.CRITICAL} -> F {phase[n] is Phase.IDLE}) end")

"""Directory cache coherence, in the style of German's protocol: the twin of german_cache.m.

Caches ask the home node for a shared or an exclusive copy of one memory line, over channels that hold one message
each. Home serves one request at a time: before it grants an exclusive copy it invalidates every sharer, and before it
grants a shared copy it takes an exclusive one back, whose holder returns the data.
"""

from dataclasses import dataclass
from enum import Enum

from outcrop.model import Model, Symmetric, cover, invariant, rule, start, when

NODES = 3
VALUES = 2


class Node(Symmetric, size=NODES): ...


class Value(Symmetric, size=VALUES): ...


class Request(Enum):
    NONE = 0
    SHARED = 1
    EXCLUSIVE = 2


class OrderKind(Enum):
    NONE = 0
    INVALIDATE = 1
    GRANT_SHARED = 2
    GRANT_EXCLUSIVE = 3


class AnswerKind(Enum):
    NONE = 0
    INVALIDATED = 1


class CacheState(Enum):
    INVALID = 0
    SHARED = 1
    EXCLUSIVE = 2


@dataclass
class Order:
    """From home to a cache."""

    kind: OrderKind = OrderKind.NONE
    value: Value | None = None


@dataclass
class Answer:
    """From a cache to home; it has a value when the copy was exclusive."""

    kind: AnswerKind = AnswerKind.NONE
    value: Value | None = None


@dataclass
class Cache:
    state: CacheState = CacheState.INVALID
    value: Value | None = None


class GermanCache(Model):
    cache: dict[Node, Cache] = {n: Cache() for n in Node}  # noqa: RUF012
    request: dict[Node, Request] = dict.fromkeys(Node, Request.NONE)
    order: dict[Node, Order] = {n: Order() for n in Node}  # noqa: RUF012
    answer: dict[Node, Answer] = {n: Answer() for n in Node}  # noqa: RUF012

    # Home.
    memory: Value
    serving: Request = Request.NONE  # the request in progress
    client: Node | None = None  # whose it is
    sharers: set[Node]  # may hold a copy
    to_invalidate: set[Node]
    exclusive_granted: bool = False

    latest: Value  # what was written last: for the properties only

    @start
    def no_copies(self, v: Value) -> None:
        self.memory = v
        self.latest = v

    # What a cache does on its own account.

    @rule
    def ask_for_a_shared_copy(self, n: Node) -> None:
        when(self.request[n] is Request.NONE and self.cache[n].state is CacheState.INVALID)
        self.request[n] = Request.SHARED

    @rule
    def ask_for_an_exclusive_copy(self, n: Node) -> None:
        when(self.request[n] is Request.NONE and self.cache[n].state is not CacheState.EXCLUSIVE)
        self.request[n] = Request.EXCLUSIVE

    @rule
    def write(self, n: Node, v: Value) -> None:
        when(self.cache[n].state is CacheState.EXCLUSIVE)
        self.cache[n].value = v
        self.latest = v

    # What home does.

    @rule
    def take_up_request(self, n: Node) -> None:
        when(self.serving is Request.NONE and self.request[n] is not Request.NONE)
        self.serving = self.request[n]
        self.client = n
        self.request[n] = Request.NONE
        self.to_invalidate = set(self.sharers)

    @rule
    def send_invalidation(self, n: Node) -> None:
        when(n in self.to_invalidate and self.order[n].kind is OrderKind.NONE)
        when(self.serving is Request.EXCLUSIVE or (self.serving is Request.SHARED and self.exclusive_granted))
        self.order[n].kind = OrderKind.INVALIDATE
        self.to_invalidate.discard(n)

    @rule
    def receive_answer(self, n: Node) -> None:
        when(self.answer[n].kind is AnswerKind.INVALIDATED)
        if self.exclusive_granted:
            self.memory = self.answer[n].value
            self.exclusive_granted = False
        self.sharers.discard(n)
        self.answer[n] = Answer()

    def grant(self, kind: OrderKind) -> None:
        client = self.client
        self.order[client] = Order(kind, self.memory)
        self.sharers.add(client)
        self.exclusive_granted = kind is OrderKind.GRANT_EXCLUSIVE
        self.serving = Request.NONE
        self.client = None

    @rule
    def grant_shared(self) -> None:
        when(self.serving is Request.SHARED and not self.exclusive_granted)
        when(self.order[self.client].kind is OrderKind.NONE)
        self.grant(OrderKind.GRANT_SHARED)

    @rule
    def grant_exclusive(self) -> None:
        when(self.serving is Request.EXCLUSIVE and not self.sharers)
        when(self.order[self.client].kind is OrderKind.NONE)
        self.grant(OrderKind.GRANT_EXCLUSIVE)

    # How a cache obeys.

    @rule
    def receive_grant(self, n: Node) -> None:
        order = self.order[n]
        when(order.kind in (OrderKind.GRANT_SHARED, OrderKind.GRANT_EXCLUSIVE))
        state = CacheState.SHARED if order.kind is OrderKind.GRANT_SHARED else CacheState.EXCLUSIVE
        self.cache[n] = Cache(state, order.value)
        self.order[n] = Order()

    @rule
    def obey_invalidation(self, n: Node) -> None:
        cache = self.cache[n]
        when(self.order[n].kind is OrderKind.INVALIDATE and self.answer[n].kind is AnswerKind.NONE)
        value = cache.value if cache.state is CacheState.EXCLUSIVE else None
        self.answer[n] = Answer(AnswerKind.INVALIDATED, value)
        self.cache[n] = Cache()
        self.order[n].kind = OrderKind.NONE

    @invariant
    def an_exclusive_copy_is_the_only_copy(self) -> bool:
        return all(
            self.cache[m].state is CacheState.INVALID
            for n in Node
            if self.cache[n].state is CacheState.EXCLUSIVE
            for m in Node
            if m != n
        )

    @invariant
    def every_copy_is_up_to_date(self) -> bool:
        return all(cache.value == self.latest for cache in self.cache.values() if cache.state is not CacheState.INVALID)

    @invariant
    def memory_is_up_to_date_unless_a_copy_is_exclusive(self) -> bool:
        return self.exclusive_granted or self.memory == self.latest

    @cover
    def all_nodes_share_the_line(self) -> bool:
        return all(cache.state is CacheState.SHARED for cache in self.cache.values())

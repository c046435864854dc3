"""Corners of the language: unions, nested containers, captured names, aliases, class patterns, tables and defaults."""

from copy import copy
from dataclasses import dataclass
from enum import Enum

from outcrop.model import Array, Bag, Model, Range, Symmetric, choose, invariant, rule, when


class Node(Symmetric, size=2): ...


class Home(Enum):
    HOME = 0


class Op(Enum):
    READ = 1
    WRITE = 4
    STOP = 2


Agent = Node | Home


@dataclass(frozen=True)
class Event:
    op: Op
    by: Agent | None
    level: Range[0, 2] = 1

    @property
    def is_loud(self) -> bool:
        return self.level == 2 or self.op is Op.WRITE


@dataclass
class Cell:
    events: Array[Event | None, 2]
    owner: Agent = Home.HOME


WEIGHT = (2, 0, 1)


def scaled(x: int, by: int = 2) -> int:
    return x * by


def shift(x: int, by: int = 1) -> int:
    return (x - by) % 3


class Corners(Model):
    grid: dict[Node, dict[bool, Range[0, 2]]] = {n: {False: 0, True: 2} for n in Node}  # noqa: RUF012
    groups: Array[set[Op], 2] = Array([set(), {Op.STOP}])
    cell: Cell = Cell(Array([None, Event(Op.READ, Home.HOME)]))
    seen: frozenset[Agent] = frozenset({Home.HOME})
    bag: Bag[Event, 2]
    pair: tuple[Range[0, 2], Agent | None] = (0, None)
    turn: Range[0, 2] = 0

    @rule
    def write(self, n: Node, b: bool) -> None:
        row = self.grid[n]
        when(
            row[b] > 0 or any(row[not b] == cell for other in Node for cell in self.grid[other].values() if other != n)
        )
        row[b] = shift(row[b]) if self.turn != 0 else shift(by=2, x=row[b])

    @rule
    def log(self, op: Op, level: Range[0, 2]) -> None:
        agent: Agent = Home.HOME
        for n in Node:
            if self.grid[n][True] == level:
                agent = n
        event = Event(op, agent if level > 0 else None, level)
        old = self.cell.events[0]
        self.cell.events[0] = event
        self.cell.events[1] = old
        self.pair = (WEIGHT[level], event.by)

    @rule
    def react(self) -> None:
        match self.cell.events[0]:
            case None:
                self.turn = 1
            case Event(op=Op.READ, by=who):
                self.cell.owner = who if who is not None else Home.HOME
            case Event(Op.WRITE, Home.HOME) | Event(Op.WRITE, None):
                self.turn = 2
            case Event(level=k) if k > 0:
                self.turn = k - 1
            case _:
                self.turn = 0

    @rule
    def group(self, op: Op) -> None:
        i = choose(range(2))
        when(op not in self.groups[1 - i])
        before = len(self.groups[i])
        self.groups[i] ^= {op}
        self.groups[1 - i] = (self.groups[i] | self.groups[1 - i]) - {Op.READ}
        self.turn = (before + len(self.groups[i])) % 3
        if self.groups[0] <= self.groups[1] and self.groups[0] != self.groups[1]:
            self.groups[0] = copy(self.groups[1])

    @rule
    def see(self, n: Node) -> None:
        when(n not in self.seen and (self.cell.owner == n or self.pair[1] == n))
        self.seen = self.seen | {n}

    @rule
    def publish(self) -> None:
        event = self.cell.events[1]
        when(event is not None and event.is_loud and len(self.bag) < 2)
        self.bag.add(event)

    @rule
    def withdraw(self) -> None:
        event = choose(self.bag)
        when(self.bag.count(event) == 2 or event.op is not Op.STOP)
        self.bag.remove(event)
        self.turn = sum(e.level for e in self.bag) % 3 + max((e.level for e in self.bag if e != event), default=0) // 2
        if event in self.bag:
            self.bag.remove(event)

    @rule
    def swap(self, n: Node) -> None:
        a, b = self.grid[n][False], self.grid[n][True]
        when(a != b)
        self.grid[n][False], self.grid[n][True] = b, a

    @rule
    def scan(self) -> None:
        best: int | None = None
        total = 0
        for n, row in self.grid.items():
            for key in (False, True):
                value = row[key]
                if value == 1:
                    continue
                total += value if key else -value
                if best is None or value > best:
                    best = value
                if total > 3:
                    break
            if self.cell.owner == n:
                break
        when(best is not None)
        self.turn = abs(total) % 3 if best != 2 else best

    @invariant
    def owners(self) -> bool:
        return self.cell.owner in (Home.HOME, None) or self.cell.owner != Home.HOME

    @invariant
    def levels(self) -> bool:
        return all(0 <= e.level <= 2 for e in self.cell.events if e is not None)

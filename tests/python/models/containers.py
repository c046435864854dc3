"""Dictionaries, sets, arrays, tuples, bags and dataclasses that change."""

from copy import deepcopy
from dataclasses import dataclass, field, replace
from enum import Enum

from outcrop.model import Array, Bag, Model, Range, Symmetric, choose, invariant, rule, start, when


class Node(Symmetric, size=2): ...


class Colour(Enum):
    RED = "red"
    GREEN = "green"

    @property
    def is_warm(self) -> bool:
        return self is Colour.RED


@dataclass
class Slot:
    owner: Node | None = None
    used: bool = False
    colours: set[Colour] = field(default_factory=set)

    def is_free(self) -> bool:
        return self.owner is None

    def take(self, by: Node) -> None:
        self.owner = by
        self.used = True


@dataclass(frozen=True)
class Letter:
    sender: Node
    colour: Colour
    copy: bool = False


NEXT = {Colour.RED: Colour.GREEN, Colour.GREEN: Colour.RED}


class Containers(Model):
    slots: Array[Slot, 2]
    colour: dict[Node, Colour]
    letters: Bag[Letter, 1]
    seen: set[Node]
    pair: tuple[bool, Range[0, 2]] = (False, 0)
    last: Letter | None

    @start
    def begin(self, c: Colour) -> None:
        self.slots = Array([Slot() for _ in range(2)])
        self.colour = dict.fromkeys(Node, c)

    @rule
    def take(self, i: Range[0, 1], n: Node) -> None:
        slot = self.slots[i]
        when(slot.is_free() and self.colour[n] is Colour.RED)
        slot.take(n)
        slot.colours.add(self.colour[n])
        self.seen |= {n}

    @rule
    def free(self, n: Node) -> None:
        when(any(slot.owner == n for slot in self.slots))
        for slot in self.slots:
            if slot.owner == n:
                slot.owner = None
                break
        self.seen.discard(n)

    @rule
    def turn(self) -> None:
        n = choose(self.seen)
        self.colour[n] = NEXT[self.colour[n]]

    @rule
    def send(self, n: Node) -> None:
        when(len(self.letters) < 1 and n in self.seen)
        self.letters.add(Letter(n, self.colour[n]))

    @rule
    def receive(self) -> None:
        letter = choose(self.letters)
        when(not letter.copy or self.last is None)
        self.letters.remove(letter)
        self.last = replace(letter, copy=True)
        self.pair = (letter.colour.is_warm, len(self.letters))

    @rule
    def forget(self) -> None:
        when(self.last is not None and self.pair[1] == 0)
        self.last = None
        self.slots[0] = deepcopy(self.slots[1])

    @invariant
    def colours_of_takers(self) -> bool:
        return all(Colour.GREEN not in slot.colours for slot in self.slots)

    @invariant
    def counted(self) -> bool:
        total = 0
        for n in Node:
            total += int(n in self.seen)
        return total == len(self.seen)

"""Errors of a model when it runs: ranges, indices, division by zero, None, full and empty bags."""

from enum import Enum

from outcrop.model import Array, Bag, Model, Range, rule, when


class Side(Enum):
    LEFT = 0
    RIGHT = 1


class Faults(Model):
    x: Range[0, 3] = 0
    side: Side | None = None
    other: Side = Side.LEFT
    counts: dict[Side, Range[0, 1]] = {Side.LEFT: 0, Side.RIGHT: 1}  # noqa: RUF012
    bag: Bag[Side, 1]
    members: set[Side] = {Side.LEFT}  # noqa: RUF012
    array: Array[bool, 2] = (False, True)

    @rule
    def up(self) -> None:
        self.x += 1

    @rule
    def down(self) -> None:
        when(self.x > 0)
        self.x -= 2

    @rule
    def none(self) -> None:
        self.other = self.side

    @rule
    def choose_side(self, s: Side) -> None:
        self.side = s

    @rule
    def key(self) -> None:
        self.counts[self.side] = 1 - self.counts[self.side]

    @rule
    def divide(self) -> None:
        self.x = 3 // self.x

    @rule
    def remainder(self) -> None:
        self.x = 3 % (self.x - 1)

    @rule
    def index(self) -> None:
        self.array[self.x] = not self.array[self.x]

    @rule
    def add(self) -> None:
        self.bag.add(self.other)

    @rule
    def take(self) -> None:
        self.bag.remove(Side.RIGHT)

    @rule
    def leave(self) -> None:
        self.members.remove(self.other)

    @rule
    def greatest(self) -> None:
        self.x = max(self.counts[s] for s in self.members)

    @rule
    def forbidden(self) -> None:
        if self.x == 3 and self.side is Side.RIGHT:
            raise ValueError("three on the right")

"""Integers: floor division, remainders of negative numbers, shifts, min and max, and ranges that overflow."""

from outcrop.model import Model, Range, invariant, rule

OFFSET = 3


def clamp(x: int, low: int, high: int) -> int:
    return max(low, min(x, high))


def floor_root(n: int) -> int:
    """The greatest r with r * r <= n, by a loop."""
    r = 0
    while (r + 1) * (r + 1) <= n:
        r += 1
    return r


class Arithmetic(Model):
    a: Range[-5, 5] = -5
    b: Range[-2, 2] = -2
    q: Range[-6, 6] = 0
    r: Range[-6, 6] = 0
    w: Range[0, 40] = 0

    @rule
    def divide(self) -> None:
        self.q = self.a // self.b
        self.r = self.a % self.b
        assert self.q * self.b + self.r == self.a

    @rule
    def step(self) -> None:
        if self.b == 2:
            self.b = -2
            self.a += 1
        else:
            self.b += 1

    @rule
    def more(self, k: Range[1, 3]) -> None:
        self.w = (self.w << 1) + k if self.w < 12 else self.w >> k
        self.w = self.w ^ (k & 1)

    @rule
    def clamped(self) -> None:
        self.w = clamp(self.a * self.a - OFFSET, 0, 12) + abs(self.b) - int(self.a > self.b)

    @rule
    def root(self) -> None:
        self.w = floor_root(self.w) + min(self.a, self.b, 0) + 9

    @invariant
    def signs(self) -> bool:
        return self.r == 0 or -3 < self.r < 3

    @invariant
    def bounded(self) -> bool:
        return self.w in range(41) and not self.w < 0

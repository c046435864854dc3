"""Control flow: match, loops that are left early, tuples, locals, priorities, assertions and helpers that recur."""

from enum import Enum

from outcrop.model import Array, Model, Range, assume, choose, cover, invariant, liveness, rule, start, when


class Light(Enum):
    OFF = 0
    LOW = 1
    HIGH = 2


class Statements(Model):
    """Constants are attributes without an annotation."""

    size = 4
    limit = size - 1
    cells: Array[Range[0, 3], size]
    light: Light = Light.OFF
    found: Range[0, 4] | None = None
    steps: Range[0, 3] = 0

    @start
    def begin(self) -> None:
        self.cells = Array([0] * 4)

    def total(self, upto: int) -> int:
        if upto == 0:
            return 0
        return self.cells[upto - 1] + self.total(upto - 1)

    @rule
    def bump(self, i: Range[0, 3]) -> None:
        when(self.cells[i] < 2)
        self.cells[i] += 1

    @rule
    def find(self) -> None:
        position: int | None = None
        for i, cell in enumerate(self.cells):
            if cell == 0:
                continue
            if i > self.limit:
                break
            position = i
            if cell == 2:
                break
        self.found = position

    @rule
    def swap(self) -> None:
        k = choose(range(3))
        when(self.cells[k] > self.cells[k + 1])
        self.cells[k], self.cells[k + 1] = self.cells[k + 1], self.cells[k]

    @rule
    def switch(self) -> None:
        match self.light:
            case Light.OFF:
                self.light = Light.LOW
            case Light.LOW | Light.HIGH:
                self.light = Light.HIGH if self.steps == 3 else Light.OFF

    @rule
    def pairs(self) -> None:
        match (self.light, self.steps):
            case (Light.OFF, 0):
                self.steps = 1
            case (Light.LOW, n) if n < 3:
                self.steps = n + 1
            case (_, 3):
                self.steps = 0
            case _:
                return
        assert self.steps < 4, "steps stay small"

    @rule(priority=1)
    def rest(self) -> None:
        when(self.total(4) == 8)
        when(all(cell == 2 for cell in self.cells))
        self.cells = Array([0 for _ in range(4)])

    @rule(priority=1)
    def crash(self) -> None:
        when(self.found is not None)
        if self.total(4) == 5 and self.light is Light.HIGH:
            self.cells[self.total(4)] = 1

    @assume
    def small(self) -> bool:
        return max(self.cells) <= 2 and sum(self.cells) <= 6

    @invariant
    def positions(self) -> bool:
        return self.found is None or 0 <= self.found < self.size

    @cover
    def all_positive(self) -> bool:
        return min(cell for cell in self.cells) > 0

    @liveness
    def dark(self) -> bool:
        return self.light is Light.OFF

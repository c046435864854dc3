"""Random models in Python: fields of every kind, and rules of random statements about them."""

from __future__ import annotations

from random import Random

HEAD = """from dataclasses import dataclass
from enum import Enum
from outcrop.model import Array, Bag, Model, Range, Symmetric, choose, invariant, rule, when

class Node(Symmetric, size=2): ...
class Colour(Enum):
    RED = 0
    BLUE = 1
@dataclass(frozen=True)
class Letter:
    colour: Colour
    count: Range[0, 2]
class Random(Model):
    x: Range[-2, 3] = 0
    y: Range[0, 2] = 1
    flag: bool = False
    colour: Colour = Colour.RED
    maybe: Colour | None = None
    of: dict[Node, Range[0, 2]] = dict.fromkeys(Node, 0)
    cells: Array[bool, 2] = Array([False, True])
    some: set[Colour]
    bag: Bag[Letter, 2]
"""


class Generator:
    """Writes one model."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.has_node = False
        self.has_letter = False

    def one(self, *texts: str) -> str:
        return self.random.choice(texts)

    def integer(self, depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.3:
            simple = ["self.x", "self.y", "1", "2", "-1", "len(self.some)", "len(self.bag)", "sum(self.cells)"]
            simple += ["self.of[n]"] * 3 if self.has_node else ["sum(self.of[k] for k in Node)"]
            simple += ["letter.count"] * 3 if self.has_letter else []
            return self.random.choice(simple)
        left, right = self.integer(depth - 1), self.integer(depth - 1)
        return self.one(
            f"({left} + {right})",
            f"({left} - {right})",
            f"({left} * {right})",
            f"({left} // {right})",
            f"({left} % {right})",
            f"min({left}, {right})",
            f"max({left}, {right})",
            f"abs({left})",
            f"({left} if {self.truth(depth - 1)} else {right})",
            f"int({self.truth(depth - 1)})",
        )

    def colour(self) -> str:
        more = ["letter.colour"] if self.has_letter else []
        return self.one("self.colour", "Colour.RED", "Colour.BLUE", *more)

    def truth(self, depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.3:
            return self.one(
                "self.flag",
                f"{self.colour()} in self.some",
                f"self.maybe is {self.one('None', 'not None')}",
                f"self.maybe == {self.colour()}",
                f"{self.colour()} is {self.colour()}",
                "any(self.cells)",
                f"all(e.count < {self.integer(0)} for e in self.bag)",
                f"any(self.of[k] > {self.integer(0)} for k in Node)",
                f"Letter({self.colour()}, 1) in self.bag",
                "bool(self.some)",
            )
        left, right = self.truth(depth - 1), self.truth(depth - 1)
        sign = self.one("<", "<=", "==", "!=")
        return self.one(
            f"({left} and {right})",
            f"({left} or {right})",
            f"(not {left})",
            f"({self.integer(depth - 1)} {sign} {self.integer(depth - 1)})",
            f"({self.integer(0)} <= {self.integer(0)} < {self.integer(0)})",
        )

    def statement(self, depth: int = 2) -> list[str]:
        targets = ["self.x", "self.y", *(["self.of[n]"] if self.has_node else [])]
        simple = [
            f"{self.random.choice(targets)} = {self.integer()}",
            *(f"{self.random.choice(targets)} = {self.integer()} % 3" for _ in range(5)),
            f"{self.random.choice(targets)} {self.one('+', '-', '*')}= {self.integer(1)}",
            f"self.flag = {self.truth()}",
            f"self.colour = {self.colour()}",
            f"self.maybe = {self.one('None', self.colour())}",
            f"self.colour = {self.one('self.maybe', self.colour())}",
            f"self.cells[{self.one('self.y', 'self.y % 2', 'int(self.flag)')}] = {self.truth(1)}",
            f"self.some.{self.one('add', 'discard', 'remove')}({self.colour()})",
            f"self.some = self.some {self.one('|', '&', '-', '^')} {{{self.colour()}}}",
            f"self.bag.add(Letter({self.colour()}, {self.integer(1)} % 3))",
            f"self.bag.remove({'letter' if self.has_letter else f'Letter({self.colour()}, 1)'})",
            f"assert {self.truth(1)}",
            "self.x, self.y = self.y, self.x",
        ]
        if depth == 0 or self.random.random() < 0.6:
            return [self.random.choice(simple)]
        inner = [f"    {line}" for line in self.statements(depth - 1)]
        other = [f"    {line}" for line in self.statements(depth - 1)]
        leave = [f"    if {self.truth(1)}:", f"        {self.one('break', 'continue')}"]
        return self.random.choice(
            [
                [f"if {self.truth()}:", *inner, "else:", *other],
                ["for each in range(2):", *leave, *inner],
                ["match self.colour:", "    case Colour.RED:", *(f"    {line}" for line in inner)],
            ]
        )

    def statements(self, depth: int = 2) -> list[str]:
        return [line for _ in range(self.random.randint(1, 2)) for line in self.statement(depth)]

    def rule(self, number: int) -> str:
        self.has_node, self.has_letter = self.random.random() < 0.4, self.random.random() < 0.4
        lines = ["letter = choose(self.bag)"] if self.has_letter else []
        lines += [f"when({self.truth()})", *self.statements()]
        parameter = ", n: Node" if self.has_node else ""
        body = "".join(f"        {line}\n" for line in lines)
        return f"    @rule\n    def rule{number}(self{parameter}) -> None:\n{body}"

    def model(self) -> str:
        rules = "".join(self.rule(number) for number in range(4))
        self.has_node = self.has_letter = False
        return f"{HEAD}{rules}    @invariant\n    def claim(self) -> bool:\n        return {self.truth()}\n"

"""Random loops over interchangeable values, and a direct test of whether a model treats them alike."""

from __future__ import annotations

import random

import outcrop
from outcrop.ir.interpreter import Interpreter
from outcrop.ir.symmetry import Normaliser

HEAD = """
from dataclasses import dataclass
from outcrop.model import *

class Node(Symmetric, size=3): ...

@dataclass(frozen=True)
class Note:
    by: Node
    level: Range[0, 1]

class M(Model):
    waiting: set[Node]
    last: Node | None
    top: Range[0, 3] = 0
    flag: bool = False
    age: dict[Node, Range[0, 1]] = dict.fromkeys(Node, 0)
    peer: dict[Node, Node | None] = dict.fromkeys(Node, None)
    bag: Bag[Note, 3]
    def mark(self, n: Node) -> None:
        MARK
    def level(self, n: Node) -> int:
        for other in self.waiting:
            RETURN
        return self.age[n]
    @rule
    def ask(self, n: Node) -> None:
        self.waiting.add(n)
        self.age[n] = 1
    @rule
    def tell(self, n: Node, other: Node) -> None:
        when(len(self.bag) < 2)
        self.bag.add(Note(n, self.age[other]))
        self.peer[n] = other
    @rule
    def loop(self, m: Node) -> None:
        best = 0
        who: Node | None = None
"""

CONDITIONS = [
    "n in self.waiting", "self.age[n] == 1", "n == m", "n != m", "self.last == n", "self.flag", "not self.flag",
    "self.peer[n] == m", "self.top < 2", "self.age[n] > best", "who is None", "best == 0", "self.level(n) == 1",
    "self.peer[n] is not None", "any(self.peer[o] == n for o in Node)", "len(self.waiting) > 1", "n == m and self.flag",
    "sum(self.age[o] for o in self.waiting) > 1", "best < 1 and self.age[n] > best",
]  # fmt: skip
CHANGES = [
    "self.last = n", "self.last = m", "self.last = None", "self.top = 1", "self.top = 2", "self.top += self.age[n]",
    "self.top = max(self.top, self.age[n])", "self.top = min(self.top, self.age[n])", "self.flag = True",
    "self.flag = False", "self.flag = self.flag or self.age[n] == 1", "self.flag = not self.flag", "self.age[n] = 0",
    "self.age[n] = 1 - self.age[n]", "self.age[m] = 1", "self.age[m] = self.age[n]", "self.peer[n] = m",
    "self.peer[n] = self.last", "self.peer[m] = n", "self.waiting.discard(n)", "self.waiting.add(m)", "self.mark(n)",
    "self.mark(m)", "best = self.age[n]", "best += self.age[n]", "who = n", "break", "continue", "return",
    "self.bag.clear()", "self.top = best", "x = self.age[n]\nself.age[n] = 1 - x", "self.top = len(self.waiting)",
    "if self.age[n] > best:\n    best = self.age[n]", "if self.age[n] > best:\n    best = self.age[n]\n    who = n",
    "for o in Node:\n    self.peer[o] = m", "for o in Node:\n    self.age[o] = self.age[n]",
    "if len(self.bag) < 3: self.bag.add(Note(n, 0))", "self.age = {o: 0 for o in Node}",
    "self.waiting = {o for o in Node if self.peer[o] == n}", "self.age = {m if o == n else o: 0 for o in Node}",
]  # fmt: skip
ENDS = ["pass", "self.last = who", "self.top = min(best, 3)", "if best > 0: self.flag = True"]
OVER = ["Node", "self.waiting", "self.age", "BAG"]


def random_body(generator: random.Random, depth: int = 0) -> list[str]:
    """Returns the statements of a turn."""
    lines: list[str] = []
    for _ in range(generator.choice((1, 1, 2))):
        if depth < 2 and generator.random() < 0.55:
            lines += [f"if {generator.choice(CONDITIONS)}:", *_indented(random_body(generator, depth + 1))]
            if generator.random() < 0.3:
                lines += ["else:", *_indented(random_body(generator, depth + 1))]
        else:
            lines += generator.choice(CHANGES).split("\n")
    return lines


def _indented(lines: list[str]) -> list[str]:
    return ["    " + each for each in lines]


def random_loop(seed: int) -> str:
    """Returns the text of a model with one loop."""
    generator = random.Random(seed)
    over = generator.choice(OVER)
    body = random_body(generator)
    if over == "BAG":
        over, body = "self.bag", ["n = note.by", *body]
    head = f"for {'note' if over == 'self.bag' else 'n'} in {over}:"
    mark = generator.choice(["self.last = n", "self.age[n] = 0", "self.top = 1", "self.peer[n] = n"])
    returned = generator.choice(["pass", "return 1", "return self.age[other]", "return self.age[n]"])
    text = HEAD.replace("MARK", mark).replace("RETURN", returned)
    return text + "\n".join("        " + each for each in [head, *_indented(body), generator.choice(ENDS)]) + "\n"


def treats_alike(model: outcrop.Model, most: int, seed: int = 0) -> bool:
    """Returns whether renaming the values of a state renames its successors, for some reachable states."""
    system, generator = model.system, random.Random(seed)
    plain, orbits = Interpreter(system, symmetry=False), Normaliser(system, True)
    pending = [each.successor for each in plain.start_states() if each.successor is not None]
    seen = set(pending)
    for _ in range(most):
        if not pending:
            break
        state = pending.pop(generator.randrange(len(pending)))
        after = {each.successor for each in plain.successors(state)}
        permutation = generator.choice(list(orbits.permutations())[1:])
        renamed = {each and orbits.permute(each, permutation) for each in after}
        if renamed != {each.successor for each in plain.successors(orbits.permute(state, permutation))}:
            return False
        fresh = [each for each in after if each is not None and each not in seen]
        seen.update(fresh)
        pending += sorted(fresh, key=repr)
    return True

"""Loops that depend on an order of interchangeable values: warnings, and searches without symmetry."""

from __future__ import annotations

import pytest

import outcrop
from tests.python.random_loops import random_loop, treats_alike

HEAD = """
from outcrop.model import *

class Node(Symmetric, size=3): ...
class M(Model):
    waiting: set[Node]
    last: Node | None
    top: Range[0, 3] = 0
    age: dict[Node, Range[0, 1]] = dict.fromkeys(Node, 0)
    def grant(self, n: Node) -> None:
        self.last = n
    def first(self) -> Node | None:
        for n in Node:
            RETURN
        return None
    @rule
    def ask(self, n: Node) -> None:
        self.waiting.add(n)
        self.age[n] = 1
    @invariant
    def known(self) -> bool:
        return self.last is None or self.last in self.waiting
    @rule
    def wrong(self, m: Node) -> None:
"""

DEPENDENT = [
    "for n in self.waiting: self.last = n",
    "for n in Node:\n            if n in self.waiting:\n                self.last = n\n                break",
    "for n in self.waiting: self.grant(n)",
    "for n in self.waiting:\n            self.age[n] = 0\n            break",
    "for n in Node:\n            if n in self.waiting:\n                self.waiting.remove(n)\n                return",
    "for n, age in self.age.items(): self.top = age",
    "best: Node | None = None\n        for n in self.waiting: best = n\n        self.last = best",
]
INDEPENDENT = [
    "for n in Node: self.age[n] = 0",
    "for n in Node: self.waiting.discard(n)",
    "for n in self.waiting: self.top = 1",
    "self.top = 0\n        for n in Node: self.top += self.age[n]",
    "for n in Node:\n            if self.age[n] > self.top: self.top = self.age[n]",
    "for n in self.waiting:\n            if n == m: self.last = n",
    "for n in Node:\n            x = self.age[n]\n            if x == 1: x = 0\n            self.age[n] = x",
    "self.top = max(self.age[n] for n in Node)",
    "self.top = sum(self.age.values())",
    "for n in self.waiting:\n            self.top = 1\n            break",
    "for n in Node:\n            if n == m:\n                self.age[n] = 0\n                break",
]


def load(body: str, returned: str = "pass") -> outcrop.Model:
    return outcrop.loads(f"{HEAD.replace('RETURN', returned)}        {body}\n", "order.py")


@pytest.mark.parametrize("body", DEPENDENT)
def test_a_dependent_loop_switches_symmetry_off(body: str) -> None:
    model = load(body)
    result = model.check(engine="interpreter", deadlock="off")
    assert result.states == model.check(engine="interpreter", deadlock="off", symmetry=False).states
    (note,) = (each for each in result.notes if "the order of the values of Node" in each.message)
    assert note.bears_on_verdict
    assert "choose(...)" in note.hint


@pytest.mark.parametrize("body", INDEPENDENT)
def test_an_independent_loop_keeps_symmetry(body: str) -> None:
    model = load(body)
    assert model.system.allows_symmetry, model.warnings


def test_a_helper_that_returns_the_first_value() -> None:
    assert not load("self.last = self.first()", "if n in self.waiting: return n").system.allows_symmetry
    assert load("self.last = self.first()", "if n not in self.waiting: return None").system.allows_symmetry


DOUBTFUL = [
    "for n in Node: self.top = 1 if n in self.waiting else 2",
    "for n in Node:\n            if self.top == 0 and n in self.waiting: self.top, self.age[n] = 1, 0",
    "for n in Node:\n            if n in self.waiting: self.top = 1\n            else: self.top = 2",
    "self.top = 1\n        for n in Node: self.top += 1 - 2 * self.age[n]",
]


@pytest.mark.parametrize("body", DOUBTFUL)
def test_in_doubt_symmetry_is_off(body: str) -> None:
    assert not load(body).system.allows_symmetry


def test_bags_of_interchangeable_values_have_no_order() -> None:
    head = HEAD.replace("waiting: set[Node]", "waiting: Bag[Node, 3]").replace("self.age[n] = 1", "pass")
    dependent = head.replace("RETURN", "pass") + "        for n in self.waiting: self.last = n\n"
    assert not outcrop.loads(dependent, "order.py").system.allows_symmetry
    accepted = head.replace("RETURN", "pass") + "        for n in self.waiting: self.age[n] = 0\n"
    assert outcrop.loads(accepted, "order.py").system.allows_symmetry


@pytest.mark.parametrize("seed", range(40))
def test_random_loops_with_symmetry_treat_values_alike(seed: int) -> None:
    try:
        model = outcrop.loads(random_loop(seed), "order.py")
    except outcrop.errors.ModelError:
        return
    assert treats_alike(model, 40, seed) or not model.system.allows_symmetry

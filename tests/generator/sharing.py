"""Random models in DVE and Promela whose steps use the same few variables, often in ways that commute."""

from __future__ import annotations

from itertools import pairwise
from random import Random

_PLACES = ("x", "y", "i", "a[0]", "a[1]", "a[i]", "a[x]")
_DVE, _PROMELA = "dve", "pml"
_OPERATORS = ("+", "+", "-", "*", "/", "%", "&")
#: Statements of Promela that use a queue.
_QUEUE = ("q!x", "q!1", "q!!2", "q?x", "q?1", "q??1", "q?<y>", "nempty(q)", "nfull(q)", "len(q) < 2", "x = len(q)")


class _Sharing:
    """Processes with a few steps each, on a choice of three variables."""

    def __init__(self, random: Random, language: str) -> None:
        self._random = random
        self._language = language
        self._places = random.sample(_PLACES, 3)

    def text(self) -> str:
        head = f"byte x = 1, y, i; byte a[{self._random.randint(2, 3)}];"
        if self._language == _DVE:
            processes = (
                f"process P{number} {{ {self._transitions()} }}" for number in range(self._random.randint(3, 4))
            )
            return "\n".join([head, *processes, "system async;", ""])
        processes = (
            f"active proctype P{number}() {{ {self._steps()} }}" for number in range(self._random.randint(3, 4))
        )
        return "\n".join(["chan q = [2] of { byte };", head, *processes, ""])

    def _transitions(self) -> str:
        names = [f"s{number}" for number in range(self._random.randint(2, 3))]
        pairs = [*pairwise(names), tuple(self._random.choices(names, k=2))]
        steps = (
            f"{here} -> {there} {{ guard {self._guard()}; effect {self._effect(', ')}; }}" for here, there in pairs
        )
        return f"state {', '.join(names)}; init s0; trans {', '.join(steps)};"

    def _steps(self) -> str:
        steps = []
        for _ in range(self._random.randint(1, 3)):
            kind = self._random.choice(("atomic", "d_step", "atomic", "plain"))
            if kind == "plain":
                steps.append(self._random.choice((self._effect("; "), *_QUEUE)))
            else:
                more = f"; {self._random.choice(_QUEUE)}" if kind == "atomic" and self._random.random() < 0.4 else ""
                steps.append(f"{kind} {{ ({self._guard()}) -> {self._effect('; ')}{more} }}")
        return "; ".join(steps)

    def _guard(self) -> str:
        word = " and " if self._language == _DVE else " && "
        return word.join(self._condition() for _ in range(self._random.choice((1, 1, 1, 2))))

    def _condition(self) -> str:
        sign = self._random.choice(("==", "!=", "!=", "!=", "<", ">="))
        if self._random.random() < 0.7:
            number = self._random.randint(2, 4) if sign in ("!=", "<") else self._random.randint(0, 1)
            return f"{self._random.choice(self._places)} {sign} {number}"
        return f"{self._value()} {sign} {self._value()}"

    def _effect(self, mark: str) -> str:
        if self._random.random() < 0.2:  # what is stored first may not fit, and is not seen
            place = self._random.choice(self._places)
            return f"{place} = {self._random.choice(self._places)} * 99{mark}{place} = {self._random.randint(0, 1)}"
        assigned = (f"{self._random.choice(self._places)} = {self._value()}" for _ in range(self._random.randint(1, 2)))
        return mark.join(assigned)

    def _value(self) -> str:
        one = self._random.choice((*self._places, "0", "1", "2", self._random.choice(_PLACES)))
        if self._random.random() < 0.5:
            return one
        return f"({one} {self._random.choice(_OPERATORS)} {self._random.randint(1, 3)})"


def generate_sharing(random: Random, language: str) -> str:
    """Returns a model in DVE ("dve") or Promela ("pml")."""
    return _Sharing(random, language).text()

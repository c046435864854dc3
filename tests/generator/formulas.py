"""Random formulas of temporal logic, as text, over conditions of a model."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

_UNARY = ("G", "F", "X", "!", "G F", "F G")
_BINARY = ("U", "R", "W", "M", "&&", "||", "->", "<->", "^")


def generate_formula(random: Random, condition: Callable[[], str], depth: int = 3) -> str:
    """Returns a formula. ``condition`` returns an expression of the model's language each time it is called."""
    if depth == 0 or random.random() < 0.15:
        return f"{{{condition()}}}"
    if random.random() < 0.5:
        return f"{random.choice(_UNARY)} ({generate_formula(random, condition, depth - 1)})"
    left, right = (generate_formula(random, condition, depth - 1) for _ in range(2))
    return f"({left} {random.choice(_BINARY)} {right})"

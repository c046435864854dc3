"""Numbers that make linear inequalities true: as many as can be, found by relaxation.

The change of rank in a step is a sum of terms. Starting from numbers that make some sums positive, others are made
positive one after the other (Motzkin and Schoenberg 1954: each inequality that is not true in turn moves the numbers to
its boundary, and a little beyond), where none of those before is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

#: A row of (parameter, factor): the products, of which the least or the greatest counts.
Side = tuple[tuple[int, int], ...]

#: Products that are computed in all, turns for one inequality, and the precision of the result.
_MOST_WORK, _MOST_TURNS, _SCALE = 3_000_000, 400, 64


@dataclass(frozen=True)
class Term:
    """The least product of ``after`` less the greatest of ``before``; at most zero if not ``is_certain``."""

    after: Side
    before: Side
    is_certain: bool

    @property
    def size(self) -> int:
        return len(self.after) + len(self.before)


@dataclass
class Sum:
    """A sum of terms, which is to be positive. Terms without a choice are added up in ``slope``."""

    number: int
    slope: dict[int, int] = field(default_factory=dict)
    choices: list[Term] = field(default_factory=list)

    def add(self, term: Term) -> None:
        if term.is_certain and term.size == 2:
            for (at, factor), sign in ((term.after[0], 1), (term.before[0], -1)):
                self.slope[at] = self.slope.get(at, 0) + sign * factor
        else:
            self.choices.append(term)

    @property
    def size(self) -> int:
        return len(self.slope) + sum(each.size for each in self.choices)

    def value(self, numbers: Sequence[float]) -> float:
        whole: float = 0
        for at, factor in self.slope.items():
            whole += numbers[at] * factor
        for each in self.choices:
            whole += _value(numbers, each)
        return whole


def _value(numbers: Sequence[float], term: Term) -> float:
    after = min(numbers[at] * factor for at, factor in term.after)
    gain = after - max(numbers[at] * factor for at, factor in term.before)
    return gain if term.is_certain or gain < 0 else 0


def improved(parameters: list[int], sums: Sequence[Sum]) -> list[int]:
    """Returns parameters with which more of some sums are positive, and all that are so already. ``sums`` are in order
    of their importance."""
    kept = [each for each in sums if each.value(parameters) > 0]
    best, numbers = parameters, [float(each) for each in parameters]
    work = _MOST_WORK
    for each in sums:
        if work <= 0:
            break
        if not each.size or each.value(best) > 0:
            continue
        trial, spent = _relaxed(list(numbers), [each, *kept])
        work -= spent
        rounded = [round(number * _SCALE) for number in trial]
        if all(one.value(rounded) > 0 for one in (each, *kept)):
            best, numbers = rounded, trial
            kept.append(each)
    return best


def _relaxed(numbers: list[float], sums: list[Sum]) -> tuple[list[float], int]:
    """Returns numbers that perhaps make all sums at least 1, and the number of products that were computed."""
    spent, every = 0, sum(each.size for each in sums)
    for _ in range(_MOST_TURNS):
        is_done = True
        spent += every
        for each in sums:
            lacking = 1 - each.value(numbers)
            if lacking > 0:
                is_done = False
                _move(numbers, each, lacking)
        if is_done:
            break
    return numbers, spent


def _move(numbers: list[float], whole: Sum, lacking: float) -> None:
    """Moves numbers so that a sum grows by what it lacks, and half as much again."""
    slope = dict(whole.slope)
    for each in whole.choices:
        if each.is_certain or _value(numbers, each) < 0:
            at, factor = min(each.after, key=lambda one: numbers[one[0]] * one[1])
            slope[at] = slope.get(at, 0) + factor
            at, factor = max(each.before, key=lambda one: numbers[one[0]] * one[1])
            slope[at] = slope.get(at, 0) - factor
    length = sum(factor * factor for factor in slope.values())
    for at, factor in slope.items() if length else ():
        numbers[at] += 1.5 * lacking * factor / length

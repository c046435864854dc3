"""Numbers that make linear inequalities true: as many as can be, found by relaxation.

The change of rank in a step is a sum of terms. Starting from numbers that make some sums positive, others are made
positive one after the other (Motzkin and Schoenberg 1954: each inequality that is not true in turn moves the numbers to
its boundary, and a little beyond), where none of those before is lost.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter

#: A row of (parameter, factor): the products, of which the least or the greatest counts.
Side = tuple[tuple[int, int], ...]
#: Computes the products of a row.
Products = Callable[[Sequence[float]], Sequence[float]]

#: Products that are computed in all, moves for one inequality, and the precision of the result.
_MOST_WORK, _MOST_MOVES, _SCALE = 2_000_000, 4_000, 64
#: Length of a move, where 1 leads to the boundary: a longer one gets to the inside of a narrow cone sooner.
_STEP = 1.9


@dataclass(frozen=True)
class Term:
    """The least product of ``after`` less the greatest of ``before``; at most zero if not ``is_certain``."""

    after: Side
    before: Side
    is_certain: bool

    @property
    def size(self) -> int:
        return len(self.after) + len(self.before)

    @cached_property
    def products(self) -> tuple[Products, Products]:
        """The functions that compute the products of both sides."""
        return _products(self.after), _products(self.before)


def _products(side: Side) -> Products:
    places = [at for at, _ in side]
    if len(side) > 1 and all(factor == 1 for _, factor in side):
        return itemgetter(*places)  # most sides are these, and most of the analysis is spent here
    return lambda numbers: [numbers[at] * factor for at, factor in side]


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

    @cached_property
    def size(self) -> int:
        """The number of products, once all terms are there."""
        return len(self.slope) + sum(each.size for each in self.choices)

    def value(self, numbers: Sequence[float]) -> float:
        whole: float = 0
        for at, factor in self.slope.items():
            whole += numbers[at] * factor
        for each in self.choices:
            whole += _value(numbers, each)
        return whole


def _value(numbers: Sequence[float], term: Term) -> float:
    after, before = term.products
    gain = min(after(numbers)) - max(before(numbers))
    return gain if term.is_certain or gain < 0 else 0


def improved(parameters: list[int], sums: Sequence[Sum], effort: float) -> list[int]:
    """Returns parameters with which more of some sums are positive, and all that are so already. ``sums`` are in order
    of their importance. ``effort``: the work to spend, as a share of the most."""
    kept: list[Sum] = []
    readers: dict[int, list[Sum]] = {}

    def keep(each: Sum) -> None:
        kept.append(each)
        _note(each, readers)

    rest = []
    for each in sums:
        if each.value(parameters) > 0:
            keep(each)
        elif each.size:
            rest.append(each)
    best, numbers = parameters, [float(each) for each in parameters]
    work = effort * _MOST_WORK
    for each in rest:
        if each.value(best) > 0:  # since another one was made positive
            keep(each)
            continue
        trial, spent = _relaxed(list(numbers), each, readers)
        work -= spent
        if work < 0:
            break
        rounded = [round(number * _SCALE) for number in trial]
        if all(one.value(rounded) > 0 for one in (each, *kept)):
            best, numbers = rounded, trial
            keep(each)
    return best


def _note(each: Sum, readers: dict[int, list[Sum]]) -> None:
    for at in {*each.slope, *(at for term in each.choices for at, _ in (*term.after, *term.before))}:
        readers.setdefault(at, []).append(each)


def _relaxed(numbers: list[float], first: Sum, readers: dict[int, list[Sum]]) -> tuple[list[float], int]:
    """Returns numbers that perhaps make a sum and all those of ``readers`` at least 1, and the products computed."""
    spent, moves = 0, 0
    waiting = deque([first])
    queued = {first.number}
    followers: dict[object, list[Sum]] = {}  # sums that change with one; most move the same numbers each time
    while waiting and moves < _MOST_MOVES:
        each = waiting.popleft()
        queued.discard(each.number)
        spent += each.size
        lacking = 1 - each.value(numbers)
        if lacking <= 1e-9:
            continue
        moves += 1
        moved = _move(numbers, each, lacking)
        if not moved:
            break  # no number changes the sum
        key = (each.number, *moved) if each.choices else each.number
        others = followers.get(key)
        if others is None:
            found = [first, *(reader for at in moved for reader in readers.get(at, ()))]
            others = followers[key] = list({other.number: other for other in found}.values())
        for other in others:
            if other.number not in queued:
                queued.add(other.number)
                waiting.append(other)
    return numbers, spent


def _move(numbers: list[float], whole: Sum, lacking: float) -> dict[int, int]:
    """Moves numbers so that a sum grows by what it lacks, and nearly as much again. Returns what was moved, which is
    nothing if the sum does not depend on any number."""
    slope = dict(whole.slope) if whole.choices else whole.slope
    for each in whole.choices:
        if each.is_certain or _value(numbers, each) < 0:
            at, factor = min(each.after, key=lambda one: numbers[one[0]] * one[1])
            slope[at] = slope.get(at, 0) + factor
            at, factor = max(each.before, key=lambda one: numbers[one[0]] * one[1])
            slope[at] = slope.get(at, 0) - factor
    slope = {at: factor for at, factor in slope.items() if factor}
    length = sum([factor * factor for factor in slope.values()])
    step = _STEP * lacking
    for at, factor in slope.items():
        numbers[at] += step * factor / length
    return slope

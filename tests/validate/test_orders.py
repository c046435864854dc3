"""Logs of several writers: the orders that clocks and times allow, against a reference that tries each of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import pytest
from recorded_runs import MOST, Line, Reference, TooWide, damaged, random_log
from test_against_reference import reference_of

from outcrop.validate.clocks import writers
from outcrop.validate.follow import Conformity, Follower
from outcrop.validate.merge import follow_merged
from outcrop.validate.options import Start, ValidateOptions

#: Longest log, of which all orders are tried, and largest number of orders.
LENGTH, ORDERS = 7, 400


class Marked:
    """A line with its writer, its vector clock and its time."""

    def __init__(self, line: Line, writer: str, clock: dict[str, int], time: tuple[float, float]) -> None:
        self.line, self.writer, self.clock, self.time = line, writer, clock, time

    @property
    def record(self) -> dict[str, Any]:
        time: Any = list(self.time) if self.time[0] < self.time[1] else self.time[0]
        return {**self.line.record, "writer": self.writer, "clock": self.clock, "time": time}

    def is_before(self, other: Marked, options: ValidateOptions) -> bool:
        by_clock = options.clock is not None and self.clock != other.clock
        by_clock = by_clock and all(count <= other.clock.get(name, 0) for name, count in self.clock.items())
        return by_clock or (options.real_time is not None and self.time[1] + options.skew < other.time[0])


def marked(random: Random, lines: Sequence[Line]) -> list[Marked]:
    """Gives the lines of a run to two or three writers, which hear of each other now and then."""
    names = "abc"[: random.randint(2, 3)]
    clocks: dict[str, dict[str, int]] = {name: {} for name in names}
    found = []
    for number, line in enumerate(lines):
        writer, other = random.choice(names), random.choice(names)
        own = clocks[writer]
        if random.random() < 0.3:
            own.update({name: max(count, own.get(name, 0)) for name, count in clocks[other].items()})
        own[writer] = own.get(writer, 0) + 1
        time = number - random.choice([0.0, 0.6, 1.7]), number + random.choice([0.0, 0.6, 1.7])
        found.append(Marked(line, writer, dict(own), time))
    return found


def orders(lines: list[Marked], options: ValidateOptions) -> Iterator[list[Marked]]:
    """Yields every order of lines that their writers, clocks and times allow."""
    if not lines:
        yield []
    for at, each in enumerate(lines):
        others = lines[:at] + lines[at + 1 :]
        if any(other.writer == each.writer for other in lines[:at]):
            continue
        if not any(other.is_before(each, options) for other in others):
            for rest in orders(others, options):
                yield [each, *rest]


def expected(reference: Reference, lines: list[Marked], options: ValidateOptions) -> bool | None:
    """Returns whether some order is a run; None if there are too many."""
    found = False
    for number, order in enumerate(orders(lines, options)):
        if number == ORDERS:
            return None
        agree, _ = reference.follow([each.line for each in order], 0, set(), False, options.start)
        found = found or agree == len(lines)
    return found


def compare(seed: int, logs: int = 8) -> list[bool]:
    """Compares the answers about merged logs of one model. Returns the answers."""
    random = Random(seed)
    reference = reference_of(random)
    answers = []
    for number in range(logs):
        lines = random_log(reference, random, 0, set())
        lines = None if lines is None else lines[: random.randint(2, LENGTH)]
        if not lines or any(not each.record.get("state") and "rule" not in each.record for each in lines):
            continue
        clock, real_time = random.choice([("clock", None), (None, "time"), ("clock", "time")])
        options = ValidateOptions(
            width=10 * MOST,
            clock=clock,
            real_time=real_time,
            skew=random.choice([0.0, 0.5]) if real_time else 0.0,
            start=random.choice([Start.INITIAL, Start.INITIAL, Start.REACHABLE]),
        )
        whole = marked(random, damaged(reference, random, lines) if number % 2 else lines)
        try:
            wanted = expected(reference, whole, options)
        except TooWide:
            continue
        if wanted is None:
            continue
        with Follower(reference.system, options) as follower:
            records = enumerate([json.dumps(each.record).encode() for each in whole], 1)
            merged = writers("log", follower.encoded(records, "log"), options)
            answer = follow_merged(follower, merged)
        assert (answer.conformity is Conformity.CONFORMS) == wanted, (seed, number)
        assert wanted or number % 2, (seed, number)
        answers.append(wanted)
    return answers


def test_merged_logs_agree_with_the_reference() -> None:
    answers = [answer for seed in range(1, 9) for answer in compare(seed)]
    assert answers.count(True) > 12 and answers.count(False) > 3


@pytest.mark.slow
def test_merged_logs_agree_with_the_reference_thoroughly() -> None:
    for seed in range(1000, 1200):
        compare(seed)

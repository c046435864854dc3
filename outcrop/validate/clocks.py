"""The order of lines of several writers, by a clock, by real time, or by both.

A clock is a number (a Lamport clock, or a time) or an object with a number for each writer (a vector clock). In real
time, a line comes before another if it is certainly over before the other can have begun. Lines that neither orders are
possible in either order.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate, pairwise
from typing import Any

from outcrop.errors import UsageError
from outcrop.validate.follow import Numbered
from outcrop.validate.logs import parsed
from outcrop.validate.options import ValidateOptions

Cut = tuple[int, ...]  #: number of lines read from each writer


@dataclass
class Writer:
    """The lines of one writer, each with its clock, and the earliest and latest time at which it may have happened."""

    name: str
    lines: list[Numbered]
    clocks: list[Any]
    times: list[tuple[float, float]]


def writers(name: str, lines: Iterator[Numbered], options: ValidateOptions) -> list[Writer]:
    """Returns the lines of a log by their field ``writer``, if they have one."""
    found: dict[str, Writer] = {}
    for each in lines:
        record, place = parsed(each.record), f"'{name}', line {each.number:,}"
        own = f"{name}, writer {record['writer']}" if "writer" in record else name
        writer = found.setdefault(own, Writer(own, [], [], []))
        writer.lines.append(each)
        if options.clock is not None:
            writer.clocks.append(_clock(record, options.clock, place))
        if options.real_time is not None:
            writer.times.append(_times(record, options.real_time, place))
    for writer in found.values():
        for at, (before, after) in enumerate(pairwise(writer.clocks)):
            if not _is_before(before, after, or_equal=True):
                raise UsageError(
                    f"'{writer.name}', line {writer.lines[at + 1].number:,}: its clock is not after that of the line "
                    "before; the lines of a writer must be in order"
                )
    return list(found.values())


def _clock(record: dict[str, Any], field: str, place: str) -> Any:
    value = record.get(field)
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            value = None
    if isinstance(value, int | float):
        return value
    if isinstance(value, dict) and all(isinstance(each, int) for each in value.values()):
        return value
    raise UsageError(f"{place}: the clock '{field}' must be a number, or an object with numbers")


def _times(record: dict[str, Any], field: str, place: str) -> tuple[float, float]:
    """Returns the earliest and the latest time of a line: one time stands for both."""
    value = record.get(field)
    ends = value if isinstance(value, list) else [value]
    try:
        times = [_seconds(each) for each in ends]
    except (TypeError, ValueError):
        times = []
    if len(times) not in (1, 2) or times[0] > times[-1]:
        raise UsageError(
            f"{place}: the time '{field}' must be a number of seconds, a text such as 2026-05-01T12:00:00.250Z, or a "
            "list of two, the earliest and the latest"
        )
    return times[0], times[-1]


def _seconds(value: Any) -> float:
    if not isinstance(value, str):
        return float(value)
    try:
        return float(value)
    except ValueError:
        time = datetime.fromisoformat(value)
        return time.replace(tzinfo=time.tzinfo or UTC).timestamp()


def _is_before(one: Any, other: Any, or_equal: bool = False) -> bool:
    if isinstance(one, dict) != isinstance(other, dict):
        raise UsageError("some clocks are numbers, and others are objects; use one kind")
    if not isinstance(one, dict):
        return bool(one <= other if or_equal else one < other)
    return all(count <= other.get(name, 0) for name, count in one.items()) and (or_equal or one != other)


def needs_of(merged: list[Writer], skew: float) -> list[list[Cut]]:
    """Returns, for each line of each writer, how many lines of every writer come before it. Raises UsageError if no
    order has that."""
    ends = [_ends(writer, skew) for writer in merged]
    needs: list[list[Cut]] = [
        [
            tuple(
                at if other is own else max(_before_clock(other, own.clocks, at), _before_time(ended, own.times, at))
                for other, ended in zip(merged, ends, strict=True)
            )
            for at in range(len(own.lines))
        ]
        for own in merged
    ]
    _require_an_order(merged, needs)
    return needs


def is_ready(cut: Cut, needed: Cut) -> bool:
    """Returns whether enough lines of each writer have been read."""
    return all(have >= need for have, need in zip(cut, needed, strict=True))


def _before_clock(writer: Writer, clocks: list[Any], at: int) -> int:
    """Returns how many lines of a writer come before a clock. They are the first ones, since its clocks never
    decrease."""
    if not clocks:
        return 0
    clock = clocks[at]
    if not isinstance(clock, dict):
        _is_before(writer.clocks[0], clock)  # raises an error for clocks of two kinds
        return bisect_left(writer.clocks, clock)
    return bisect_right(range(len(writer.clocks)), 0, key=lambda at: int(not _is_before(writer.clocks[at], clock)))


def _ends(writer: Writer, skew: float) -> list[float]:
    """Returns the time at which each line of a writer is certainly over. A line is over before each later one is."""
    latest = [latest + skew for _, latest in reversed(writer.times)]
    return list(accumulate(latest, min))[::-1]


def _before_time(ends: list[float], times: list[tuple[float, float]], at: int) -> int:
    """Returns how many lines of a writer are over before a line can have begun."""
    return bisect_left(ends, times[at][0]) if times else 0


def _require_an_order(merged: list[Writer], needs: list[list[Cut]]) -> None:
    """Raises UsageError if each of some lines must come before another, so that there is no order."""
    cut = [0] * len(merged)
    own = 0
    while own < len(merged):
        if cut[own] < len(merged[own].lines) and is_ready(tuple(cut), needs[own][cut[own]]):
            cut[own] += 1
            own = 0
        else:
            own += 1
    stuck = [writer for at, writer in zip(cut, merged, strict=True) if at < len(writer.lines)]
    if stuck:
        lines = " and ".join(
            f"'{writer.name}', line {writer.lines[at].number:,}"
            for at, writer in zip(cut, merged, strict=True)
            if writer in stuck
        )
        raise UsageError(f"{lines}: no order agrees with the clock and the time of all lines; raise --skew")


def in_one_order(merged: list[Writer]) -> list[Numbered] | None:
    """Returns all lines in the only order that clocks which are numbers allow; None if there are several."""
    if any(writer.times for writer in merged):
        return None
    pairs = [(clock, each) for writer in merged for clock, each in zip(writer.clocks, writer.lines, strict=True)]
    if any(isinstance(clock, dict) for clock, _ in pairs):
        return None
    ties = [set(writer.clocks) for writer in merged]
    if len(merged) > 1 and sum(map(len, ties)) > len(set().union(*ties)):
        return None
    return [each for _, each in sorted(pairs, key=lambda pair: pair[0])]

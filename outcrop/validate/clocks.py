"""Logs of several writers, merged by a clock.

A clock is a number (a Lamport clock, or a time) or an object with a number for each writer (a vector clock). It says
which lines come before which; lines that it does not order are possible in either order. All these orders are followed
at once: the search goes over *cuts*, the numbers of lines read from each writer, with the states possible at each.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from outcrop.errors import UsageError
from outcrop.kernels.observe import Answer
from outcrop.kernels.states import States
from outcrop.validate.follow import Conformity, Followed, Follower, Numbered
from outcrop.validate.logs import parsed

Cut = tuple[int, ...]


@dataclass
class Writer:
    """The lines of one writer, each with its clock."""

    name: str
    lines: list[Numbered]
    clocks: list[Any]


def writers(name: str, lines: Iterator[Numbered], clock: str) -> list[Writer]:
    """Returns the lines of a log by their field ``writer``, if they have one."""
    found: dict[str, Writer] = {}
    for each in lines:
        record = parsed(each.record)
        own = f"{name}, writer {record['writer']}" if "writer" in record else name
        writer = found.setdefault(own, Writer(own, [], []))
        writer.lines.append(each)
        writer.clocks.append(_clock(record, clock, f"'{name}', line {each.number:,}"))
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


def _is_before(one: Any, other: Any, or_equal: bool = False) -> bool:
    if isinstance(one, dict) != isinstance(other, dict):
        raise UsageError("some clocks are numbers, and others are objects; use one kind")
    if not isinstance(one, dict):
        return bool(one <= other if or_equal else one < other)
    return all(count <= other.get(name, 0) for name, count in one.items()) and (or_equal or one != other)


def _needs(merged: list[Writer]) -> list[list[Cut]]:
    """Returns, for each line of each writer, how many lines of every writer come before it."""
    return [
        [
            tuple(at if other is own else _count_before(other, clock) for other in merged)
            for at, clock in enumerate(own.clocks)
        ]
        for own in merged
    ]


def _count_before(writer: Writer, clock: Any) -> int:
    """Returns how many lines of a writer come before a clock. They are the first ones, since its clocks never
    decrease."""
    if not isinstance(clock, dict):
        _is_before(writer.clocks[0], clock)  # raises an error for clocks of two kinds
        return bisect_left(writer.clocks, clock)
    return bisect_right(range(len(writer.clocks)), 0, key=lambda at: int(not _is_before(writer.clocks[at], clock)))


def in_one_order(merged: list[Writer]) -> list[Numbered] | None:
    """Returns all lines in the only order that clocks which are numbers allow; None if there are several."""
    pairs = [(clock, each) for writer in merged for clock, each in zip(writer.clocks, writer.lines, strict=True)]
    if any(isinstance(clock, dict) for clock, _ in pairs):
        return None
    ties = [set(writer.clocks) for writer in merged]
    if len(merged) > 1 and sum(map(len, ties)) > len(set().union(*ties)):
        return None
    return [each for _, each in sorted(pairs, key=lambda pair: pair[0])]


def follow_merged(follower: Follower, merged: list[Writer]) -> Followed:
    """Follows the lines of several writers in all orders that their clocks allow."""
    ordered = in_one_order(merged)
    if ordered is not None:
        return follower.follow(ordered)
    needs, total = _needs(merged), sum(len(each.lines) for each in merged)
    follower.start(None)
    level: dict[Cut, States] = {(0,) * len(merged): follower.observer.states}
    widest = widest_line = 0
    for read in range(total):
        following: dict[Cut, list[States]] = {}
        for cut, states in level.items():
            for own in range(len(merged)):
                if cut[own] == len(merged[own].lines) or not _is_ready(cut, needs[own][cut[own]]):
                    continue
                after = _read(follower, states, merged[own].lines[cut[own]], read == 0)
                if after is None:
                    return Followed(Conformity.UNKNOWN, read, widest, widest_line, follower.too_wide())
                if len(after):
                    following.setdefault((*cut[:own], cut[own] + 1, *cut[own + 1 :]), []).append(after)
        if not following:
            return _stopped(follower, merged, needs, level, Followed(Conformity.DIFFERS, read, widest, widest_line))
        level = {cut: _united(found) for cut, found in following.items()}
        width = sum(map(len, level.values()))
        if width > widest:
            widest, widest_line = width, read
        if width > follower.options.width or follower.is_late:
            reason = "the time limit was reached" if follower.is_late else follower.too_wide()
            return Followed(Conformity.UNKNOWN, read, widest, widest_line, reason)
    found = Followed(Conformity.CONFORMS, total, widest, widest_line)
    found.possible = sum(map(len, level.values()))
    found.before, found.is_whole = follower.unpacked(next(iter(level.values()))), total == 0
    return found


def _is_ready(cut: Cut, needed: Cut) -> bool:
    return all(have >= need for have, need in zip(cut, needed, strict=True))


def _read(follower: Follower, states: States, line: Numbered, is_first: bool) -> States | None:
    """Returns the states after one line; None if they are too many."""
    follower.observer.restore(states)
    lines = follower.lines([line], is_first)
    follower.declare()
    answer, _ = follower.observer.read(lines)
    if answer is Answer.TOO_MANY:
        return None
    return follower.observer.states if answer is Answer.ALL else states[:0]


def _united(found: list[States]) -> States:
    return found[0] if len(found) == 1 else np.unique(np.concatenate(found), axis=0)


def _stopped(
    follower: Follower, merged: list[Writer], needs: list[list[Cut]], level: dict[Cut, States], found: Followed
) -> Followed:
    """Completes the answer about logs of which no order goes further: one of the cuts that are reached, and the first
    line that could come next."""
    cut, states = next(iter(level.items()))
    ready = [
        merged[own].lines[cut[own]]
        for own in range(len(merged))
        if cut[own] < len(merged[own].lines) and _is_ready(cut, needs[own][cut[own]])
    ]
    found.failing = ready[0]
    found.others = ready[1:]
    found.possible = sum(map(len, level.values()))
    found.before, found.is_whole = follower.unpacked(states), found.lines == 0
    return found

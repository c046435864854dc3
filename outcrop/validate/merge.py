"""Logs of several writers, followed in all orders that their clocks and times allow.

The search goes over *cuts*, the numbers of lines read from each writer, with the states possible at each.
"""

from __future__ import annotations

import numpy as np

from outcrop.kernels.observe import Answer
from outcrop.kernels.states import States
from outcrop.validate.beginning import Uncertain
from outcrop.validate.clocks import Cut, Writer, in_one_order, is_ready, needs_of
from outcrop.validate.follow import Conformity, Followed, Follower, Numbered
from outcrop.validate.options import Start


def follow_merged(follower: Follower, merged: list[Writer]) -> Followed:
    """Follows the lines of several writers in all orders that their clocks allow."""
    ordered = in_one_order(merged)
    if ordered is not None:
        return follower.follow(ordered)
    needs, total = needs_of(merged, follower.options.skew), sum(len(each.lines) for each in merged)
    follower.start(None)
    level: dict[Cut, States] = {(0,) * len(merged): follower.observer.states}
    widest = widest_line = 0
    for read in range(total):
        following: dict[Cut, list[States]] = {}
        for cut, states in level.items():
            for own in range(len(merged)):
                if cut[own] == len(merged[own].lines) or not is_ready(cut, needs[own][cut[own]]):
                    continue
                try:
                    after = _read(follower, states, merged[own].lines[cut[own]], read == 0)
                except Uncertain as error:
                    return Followed(Conformity.UNKNOWN, read, widest, widest_line, str(error))
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


def _read(follower: Follower, states: States, line: Numbered, is_first: bool) -> States:
    """Returns the states after one line. Raises Uncertain if they are too many."""
    if is_first and follower.options.start is not Start.INITIAL:
        return follower.enter(line)
    if is_first:
        follower.start(line)
    else:
        follower.observer.restore(states)
    lines = follower.lines([line], is_first)
    follower.declare()
    answer, _ = follower.observer.read(lines)
    if answer is Answer.TOO_MANY:
        raise Uncertain(follower.too_wide())
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
        if cut[own] < len(merged[own].lines) and is_ready(cut, needs[own][cut[own]])
    ]
    if found.lines == 0 and follower.options.start is not Start.INITIAL:
        found = follower.not_entered(ready[-1])
    else:
        found.possible = sum(map(len, level.values()))
        found.before, found.is_whole = follower.unpacked(states), found.lines == 0
    found.failing, *found.others = ready
    return found

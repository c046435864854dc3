"""Coverage of the states of a model by logs: how many of the reachable ones some line may show."""

from __future__ import annotations

from dataclasses import dataclass

from outcrop.ir.layout import State
from outcrop.validate.follow import MOST_SEEN, Follower
from outcrop.validate.reachable import reachable

#: Number of states that are listed.
_MOST_EXAMPLES = 5


@dataclass(frozen=True)
class StateCoverage:
    """States that agree with some line, and reachable ones."""

    shown: int
    reachable: int
    is_complete: bool  #: whether all reachable states were visited, and all shown ones kept
    examples: tuple[State, ...]  #: states that no log shows, those nearest to a start state first


def state_coverage(follower: Follower) -> StateCoverage:
    """Visits the reachable states, level by level, and compares them with those that the logs have shown."""
    seen = {row.tobytes() for row in follower.observer.seen}
    examples: list[State] = []
    count, is_complete = 0, not follower.observer.seen_is_full
    for blocks in reachable(follower.native):
        level = [row for block in blocks for row in block.new]
        if count + len(level) > MOST_SEEN:
            is_complete = False
            break
        count += len(level)
        for row in (each for each in level if len(examples) < _MOST_EXAMPLES and each.tobytes() not in seen):
            examples += follower.unpacked(row.reshape(1, -1))
    return StateCoverage(len(seen), count, is_complete, tuple(examples))

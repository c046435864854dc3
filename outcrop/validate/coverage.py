"""Coverage of the states of a model by logs: how many of the reachable ones some line may show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from outcrop.ir.layout import State
from outcrop.kernels import Settings
from outcrop.kernels.observe import StepNamer
from outcrop.kernels.states import States
from outcrop.validate.follow import MOST_SEEN, Follower

#: Number of states that are listed, and of states that are expanded at a time, with room for their successors.
_MOST_EXAMPLES, _BLOCK, _ROOM = 5, 4096, 1 << 18


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
    with follower.native.search(Settings(budget=4 << 30)) as search:
        search.start()
        level = search.read_block(0, search.finish_level())
        namer, reachable = StepNamer(search, _ROOM), 0
        while len(level) and reachable + len(level) <= MOST_SEEN:
            reachable += len(level)
            missing = (row for row in level if len(examples) < _MOST_EXAMPLES and row.tobytes() not in seen)
            for row in missing:
                examples += follower.unpacked(row.reshape(1, -1))
            found: list[States] = []
            at = 0
            while at < len(level):
                done, steps = namer.expand(level[at : at + _BLOCK])
                found.append(steps.successors[search.insert_block(0, steps.successors)])
                at += done
            level = np.concatenate(found)
    is_complete = not len(level) and not follower.observer.seen_is_full
    return StateCoverage(len(seen), reachable, is_complete, tuple(examples))

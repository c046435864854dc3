"""The queues of a layered search: the layer that is being expanded, and the next one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from outcrop.explorer.log import log_block_rows, open_log
from outcrop.kernels import States
from outcrop.store.frontier import RowFile
from outcrop.store.workdir import WorkDirectory

if TYPE_CHECKING:
    from outcrop.explorer.explorer import Explorer

#: Number of states that a worker expands at a time. Workers should expand states that lie close together, so that their
#: common successors are found in RAM.
_STATES_A_TURN = 4096


class LayerQueue:
    """Q of the current depth and of the next. ``keeps_start``: keep the start states, for a repeated search. If
    checkpoints are kept, all states go to a log too."""

    def __init__(self, explorer: Explorer, directory: WorkDirectory, keeps_start: bool) -> None:
        width = explorer.native.state_bytes
        self._search = explorer.search
        self._levels = explorer.levels
        self._width = width
        self._now, self._next = (RowFile(directory, f"queue-{i}", width, log_block_rows(width)) for i in range(2))
        self._begin = 0  #: number of states before the first of the current depth
        self.start_states = RowFile(directory, "start", width, log_block_rows(width)) if keeps_start else None
        self._log = open_log(explorer, directory) if explorer.checkpoints is not None else None
        self._still_to_come = 0  #: number of states in the log that have not been restored yet
        self.states = 0  #: number of states visited

    def take_over(self, used: int) -> None:
        """Takes the states of the arena, which are all visited. The last level may be incomplete."""
        levels, complete = self._levels, self._levels.states
        self._begin = complete - sum(levels[-1:])
        self.states = used
        self._copy(self._begin, complete, self._now)
        self._copy(complete, used, self._next)
        if self._log is not None:
            self._still_to_come = max(0, len(self._log) - used)
            for first in range(len(self._log), used, self._log.block_rows):
                self._log.append(self._search.read_block(first, min(used, first + self._log.block_rows)))
        if self.start_states is not None:
            self._copy(0, min(used, levels[0] if levels else used), self.start_states)

    def _copy(self, begin: int, end: int, goal: RowFile) -> None:
        for first in range(begin, end, goal.block_rows):
            goal.append(self._search.read_block(first, min(end, first + goal.block_rows)))

    def dequeue(self, begin: int, end: int) -> Iterator[States]:
        """Yields a range of states, counted from the first start state, in small blocks."""
        for states in self._now.blocks(begin - self._begin, end - self._begin):
            for at in range(0, len(states), _STATES_A_TURN):
                yield states[at : at + _STATES_A_TURN]

    def enqueue(self, fresh: States) -> None:
        """Takes states of the next depth. Called by one thread at a time."""
        self._next.append(fresh)
        self.states += len(fresh)
        if self._log is not None:
            known = min(self._still_to_come, len(fresh))
            self._still_to_come -= known
            self._log.append(fresh[known:])

    def next_depth(self, depth: int) -> None:
        """Makes the next depth, which is complete, the current one."""
        size = self.states - self._levels.states
        self._begin = self.states - size
        self._now, self._next = self._next, self._now
        self._next.clear()
        if self.start_states is not None and depth == 0:
            self.start_states.clear()
            for states in self._now.blocks(0, size):
                self.start_states.append(states)

    def stored(self, name: str, directory: WorkDirectory) -> RowFile:
        """Returns a copy of the current depth as a new file."""
        stored = RowFile(directory, name, self._width, self._now.block_rows)
        for states in self._now.blocks(0, len(self._now)):
            stored.append(states)
        return stored

    def clear(self) -> None:
        self._now.clear()
        self._next.clear()

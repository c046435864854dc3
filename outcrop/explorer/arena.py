"""The arena as a frontier: all states in the order of their discovery, in RAM or in a file.

A level is a range of the arena. The arena is the queue and the state log that traces are rebuilt from. With an exact
table it is also the visited set.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from outcrop.errors import UsageError
from outcrop.explorer.frontier import ExpandPart, Position
from outcrop.explorer.paths import Look, look_in_arena
from outcrop.kernels import States
from outcrop.options import CheckOptions
from outcrop.store.workdir import disk_errors

if TYPE_CHECKING:
    from outcrop.explorer.explorer import Explorer


class Arena:
    """The levels of a search that keeps all of them in its arena. ``has_levels``: the states lie there level by level.
    Without it they lie in depth-first order, and count as one level."""

    is_arena = True

    def __init__(self, explorer: Explorer, *, has_levels: bool = True) -> None:
        self._explorer = explorer
        self._has_levels = has_levels
        self.most_levels = explorer.tuning.levels_a_call  #: largest number of levels that the next call expands

    # --- Levels ------------------------------------------------------------------------------------------------

    def start(self) -> None:
        explorer = self._explorer
        explorer.fill_level(
            partial(explorer.exchange.fill_level, self.create_start_states), explorer.search.finish_level
        )

    def create_start_states(self, worker: int) -> bool:
        """Creates the start states, in worker 0. Returns whether there are more: always False."""
        explorer = self._explorer
        if worker == 0 and not explorer.search.standing().has_started:
            explorer.findings.has_failed_start |= explorer.search.start() > 0
        return False

    def expand(self) -> None:
        """Expands the newest level, and perhaps more levels after it. Reports the new levels to the explorer."""
        self._explorer.exchange.expand_arena(self)

    def expand_levels(self) -> None:
        """Expands many levels in one kernel call. One worker expands small ones, which makes deep models fast."""
        explorer, tuning = self._explorer, self._explorer.tuning
        most, largest = self.most_levels, 2**63
        if explorer.keeps_boundaries:
            most, largest = min(most, tuning.levels_a_checkpoint), tuning.largest_before_checkpoint
        if explorer.options.depth is not None:
            most = min(most, explorer.options.depth + 1 - len(explorer.levels))
        sizes, generated = np.zeros(most, dtype=np.uint64), np.zeros(most, dtype=np.uint64)
        search = explorer.search
        count, *_ = explorer.parallel(
            *(partial(search.expand_levels, worker, sizes, generated, largest) for worker in range(search.workers))
        )
        before = np.uint64(explorer.generated_so_far)
        explorer.level_done(sizes[:count].tolist(), np.diff(generated[:count], prepend=before).tolist())

    def expand_level(self, expand: ExpandPart) -> None:
        """Expands the newest level, block by block."""
        explorer = self._explorer
        explorer.fill_level(partial(explorer.exchange.fill_level, expand), explorer.search.finish_level)

    def restore(self, blocks: Iterator[States]) -> None:
        explorer = self._explorer
        for states in blocks:
            explorer.search.insert_packed(0, states)
            explorer.watch.look()
            explorer.check_stop()
        explorer.levels.append(explorer.search.finish_level())

    # --- Frontier ----------------------------------------------------------------------------------------------

    def look(self) -> Look:
        explorer = self._explorer
        return look_in_arena(explorer.search, explorer.levels, explorer.parallel)

    def position(self) -> Position:
        standing = self._explorer.search.standing()
        if not self._has_levels:
            return Position(0, standing.states, standing.states)
        return Position(standing.levels - 1, standing.states, standing.expanded)

    def memory(self) -> int:
        return self._explorer.search.standing().memory

    def go_past_memory(self, expand: ExpandPart) -> ExpandPart | None:
        return None


@contextmanager
def nameless_file(directory: Path) -> Iterator[int]:
    """Opens a temporary file that disappears when it is closed or the process ends. Yields its descriptor."""
    with ExitStack() as opened:
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = opened.enter_context(tempfile.TemporaryFile(dir=directory, prefix="outcrop-"))
        except OSError as error:
            raise UsageError(
                f"cannot create a file in '{directory}': {error.strerror}; name another directory with --workdir"
            ) from None
        yield file.fileno()


def disk_limit(options: CheckOptions, directory: Path, share: float = 1.0) -> int:
    """Returns the largest number of bytes that a file in ``directory`` may take."""
    with disk_errors():
        free = shutil.disk_usage(directory).free
    return int(share * (free if options.disk is None else min(free, options.disk)))

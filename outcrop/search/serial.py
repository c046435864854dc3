"""``cached`` for as long as that goes well, then ``locality``, without losing the work.

G. Della Penna, B. Intrigila, I. Melatti, E. Tronci, M. Venturini Zilli, "Integrating RAM and disk based verification
within the Murphi verifier" (2003).

Starts with a cache. When the collision rate reaches a threshold, low enough that little has been visited twice, the
disk search takes over: the queue becomes its checked queue, and M starts empty. In the paper the switch goes through
three files (queue, visited states, administration), and file D begins with what the cache holds. Here the queue is a
file already, with all states from the first on. The log of the disk search, of which its queue is a part, begins as a
copy of it. D is made from that: so it is complete, where the cache has forgotten a tenth by then, and in the order of
discovery, which the disk cloud lives on.

Guarantee and costs are those of the two parts.
"""

from __future__ import annotations

from collections.abc import Iterator

from outcrop.kernels import Native, States
from outcrop.options import CheckOptions
from outcrop.search.blockwise import BYTES_BESIDE, BlockLevels
from outcrop.search.cached import DISK_SHARE, Cached, queue_on_disk
from outcrop.search.driver import Exploration, ShowProgress, TakePut
from outcrop.search.locality import Locality, signature_bits
from outcrop.search.outcome import Outcome, Progress, Stop
from outcrop.search.paths import Look
from outcrop.store.workdir import WorkDirectory


def search(
    native: Native, options: CheckOptions, progress: ShowProgress | None = None, put: TakePut | None = None
) -> Outcome:
    with queue_on_disk(native, options, DISK_SHARE) as visited:
        return Serial(visited, options, progress, put, signature_bits(options), DISK_SHARE).run()


class Serial(Cached):
    """``bits`` None keeps states. ``blocks``: the second part, None before it begins."""

    blocks: BlockLevels | None = None
    bytes_beside = BYTES_BESIDE  #: the second part needs them
    _has_forgotten = False
    _directory: WorkDirectory | None = None

    @property
    def most_collisions(self) -> float:
        # Ranks switch together, between levels.
        return self.options.threshold if self.sharing is None else 1.0

    def run(self) -> Outcome:
        try:
            return super().run()
        finally:
            if self.blocks is not None:
                self.blocks.close()
            if self._directory is not None:
                self._directory.close()

    def stop_reason(self) -> Stop | None:
        return Exploration.stop_reason(self)

    def expand(self) -> None:
        if self.blocks is not None:
            self.blocks.expand(self.levels.ends[-2])
            return
        super().expand()
        if self._has_forgotten_much():
            unexpanded = self.search.standing().unexpanded
            if self.sharing is None:
                self._switch()
            else:  # all ranks, or none
                self.sharing.agree_to_go_on(self.stopped_by(self._switch))
            if self.blocks is not None and unexpanded < self.levels.ends[-2]:
                self.take_level_back()
                self.blocks.expand(unexpanded)

    def _has_forgotten_much(self) -> bool:
        if self.sharing is None:
            return self.T.gives_up
        return self.sharing.any(self.T.collision_rate >= self.options.threshold)

    def _switch(self) -> None:
        self._directory = WorkDirectory(self.options.workdir, self.disk)
        blocks = BlockLevels(self, self._directory, self.memory, lambda run: Locality(run, self.bits))
        try:
            blocks.restore(self._states_in_arena(blocks.log.block_rows))
        except BaseException:
            blocks.close()
            raise
        self._has_forgotten = self.T.has_forgotten
        self.T.close()
        self.search.empty_arena()
        self.disk.limit = self.options.disk
        self.blocks = blocks

    def _states_in_arena(self, rows: int) -> Iterator[States]:
        end = self.levels.states
        for begin in range(0, end, rows):
            yield self.search.read_block(begin, min(end, begin + rows))

    @property
    def revisits(self) -> bool:
        return super().revisits if self.blocks is None else self._has_forgotten or self.blocks.visited.revisits

    @property
    def collision_rate(self) -> float | None:
        return super().collision_rate if self.blocks is None else None

    def bytes_in_memory(self) -> int:
        return super().bytes_in_memory() if self.blocks is None else self.memory

    def look(self) -> Look:
        return super().look() if self.blocks is None else self.blocks.look()

    def snapshot(self) -> Progress:
        return super().snapshot() if self.blocks is None else self.blocks.snapshot()

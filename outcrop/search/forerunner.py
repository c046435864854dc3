"""A search that cannot go on as it is, and is taken up by another: what it found is handed over, level by level, as if
from a checkpoint. What it had done of a level that is not complete is done again.
"""

from __future__ import annotations

from outcrop.errors import DamagedFile
from outcrop.kernels_spill import Spill
from outcrop.kernels_squeeze import Carrying, Form
from outcrop.search.boundary import Boundary, restore_counts
from outcrop.search.driver import Exploration
from outcrop.search.spilling import PastRam
from outcrop.search.squeezing import Reformed
from outcrop.store.checkpoint import StatesPart
from outcrop.store.workdir import DiskBudget, DiskFull, WorkDirectory

_NO_FILE = StatesPart("", 0, 0, 0)


class Forerunner:
    """``disk``: the budget that its files are paid for from, if it has any."""

    disk: DiskBudget | None = None

    def restore(self, run: Exploration) -> None:
        """Has another search stand where this one stood when its last level was complete."""
        raise NotImplementedError

    def close(self) -> None:
        """Gives back what it took."""


class NarrowForerunner(Forerunner):
    """A search past RAM whose states have become too narrow. Its levels are on disk. ``boundary``: where it stood when
    the last one was complete. ``form``: of states that are wide enough."""

    def __init__(
        self, run: Exploration, past_ram: PastRam, directory: WorkDirectory, boundary: Boundary, form: Form
    ) -> None:
        self.disk = self._budget = run.disk
        self._form = form
        self._search = run.search
        self._past_ram = past_ram
        self._directory = directory
        self._manifest = boundary.describe(run, _NO_FILE)
        past_ram.check_files()
        past_ram.keep_only_levels()
        Carrying(run.search).let_go(Spill(run.search).resume())
        self._bytes_on_disk = self._budget.used

    def restore(self, run: Exploration) -> None:
        try:
            for level in range(len(self._manifest.levels)):
                run.restore_level(map(self._search.packed_form, self._past_ram.read_level(level)))
        except DiskFull:
            raise Reformed(self._form, run, "there is no room on disk to take levels up") from None
        if run.levels != self._manifest.levels:
            raise DamagedFile(self._directory.path, "levels are not what was written")
        restore_counts(run, [self._manifest], [self._manifest])
        run.tell(f"taken up at level {len(run.levels) - 1:,}: {run.levels.states:,} states of another form")

    def close(self) -> None:
        self._search.close()
        self._directory.close()
        self._budget.release(self._bytes_on_disk)

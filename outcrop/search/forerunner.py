"""A search past RAM that cannot go on, because its states have become too narrow, and is taken up by another.

Its levels are on disk. They are read from there, as if from a checkpoint, and what it had done of a level that is not
complete is done again.
"""

from __future__ import annotations

from outcrop.errors import DamagedFile
from outcrop.kernels_spill import Spill
from outcrop.kernels_squeeze import Carrying, Form
from outcrop.search.boundary import Boundary, restore_counts
from outcrop.search.driver import Exploration
from outcrop.search.spilling import PastRam
from outcrop.store.checkpoint import StatesPart
from outcrop.store.workdir import WorkDirectory

_NO_FILE = StatesPart("", 0, 0, 0)


class Forerunner:
    """Takes over the search of an exploration, and its files. ``boundary``: where that stood when its last level was
    complete. ``form``: what states must have to go on."""

    def __init__(
        self, run: Exploration, past_ram: PastRam, directory: WorkDirectory, boundary: Boundary, form: Form
    ) -> None:
        self.form = form
        self.disk = run.disk  #: the budget that its files are paid for from
        self._search = run.search
        self._past_ram = past_ram
        self._directory = directory
        self._manifest = boundary.describe(run, _NO_FILE)
        past_ram.check_files()
        past_ram.keep_only_levels()
        Carrying(run.search).let_go(Spill(run.search).resume())
        self._bytes_on_disk = self.disk.used

    def restore(self, run: Exploration) -> None:
        """Has another search stand where this one stood."""
        for level in range(len(self._manifest.levels)):
            run.restore_level(map(self._search.packed_form, self._past_ram.read_level(level)))
        if run.levels != self._manifest.levels:
            raise DamagedFile(self._directory.path, "levels are not what was written")
        restore_counts(run, [self._manifest], [self._manifest])

    def close(self) -> None:
        """Gives back what it took."""
        self._search.close()
        self._directory.close()
        self.disk.release(self._bytes_on_disk)

"""Delayed duplicate detection of a level that is too large for RAM.

P. Lamborn and E. A. Hansen, "Layered duplicate detection in external-memory model checking" (2008), section 3.2 and
Fig. 2 (DDD). The candidates of a level wait on disk. At the end of the level they are sorted, slice by slice, and
compared with each other and with the visited states. The remaining ones are the new level: they are enqueued, and
written to a sorted run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from outcrop.errors import DamagedFile
from outcrop.kernels import States
from outcrop.kernels.layers import LayerKernels, Stretch, candidate_bytes
from outcrop.kernels.spill import SLICES, RunDamaged, RunFull, RunLayout
from outcrop.store.runs import Run, RunFiles, share_slices
from outcrop.store.workdir import Directory, disk_errors, no_disk_space

if TYPE_CHECKING:
    from outcrop.explorer.explorer import Explorer

#: Bytes of candidates that a worker sorts and writes at a time.
_STRETCH_BYTES = 1 << 19
_PARTS_A_WORKER = 4
_NAME = "candidates"


def bytes_to_sort(state_bytes: int) -> int:
    """Returns the RAM that a candidate takes while its slice is resolved, in bytes: hash and position, twice; a flag;
    its state; its entry in the sorted run; and a reserve for larger slices."""
    return (2 * 16 + 1 + 2 * state_bytes) * 5 // 4


class WaitingCandidates:
    """Candidates on disk. ``files``: the sorted runs to which the new ones are added."""

    def __init__(self, explorer: Explorer, directory: Directory, kernels: LayerKernels, files: RunFiles) -> None:
        self._explorer = explorer
        self._workers = explorer.search.workers
        self._directory = directory
        self._kernels = kernels
        self._files = files
        self._bytes_each = candidate_bytes(explorer.native.state_bytes)
        self._file = directory.open_file(_NAME, os.O_CREAT | os.O_EXCL)
        self._stretches: list[Stretch] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, begin: int, end: int) -> None:
        """Writes states of the arena, in stretches that workers make independently."""
        count, each = end - begin, self._bytes_each
        rounds = -(-count * each // (self._workers * _STRETCH_BYTES))
        cuts = [begin + count * number // (self._workers * rounds) for number in range(self._workers * rounds + 1)]
        self._directory.claim(count * each)
        parts = []
        for first, last in pairwise(cuts):
            begins = np.zeros(SLICES + 1, dtype=np.uint32)
            sums = np.zeros(2, dtype=np.uint64)
            parts.append((first, last, Stretch(self._file, self._count * each, self._count, begins, sums)))
            self._count += last - first
        self._stretches += [stretch for *_, stretch in parts]
        with disk_errors(self._directory.path / _NAME):
            os.posix_fallocate(self._file, parts[0][2].at, count * each)
        todo = iter(parts)

        def work(worker: int) -> None:
            for part in todo:
                self._kernels.write_stretch(worker, *part)

        try:
            self._share(work)
        except RunFull:
            raise no_disk_space() from None
        except RunDamaged:
            raise DamagedFile(self._directory.path / _NAME, "it cannot be written") from None

    def resolve(
        self, layouts: Sequence[RunLayout], take_new: Callable[[int, States], None], **layout: Any
    ) -> Run | None:
        """Compares the candidates with sorted runs. Workers pass the new ones to ``take_new``, in the order of their
        discovery. Returns a sorted run of them, or None if there are none. ``layout``: further fields of its layout."""
        is_new = np.zeros(-(-self._count // 8), dtype=np.uint8)
        run = self._files.create(self._count, allocate=False, **layout)
        length, read = np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.uint64)
        stretches = self._stretches

        def part(worker: int, slices: tuple[int, int]) -> None:
            self._kernels.resolve_stretches(worker, stretches, layouts, slices, run.layout, length, is_new, read)

        try:
            share_slices(self._explorer.parallel, self._workers, _PARTS_A_WORKER * self._workers, part)
        except RunFull:
            raise no_disk_space() from None
        if read[0] != np.sum([stretch.sums[0] for stretch in stretches], dtype=np.uint64):
            raise self._damaged()
        refined = self._files.completed(run)
        todo = iter(stretches)

        def work(worker: int) -> None:
            for stretch in todo:
                take_new(worker, self._kernels.take_stretch(worker, stretch, is_new))

        try:
            self._share(work)
        except RunDamaged:
            raise self._damaged() from None
        self.clear()
        return refined

    def clear(self) -> None:
        if self._count:
            with disk_errors(self._directory.path / _NAME):
                os.ftruncate(self._file, 0)
            self._directory.release(self._count * self._bytes_each)
        self._stretches, self._count = [], 0

    def _damaged(self) -> DamagedFile:
        return DamagedFile(self._directory.path / _NAME, "it is not what was written")

    def _share(self, work: Callable[[int], None]) -> None:
        self._explorer.parallel(*(partial(work, worker) for worker in range(self._workers)))

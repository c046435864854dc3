"""The visited states that a search past RAM had to forget: runs on disk, each ordered by hash.

A run is written from what the arena drops. Runs of about the same size are merged, so that there are few of them: each
state is written a few times in all, and looked up in a handful of runs.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from outcrop.errors import DamagedFile
from outcrop.kernels_spill import (
    LEAST_BITS,
    MOST_BITS,
    SLICES,
    SPARE_RUN_BYTES,
    RunDamaged,
    RunLayout,
    Spill,
    entry_bytes,
    index_bytes,
)
from outcrop.store.workdir import WorkDirectory, disk_errors

#: So many runs of a kind are merged into one.
_FAN_IN = 4
#: Entries that a bucket has on average, between this and twice it.
_BUCKET_ENTRIES = 4
#: Parts that the slices are shared out in, for each worker.
_PARTS_A_WORKER = 4

#: A part of some work: which worker does it, and for which slices.
Part = Callable[[int, tuple[int, int]], None]
Together = Callable[..., list[None]]


def share_slices(together: Together, workers: int, parts: int, part: Part) -> None:
    """Does something for all slices, in parts that workers take as they come."""
    numbers = iter(range(parts))

    def work(worker: int) -> None:
        for number in numbers:
            part(worker, (SLICES * number // parts, SLICES * (number + 1) // parts))

    together(*(partial(work, worker) for worker in range(min(workers, parts))))


@dataclass(frozen=True)
class _Run:
    path: Path
    layout: RunLayout
    entries: int
    bytes: int
    rank: int  #: how often it was merged


class Runs:
    """``together`` runs tasks in threads."""

    def __init__(
        self, directory: WorkDirectory, spill: Spill, state_bytes: int, workers: int, together: Together
    ) -> None:
        self._directory = directory
        self._spill = spill
        self._entry_bytes = entry_bytes(state_bytes)
        self._workers = workers
        self._together = together
        self._runs: list[_Run] = []  #: oldest first
        self._written = 0

    @property
    def layouts(self) -> list[RunLayout]:
        """Newest first, because most states that were seen before were seen lately."""
        return [run.layout for run in reversed(self._runs)]

    def write(self, end: int) -> None:
        """Adds a run of those states of the arena below ``end`` that no run has yet."""
        entries = self._spill.count_unknown(end)
        if not entries:
            return
        run = self._create(entries, rank=0)
        length = np.zeros(1, dtype=np.uint64)
        self._share(run.path, lambda worker, slices: self._spill.write_run(worker, end, slices, run.layout, length))
        self._runs.append(run)
        while self._merge_last():
            pass

    def _merge_last(self) -> bool:
        """Merges the newest runs if there are enough of one rank."""
        last = self._runs[-_FAN_IN:]
        if len(last) < _FAN_IN or last[0].rank != last[-1].rank:
            return False
        merged = self._create(sum(run.entries for run in last), last[0].rank + 1)
        layout, inputs = merged.layout, [run.layout for run in last]
        layout.counts[:] = np.sum([each.counts for each in inputs], axis=0)
        sizes = layout.counts * np.uint64(self._entry_bytes) + np.uint64(index_bytes(layout.bits) // SLICES)
        layout.starts[1:] = np.cumsum(sizes)[:-1]
        self._share(merged.path, lambda worker, slices: self._spill.merge_runs(worker, inputs, layout, slices))
        for run in last:
            self._delete(run)
        self._runs[-_FAN_IN:] = [merged]
        return True

    def _share(self, path: Path, part: Part) -> None:
        try:
            share_slices(self._together, self._workers, _PARTS_A_WORKER * self._workers, part)
        except RunDamaged:
            raise DamagedFile(path, "a run cannot be written, or those that it is made of cannot be read") from None

    def _create(self, entries: int, rank: int) -> _Run:
        """An empty file with all the room that the run will need."""
        bits = min(MOST_BITS, max(LEAST_BITS, (entries // _BUCKET_ENTRIES).bit_length() - 1))
        size = index_bytes(bits) + entries * self._entry_bytes + SPARE_RUN_BYTES
        path = self._directory.path / f"run-{self._written}"
        self._written += 1
        self._directory.claim(size)
        with disk_errors():
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            os.posix_fallocate(file, 0, size)
        layout = RunLayout(
            file,
            bits,
            np.zeros(SLICES, dtype=np.uint64),
            np.zeros(SLICES, dtype=np.uint64),
            np.frombuffer(mmap.mmap(file, size, prot=mmap.PROT_READ), dtype=np.uint8),
        )
        return _Run(path, layout, entries, size, rank)

    def _delete(self, run: _Run) -> None:
        os.close(run.layout.file)
        run.path.unlink()
        self._directory.release(run.bytes)

    def close(self) -> None:
        for run in self._runs:
            os.close(run.layout.file)
        self._runs.clear()

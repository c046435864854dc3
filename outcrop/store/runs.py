"""Sorted runs: the visited states of a search past RAM, on disk, sorted by hash.

A sorted run is written from the states that the arena drops. Sorted runs of similar size are merged, so that there are
few of them: each state is written a few times in all, and a lookup searches a handful of files.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from outcrop.errors import DamagedFile
from outcrop.kernels.spill import (
    LEAST_BITS,
    MOST_BITS,
    SLICES,
    SPARE_RUN_BYTES,
    TAG_BYTES,
    RunDamaged,
    RunFull,
    RunLayout,
    Spill,
    index_bytes,
    rest_bytes,
)
from outcrop.store.workdir import WorkDirectory, disk_errors, no_disk_space

#: Number of sorted runs of one rank that are merged into one.
_FAN_IN = 8
#: Mean number of entries in a bucket: between this and twice this.
_BUCKET_ENTRIES = 4
#: Number of parts for each worker into which the slices are divided.
_PARTS_A_WORKER = 4

#: Does a part of some work: takes the number of the worker, and the range of slices.
Part = Callable[[int, tuple[int, int]], None]
Parallel = Callable[..., list[None]]


def share_slices(parallel: Parallel, workers: int, parts: int, part: Part) -> None:
    """Does some work on all slices, in parts that workers take one after the other."""
    numbers = iter(range(parts))

    def work(worker: int) -> None:
        for number in numbers:
            part(worker, (SLICES * number // parts, SLICES * (number + 1) // parts))

    parallel(*(partial(work, worker) for worker in range(min(workers, parts))))


@dataclass(frozen=True)
class Run:
    """A sorted run on disk."""

    path: Path
    layout: RunLayout
    entries: int
    bytes: int
    rank: int  #: number of merges that led to it


class RunFiles:
    """A writer and merger of sorted runs. ``stride``: bytes of an entry besides its tag. ``parallel`` runs tasks in
    threads."""

    def __init__(
        self,
        directory: WorkDirectory,
        spill: Spill,
        stride: int,
        workers: int,
        parallel: Parallel,
        least_bits: int = LEAST_BITS,
    ) -> None:
        self._directory = directory
        self._spill = spill
        self._stride = stride
        self._workers = workers
        self._parallel = parallel
        self._least_bits = least_bits
        self._written = 0

    def write(self, end: int, **layout: Any) -> Run | None:
        """Writes the states of the arena below ``end`` that no sorted run has. Returns None if there are none."""
        entries = self._spill.count_unknown(end)
        if not entries:
            return None
        run = self.create(entries, **layout)
        length = np.zeros(1, dtype=np.uint64)
        self.share(run.path, lambda worker, slices: self._spill.write_run(worker, end, slices, run.layout, length))
        return run

    def merge(self, runs: Sequence[Run], rank: int) -> Run:
        """Merges several sorted runs into one, and deletes them."""
        finest = max(run.layout.bits for run in runs)
        merged = self.create(sum(run.entries for run in runs), rank, least_bits=finest)
        layout, inputs = merged.layout, [run.layout for run in runs]
        layout.counts[:] = np.sum([each.counts for each in inputs], axis=0)
        layout.starts[:] = slice_starts(layout)
        self.share(merged.path, lambda worker, slices: self._spill.merge_runs(worker, inputs, layout, slices))
        for run in runs:
            self.delete(run)
        return merged

    def share(self, path: Path, part: Part) -> None:
        """Runs ``part`` on all slices in all workers. Raises DiskFull or DamagedFile if one fails."""
        try:
            share_slices(self._parallel, self._workers, _PARTS_A_WORKER * self._workers, part)
        except RunFull:
            raise no_disk_space() from None
        except RunDamaged:
            raise DamagedFile(path, "it cannot be written, or the sorted runs merged into it cannot be read") from None

    def check(self, run: Run) -> None:
        """Reads a sorted run completely. Raises DamagedFile unless it is what was written."""
        try:
            share_slices(
                self._parallel,
                self._workers,
                _PARTS_A_WORKER * self._workers,
                lambda worker, slices: self._spill.check_run(run.layout, slices),
            )
        except RunDamaged:
            raise DamagedFile(run.path, "it is not what was written") from None

    def create(
        self,
        entries: int,
        rank: int = 0,
        stride: int | None = None,
        least_bits: int | None = None,
        allocate: bool = True,
        **layout: Any,
    ) -> Run:
        """Creates an empty file with all the space that the sorted run will need. Without ``allocate``, the size is not
        known yet, and ``completed`` must be called when it is."""
        stride = stride or self._stride
        bits = min(MOST_BITS, max(least_bits or self._least_bits, (entries // _BUCKET_ENTRIES).bit_length() - 1))
        size = index_bytes(bits) + entries * (TAG_BYTES + stride) + SPARE_RUN_BYTES
        path = self._directory.path / f"run-{self._written}"
        self._written += 1
        if allocate:
            self._directory.claim(size)
        file = self._directory.open_file(path.name, os.O_CREAT | os.O_EXCL)
        with disk_errors(path):
            if allocate:
                os.posix_fallocate(file, 0, size)
            else:
                os.ftruncate(file, size)
            data = np.frombuffer(mmap.mmap(file, size, prot=mmap.PROT_READ), dtype=np.uint8)
        starts, counts = np.zeros(SLICES, dtype=np.uint64), np.zeros(SLICES, dtype=np.uint64)
        return Run(path, RunLayout(file, bits, starts, counts, data, stride, **layout), entries, size, rank)

    def completed(self, run: Run) -> Run | None:
        """Returns the sorted run with the number of entries that it got; None if it has none."""
        entries = int(run.layout.counts.sum())
        size = index_bytes(run.layout.bits) + entries * (TAG_BYTES + run.layout.stride) + SPARE_RUN_BYTES
        with disk_errors(run.path):
            os.ftruncate(run.layout.file, size)
            os.posix_fallocate(run.layout.file, 0, size)
        self._directory.claim(size)
        run = replace(run, entries=entries, bytes=size)
        if not entries:
            self.delete(run)
            return None
        return run

    def delete(self, run: Run) -> None:
        self._directory.close_file(run.layout.file)
        with disk_errors():
            run.path.unlink()
        self._directory.release(run.bytes)

    def close(self, runs: Sequence[Run]) -> None:
        for run in runs:
            self._directory.close_file(run.layout.file)


def slice_starts(layout: RunLayout) -> Any:
    """Returns the offset of each slice, if they lie one after the other."""
    sizes = layout.counts * np.uint64(TAG_BYTES + layout.stride) + np.uint64(index_bytes(layout.bits) // SLICES)
    return np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(sizes)[:-1]])


class Runs:
    """All sorted runs of a search. ``parallel`` runs tasks in threads."""

    def __init__(
        self, directory: WorkDirectory, spill: Spill, state_bytes: int, workers: int, parallel: Parallel
    ) -> None:
        self.files = RunFiles(directory, spill, rest_bytes(state_bytes), workers, parallel)
        self._runs: list[Run] = []  #: oldest first

    @property
    def layouts(self) -> list[RunLayout]:
        """The layouts, newest first, because most revisited states are recent."""
        return [run.layout for run in reversed(self._runs)]

    @property
    def entries(self) -> int:
        return sum(run.entries for run in self._runs)

    def write(self, end: int) -> None:
        """Adds a sorted run of the states of the arena below ``end`` that are in none yet."""
        self.add(self.files.write(end))

    def add(self, run: Run | None) -> None:
        """Adds a sorted run, if there is one, and merges the last ones if there are many."""
        if run is not None:
            self._runs.append(run)
            while self._merge_last():
                pass

    def _merge_last(self) -> bool:
        """Merges the newest sorted runs if there are enough of one rank. Returns whether it did."""
        last = self._runs[-_FAN_IN:]
        if len(last) < _FAN_IN or last[0].rank != last[-1].rank:
            return False
        self._runs[-_FAN_IN:] = [self.files.merge(last, last[0].rank + 1)]
        return True

    def check(self) -> None:
        """Reads all sorted runs again, to verify them. Lookups read only parts, without verifying them."""
        for run in self._runs:
            self.files.check(run)

    def clear(self) -> None:
        """Deletes all sorted runs."""
        for run in self._runs:
            self.files.delete(run)
        self._runs.clear()

    def close(self) -> None:
        self.files.close(self._runs)
        self._runs.clear()

"""The layers of a search on disk: sorted files, each of one layer or of several consecutive ones.

The newest layers are sorted runs, ready for lookups. Older ones are packed: the part of a state that its hash does not
determine, its tail, is compressed, slice by slice. It is unpacked only if the hash matches. Nothing is lost, and the
files take a fraction of the space. With ``forget``, older layers are deleted instead.
"""

from __future__ import annotations

import os
import threading
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from outcrop.errors import DamagedFile
from outcrop.kernels import States
from outcrop.kernels.layers import Fetcher, LayerKernels
from outcrop.kernels.spill import (
    HASH_REST_BYTES,
    LEVEL_BYTES,
    SLICES,
    TAG_BYTES,
    RunDamaged,
    RunLayout,
    Spill,
    index_bytes,
    rest_bytes,
    tail_bytes,
)
from outcrop.store.blockfile import BlockFile
from outcrop.store.runs import Parallel, Run, RunFiles, slice_starts
from outcrop.store.workdir import WorkDirectory, disk_errors

Bytes = NDArray[np.uint8]

#: Number of files of one rank that are merged into one.
_FAN_IN = 6
#: Smallest number of bucket bits of a sorted run. Small, because layers may be small.
_LEAST_BITS = 9
#: A file may span this fraction of the kept layers, 1/4, so that layers are retired in time.
_SPAN_PART = 4
#: Largest number of levels in one file, because it numbers them with two bytes.
_MOST_SPAN = 1 << 15
#: Smallest tail that is worth packing, in bytes.
_LEAST_TAIL = 8
#: Size of the slices that are packed as one block, in bytes before packing.
_PACKED_BYTES = 1 << 17
#: Wanted and largest size of the layers that are read into one window, in bytes.
_WINDOW_BYTES = 1 << 22
_MOST_WINDOW_BYTES = 1 << 24
_PACKED_STRIDE = HASH_REST_BYTES + LEVEL_BYTES


@dataclass(frozen=True)
class _Tails:
    """The tails of a packed run: the parts of its states that their hashes do not determine. ``slices`` slices are
    packed as one block; slice i is in block ``blocks[i]`` of the file."""

    file: BlockFile
    slices: int
    blocks: NDArray[np.int64]


@dataclass(frozen=True)
class Group:
    """Layers ``first`` to ``last``, in one file, or in two if they are packed."""

    run: Run
    first: int
    last: int
    tails: _Tails | None = None

    @property
    def bytes(self) -> int:
        return self.run.bytes + (self.tails.file.bytes if self.tails else 0)


@dataclass(frozen=True)
class _Window:
    """Layers of a group that were read together, by level."""

    group: Group
    layers: dict[int, States]


class LayerFiles:
    """All layers on disk. ``keep``: number of layers kept as they are; None for all. ``forget``: older ones are deleted
    instead of packed."""

    def __init__(
        self,
        directory: WorkDirectory,
        spill: Spill,
        kernels: LayerKernels,
        state_bytes: int,
        workers: int,
        parallel: Parallel,
        keep: int | None,
        forget: bool,
    ) -> None:
        self.keep = keep
        self._first_whole = 0  #: the first layer of which nothing is deleted
        self._forget = forget
        self._directory = directory
        self._spill = spill
        self._kernels = kernels
        self._tail = tail_bytes(state_bytes)
        self.files = RunFiles(
            directory, spill, rest_bytes(state_bytes) + LEVEL_BYTES, workers, parallel, least_bits=_LEAST_BITS
        )
        self._recent: list[Group] = []  #: oldest first
        self._old: list[Group] = []
        self._fetcher = Fetcher(self._fetch)
        self._packed: dict[int, Group] = {}  #: by the number that kernels use
        self._held: dict[tuple[int, int], tuple[int, Bytes]] = {}  #: an unpacked block, by thread and number
        self._next_number = 0
        self._window: _Window | None = None  #: the window that was read last
        self._guard = threading.Lock()

    # --- Lookup ------------------------------------------------------------------------------------------------

    def layouts(self, level: int) -> list[RunLayout]:
        """Returns the runs that candidates for a level are compared with, newest first."""
        groups = [*self._old, *self._recent]
        return [replace(group.run.layout, level=level, newest=group.last) for group in reversed(groups)]

    def failure(self, path: object) -> Exception:
        """Returns the error that made a comparison fail."""
        return self._fetcher.error or DamagedFile(path, "a layer cannot be read")  # type: ignore[arg-type]

    def _fetch(self, number: int, slice_number: int) -> Bytes:
        return self._unpacked(self._packed[number], slice_number)

    def _unpacked(self, group: Group, slice_number: int) -> Bytes:
        """Returns the tails of a packed slice. They stay valid until the same thread asks for another block."""
        assert group.tails is not None
        counts, file = group.run.layout.counts, group.tails.file
        first = slice_number // group.tails.slices * group.tails.slices
        key = threading.get_ident(), group.run.layout.number
        held = self._held.get(key)
        if held is None or held[0] != first:
            columns = np.frombuffer(zlib.decompress(file.read(int(group.tails.blocks[first])).data), dtype=np.uint8)
            if columns.size != int(counts[first : first + group.tails.slices].sum()) * self._tail:
                raise DamagedFile(file.path, "a layer is not as long as it should be")
            held = first, np.ascontiguousarray(columns.reshape(self._tail, -1).T)
            self._held[key] = held
        begin = int(counts[first:slice_number].sum())
        return held[1][begin : begin + int(counts[slice_number])]

    # --- Adding and retiring -----------------------------------------------------------------------------------

    def add(self, run: Run | None, first: int, last: int, merge: bool = True) -> None:
        """Adds a sorted run of the newest layers."""
        if run is None:
            return
        self._recent.append(Group(run, first, last))
        while merge and self._may_merge(self._recent, self.keep):
            self._recent[-_FAN_IN:] = [self._merged(self._recent[-_FAN_IN:])]

    @staticmethod
    def _may_merge(groups: list[Group], keep: int | None) -> bool:
        last = groups[-_FAN_IN:]
        if len(last) < _FAN_IN or last[0].run.rank != last[-1].run.rank:
            return False
        span = last[-1].last - last[0].first + 1
        return span <= (_MOST_SPAN if keep is None else min(_MOST_SPAN, keep // _SPAN_PART))

    def _merged(self, groups: list[Group]) -> Group:
        run = self.files.merge([group.run for group in groups], groups[0].run.rank + 1)
        return Group(run, groups[0].first, groups[-1].last)

    def retire(self, newest: int) -> None:
        """Packs or deletes the layers that are older than the kept ones, of which ``newest`` is the newest."""
        while self.keep is not None and self._recent and self._recent[0].last <= newest - self.keep:
            group = self._recent.pop(0)
            if self._forget:
                self._delete(group)
                self._first_whole = group.last + 1
                continue
            self._old.append(self._pack([group]) if self._tail >= _LEAST_TAIL else _ranked(group, 0))
            while self._may_merge(self._old, None):
                last = self._old[-_FAN_IN:]
                self._old[-_FAN_IN:] = [self._pack(last) if last[0].tails else self._merged(last)]

    @property
    def has_forgotten(self) -> bool:
        """Whether a layer was deleted."""
        return self._first_whole > 0

    @property
    def oldest(self) -> int | None:
        """The oldest complete layer, if there is one. A layer may lie in two groups: the part that was in RAM when it
        was full, and the rest."""
        groups = [*self._old, *self._recent]
        return max(self._first_whole, groups[0].first) if groups else None

    @property
    def bytes(self) -> int:
        return sum(group.bytes for group in (*self._old, *self._recent))

    def check(self) -> None:
        """Raises DamagedFile if a layer is not what was written. Tails are not checked again, because each was checked
        when it was read."""
        for group in (*self._old, *self._recent):
            self.files.check(group.run)

    def clear(self) -> None:
        """Deletes all layers."""
        for group in (*self._old, *self._recent):
            self._delete(group)
        self._old, self._recent = [], []

    def close(self) -> None:
        self.files.close([group.run for group in (*self._old, *self._recent)])
        for group in self._old:
            if group.tails:
                group.tails.file.close()
        self._old, self._recent = [], []

    def _delete(self, group: Group) -> None:
        self.files.delete(group.run)
        if group.tails:
            group.tails.file.delete()
            number = group.run.layout.number
            self._packed.pop(number)
            for key in [key for key in self._held if key[1] == number]:
                self._held.pop(key)

    # --- Packing -----------------------------------------------------------------------------------------------

    def _pack(self, groups: list[Group]) -> Group:
        """Packs several groups, packed or not, into one, and deletes them."""
        rank = groups[0].run.rank + 1 if len(groups) > 1 else 0
        number = self._next_number
        self._next_number += 1
        entries = sum(group.run.entries for group in groups)
        run = self.files.create(entries, rank, _PACKED_STRIDE, fetch=self._fetcher.address, number=number)
        layout = run.layout
        layout.counts[:] = np.sum([group.run.layout.counts for group in groups], axis=0)
        layout.starts[:] = slice_starts(layout)
        slices_a_block = 1
        while slices_a_block < SLICES and 2 * slices_a_block * entries * self._tail < SLICES * _PACKED_BYTES:
            slices_a_block *= 2
        tails = _Tails(BlockFile(self._directory, f"tails-{number}"), slices_a_block, np.zeros(SLICES, dtype=np.int64))

        def part(worker: int, slices: tuple[int, int]) -> None:
            for first in range(*slices):
                if first % slices_a_block == 0:
                    self._pack_slices(groups, range(first, first + slices_a_block), layout, tails)

        self.files.share(run.path, part)
        for group in groups:
            self._delete(group)
        packed = Group(run, groups[0].first, groups[-1].last, tails)
        self._packed[number] = packed
        return packed

    def _pack_slices(self, groups: list[Group], slices: range, layout: RunLayout, tails: _Tails) -> None:
        rows = np.concatenate([self._pack_slice(groups, slice_number, layout) for slice_number in slices])
        packed = zlib.compress(np.ascontiguousarray(rows.T).data, 1)
        with self._guard:
            tails.blocks[slices[0]] = tails.file.append(np.frombuffer(packed, dtype=np.uint8))

    def _pack_slice(self, groups: list[Group], slice_number: int, layout: RunLayout) -> Bytes:
        """Writes a slice without its tails. Returns the tails."""
        columns = [self._columns(group, slice_number) for group in groups]
        tags, rests, ends = (np.concatenate(each) for each in zip(*columns, strict=True))
        layout.sums[slice_number] = _sum_of_entries(tags, rests)
        order = np.argsort(tags, kind="stable")
        buckets = np.arange((1 << (layout.bits - 8)) + 1, dtype=np.uint64) << np.uint64(40 - layout.bits)
        index = np.searchsorted(tags[order], buckets).astype(np.uint32)
        data = b"".join(column.tobytes() for column in (index, tags[order], rests[order]))
        written = os.pwrite(layout.file, data, int(layout.starts[slice_number]))
        if written != len(data):
            raise RunDamaged
        result: Bytes = ends[order]
        return result

    def _columns(self, group: Group, slice_number: int) -> tuple[NDArray[np.uint32], Bytes, Bytes]:
        """Returns the tags, the hashes with levels, and the tails of a slice."""
        layout, tail = group.run.layout, self._tail
        count = int(layout.counts[slice_number])
        self._spill.check_run(layout, (slice_number, slice_number + 1))
        at = int(layout.starts[slice_number]) + index_bytes(layout.bits) // SLICES
        data = np.frombuffer(_read(group.run, count * (TAG_BYTES + layout.stride), at), dtype=np.uint8)
        tags = data[: TAG_BYTES * count].view(np.uint32)
        rests = data[TAG_BYTES * count :].reshape(count, layout.stride)
        if group.tails:
            return tags, rests, self._unpacked(group, slice_number)
        ends = rests[:, HASH_REST_BYTES : HASH_REST_BYTES + tail]
        return tags, np.delete(rests, np.s_[HASH_REST_BYTES : HASH_REST_BYTES + tail], axis=1), ends

    # --- Reading -----------------------------------------------------------------------------------------------

    def read(self, level: int) -> Iterator[States]:
        """Yields the states of a layer, in no particular order."""
        for group in (*self._old, *self._recent):
            if group.first <= level <= group.last:
                yield from self._read_from(group, level)

    def _read_from(self, group: Group, level: int) -> Iterator[States]:
        """Yields the states of a layer in a group. Finding one layer takes reading the whole group, so small layers are
        read together with their neighbours. Those are likely to be next: in a trace, or when a search continues."""
        window = self._window
        if window is None or window.group is not group or level not in window.layers:
            span = group.last - group.first + 1
            count = max(1, min(span, _WINDOW_BYTES * span // (group.run.entries * (self._tail + 8))))
            first = group.first + (level - group.first) // count * count
            self._window = window = self._read_window(group, range(first, first + count)) if count > 1 else None
        if window is not None:
            yield window.layers[level]
            return
        for slice_number in range(SLICES):
            states, _ = self._read_slice(group, slice_number, range(level, level + 1))
            if len(states):
                yield states

    def _read_window(self, group: Group, levels: range) -> _Window | None:
        """Reads several layers of a group. Returns None if they are much larger than most of the group."""
        parts, count = [], 0
        for slice_number in range(SLICES):
            parts.append(self._read_slice(group, slice_number, levels))
            count += len(parts[-1][0])
            if count * (self._tail + 8) > _MOST_WINDOW_BYTES:
                return None
        states, after = (np.concatenate(each) for each in zip(*parts, strict=True))
        order = np.argsort(after, kind="stable")
        ends = np.searchsorted(after[order], np.arange(1, len(levels)))
        return _Window(group, dict(zip(levels, np.split(states[order], ends), strict=True)))

    def _read_slice(self, group: Group, slice_number: int, levels: range) -> tuple[States, NDArray[np.uint16]]:
        try:
            return self._kernels.read_layers(group.run.layout, slice_number, levels[0], len(levels))
        except RunDamaged:
            raise self.failure(group.run.path) from None


def _ranked(group: Group, rank: int) -> Group:
    return replace(group, run=replace(group.run, rank=rank))


def _sum_of_entries(tags: NDArray[np.uint32], rests: Bytes) -> np.uint64:
    """Returns the checksum of a slice, as in entry_sum of native/runs.c, for rests of at most eight bytes."""
    words = np.zeros((len(rests), 8), dtype=np.uint8)
    words[:, : rests.shape[1]] = rests
    first, second = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
    sums = ((tags.astype(np.uint64) * first) ^ words.view(np.uint64).reshape(-1)) * second
    return np.uint64(((sums ^ (sums >> np.uint64(32))) * first).sum(dtype=np.uint64))


def _read(run: Run, count: int, at: int) -> bytes:
    with disk_errors(run.path):
        data = os.pread(run.layout.file, count, at)
    if len(data) != count:
        raise DamagedFile(run.path, "it is truncated")
    return data

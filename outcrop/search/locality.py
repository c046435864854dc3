"""Breadth-first search with the visited states on disk, of which it reads those that it probably needs.

U. Stern and D. L. Dill, "Using magnetic disk instead of main memory in the Murphi verifier" (1998), is the strategy
``disk``. G. Della Penna et al., "Exploiting transition locality in automatic verification of finite-state concurrent
systems" (2004), section 5 (LDBFS), is ``locality``.

Successors gather in table M, and with their states in the unchecked queue. At the end of a level, or when M is full,
the table of all visited states, file D, is read: what it knows is taken out of M, and what is left is new. D is in
the order of discovery, so because transitions are local most old states are found in its last blocks.
``locality`` reads a random selection of blocks, the disk cloud, that prefers late ones, and from time to time measures
with the whole of D whether the cloud is too small or too large. ``disk`` always reads everything.

With states as keys ``disk`` is exact, and ``locality`` visits all reachable states, some more than once: *holds* is
exact. With signatures both have the omission bound of formula (1) of the first paper.

Costs M in RAM, and on disk a key a visited state for D, besides the states themselves in the log, which stands in for
the checked queue and for the predecessor file. Reads D, or the cloud, once a level.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import accumulate, pairwise

import numpy as np

from outcrop.kernels import Counts, Native, States
from outcrop.kernels_tables import MemoryTable, hash_block, key_bytes
from outcrop.options import CheckOptions, Keep
from outcrop.search.blockwise import BlockExploration, BlockLevels, in_pieces
from outcrop.search.compact import omission_bound
from outcrop.search.driver import ShowProgress, TakePut
from outcrop.search.outcome import Outcome
from outcrop.store.frontier import RowFile

#: Of signatures on disk, where room is cheap.
_BITS = 64
#: Unchecked states that the main thread is done with before workers would be.
_FEW_UNCHECKED = 1 << 16
#: M's size at first, and by how much it grows.
_FIRST_BYTES = 4 << 20
_GROWTH = 8
#: Blocks of D that are worth a worker of their own.
_BLOCKS_A_SHARE = 8


def search(
    native: Native, options: CheckOptions, progress: ShowProgress | None = None, put: TakePut | None = None
) -> Outcome:
    return BlockExploration(native, options, progress, put, lambda run: Locality(run, signature_bits(options))).run()


def signature_bits(options: CheckOptions) -> int | None:
    return None if options.keep is Keep.STATES else options.bits or _BITS


class Locality:
    """``bits`` None keeps states."""

    def __init__(self, run: BlockLevels, bits: int | None) -> None:
        self.run = run
        self.options = run.options
        self.bits = bits
        self.D = RowFile(run.directory, "visited", key_bytes(run.native, bits), run.options.block_size)
        self.Q_unck = run.queue("unchecked")
        self._most_bytes = run.table_memory(2 * self.Q_unck.block_rows * self.Q_unck.width)
        self._bytes = min(_FIRST_BYTES, self._most_bytes)
        self.M = MemoryTable(run.search, self._bytes, bits)
        #: The part of D's blocks that is read.
        self.cloud_size = 1.0 if run.options.strategy == "disk" else run.options.cloud
        self.revisits = False
        self._random = np.random.default_rng(run.options.seed)
        self._checks = 0
        self._high_calibrations = 0  #: in a row

    # --- The papers' procedures --------------------------------------------------------------------------------

    def expand(self, worker: int, block: States, most: int) -> tuple[Callable[[], None], int]:
        states, hashes, expanded = self.run.search.expand_some(worker, block, most)
        self.run.has_expanded(expanded, len(states))
        return partial(self.insert, states, hashes), expanded

    def insert(self, states: States, hashes: Counts) -> None:
        """Insert."""
        while len(states):
            new, dealt = self.M.insert(states, hashes)
            self.Q_unck.append(new)
            if dealt < len(states):  # M is full
                self._make_room()
            states, hashes = states[dealt:], hashes[dealt:]

    def restore(self, states: States, hashes: Counts) -> None:
        self.D.append(states if self.bits is None else self._signatures(hashes, self.bits))

    def _signatures(self, hashes: Counts, bits: int) -> States:
        signatures = hashes >> np.uint64(64 - bits)
        return np.ascontiguousarray(signatures.view(np.uint8).reshape(-1, 8)[:, : self.D.width])

    def end_level(self) -> None:
        self.check_table()

    def _make_room(self) -> None:
        """M is as large as it may be only when that is needed: clearing it costs time for all of it."""
        if self._bytes == self._most_bytes:
            self.check_table()
            return
        self._bytes = min(_GROWTH * self._bytes, self._most_bytes)
        self.M.close()
        self.M = MemoryTable(self.run.search, self._bytes, self.bits)
        for block in self.Q_unck.blocks(0, len(self.Q_unck)):
            self.M.insert(block, hash_block(self.run.search, block))

    def check_table(self) -> None:
        """Checktable: finds out what of M is old, and passes the rest on."""
        block_count = self._block_count()
        is_calibration = self.query_calibration()
        cloud = self.get_disk_cloud(block_count, is_calibration)
        others = sorted(set(range(block_count)) - set(cloud))
        deleted_in_cloud = self._remove(cloud)
        if is_calibration and others:
            self.calibrate(deleted_in_cloud, self._remove(others))
        self.revisits = self.revisits or bool(others and not is_calibration)
        unchecked = len(self.Q_unck)
        pieces = in_pieces(self.Q_unck.blocks(0, unchecked), lambda: self.run.piece_rows(unchecked))
        for new, keys in self.run.in_order((partial(self._keep, each) for each in pieces), unchecked < _FEW_UNCHECKED):
            self.D.append(keys)
            self.run.enqueue(new)
        self.M.clear()
        self.Q_unck.clear()

    def _keep(self, states: States, worker: int) -> tuple[States, States]:
        return self.M.keep(states)

    def get_disk_cloud(self, block_count: int, is_calibration: bool) -> list[int]:
        """GetDiskCloud: a selection of blocks by the curve of Fig. 9, where late ones are likelier. When the cloud is
        everything, a calibration tries what a smaller one would do."""
        is_trial = is_calibration and self.cloud_size == 1.0
        size = math.ceil((1 - self.options.slowdown if is_trial else self.cloud_size) * block_count)
        if size >= block_count:
            return list(range(block_count))
        position = np.arange(block_count) / block_count
        (a1, b1), (a2, b2) = self.options.curve
        likelihood = np.select([position < a1, position < a2], [b1, b2], 1.0)
        return sorted(self._random.choice(block_count, size, False, likelihood / likelihood.sum()).tolist())

    def query_calibration(self) -> bool:
        """QueryCalibration: every so many checks."""
        self._checks += 1
        return self._checks % self.options.calibration == 0 and self.options.strategy != "disk"

    def calibrate(self, deleted_in_cloud: int, deleted_not_in_cloud: int) -> None:
        """Calibrate: a cloud that misses much grows, one that misses next to nothing shrinks."""
        deleted = deleted_in_cloud + deleted_not_in_cloud
        if not deleted:
            return
        beta = deleted_not_in_cloud / deleted
        if beta >= self.options.beta_high:
            self.cloud_size = min(1.0, (1 + self.options.speedup) * self.cloud_size)
        elif beta <= self.options.beta_low:
            self.cloud_size *= 1 - self.options.slowdown
        self._reset()

    def _reset(self) -> None:
        """A cloud that has been large for long starts anew, perhaps."""
        is_high = self.cloud_size > self.options.reset_above
        self._high_calibrations = self._high_calibrations + 1 if is_high else 0
        if self._high_calibrations > self.options.reset_after and self._random.random() < self.options.reset_chance:
            self.cloud_size = self.options.cloud
            self._high_calibrations = 0

    # --- Blocks of D -------------------------------------------------------------------------------------------

    def _block_count(self) -> int:
        """At most so many blocks as the options say, each of as many whole blocks of the file as that needs."""
        return math.ceil(self.D.block_count / self._blocks_of_file())

    def _blocks_of_file(self) -> int:
        return max(1, math.ceil(self.D.block_count / self.options.blocks))

    def _remove(self, blocks: list[int]) -> int:
        """Takes what some blocks of D hold out of M; gives how much that was."""
        each = self._blocks_of_file()
        numbers = [
            number for block in blocks for number in range(block * each, min((block + 1) * each, self.D.block_count))
        ]

        def remove(share: list[int], worker: int) -> int:
            removed = 0
            while share:
                some, read = self.M.remove_blocks(*self.D.file.places(share))
                removed += some
                # One that is not in the file yet; or not what was written, which ``block`` finds out.
                for number in share[read : read + 1]:
                    removed += self.M.remove(self.D.block(number))
                share = share[read + 1 :]
            return removed

        shares = min(self.run.threads, max(1, len(numbers) // _BLOCKS_A_SHARE))
        cuts = [len(numbers) * number // shares for number in range(shares + 1)]
        tasks = (partial(remove, numbers[begin:end]) for begin, end in pairwise(cuts))
        return sum(self.run.in_order(tasks, shares == 1))

    # --- What the skeleton asks --------------------------------------------------------------------------------

    def omission_bound(self, levels: list[int]) -> float:
        if self.bits is None:
            return 0.0
        # At the latest, a state was compared with the table when its level ended.
        return omission_bound(accumulate(levels), self.bits)

    def close(self) -> None:
        self.M.close()
        for file in (self.D.file, self.Q_unck.file):
            file.delete()

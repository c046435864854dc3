"""Breadth-first search with the visited states on disk; a check reads all of them, or a calibrated selection.

U. Stern and D. L. Dill, "Using magnetic disk instead of main memory in the Murphi verifier" (1998), is the strategy
``disk``. G. Della Penna et al., "Exploiting transition locality in automatic verification of finite-state concurrent
systems" (2004), section 5 (LDBFS), is ``locality``. The methods are those of its Figs. 7 to 12, over blocks of states.

Successors go to table M, and with their states to the unchecked queue. At the end of a level, or when M is full, the
search reads file D, the table of all visited states. States that are in D are removed from M; the remaining ones are
new. D is in the order of discovery, and transitions are local, so most old states are found in its last blocks.
``locality`` reads the disk cloud, a random selection of blocks that prefers late ones. At intervals it reads the whole
of D, to measure whether the cloud is too small or too large. ``disk`` always reads the whole of D.

With states as keys ``disk`` is exact, and ``locality`` visits all reachable states, some more than once: *holds* is
exact. With signatures both have the omission bound of formula (1) of the first paper.

Costs M in RAM. On disk, D has one key for each visited state, and the log has the states themselves. The log serves as
the checked queue and as the predecessor file. D, or the cloud, is read once a level.
"""

from __future__ import annotations

import math
from contextlib import closing
from functools import partial
from itertools import accumulate

import numpy as np

from outcrop.explorer.blocks import BlockFrontier, in_pieces, levels_on_disk
from outcrop.explorer.context import DEFAULT_CONTEXT, Context
from outcrop.explorer.disk_table import DiskTable, signature_bits
from outcrop.explorer.explorer import Explorer
from outcrop.explorer.growing_table import GrowingTable
from outcrop.explorer.visited import omission_bound, signature_keys
from outcrop.kernels import Counts, Native, States
from outcrop.options import CheckOptions
from outcrop.outcome import Outcome, Stop
from outcrop.strategies import LocalityOptions

#: Number of unchecked states below which the main thread is faster alone than with workers.
_FEW_UNCHECKED = 1 << 16


def search(
    native: Native, options: CheckOptions, context: Context = DEFAULT_CONTEXT, *, has_cloud: bool = True
) -> Outcome:
    """Runs ``locality``. ``has_cloud``: checks read the disk cloud instead of the whole of D."""
    with (
        levels_on_disk(native, options, context) as (explorer, Q_ck),
        closing(Locality(explorer, Q_ck, signature_bits(options), has_cloud=has_cloud)) as locality,
    ):
        return explorer.run(locality.Search)


def search_disk(native: Native, options: CheckOptions, context: Context = DEFAULT_CONTEXT) -> Outcome:
    """Runs ``disk``, the search of 1998: its disk cloud is the whole of D."""
    return search(native, options, context, has_cloud=False)


class Locality:
    """The data of the papers. ``Q_ck``: the frontier; its newest level is the checked queue."""

    drops_revisited = counts_deeper = False
    collision_rate = None

    def __init__(
        self,
        explorer: Explorer,
        Q_ck: BlockFrontier,
        bits: int | None,
        *,
        has_cloud: bool = True,
        revisits: bool = False,
    ) -> None:
        options = self._options = explorer.options.of(LocalityOptions)
        self._explorer = explorer
        self.bits = bits
        self.keys = signature_keys(explorer.options.strategy, bits, explorer.options.seed)
        self.revisits = revisits
        self.Q_ck, Q_ck.visited = Q_ck, self
        self.Q_unck = Q_ck.queue("unchecked")
        self.D = DiskTable(Q_ck, bits, options.block_size, options.blocks)
        self.M = GrowingTable(explorer, bits, Q_ck.table_memory(2 * self.Q_unck.block_rows * self.Q_unck.width))
        self._has_cloud = has_cloud
        self.disk_cloud_size = options.cloud if has_cloud else 1.0  #: fraction of the blocks of D
        self._random = np.random.default_rng(explorer.options.seed)
        self._checks = 0
        self._high_calibrations = 0  #: in a row

    # --- The papers' procedures --------------------------------------------------------------------------------

    def Search(self) -> Stop:
        """Runs Fig. 7."""
        self._explorer.visited, self._explorer.frontier = self, self.Q_ck
        self._explorer.begin()  # foreach s in init_states Insert(s); Checktable()
        return self.search_loop()

    def search_loop(self) -> Stop:
        explorer = self._explorer
        while (stop := explorer.next_stop()) is None:  # Q_ck is not empty
            self.expand_level(explorer.levels.ends[-2])
            explorer.level_is_complete()
        return stop

    def expand_level(self, begin: int) -> None:
        """Runs the inner loop of Fig. 7, from state ``begin`` on."""

        def fill() -> None:
            self.Q_ck.insert_successors(begin)  # foreach s' in next(Dequeue(Q_ck)) Insert(s')
            self.Checktable()

        self.Q_ck.fill_level(fill)

    def Insert(self, states: States, hashes: Counts) -> None:
        """Inserts successors into M and Q_unck (Fig. 8)."""
        while len(states):
            new, taken = self.M.insert(states, hashes)
            self.Q_unck.append(new)
            if taken < len(states):  # M is full
                self._make_room()
            states, hashes = states[taken:], hashes[taken:]

    def _make_room(self) -> None:
        if not self.M.grow(self.Q_unck.blocks(0, len(self.Q_unck))):
            self.Checktable()

    def Checktable(self) -> None:
        """Removes old states from M and enqueues the new ones (Fig. 10)."""
        calibration_required = self.QueryCalibration()
        disk_cloud = self.GetDiskCloud(calibration_required)
        not_in_cloud = sorted(set(range(self.D.block_count)) - set(disk_cloud))
        deleted_in_cloud = self.D.remove_from(self.M.table, disk_cloud)
        if calibration_required and not_in_cloud:
            self.Calibrate(deleted_in_cloud, self.D.remove_from(self.M.table, not_in_cloud))
        self.revisits = self.revisits or bool(not_in_cloud and not calibration_required)
        unchecked = len(self.Q_unck)
        pieces = in_pieces(self.Q_unck.blocks(0, unchecked), lambda: self.Q_ck.piece_rows(unchecked))
        keeps = (partial(self._keep, each) for each in pieces)
        for new, keys in self.Q_ck.pool.in_order(keeps, unchecked < _FEW_UNCHECKED):
            self.D.append(keys)
            self.Q_ck.enqueue(new)
        self.M.clear()
        self.Q_unck.clear()

    def _keep(self, states: States, worker: int) -> tuple[States, States]:
        return self.M.keep(states)

    def GetDiskCloud(self, calibration_required: bool) -> list[int]:
        """Returns a random selection of blocks in which late ones are likelier (Fig. 11, with the curve of Fig. 9). If
        the cloud is the whole of D, a calibration tries a smaller one."""
        block_count, options = self.D.block_count, self._options
        is_trial = calibration_required and self.disk_cloud_size == 1.0
        size = math.ceil((1 - options.slowdown if is_trial else self.disk_cloud_size) * block_count)
        if size >= block_count:
            return list(range(block_count))
        position = np.arange(block_count) / block_count
        (a1, b1), (a2, b2) = options.curve
        likelihood = np.select([position < a1, position < a2], [b1, b2], 1.0)
        return sorted(self._random.choice(block_count, size, False, likelihood / likelihood.sum()).tolist())

    def QueryCalibration(self) -> bool:
        """Returns whether this check calibrates, which every N-th one does."""
        self._checks += 1
        return self._has_cloud and self._checks % self._options.calibration == 0

    def Calibrate(self, deleted_in_cloud: int, deleted_not_in_cloud: int) -> None:
        """Adjusts the cloud (Fig. 12): it grows if it misses too much, and shrinks if it misses almost nothing."""
        deleted = deleted_in_cloud + deleted_not_in_cloud
        if not deleted:
            return
        beta = deleted_not_in_cloud / deleted
        if beta >= self._options.beta_high:
            self.disk_cloud_size = min(1.0, (1 + self._options.speedup) * self.disk_cloud_size)
        elif beta <= self._options.beta_low:
            self.disk_cloud_size *= 1 - self._options.slowdown
        self._reset()

    def _reset(self) -> None:
        """Resets, with some probability, a cloud that has been large for many calibrations (end of Fig. 10)."""
        options = self._options
        is_high = self.disk_cloud_size > options.reset_above
        self._high_calibrations = self._high_calibrations + 1 if is_high else 0
        if self._high_calibrations > options.reset_after and self._random.random() < options.reset_chance:
            self.disk_cloud_size = options.cloud
            self._high_calibrations = 0

    # --- Visited ----------------------------------------------------------------------------------------------

    def remember(self, states: States, hashes: Counts) -> None:
        """Adds states that an earlier search has visited."""
        self.D.append_states(states, hashes)

    def omission_bound(self, levels: list[int]) -> float:
        # A state is compared with the table when its level ends, at the latest.
        return 0.0 if self.bits is None else omission_bound(accumulate(levels), self.bits)

    def close(self) -> None:
        self.M.close()
        self.D.delete()
        self.Q_unck.file.delete()

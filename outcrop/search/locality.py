"""Breadth-first search with the visited states on disk, of which it reads those that it probably needs.

U. Stern and D. L. Dill, "Using magnetic disk instead of main memory in the Murphi verifier" (1998), is the strategy
``disk``. G. Della Penna et al., "Exploiting transition locality in automatic verification of finite-state concurrent
systems" (2004), section 5 (LDBFS), is ``locality``. The functions are those of its Figs. 7 to 12, over blocks.

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

#: Unchecked states that the main thread is done with before workers would be.
_FEW_UNCHECKED = 1 << 16


def search(
    native: Native, options: CheckOptions, context: Context = DEFAULT_CONTEXT, *, has_cloud: bool = True
) -> Outcome:
    """``has_cloud``: checks read the disk cloud, and not the whole of D."""
    with (
        levels_on_disk(native, options, context) as (explorer, Q_ck),
        closing(Locality(explorer, Q_ck, signature_bits(options), has_cloud=has_cloud)) as locality,
    ):
        return explorer.run(locality.Search)


def search_disk(native: Native, options: CheckOptions, context: Context = DEFAULT_CONTEXT) -> Outcome:
    """Searches as in 1998: the disk cloud is the whole of D."""
    return search(native, options, context, has_cloud=False)


class Locality:
    """The papers' data. ``Q_ck``: the frontier, whose newest level is the checked queue. ``bits`` None keeps states."""

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
        self.disk_cloud_size = options.cloud if has_cloud else 1.0  #: as a part of D's blocks
        self._random = np.random.default_rng(explorer.options.seed)
        self._checks = 0
        self._high_calibrations = 0  #: in a row

    # --- The papers' procedures --------------------------------------------------------------------------------

    def Search(self) -> Stop:
        """Fig. 7."""
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
        """The inner loop of Fig. 7, from state ``begin`` of all on."""

        def fill() -> None:
            self.Q_ck.insert_successors(begin)  # foreach s' in next(Dequeue(Q_ck)) Insert(s')
            self.Checktable()

        self.Q_ck.fill_level(fill)

    def Insert(self, states: States, hashes: Counts) -> None:
        """Fig. 8."""
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
        """Fig. 10."""
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
        """Fig. 11: a selection of blocks by the curve of Fig. 9, where late ones are likelier. When the cloud is
        everything, a calibration tries what a smaller one would do."""
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
        """Requires a calibration every so many checks."""
        self._checks += 1
        return self._has_cloud and self._checks % self._options.calibration == 0

    def Calibrate(self, deleted_in_cloud: int, deleted_not_in_cloud: int) -> None:
        """Fig. 12: a cloud that misses much grows, one that misses next to nothing shrinks."""
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
        """The end of Fig. 10: a cloud that has been large for long is reset, perhaps."""
        options = self._options
        is_high = self.disk_cloud_size > options.reset_above
        self._high_calibrations = self._high_calibrations + 1 if is_high else 0
        if self._high_calibrations > options.reset_after and self._random.random() < options.reset_chance:
            self.disk_cloud_size = options.cloud
            self._high_calibrations = 0

    # --- What others ask ---------------------------------------------------------------------------------------

    def remember(self, states: States, hashes: Counts) -> None:
        """Takes states that were visited before."""
        self.D.append_states(states, hashes)

    def omission_bound(self, levels: list[int]) -> float:
        # At the latest, a state was compared with the table when its level ended.
        return 0.0 if self.bits is None else omission_bound(accumulate(levels), self.bits)

    def close(self) -> None:
        self.M.close()
        self.D.delete()
        self.Q_unck.file.delete()

"""File D: the keys of all visited states on disk, in the order of discovery."""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise

import numpy as np

from outcrop.explorer.blocks import BlockFrontier
from outcrop.kernels import Counts, States
from outcrop.kernels.tables import MemoryTable
from outcrop.options import CheckOptions, Keep
from outcrop.store.frontier import RowFile

#: Default size of a signature on disk, in bits. Larger than in RAM, because disk space is cheap.
_BITS = 64
#: Smallest number of blocks of D for which another worker pays.
_BLOCKS_A_SHARE = 8


def signature_bits(options: CheckOptions) -> int | None:
    """Returns the size of a signature, in bits; None if states are kept in full."""
    return None if options.keep is Keep.STATES else options.bits or _BITS


class DiskTable:
    """File D. Its keys are signatures of ``bits`` bits, or states if ``bits`` is None. D has at most ``most_blocks``
    blocks, each of as many blocks of the underlying file as that takes."""

    def __init__(self, frontier: BlockFrontier, bits: int | None, block_keys: int, most_blocks: int) -> None:
        self._pool = frontier.pool
        self._bits = bits
        self._most_blocks = most_blocks
        width = frontier.width if bits is None else -(-bits // 8)
        self._keys = RowFile(frontier.directory, "visited", width, block_keys)

    def append(self, keys: States) -> None:
        self._keys.append(keys)

    def append_states(self, states: States, hashes: Counts) -> None:
        """Appends the keys of states."""
        if self._bits is None:
            self.append(states)
            return
        signatures = hashes >> np.uint64(64 - self._bits)
        self.append(np.ascontiguousarray(signatures.view(np.uint8).reshape(-1, 8)[:, : self._keys.width]))

    @property
    def block_count(self) -> int:
        return math.ceil(self._keys.block_count / self._blocks_of_file)

    @property
    def _blocks_of_file(self) -> int:
        return max(1, math.ceil(self._keys.block_count / self._most_blocks))

    def remove_from(self, M: MemoryTable, blocks: list[int]) -> int:
        """Removes from M the keys that the given blocks hold. Returns their number."""
        each, end = self._blocks_of_file, self._keys.block_count
        numbers = [number for block in blocks for number in range(block * each, min((block + 1) * each, end))]

        def remove(share: list[int], worker: int) -> int:
            removed = 0
            while share:
                some, read = M.remove_blocks(*self._keys.file.places(share))
                removed += some
                # The block is still in a buffer, or damaged, which ``block`` reports.
                for number in share[read : read + 1]:
                    removed += M.remove(self._keys.block(number))
                share = share[read + 1 :]
            return removed

        shares = min(self._pool.threads, max(1, len(numbers) // _BLOCKS_A_SHARE))
        cuts = [len(numbers) * number // shares for number in range(shares + 1)]
        tasks = (partial(remove, numbers[begin:end]) for begin, end in pairwise(cuts))
        return sum(self._pool.in_order(tasks, shares == 1))

    def delete(self) -> None:
        self._keys.file.delete()
